"""Model: a function, the rule that makes decisions of its outputs, the names of the classes, and what it predicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.data.codec import Arrays, from_json, to_json
from lcifr.errors import LcifrError
from lcifr.models.function import FloatArray, Function
from lcifr.models.network import Chain, Network, as_network, factors_of
from lcifr.models.rule import Kind, Rule
from lcifr.models.trees import Trees


@dataclass(frozen=True)
class Model:
    """What :func:`lcifr.certify` and :func:`lcifr.audit` work with.

    Parameters
    ----------
    labels : the classes' names in the order of their numbers; None for numbers, and where classes have no names.
    mean : of the numbers it was learned from, the baseline to compare with; None where it is not known.
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

    def to_arrays(self, into: Arrays) -> dict[str, Any]:
        """The model as arrays, and plain values that name them."""
        labels = None if self.labels is None else {"values": self.labels.tolist(), "dtype": self.labels.dtype.str}
        function = self.function.to_arrays(into)
        return {"function": function, "rule": to_json(self.rule), "labels": labels, "mean": self.mean}

    @classmethod
    def read_arrays(cls, said: Mapping[str, Any], held: Arrays) -> Model:
        """What :meth:`to_arrays` gave."""
        named = said["labels"]
        dtype = None if named is None else (object if named["dtype"] == "|O" else np.dtype(named["dtype"]))
        labels = None if named is None else np.array(named["values"], dtype=dtype)
        return cls(read_function(said["function"], held), from_json(Rule, said["rule"]), labels, said["mean"])

    def decide(self, values: FloatArray) -> NDArray[Any]:
        """(people, outputs) to (people,) decisions in the model's own labels."""
        found = self.rule.decide(values)
        return found if self.labels is None else np.asarray(self.labels[found])

    def differ(self, decisions: NDArray[Any], others: NDArray[Any]) -> NDArray[np.bool_]:
        """(people,) whether two decisions, in the model's own labels, are not the same."""
        if self.rule.kind is Kind.NUMBER:
            return np.asarray(np.abs(others - decisions) > self.rule.known_tolerance)
        groups = self.rule.group_of
        first, second = (groups[self._classes(each)] for each in (decisions, others))
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

    def decides_second(self, decisions: NDArray[Any]) -> NDArray[np.bool_]:
        """(people,) of two classes, whether the decision is the second one."""
        second = "1" if self.labels is None else str(self.labels[1])  # files hold labels of several types as texts
        return np.asarray(decisions.astype(str) == second)

    def _classes(self, decisions: NDArray[Any]) -> NDArray[np.intp]:
        """(people,) the number of each decision's class; every label is looked up once."""
        named, which = np.unique(decisions, return_inverse=True)
        return np.array([self._class(label) for label in named], np.intp)[which.reshape(-1)]

    def _class(self, label: Any) -> int:
        if self.labels is None:
            return int(label)
        found = np.flatnonzero(self.labels == label)
        if not len(found):
            raise LcifrError(f"there is no class {label!r}", fix=f"one of {list(self.labels)}")
        return int(found[0])


KINDS: dict[str, type[Network | Chain | Trees]] = {"network": Network, "chain": Chain, "trees": Trees}
"""Functions that are sent to other machines, by their ``kind``."""


def read_function(said: Mapping[str, Any], held: Arrays) -> Function:
    """What :meth:`lcifr.models.function.Function.to_arrays` gave."""
    return KINDS[said["kind"]].read_arrays(said, held)


def own_model(thing: Any) -> Model | None:
    """The model of a model or of one of this package's fitted heads; None for anything else."""
    found = thing if isinstance(thing, Model) else getattr(thing, "model_", None)
    return found if isinstance(found, Model) else None


@dataclass(frozen=True)
class Degeneracy:
    """One way in which a model is too trivial; ``name`` for programs, ``message`` for people.

    ``advice`` : what to change in training, in terms of settings; empty where there is no general advice.
    """

    name: str
    message: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.message}. {self.advice}" if self.advice else self.message


FILE_WORDS = {Kind.SIGN: "binary", Kind.CLASS: "classes", Kind.NUMBER: "number"}
"""How saved models spell a kind."""


@dataclass(frozen=True)
class Prediction:
    """What a model predicts.

    Parameters
    ----------
    kind : of the rule by which the outputs decide.
    classes : the class labels in the order of their codes; empty for a number.
    """

    kind: Kind
    classes: NDArray[Any]

    @classmethod
    def of_model(cls, model: Model) -> Self:
        """What a finished model predicts, in the label's own unit."""
        return cls(model.rule.kind, np.array([]) if model.labels is None else model.labels)

    @property
    def outputs(self) -> int:
        """How many numbers the model gives: one for two classes (a logit), one per class, one for a number."""
        return len(self.classes) if self.kind is Kind.CLASS else 1

    @property
    def rule(self) -> Rule:
        """How the outputs decide; for a number without a tolerance."""
        return Rule(Kind.NUMBER, 1) if self.kind is Kind.NUMBER else Rule.of(self.outputs)

    def model(self, network: Network, mean: float | None = None) -> Model:
        """The network with this rule and these labels; ``mean`` as in :class:`Model`."""
        known = (1.0, 0.0) if self.kind is Kind.SIGN else None  # heads learn the logistic loss
        return Model(network, replace(self.rule, log_odds=known), self.classes if len(self.classes) else None, mean)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for files."""
        kind = self.classes.dtype.kind if len(self.classes) else "f"
        return {
            "kind": FILE_WORDS[self.kind],
            "classes": self.classes.tolist(),
            "dtype": self.classes.dtype.str if kind not in "O" else "object",
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """What :meth:`to_dict` gave."""
        dtype = object if values["dtype"] == "object" else np.dtype(values["dtype"])
        kinds = {word: kind for kind, word in FILE_WORDS.items()}
        return cls(kinds[values["kind"]], np.array(values["classes"], dtype=dtype))
