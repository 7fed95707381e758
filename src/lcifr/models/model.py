"""Model: a function, the rule that makes decisions of its outputs, and the names of the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.errors import LcifrError
from lcifr.models.chain import factors_of
from lcifr.models.function import FloatArray, Function
from lcifr.models.network import Network, as_network
from lcifr.models.rule import Kind, Rule


@dataclass(frozen=True)
class Model:
    """What :func:`lcifr.certify` and :func:`lcifr.audit` work with.

    Parameters
    ----------
    labels : the classes' names in the order of their numbers; None for numbers, and where classes have no names.
    mean : of the numbers it was learned from, to compare with whoever always says that; None where it is not known.
    """

    function: Function
    rule: Rule
    labels: NDArray[Any] | None = None
    mean: float | None = None

    @property
    def network(self) -> Network:
        """The function, where it is a network; an error that says what it is instead."""
        return as_network(self.function)

    @property
    def factors(self) -> tuple[Network, ...]:
        """The networks that are applied in turn: one, or those of a chain."""
        return factors_of(self.function)

    @property
    def identity(self) -> tuple[Any, ...]:
        """Everything that a decision depends on, in values whose ``repr`` tells two models apart."""
        labels = None if self.labels is None else self.labels.tolist()
        return self.function.hash, self.rule, labels

    def decide(self, values: FloatArray) -> NDArray[Any]:
        """(people, outputs) to (people,) decisions in the model's own labels."""
        found = self.rule.decide(values)
        return found if self.labels is None else np.asarray(self.labels[found])

    def differ(self, decisions: NDArray[Any], others: NDArray[Any]) -> NDArray[np.bool_]:
        """(people,) whether two decisions, in the model's own labels, are not the same."""
        if self.rule.kind is Kind.NUMBER:
            return np.asarray(np.abs(others - decisions) > self.rule.known_tolerance)
        groups = self.rule.group_of
        first, second = (groups[[self._class(label) for label in each]] for each in (decisions, others))
        return np.asarray(first != second)

    def predict(self, points: ArrayLike) -> NDArray[Any]:
        """(people, inputs) to (people,) decisions in the model's own labels, by a plain forward pass."""
        return self.decide(self.function(points))

    def agreeing(self, groups: Sequence[Sequence[Any]] | None = None, tolerance: float | None = None) -> Model:
        """The same model with what counts as the same decision: groups of labels, or for numbers a tolerance."""
        if self.rule.kind is Kind.NUMBER:
            if groups is not None:
                raise LcifrError("groups are of classes, and this model predicts numbers", fix="leave groups out")
            wanted = self.rule.known_tolerance if tolerance is None else tolerance
            return replace(self, rule=Rule.of(self.rule.outputs, tolerance=wanted))
        if tolerance is not None:
            raise LcifrError("a tolerance is for numbers, and this model decides classes", fix="leave tolerance out")
        if groups is None:
            return self
        named = [[self._class(label) for label in group] for group in groups]
        return replace(self, rule=replace(Rule.of(self.rule.outputs, groups=named), band=self.rule.band))

    def _class(self, label: Any) -> int:
        if self.labels is None:
            return int(label)
        found = np.flatnonzero(self.labels == label)
        if not len(found):
            raise LcifrError(f"there is no class {label!r}", fix=f"one of {list(self.labels)}")
        return int(found[0])


def own_model(thing: Any) -> Model | None:
    """The model of a model or of one of this package's fitted heads; None for anything else."""
    found = thing if isinstance(thing, Model) else getattr(thing, "model_", None)
    return found if isinstance(found, Model) else None
