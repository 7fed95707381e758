"""Losses of boosting: convex losses of the outputs, and the robust loss over all that similar people may get."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lcifr.learn.boosting.attribute_steps import find_tops, move
from lcifr.learn.boosting.places import Offsets, Places, TermPlaces
from lcifr.learn.target import EncodedPeople
from lcifr.models.rule import Kind
from lcifr.prove.networks.kernel.jit import compiled, kept
from lcifr.regions.region import BoolArray, FloatArray

# Directions in which scores are bad for a person: what a worst case maximises, by the kind of target.

KINDS = {Kind.SIGN: 0, Kind.NUMBER: 1, Kind.CLASS: 2}
"""How compiled functions name a kind."""


@dataclass(frozen=True)
class Directions:
    """Linear functions of the scores that must stay small; each person has some of them, in *slots*.

    =======  ===================  =========================  ==========================================
    kind     directions           slots of a person          loss of the values v
    =======  ===================  =========================  ==========================================
    sign     +score, −score       the one against the label  softplus(v)
    number   +score, −score       both                       ½ max(v₀ − y, v₁ + y)²
    class    score_k − score_l    all k, with l the label    log Σ exp v, the label's own being 0
    =======  ===================  =========================  ==========================================
    """

    kind: Kind
    outputs: int

    @property
    def matrix(self) -> FloatArray:
        """(directions, outputs)."""
        if self.kind is not Kind.CLASS:
            return np.array([[1.0], [-1.0]])
        unit = np.eye(self.outputs)
        return np.asarray((unit[:, None] - unit[None]).reshape(-1, self.outputs))

    def slots(self, label: FloatArray) -> NDArray[np.int32]:
        """(n, slots) the directions of people with these labels (n,)."""
        if self.kind is Kind.SIGN:
            return label.astype(np.int32)[:, None]
        if self.kind is Kind.NUMBER:
            return np.tile(np.array([0, 1], np.int32), (len(label), 1))
        return np.arange(self.outputs, dtype=np.int32) * self.outputs + label.astype(np.int32)[:, None]

    def start(self, label: FloatArray, weight: FloatArray) -> FloatArray:
        """(outputs,) the best scores that are the same for all people."""
        if self.kind is Kind.NUMBER:
            return np.array([np.average(label, weights=weight)])
        shares = np.bincount(label.astype(np.int64), weights=weight, minlength=max(2, self.outputs)) / weight.sum()
        logs = np.log(np.maximum(shares, 1e-6))  # a class may be missing from what is learned from
        return np.asarray(logs - logs.mean() if self.kind is Kind.CLASS else logs[1:] - logs[:1])


# Losses of terms at their worst places, with slopes and curvatures, as machine code.

SIGN, NUMBER, CLASS = 0, 1, 2  # as in directions.KINDS
SHARPNESS = 20.0
"""Cells whose value is within about 1 / SHARPNESS of the worst share its slope: a step that helps only one of two cells
that are equally bad helps no one. Losses themselves are those of the worst cell alone."""


@kept
def evaluate(
    kind: int,
    value: FloatArray,
    start: NDArray[np.int64],
    label: FloatArray,
    weight: FloatArray,
    slope: FloatArray,
    curve: FloatArray,
) -> float:
    """The sum of all terms' weighted losses.

    Parameters
    ----------
    value : (places, slots) of the directions. start : (terms + 1,). label, weight : (terms,).
    slope, curve : (places, slots) filled with first and second derivatives of the sum.
    """
    total = 0.0
    slots = value.shape[1]
    for term in range(len(label)):
        first, last = start[term], start[term + 1]
        if kind == SIGN and slots == 1 and last == first + 1:  # nearly always: nothing to choose from
            loss, one, two = _softplus(value[first, 0])
            total += weight[term] * loss
            slope[first, 0], curve[first, 0] = weight[term] * one, weight[term] * two
            continue
        if kind == CLASS:
            total += weight[term] * _several(value, first, last, int(label[term]), weight[term], slope, curve)
            continue
        place, slot, worst = _worst(kind, value, first, last, label[term])
        if kind == SIGN:
            loss, one, two = _softplus(worst)
        else:
            loss, one, two = 0.5 * worst * worst, worst, 1.0
        total += weight[term] * loss
        for p in range(first, last):
            for s in range(slots):
                slope[p, s], curve[p, s] = 0.0, 0.0
        _share(value, first, last, slot, value[place, slot], weight[term] * one, weight[term] * two, slope, curve)
    return total


@compiled
def _worst(kind: int, value: FloatArray, first: int, last: int, label: float) -> tuple[int, int, float]:
    """The worst place and slot of a term, and how bad it is."""
    place, slot, worst = first, 0, -math.inf
    for p in range(first, last):
        for s in range(value.shape[1]):
            bad = value[p, s]
            if kind == NUMBER:
                bad += label if s == 1 else -label
            if bad > worst:
                place, slot, worst = p, s, bad
    return place, slot, worst


@compiled
def _softplus(v: float) -> tuple[float, float, float]:
    """log(1 + exp v) and its first two derivatives."""
    small = math.exp(-abs(v))
    share = 1.0 / (1.0 + small) if v >= 0.0 else small / (1.0 + small)
    return max(v, 0.0) + math.log1p(small), share, share * (1.0 - share)


@compiled
def _several(
    value: FloatArray, first: int, last: int, label: int, weight: float, slope: FloatArray, curve: FloatArray
) -> float:
    """log(1 + Σ exp v) over the slots but the label's own, with derivatives of the sum and of each slot alone."""
    slots = value.shape[1]
    highest = 0.0
    for p in range(first, last):
        for s in range(slots):
            slope[p, s], curve[p, s] = 0.0, 0.0
            if s != label:
                highest = max(highest, value[p, s])
    total = math.exp(-highest)
    for s in range(slots):
        if s != label:
            total += math.exp(_top(value, first, last, s) - highest)
    for s in range(slots):
        if s != label:
            top = _top(value, first, last, s)
            share = math.exp(top - highest) / total
            _share(value, first, last, s, top, weight * share, weight * share * (1.0 - share), slope, curve)
    return highest + math.log(total)


@compiled
def _top(value: FloatArray, first: int, last: int, slot: int) -> float:
    top = -math.inf
    for p in range(first, last):
        top = max(top, value[p, slot])
    return top


@compiled
def _share(
    value: FloatArray,
    first: int,
    last: int,
    slot: int,
    top: float,
    one: float,
    two: float,
    slope: FloatArray,
    curve: FloatArray,
) -> None:
    """Divide the derivatives of a term among its places, nearly all to those that are nearly as bad as the worst."""
    if last == first + 1:
        slope[first, slot], curve[first, slot] = one, two
        return
    total = 0.0
    for p in range(first, last):
        total += math.exp(SHARPNESS * (value[p, slot] - top))
    for p in range(first, last):
        part = math.exp(SHARPNESS * (value[p, slot] - top)) / total
        slope[p, slot], curve[p, slot] = one * part, two * part


# Mean loss of a population at each person's worst place, kept up to date while shape functions change.

CHUNK = 16_384
"""Terms that are evaluated at once; the same on every machine, so that sums are."""


@dataclass(frozen=True)
class LossDerivatives:
    """The mean loss, and first and second derivatives (places, slots) of the sum of all losses."""

    loss: float
    slope: FloatArray
    curve: FloatArray


@dataclass(frozen=True)
class LossTerms:
    """What is known of every term: its places, label and weight; ``size`` is the sum of the people's weights."""

    kind: int
    start: Offsets
    label: FloatArray
    weight: FloatArray
    size: float
    pool: ThreadPoolExecutor | None

    def evaluate(self, value: FloatArray) -> LossDerivatives:
        """The loss at these values (places, slots) of the directions."""
        slope, curve = np.empty_like(value), np.empty_like(value)

        def part(first: int) -> float:
            own = slice(first, first + CHUNK)
            start = self.start[first : first + CHUNK + 1]
            return evaluate(self.kind, value, start, self.label[own], self.weight[own], slope, curve)

        share = map if self.pool is None else self.pool.map
        total = sum(share(part, range(0, len(self.label), CHUNK)))
        return LossDerivatives(total / self.size, slope, curve)


@dataclass(frozen=True)
class LossPoint:
    """Values (places, slots) of the directions, and the loss there, which is computed when it is first read."""

    value: FloatArray
    terms: LossTerms

    @cached_property
    def evaluation(self) -> LossDerivatives:
        """Loss and derivatives."""
        return self.terms.evaluate(self.value)

    @property
    def loss(self) -> float:
        """The mean loss."""
        return self.evaluation.loss


@dataclass(frozen=True)
class Moved:
    """Where the loss would be with another shape function of one term.

    Parameters
    ----------
    term : the number of an attribute or pair. tops : (ranges, directions) of it. point : where the loss is taken.
    """

    term: int
    tops: FloatArray
    point: LossPoint


@dataclass(frozen=True)
class LossState:
    """The loss at some shape functions, and each term's worst values (ranges, directions)."""

    now: LossPoint
    tops: tuple[FloatArray, ...]

    @property
    def loss(self) -> float:
        return self.now.loss


class RobustLoss:
    """The loss of some people: plain and ``gamma`` times robust, divided by 1 + ``gamma``, and by the people's weights.

    Parameters
    ----------
    base : (outputs,) the scores that all people start with. pool : threads that evaluate it.
    """

    def __init__(
        self,
        people: EncodedPeople,
        directions: Directions,
        gamma: float,
        base: FloatArray,
        pool: ThreadPoolExecutor | None = None,
    ) -> None:
        assert people.label is not None
        self.directions, self.people = directions, len(people.x)
        places = self.places = Places.of(people.x, people.region, people.weight, gamma)
        label = np.ascontiguousarray(people.label[places.person])
        size = float(people.weight.sum())
        self.slots = np.repeat(directions.slots(label), np.diff(places.start), axis=0)
        self.all = LossTerms(KINDS[directions.kind], places.start, label, places.weight, size, pool)
        self.terms: list[TermPlaces] = []
        self.tops: list[FloatArray] = []
        self.now = self.at((directions.matrix @ base)[self.slots])

    def add(self, term: TermPlaces) -> None:
        """An attribute or pair more, whose shape function is 0."""
        self.terms.append(term)
        self.tops.append(np.zeros((len(term.ranges.people), len(self.directions.matrix))))

    @property
    def loss(self) -> float:
        """The mean loss now."""
        return self.now.loss

    @property
    def size(self) -> float:
        """The sum of the people's weights."""
        return self.all.size

    @property
    def state(self) -> LossState:
        """Where it is now; set it to go back there."""
        return LossState(self.now, tuple(self.tops))

    @state.setter
    def state(self, state: LossState) -> None:
        self.now, self.tops = state.now, list(state.tops)
        del self.terms[len(self.tops) :]  # trees that came later

    def places_of(self, chosen: BoolArray) -> BoolArray:
        """(places,) which of them belong to the people chosen (people,)."""
        return np.repeat(chosen[self.places.person], np.diff(self.places.start))

    def at(self, value: FloatArray) -> LossPoint:
        """The loss at these values (places, slots) of the directions."""
        return LossPoint(value, self.all)

    def after(self, term: int, values: FloatArray) -> Moved:
        """With ``values`` (bins, outputs) as the shape function of a term."""
        ranges = self.terms[term].ranges
        tops = np.empty_like(self.tops[term])
        find_tops(ranges.start, ranges.member, np.ascontiguousarray(values @ self.directions.matrix.T), tops)
        value = self.now.value.copy()
        move(self.terms[term].number, self.slots, tops - self.tops[term], value)
        return Moved(term, tops, self.at(value))

    def keep(self, moved: Moved) -> None:
        """Go there."""
        self.now, self.tops[moved.term] = moved.point, moved.tops
