"""Estimators of scikit-learn on numbers: linear models and networks with ReLU or without any activation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError
from lcifr.models.chain import Chain, chain_of
from lcifr.models.columns import FLOAT64, Dtype, runtime_of
from lcifr.models.model import Model
from lcifr.models.network import Network
from lcifr.models.rule import Kind, Rule

CLASSIFIERS = (
    "LogisticRegression",
    "LogisticRegressionCV",
    "LinearSVC",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "LinearDiscriminantAnalysis",
    "Perceptron",
    "SGDClassifier",
    "PassiveAggressiveClassifier",
    "MLPClassifier",
)
REGRESSORS = (
    "LinearRegression",
    "Ridge",
    "RidgeCV",
    "Lasso",
    "LassoCV",
    "ElasticNet",
    "ElasticNetCV",
    "SGDRegressor",
    "LinearSVR",
    "HuberRegressor",
    "TheilSenRegressor",
    "QuantileRegressor",
    "BayesianRidge",
    "ARDRegression",
    "Lars",
    "LarsCV",
    "LassoLars",
    "LassoLarsCV",
    "LassoLarsIC",
    "OrthogonalMatchingPursuit",
    "OrthogonalMatchingPursuitCV",
    "PassiveAggressiveRegressor",
    "MLPRegressor",
)
WORKS = ", ".join((*CLASSIFIERS, *REGRESSORS))


def read_estimator(model: Any, dtype: Dtype = FLOAT64) -> Model:
    """The function of a fitted classifier or regressor, without anything before or around it.

    Parameters
    ----------
    dtype : of the array that it is given: numpy computes in the wider of that and of the weights.
    """
    name = type(model).__name__
    if name not in (*CLASSIFIERS, *REGRESSORS) or not type(model).__module__.startswith("sklearn."):
        raise NetworkError(f"{name} is neither linear nor a ReLU network that can be read", fix=f"use {WORKS}")
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    if not isinstance(getattr(model, "coef_", None), np.ndarray | None):
        raise NetworkError(f"{name} has sparse weights", fix="call densify() on it")
    networks = _multilayer(model) if name.startswith("MLP") else [_linear(model)]
    native = runtime_of(np.result_type(dtype, weights_of(model).dtype))
    return _with_rule(model, chain_of(network.of_runtime(native) for network in networks), name in CLASSIFIERS)


def weights_of(model: Any) -> NDArray[Any]:
    """Those of the first layer."""
    return np.asarray(model.coefs_[0] if hasattr(model, "coefs_") else model.coef_)


def _linear(model: Any) -> Network:
    weight = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    bias = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (len(weight),))
    return Network.from_arrays([(weight, bias)])


def _multilayer(model: Any) -> list[Network]:
    """One network with ReLU; without any activation each layer is a factor of its own."""
    layers = [(w.T, b) for w, b in zip(model.coefs_, model.intercepts_, strict=True)]
    if model.activation == "relu":
        return [Network.from_arrays(layers)]
    if model.activation == "identity":
        return [Network.from_arrays([layer]) for layer in layers]
    raise NetworkError(
        f'{type(model).__name__} with activation="{model.activation}" is no ReLU network',
        fix='train it with activation="relu"',
    )


def _with_rule(model: Any, function: Network | Chain, classifies: bool) -> Model:
    """scikit-learn decides by > 0 between two classes, for the first of the largest between several: as our rule."""
    if not classifies:
        if function.outputs != 1:
            raise NetworkError(f"{type(model).__name__} predicts {function.outputs} numbers", fix="fit one at a time")
        return Model(function, Rule(Kind.NUMBER, 1))
    classes = model.classes_
    if (
        _is_multilabel(model)
        or isinstance(classes, list)
        or np.ndim(classes) != 1
        or function.outputs != (1 if len(classes) == 2 else len(classes))
    ):
        raise NetworkError(f"{type(model).__name__} decides several labels at once", fix="fit one at a time")
    return Model(function, Rule.of(function.outputs), np.asarray(classes))


def _is_multilabel(model: Any) -> bool:
    """Whether each output is a label of its own, to be had or not."""
    return str(getattr(getattr(model, "_label_binarizer", None), "y_type_", "")).startswith("multilabel")
