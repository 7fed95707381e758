"""Target: binary, multiclass or regression, with its plain loss and its worst-case loss on a ball.

Losses are functions of *directions*: linear outputs that must stay small for a decision to be right. For two classes
it is the logit with its sign turned, for several the lead of every other class, for a number the output and its
negative. The plain loss takes their values, the robust loss their upper bounds on a ball: the same function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import one_hot, softplus

from lcifr.errors import LearningError
from lcifr.models.model import Model, Prediction
from lcifr.models.network import Network, compose
from lcifr.models.rule import Kind


@dataclass(frozen=True)
class Target(Prediction):
    """What is predicted, with the scale and the losses by which it is learned.

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

    # -- losses ----------------------------------------------------------------------------------------------------

    def directions(self, label: Tensor) -> Tensor:
        """(n, k, outputs): what must stay small if ``label`` (n,) is to be the decision."""
        if self.kind is Kind.SIGN:
            return (1.0 - 2.0 * label)[:, None, None]
        if self.kind is Kind.NUMBER:
            return label.new_tensor([[1.0], [-1.0]]).expand(len(label), 2, 1)
        unit = torch.eye(self.outputs, dtype=label.dtype, device=label.device)
        return unit - unit[label.long()][:, None, :]

    def losses(self, values: Tensor, label: Tensor, absolute: Callable[[Tensor], Tensor] = torch.abs) -> Tensor:
        """(n,) from the values, or upper bounds, of the directions (n, k); logistic, cross-entropy or squared.

        Bounds make it the worst loss of the whole ball against the label: like the claim that is proved (:meth:`holds`)
        it does not take the number at z for that at f(x).

        Parameters
        ----------
        absolute : what takes the place of |u|, for an optimiser that needs it smooth.
        """
        if self.kind is Kind.SIGN:
            return softplus(values[:, 0])
        if self.kind is Kind.CLASS:
            return values.logsumexp(1)  # log Σ exp(oₖ − o_label), the label's own direction being 0
        above, below = values[:, 0] - label, values[:, 1] + label
        return ((above + below) / 2 + absolute((above - below) / 2)).square()  # the square of the larger one

    def values(self, output: Tensor, label: Tensor) -> Tensor:
        """(n, k) the directions at ``output`` (n, outputs)."""
        if self.kind is Kind.SIGN:
            return (1.0 - 2.0 * label)[:, None] * output
        return (self.directions(label) @ output[:, :, None])[:, :, 0]

    def lengths(self, weight: Tensor, absolute: Callable[[Tensor], Tensor] = torch.abs) -> Tensor:
        """What a ball of radius 1 adds to each direction before a linear head ``weight`` (outputs, d).

        ‖w‖₁ for one output; (classes, classes) ‖w_k − w_l‖₁ for several classes.
        """
        return self._added(self.sizes(weight, absolute))

    def sizes(self, weight: Tensor, absolute: Callable[[Tensor], Tensor] = torch.abs) -> Tensor:
        """What a step of 1 in each coordinate adds: (1, d) |w| for one output, (classes, classes, d) |w_k − w_l|."""
        return absolute(weight[None] - weight[:, None]) if self.kind is Kind.CLASS else absolute(weight)

    def _added(self, sizes: Tensor) -> Tensor:
        return sizes.sum(2) if self.kind is Kind.CLASS else sizes.sum()

    def worst_values(self, output: Tensor, label: Tensor, epsilon: Tensor, lengths: Tensor) -> Tensor:
        """(n, k) the largest values on the ball of radius ``epsilon`` (n,) before a linear head: exact.

        Parameters
        ----------
        lengths : of the head's weights, from :meth:`lengths`.
        """
        if self.kind is Kind.CLASS:
            return self.values(output, label) + epsilon[:, None] * lengths[label.long()]
        return self.values(output, label) + (epsilon * lengths)[:, None]

    def worst_around(self, output: Tensor, label: Tensor, reach: Tensor, sizes: Tensor) -> Tensor:
        """(n, k) the largest values on balls or boxes, before a linear head with ``output`` at their middles: exact.

        Parameters
        ----------
        reach : (n, 1) radii of balls, or (n, d) half the edges of boxes. sizes : of the weights, from :meth:`sizes`.
        """
        if reach.shape[1] == 1:
            return self.worst_values(output, label, reach[:, 0], self._added(sizes))
        if self.kind is Kind.CLASS:
            return self.values(output, label) + (sizes[label.long()] * reach[:, None]).sum(2)
        return self.values(output, label) + reach @ sizes.T

    # -- decisions -------------------------------------------------------------------------------------------------

    def decide(self, output: Tensor) -> Tensor:
        """(n,) what the rule decides, as the label's code or scaled number."""
        return torch.as_tensor(self.rule.decide(output.detach().cpu().numpy())).to(output)

    def holds(self, output: Tensor, decision: Tensor, bounds: Tensor, tolerance: float = 0.0) -> Tensor:
        """(n,) whether ``bounds`` (n, k) of the decision's directions prove that the decision stays.

        Parameters
        ----------
        tolerance : for a number: how far two similar people may be apart, in units of y. The own number is that at z,
            f(x) is somewhere in the ball: so the largest and the smallest number there must be less than this apart.
        """
        if self.kind is Kind.NUMBER:
            room = 4 * torch.finfo(bounds.dtype).eps * bounds.abs().sum(1)
            return (bounds.sum(1) + room) * self.sd < tolerance
        if self.kind is Kind.SIGN:
            return bounds[:, 0] < 0
        own = one_hot(decision.long(), self.outputs).bool()
        return torch.where(own, -torch.inf, bounds).amax(1) < 0


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
