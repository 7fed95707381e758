"""The decision (the paper's μ): what must be the same for two similar people.

One output: its sign. Several: which group the largest belongs to. A number: within a tolerance. Each is a few linear
outputs that must stay strictly below a limit; ties never count for a certificate nor for a counterexample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import LcifrError
from lcifr.models.network import FLOOR, Network, gamma

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

OWN_WORD = "branch"
"""The method of every certificate: the cascade would ask a solver about what branching leaves open, and a verdict must
not rest on a solver's word."""


PRECISION = 1e-6
"""Of an answer whose limit is a decision: such outputs are nearly a tie. Of a number it is a share of the tolerance:
labels come in any unit, from millionths to billions."""
FINEST = 1e-9
"""The engine solves programs in float64: nearer than this it would branch without end."""


@dataclass(frozen=True)
class Asked:
    """What a certificate must show: direction · output < limit for everybody similar.

    Parameters
    ----------
    directions : (people, k, outputs)
    limit : (people, k)
    at : None; or (people, k) the directions at z, rounded up. Then the first half of the directions are opposite to
        the second, and two opposite ones stay below the limit *together*: no two points, z included, are so far apart.
    precision : what the engine may take as equal, absolute plus relative; little beside the tolerance of a number.
    """

    directions: FloatArray
    limit: FloatArray
    at: FloatArray | None = None
    precision: float = PRECISION

    def margin(self, upper: FloatArray) -> FloatArray:
        """(people, k) how far below the limits everything stays, given bounds (people, k) of the directions."""
        if self.at is None:
            return np.asarray(self.limit - upper)
        top = np.maximum(upper, self.at)
        back = np.roll(top, top.shape[1] // 2, axis=1)
        room = gamma(8) * (np.abs(top) + np.abs(back) + self.limit + FLOOR)
        return np.asarray(self.limit - (top + back) - room)

    def take(self, rows: IntArray) -> Asked:
        """About some of the people."""
        at = None if self.at is None else self.at[rows]
        return Asked(self.directions[rows], self.limit[rows], at, self.precision)


@dataclass(frozen=True)
class Decision:
    """What must agree.

    Parameters
    ----------
    kind : ``sign`` of one output (class 1 above 0), ``class`` of the largest output, ``within`` a tolerance.
    outputs : of the model.
    groups : for ``class``: the classes that count as one decision; each class is in one group.
    tolerance : for ``within``: in units of the output.
    """

    kind: Literal["sign", "class", "within"]
    outputs: int
    groups: tuple[tuple[int, ...], ...] = ()
    tolerance: float = 0.0

    @classmethod
    def of(
        cls, outputs: int, *, groups: Sequence[Sequence[int]] | None = None, tolerance: float | None = None
    ) -> Decision:
        """By the number of outputs; a tolerance makes it a regression, groups join classes."""
        if tolerance is not None:
            if groups is not None or not (np.isfinite(tolerance) and tolerance >= 0):
                raise LcifrError("a tolerance is a number that is not negative, without groups of classes")
            return cls("within", outputs, (), float(tolerance))
        if outputs == 1:
            if groups is not None:
                raise LcifrError("two classes have no groups", fix="leave groups out")
            return cls("sign", 1)
        named = tuple(tuple(int(c) for c in group) for group in groups or ())
        listed = [c for group in named for c in group]
        if len(set(listed)) != len(listed) or not set(listed) <= set(range(outputs)):
            raise LcifrError(f"groups {named} name a class twice, or one that is not in 0 … {outputs - 1}")
        alone = tuple((c,) for c in range(outputs) if c not in listed)
        return cls("class", outputs, tuple(sorted(named + alone)))

    @property
    def home(self) -> IntArray:
        """(classes,) the group of each class."""
        found = np.zeros(max(self.outputs, 2), dtype=np.int64)
        for place, group in enumerate(self.groups or ((0,), (1,))):
            found[list(group)] = place
        return found

    def predict(self, values: FloatArray) -> NDArray[Any]:
        """(people, outputs) to (people,) classes, or the number itself."""
        if self.kind == "within":
            return values[:, 0] if self.outputs == 1 else values
        if self.kind == "sign":
            return np.asarray(values[:, 0] > 0, dtype=np.int64)
        return np.asarray(values.argmax(1), dtype=np.int64)

    def ask(self, values: FloatArray, doubt: FloatArray) -> Asked:
        """The question about everybody, given their own outputs (people, outputs) and how far these may be off."""
        people = len(values)
        if self.kind == "sign":
            return Asked(np.where(values > 0, -1.0, 1.0)[:, :, None], np.zeros((people, 1)))
        if self.kind == "within":
            signs = np.concatenate([np.eye(self.outputs), -np.eye(self.outputs)])
            limit = values @ signs.T + self.tolerance
            room = doubt @ np.abs(signs).T + gamma(8) * (np.abs(limit) + self.tolerance + FLOOR)
            return Asked(
                np.broadcast_to(signs, (people, *signs.shape)), limit - 2 * room, precision=self._precision(limit)
            )
        prediction = self.predict(values)
        # Where groups differ in size, some people have fewer classes outside: their last one is asked twice.
        outside = [[c for c in range(self.outputs) if c not in group] for group in self.groups]
        most = max(map(len, outside))
        if most == 0:
            return Asked(np.zeros((people, 1, self.outputs)), np.ones((people, 1)))
        padded = np.array([(row + row[-1:] * most)[:most] if row else [-1] * most for row in outside])
        others = padded[self.home[prediction]]
        directions = np.zeros((people, most, self.outputs))
        rows, columns = np.indices(others.shape)
        directions[rows, columns, others] = 1.0
        directions[rows, columns, prediction[:, None]] -= 1.0
        return Asked(directions, np.zeros((people, most)))

    def ask_without_f(self, values: FloatArray, doubt: FloatArray) -> Asked:
        """The same by the outputs at z, for those who do not know f(x): it may be anywhere among the similar ones.

        A class is that of all of them, so it is that of f(x). A number at z says nothing about that at f(x): two of
        them, each within the tolerance of the one at z, may be twice as far from each other.
        """
        asked = self.ask(values, doubt)
        if self.kind != "within":
            return asked
        at = np.concatenate([values, -values], axis=1) + 2 * np.concatenate([doubt, doubt], axis=1)
        return replace(asked, limit=np.full_like(asked.limit, self.tolerance), at=np.nextafter(at, np.inf))

    def _precision(self, limit: FloatArray) -> float:
        """The engine stops at a gap of precision · (1 + |output|): at most a share of the tolerance, for everybody."""
        share = PRECISION * self.tolerance / (1.0 + float(np.abs(limit).max(initial=0.0)))
        return min(PRECISION, max(share, FINEST))

    def strict(self, values: FloatArray, doubt: FloatArray) -> BoolArray:
        """(people,) whether the own decision surely is the predicted one, in exact arithmetic too."""
        if self.kind == "within":
            return np.ones(len(values), np.bool_)
        asked = self.ask(values, doubt)
        upper = np.einsum("pko,po->pk", asked.directions, values)
        room = np.einsum("pko,po->pk", np.abs(asked.directions), 2 * doubt + gamma(8) * np.abs(values))
        return np.asarray((upper + room < asked.limit).all(1))

    def differs(self, own: FloatArray, doubt: FloatArray, other: FloatArray, other_doubt: FloatArray) -> BoolArray:
        """(people,) whether both decisions are beyond doubt and not the same."""
        if self.kind == "within":
            gap, room = np.abs(other - own), 2 * (doubt + other_doubt) + gamma(8) * (np.abs(own) + np.abs(other))
            return np.asarray((gap - room > self.tolerance).any(1))
        if self.kind == "sign":
            sure = self.strict(own, doubt) & self.strict(other, other_doubt)
            return np.asarray(sure & (self.predict(own) != self.predict(other)))
        return np.asarray(self.strict(own, doubt) & self._outside(self.predict(own), other, other_doubt))

    def _outside(self, prediction: IntArray, other: FloatArray, doubt: FloatArray) -> BoolArray:
        """Whether the largest output surely belongs to a class outside the prediction's group."""
        inside = self.home[prediction][:, None] == self.home[None, : self.outputs]
        best_inside = np.where(inside, other + 2 * doubt, -np.inf).max(1)
        best_outside = np.where(inside, -np.inf, other - 2 * doubt).max(1)
        return np.asarray(best_outside > best_inside)

    def to_dict(self) -> dict[str, Any]:
        """As an audit bundle holds it."""
        if self.kind == "class":
            return {"kind": "class", "groups": [list(group) for group in self.groups]}
        return {"kind": "sign"} if self.kind == "sign" else {"kind": "within", "tolerance": float(self.tolerance)}


@dataclass(frozen=True)
class Model:
    """A network and what its outputs mean: what :func:`certify` and :func:`audit` work with.

    ``labels`` are the classes' names, or None; ``mean`` is that of the numbers it was learned from, where it is known.
    """

    network: Network
    decision: Decision
    labels: NDArray[Any] | None = None
    mean: float | None = None

    @property
    def identity(self) -> tuple[Any, ...]:
        """Everything that a decision depends on, in values whose ``repr`` tells two models apart."""
        labels = None if self.labels is None else self.labels.tolist()
        return self.network.hash, self.decision, labels


def read_model(model: Any, groups: Sequence[Sequence[Any]] | None = None, tolerance: float | None = None) -> Model:
    """A network, one of this package's classifiers, or a fitted scikit-learn model.

    Parameters
    ----------
    groups : class labels that count as one decision, as lists of labels (of class numbers for a plain network).
    tolerance : for regression, in the label's own unit, as the network's output is.
    """
    if isinstance(model, Model):
        return model
    if isinstance(model, Network):
        return Model(model, Decision.of(model.outputs, groups=groups, tolerance=tolerance))
    from lcifr.models.adapter import adapt
    from lcifr.models.target import Kind

    decider = adapt(model)
    network, target = decider.network, decider.target
    if target.kind is Kind.NUMBER:
        if tolerance is None:
            raise LcifrError("a regression needs a tolerance", fix="pass tolerance=… in the units of the target")
        return Model(network, Decision.of(1, tolerance=tolerance), None, decider.mean)
    if tolerance is not None:
        raise LcifrError("a tolerance is for numbers, and this model decides classes", fix="leave tolerance out")
    named = None if groups is None else [[_class(label, target.classes) for label in group] for group in groups]
    return Model(network, Decision.of(network.outputs, groups=named), np.asarray(target.classes))


def _class(label: Any, classes: NDArray[Any]) -> int:
    found = np.flatnonzero(classes == label)
    if not len(found):
        raise LcifrError(f"there is no class {label!r}", fix=f"one of {list(classes)}")
    return int(found[0])
