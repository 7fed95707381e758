"""Estimators of scikit-learn on numbers: linear models and ReLU networks, in pipelines behind affine scalers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.model import Model, own_model
from lcifr.models.network import Network, compose
from lcifr.models.rule import Kind, Rule

FloatArray = NDArray[np.float64]

CLASSIFIERS = (
    "LogisticRegression",
    "LogisticRegressionCV",
    "LinearSVC",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "LinearDiscriminantAnalysis",
    "Perceptron",
    "SGDClassifier",
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
    "MLPRegressor",
)
SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
WORKS = f"{', '.join((*CLASSIFIERS, *REGRESSORS))}; in a Pipeline behind {', '.join(SCALERS)}"


def read_sklearn(model: Any) -> Model:
    """The network of a fitted model, which decides what the model predicts.

    The scalers of a pipeline are multiplied into the weights: in floating point that is another computation than the
    pipeline's own, so nothing but exact arithmetic is native to it.

    Parameters
    ----------
    model : linear or a ReLU network, or a pipeline of affine scalers with such a model at its end.

    Raises
    ------
    NetworkError
        For anything else, with the list of what works.
    """
    name = type(model).__name__
    if not type(model).__module__.startswith("sklearn."):
        raise NetworkError(f"{name} is not a model of scikit-learn or of this package", fix=f"use {WORKS}")
    if name == "Pipeline":
        return _pipeline(model)
    return read_estimator(model)


def read_estimator(model: Any) -> Model:
    """The network of a fitted classifier or regressor, without anything before or around it."""
    name = type(model).__name__
    if name not in (*CLASSIFIERS, *REGRESSORS) or not type(model).__module__.startswith("sklearn."):
        raise NetworkError(f"{name} is neither linear nor a ReLU network that can be read", fix=f"use {WORKS}")
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    network = _multilayer(model) if name.startswith("MLP") else _linear(model)
    return _with_rule(model, network, name in CLASSIFIERS)


def _pipeline(pipeline: Any) -> Model:
    end = pipeline.steps[-1][1]
    last = own_model(end) or read_sklearn(end)
    network = last.network
    for name, step in reversed(pipeline.steps[:-1]):
        if step is None or step == "passthrough":
            continue
        scale, shift = _affine_scaler(name, step)
        network = compose(Network.from_arrays([(np.diag(scale), shift)]), network).of_runtime(Arithmetic.EXACT)
    return replace(last, function=network)


def _affine_scaler(name: str, step: Any) -> tuple[FloatArray, FloatArray]:
    """x ↦ scale · x + shift, column by column."""
    kind = type(step).__name__
    if kind not in SCALERS or getattr(step, "clip", False):
        raise NetworkError(f'pipeline step "{name}" is {kind}, which is not affine here', fix=f"use {WORKS}")
    width = step.n_features_in_
    if kind == "MinMaxScaler":
        return np.asarray(step.scale_, dtype=np.float64), np.asarray(step.min_, dtype=np.float64)
    divisor = np.ones(width) if step.scale_ is None else np.asarray(step.scale_, dtype=np.float64)
    center = getattr(step, "mean_", None) if kind == "StandardScaler" else getattr(step, "center_", None)
    if kind == "StandardScaler" and not step.with_mean:
        center = None
    middle = np.zeros(width) if center is None else np.asarray(center, dtype=np.float64)
    return 1.0 / divisor, -middle / divisor


def _linear(model: Any) -> Network:
    weight = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    bias = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (len(weight),))
    return Network.from_arrays([(weight, bias)]).of_runtime(_native(model.coef_))


def _multilayer(model: Any) -> Network:
    if model.activation != "relu":
        raise NetworkError(
            f'{type(model).__name__} with activation="{model.activation}" is no ReLU network',
            fix='train it with activation="relu"',
        )
    layers = [(w.T, b) for w, b in zip(model.coefs_, model.intercepts_, strict=True)]
    return Network.from_arrays(layers).of_runtime(_native(model.coefs_[0]))


def _native(weight: NDArray[Any]) -> Arithmetic:
    """A model that was fitted on float32 numbers has float32 weights, and computes in float32 on such numbers."""
    return Arithmetic.FLOAT32 if np.asarray(weight).dtype == np.float32 else Arithmetic.FLOAT64


def _with_rule(model: Any, network: Network, classifies: bool) -> Model:
    """scikit-learn decides by > 0 between two classes, for the first of the largest between several: as our rule."""
    if not classifies:
        if network.outputs != 1:
            raise NetworkError(f"{type(model).__name__} predicts {network.outputs} numbers", fix="fit one at a time")
        return Model(network, Rule(Kind.NUMBER, 1))
    classes = model.classes_
    if (
        isinstance(classes, list)
        or np.ndim(classes) != 1
        or network.outputs != (1 if len(classes) == 2 else len(classes))
    ):
        raise NetworkError(f"{type(model).__name__} decides several labels at once", fix="fit one at a time")
    return Model(network, Rule.of(network.outputs), np.asarray(classes))
