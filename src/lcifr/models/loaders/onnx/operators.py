"""The operators of ONNX that are read, by domain and name; all others are refused by their node."""

from __future__ import annotations

from functools import partial

from lcifr.data.program import Operation
from lcifr.models.loaders.onnx import categories, decisions, piecewise_linear, shapes, tree_ensembles
from lcifr.models.loaders.onnx.values import Call, Operator, Value

STANDARD: dict[str, Operator] = {
    "Abs": piecewise_linear.absolute,
    "Add": partial(piecewise_linear.of_two, operation=Operation.ADD),
    "ArgMax": decisions.arg_max,
    "BatchNormalization": piecewise_linear.batch_normalization,
    "Cast": categories.cast,
    "Clip": piecewise_linear.clip,
    "Concat": shapes.concat,
    "Constant": shapes.constant,
    "Div": partial(piecewise_linear.of_two, operation=Operation.DIVIDE),
    "Dropout": shapes.dropout,
    "Exp": decisions.exponential,
    "Flatten": shapes.flatten,
    "Gather": shapes.gather,
    "Gemm": piecewise_linear.gemm,
    "Greater": decisions.compare,
    "GreaterOrEqual": decisions.compare,
    "Identity": shapes.identity,
    "LeakyRelu": piecewise_linear.leaky_relu,
    "Less": decisions.compare,
    "LessOrEqual": decisions.compare,
    "LogSoftmax": decisions.softmax,
    "MatMul": piecewise_linear.matmul,
    "Max": partial(piecewise_linear.extreme, sign=1),
    "Min": partial(piecewise_linear.extreme, sign=-1),
    "Mul": partial(piecewise_linear.of_two, operation=Operation.MULTIPLY),
    "Neg": piecewise_linear.negate,
    "Not": decisions.negation,
    "PRelu": piecewise_linear.prelu,
    "Relu": piecewise_linear.relu_,
    "Reshape": shapes.reshape,
    "Sigmoid": decisions.sigmoid,
    "Slice": shapes.slice_,
    "Softmax": decisions.softmax,
    "Split": shapes.split,
    "Sqrt": piecewise_linear.square_root,
    "Squeeze": shapes.squeeze,
    "Sub": partial(piecewise_linear.of_two, operation=Operation.SUBTRACT),
    "Sum": piecewise_linear.add_all,
    "Transpose": shapes.transpose,
    "Unsqueeze": shapes.unsqueeze,
    "Where": decisions.where_,
}
MACHINE_LEARNING: dict[str, Operator] = {
    "ArrayFeatureExtractor": shapes.array_feature_extractor,
    "FeatureVectorizer": shapes.feature_vectorizer,
    "Imputer": categories.imputer,
    "LabelEncoder": categories.label_encoder,
    "LinearClassifier": piecewise_linear.linear_classifier,
    "LinearRegressor": piecewise_linear.linear_regressor,
    "OneHotEncoder": categories.one_hot_encoder,
    "Scaler": piecewise_linear.scaler,
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
