"""The operators of ONNX that are read, by domain and name; all others are refused by their node."""

from __future__ import annotations

from lcifr.models.loaders.onnx import categories, decisions, elementwise, linear, shapes, tree_ensembles
from lcifr.models.loaders.onnx import categories as casts
from lcifr.models.loaders.onnx import elementwise as activations
from lcifr.models.loaders.onnx.values import Call, Operator, Value

STANDARD: dict[str, Operator] = {
    "Abs": activations.absolute,
    "Add": elementwise.add,
    "ArgMax": decisions.arg_max,
    "BatchNormalization": linear.batch_normalization,
    "Cast": casts.cast,
    "Clip": activations.clip,
    "Concat": shapes.concat,
    "Constant": shapes.constant,
    "Div": elementwise.divide,
    "Dropout": shapes.dropout,
    "Exp": decisions.exponential,
    "Flatten": shapes.flatten,
    "Gather": shapes.gather,
    "Gemm": linear.gemm,
    "Greater": decisions.compare,
    "GreaterOrEqual": decisions.compare,
    "Identity": shapes.identity,
    "LeakyRelu": activations.leaky_relu,
    "Less": decisions.compare,
    "LessOrEqual": decisions.compare,
    "LogSoftmax": decisions.softmax,
    "MatMul": linear.matmul,
    "Max": activations.maximum,
    "Min": activations.minimum,
    "Mul": elementwise.multiply,
    "Neg": elementwise.negate,
    "Not": decisions.negation,
    "PRelu": activations.prelu,
    "Relu": activations.relu_,
    "Reshape": shapes.reshape,
    "Sigmoid": decisions.sigmoid,
    "Slice": shapes.slice_,
    "Softmax": decisions.softmax,
    "Split": shapes.split,
    "Sqrt": elementwise.square_root,
    "Squeeze": shapes.squeeze,
    "Sub": elementwise.subtract,
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
