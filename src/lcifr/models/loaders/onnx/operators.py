"""The operators of ONNX that are read, by domain and name; all others are refused by their node."""

from __future__ import annotations

from functools import partial

from lcifr.data.program import Operation
from lcifr.models.loaders.onnx import categories, decisions, elementwise, linear, shapes, tree_ensembles
from lcifr.models.loaders.onnx.values import Call, Operator, Value

STANDARD: dict[str, Operator] = {
    "Abs": elementwise.absolute,
    "Add": partial(elementwise.of_two, operation=Operation.ADD),
    "ArgMax": decisions.arg_max,
    "BatchNormalization": linear.batch_normalization,
    "Cast": categories.cast,
    "Clip": elementwise.clip,
    "Concat": shapes.concat,
    "Constant": shapes.constant,
    "Div": partial(elementwise.of_two, operation=Operation.DIVIDE),
    "Dropout": shapes.dropout,
    "Exp": decisions.exponential,
    "Flatten": shapes.flatten,
    "Gather": shapes.gather,
    "Gemm": linear.gemm,
    "Greater": decisions.compare,
    "GreaterOrEqual": decisions.compare,
    "Identity": shapes.identity,
    "LeakyRelu": elementwise.leaky_relu,
    "Less": decisions.compare,
    "LessOrEqual": decisions.compare,
    "LogSoftmax": decisions.softmax,
    "MatMul": linear.matmul,
    "Max": partial(elementwise.extreme, sign=1),
    "Min": partial(elementwise.extreme, sign=-1),
    "Mul": partial(elementwise.of_two, operation=Operation.MULTIPLY),
    "Neg": elementwise.negate,
    "Not": decisions.negation,
    "PRelu": elementwise.prelu,
    "Relu": elementwise.relu_,
    "Reshape": shapes.reshape,
    "Sigmoid": decisions.sigmoid,
    "Slice": shapes.slice_,
    "Softmax": decisions.softmax,
    "Split": shapes.split,
    "Sqrt": elementwise.square_root,
    "Squeeze": shapes.squeeze,
    "Sub": partial(elementwise.of_two, operation=Operation.SUBTRACT),
    "Sum": elementwise.add_all,
    "Transpose": shapes.transpose,
    "Unsqueeze": shapes.unsqueeze,
    "Where": decisions.where_,
}
MACHINE_LEARNING: dict[str, Operator] = {
    "ArrayFeatureExtractor": shapes.array_feature_extractor,
    "FeatureVectorizer": shapes.feature_vectorizer,
    "Imputer": categories.imputer,
    "LabelEncoder": categories.label_encoder,
    "LinearClassifier": linear.linear_classifier,
    "LinearRegressor": linear.linear_regressor,
    "OneHotEncoder": categories.one_hot_encoder,
    "Scaler": linear.scaler,
    "TreeEnsemble": tree_ensembles.tree_ensemble,
    "TreeEnsembleClassifier": tree_ensembles.tree_ensemble_classifier,
    "TreeEnsembleRegressor": tree_ensembles.tree_ensemble_regressor,
    "ZipMap": decisions.zip_map,
}
OPERATORS = {"": STANDARD, "ai.onnx.ml": MACHINE_LEARNING}


def apply(call: Call) -> tuple[Value, ...]:
    """What a node computes.

    Raises
    ------
    NetworkError
        With the name of the node, if it is not exactly representable.
    """
    operator = OPERATORS[call.node.domain].get(call.node.operator)
    if operator is None:
        raise call.refuse(
            "this operator is not affine or piecewise linear, no sum of trees, or not known here",
            fix=f"one of {', '.join(sorted(STANDARD | MACHINE_LEARNING))}",
        )
    return operator(call)
