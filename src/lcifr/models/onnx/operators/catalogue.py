"""The operators of ONNX that are read, by domain and name; all others are refused by their node."""

from __future__ import annotations

from lcifr.models.onnx.calls import Call, Operator
from lcifr.models.onnx.operators import activations, casts, categories, elementwise, endings, ensembles, linear, shapes
from lcifr.models.onnx.values import Value

STANDARD: dict[str, Operator] = {
    "Abs": activations.absolute,
    "Add": elementwise.add,
    "ArgMax": endings.arg_max,
    "BatchNormalization": linear.batch_normalization,
    "Cast": casts.cast,
    "Clip": activations.clip,
    "Concat": shapes.concat,
    "Constant": shapes.constant,
    "Div": elementwise.divide,
    "Dropout": shapes.dropout,
    "Exp": endings.exponential,
    "Flatten": shapes.flatten,
    "Gather": shapes.gather,
    "Gemm": linear.gemm,
    "Greater": endings.compare,
    "GreaterOrEqual": endings.compare,
    "Identity": shapes.identity,
    "LeakyRelu": activations.leaky_relu,
    "Less": endings.compare,
    "LessOrEqual": endings.compare,
    "LogSoftmax": endings.softmax,
    "MatMul": linear.matmul,
    "Max": activations.maximum,
    "Min": activations.minimum,
    "Mul": elementwise.multiply,
    "Neg": elementwise.negate,
    "Not": endings.negation,
    "PRelu": activations.prelu,
    "Relu": activations.relu_,
    "Reshape": shapes.reshape,
    "Sigmoid": endings.sigmoid,
    "Slice": shapes.slice_,
    "Softmax": endings.softmax,
    "Split": shapes.split,
    "Sqrt": elementwise.square_root,
    "Squeeze": shapes.squeeze,
    "Sub": elementwise.subtract,
    "Sum": elementwise.add_all,
    "Transpose": shapes.transpose,
    "Unsqueeze": shapes.unsqueeze,
    "Where": endings.where_,
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
    "TreeEnsemble": ensembles.tree_ensemble,
    "TreeEnsembleClassifier": ensembles.tree_ensemble_classifier,
    "TreeEnsembleRegressor": ensembles.tree_ensemble_regressor,
    "ZipMap": endings.zip_map,
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
