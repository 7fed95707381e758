"""Elsewhere: a fitted scikit-learn model as the network that can be proved about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError
from lcifr.models.network import Network, compose
from lcifr.models.target import Kind, Target

FloatArray = NDArray[np.float64]

CLASSIFIERS = (
    "LogisticRegression",
    "LogisticRegressionCV",
    "LinearSVC",
    "RidgeClassifier",
    "RidgeClassifierCV",
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


@dataclass(frozen=True)
class Decider:
    """A network and what its outputs mean.

    Two classes have one output, the second class being decided where it is above 0; several classes have one output
    each, the largest decides; a number is the output, in the label's own unit.

    Parameters
    ----------
    mean : of the numbers it was learned from, to compare with whoever always says that; None where it is not known.
    """

    network: Network
    target: Target
    mean: float | None = None

    @classmethod
    def of(cls, learned: Network, target: Target) -> Decider:
        """A head as it was learned. The scale of a number goes into its last layer, rounded once to float64.

        From here on there is one unit: what is predicted, proved, stored and checked is this network's own output.
        """
        if target.kind is not Kind.NUMBER:
            return cls(learned, target)
        back = Network.from_arrays([(np.array([[target.sd]]), np.array([target.mean]))])
        return cls(compose(learned, back), Target(Kind.NUMBER, target.classes), target.mean)

    def decide(self, z: FloatArray) -> NDArray[Any]:
        """(people,) decisions in the labels' own terms, by a plain forward pass."""
        import torch

        return self.target.decode(self.target.decide(torch.as_tensor(self.network(z))).numpy())


def adapt(model: Any) -> Decider:
    """The network of a fitted model, which decides what the model predicts.

    Parameters
    ----------
    model
        One of this package's heads, a fitted scikit-learn model that is linear or a ReLU network, or a pipeline of
        affine scalers with such a model at its end.

    Raises
    ------
    NetworkError
        For anything else, with the list of what works.
    """
    own = getattr(model, "decider_", None)
    if isinstance(own, Decider):
        return own
    name = type(model).__name__
    if not type(model).__module__.startswith("sklearn."):
        raise NetworkError(f"{name} is not a model of scikit-learn or of this package", fix=f"use {WORKS}")
    if name == "Pipeline":
        return _pipeline(model)
    if name not in (*CLASSIFIERS, *REGRESSORS):
        raise NetworkError(f"{name} is neither linear nor a ReLU network that can be read", fix=f"use {WORKS}")
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    network = _multilayer(model) if name.startswith("MLP") else _linear(model)
    return Decider(network, _target(model, network, name in CLASSIFIERS))


def _pipeline(pipeline: Any) -> Decider:
    last = adapt(pipeline.steps[-1][1])
    network = last.network
    for name, step in reversed(pipeline.steps[:-1]):
        if step is None or step == "passthrough":
            continue
        scale, shift = _affine_scaler(name, step)
        network = compose(Network.from_arrays([(np.diag(scale), shift)]), network)
    return Decider(network, last.target, last.mean)


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
    return Network.from_arrays([(weight, bias)])


def _multilayer(model: Any) -> Network:
    if model.activation != "relu":
        raise NetworkError(
            f'{type(model).__name__} with activation="{model.activation}" is no ReLU network',
            fix='train it with activation="relu"',
        )
    return Network.from_arrays([(w.T, b) for w, b in zip(model.coefs_, model.intercepts_, strict=True)])


def _target(model: Any, network: Network, classifies: bool) -> Target:
    if not classifies:
        if network.outputs != 1:
            raise NetworkError(f"{type(model).__name__} predicts {network.outputs} numbers", fix="fit one at a time")
        return Target(Kind.NUMBER, np.array([]))
    classes = model.classes_
    if (
        isinstance(classes, list)
        or np.ndim(classes) != 1
        or network.outputs != (1 if len(classes) == 2 else len(classes))
    ):
        raise NetworkError(f"{type(model).__name__} decides several labels at once", fix="fit one at a time")
    return Target(Kind.BINARY if len(classes) == 2 else Kind.CLASSES, np.asarray(classes))
