"""What is learned from: encoded people with their regions, and the target: binary, multiclass or a number, scaled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import LearningError
from lcifr.models.model import Model, Prediction
from lcifr.models.network import Network, compose
from lcifr.models.rule import Kind
from lcifr.regions.region import FloatArray, Region


@dataclass(frozen=True)
class Target(Prediction):
    """What is predicted, with the scale by which it is learned.

    Parameters
    ----------
    mean, sd
        How a number is scaled while it is learned: (y − mean) / sd. A finished model speaks y's own unit (see
        :meth:`finish`), so its target has 0 and 1.
    """

    mean: float = 0.0
    sd: float = 1.0

    @classmethod
    def of(cls, y: NDArray[Any], task: str = "auto") -> Target:
        """From training labels; ``task`` is ``"auto"``, ``"classification"`` or ``"regression"``."""
        if task not in ("auto", "classification", "regression"):
            raise LearningError(f"task={task!r} is unknown", fix='use "auto", "classification" or "regression"')
        if task == "regression" or (task == "auto" and _is_measured(y)):
            return cls(Kind.NUMBER, np.array([]), *_scale(np.asarray(y, dtype=np.float64)))
        classes = np.unique(y)
        if len(classes) < 2:
            raise LearningError(
                f"there is only one class among the labels ({classes[0]!r})", fix="give labels of at least two classes"
            )
        return cls(Kind.SIGN if len(classes) == 2 else Kind.CLASS, classes)

    def finish(self, learned: Network) -> Model:
        """The model of a trained head. The scale of a number is merged into its last layer, rounded once.

        From here on there is one unit: what is predicted, proved, stored and checked is this network's own output.
        """
        if self.kind is not Kind.NUMBER:
            return self.model(learned)
        back = Network.from_arrays([(np.array([[self.sd]]), np.array([self.mean]))])
        return self.model(compose(learned, back), self.mean)

    def encode(self, y: NDArray[Any]) -> NDArray[np.float64]:
        """(n,) codes of the classes, or the scaled number, as float64."""
        if self.kind is Kind.NUMBER:
            return (np.asarray(y, dtype=np.float64) - self.mean) / self.sd
        codes = np.searchsorted(self.classes, y)
        known = np.minimum(codes, len(self.classes) - 1)
        unknown = np.flatnonzero(self.classes[known] != np.asarray(y))
        if len(unknown):
            raise LearningError(
                f"label {np.asarray(y)[unknown[0]]!r} is not among the classes of training: {self.classes.tolist()}"
            )
        return known.astype(np.float64)


def class_weights(target: Target, label: NDArray[np.float64], weights: Any) -> NDArray[np.float64]:
    """(n,) a weight for each person, of mean 1: ``None``, ``"balanced"``, or ``{class: weight}``."""
    if weights is None:
        return np.ones(len(label))
    if target.kind is Kind.NUMBER:
        raise LearningError(
            f"class_weight={weights!r}, and the labels are numbers, which have no classes", fix="leave it out"
        )
    from sklearn.utils.class_weight import compute_sample_weight

    codes = label.astype(np.int64)
    if isinstance(weights, dict):
        known = target.classes.tolist()
        if unknown := [name for name in weights if name not in known]:
            raise LearningError(f"class_weight names {unknown[0]!r}, which is not a class", fix=f"use {known}")
        weights = {known.index(name): value for name, value in weights.items()}
    chosen: NDArray[np.float64] = compute_sample_weight(weights, codes)
    return np.asarray(chosen / chosen.mean())


def _scale(values: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and standard deviation of numbers from which something can be learned."""
    if np.ptp(values) == 0:
        raise LearningError(
            f"every label is {values[0]:g}: there is nothing to learn", fix="give labels that differ from each other"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        mean, sd = float(values.mean()), float(values.std())
    if not 0 < sd < np.inf:
        raise LearningError(
            f"the labels lie between {values.min():g} and {values.max():g}, and their spread cannot be told in float64",
            fix="give them in another unit, or as distances from a number in their middle",
        )
    return mean, sd


def _is_measured(y: NDArray[Any]) -> bool:
    from sklearn.utils.multiclass import type_of_target

    return bool(type_of_target(y) == "continuous")


@dataclass(frozen=True)
class EncodedPeople:
    """Encoded people with their regions.

    Parameters
    ----------
    x : (people, features) float64. region : theirs. label : (people,) codes or scaled numbers; None without a label.
    weight : (people,) of mean 1.
    """

    x: np.ndarray
    region: Region
    label: np.ndarray | None
    weight: np.ndarray


@dataclass(frozen=True)
class LatentReach:
    """Latents of people, and bounds on the distance of anyone similar.

    Parameters
    ----------
    latent : (people, outputs) z = f(x). radius : (people,) ε ≥ ‖f(x′) − z‖∞ for every similar x′ and for x itself.
    lower, upper : (people, outputs) the box that holds the same.
    """

    latent: FloatArray
    radius: FloatArray
    lower: FloatArray
    upper: FloatArray

    @classmethod
    def of_box(cls, latent: FloatArray, lower: FloatArray, upper: FloatArray) -> LatentReach:
        """The smallest ball around z that holds the box."""
        farthest = np.nextafter(np.maximum(upper - latent, latent - lower).max(1), np.inf)
        return cls(latent, farthest, lower, upper)
