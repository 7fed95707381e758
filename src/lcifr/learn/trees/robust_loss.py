"""Mean loss of a population at each person's worst place, kept up to date while shape functions change."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lcifr.learn.encoder_training import EncodedPeople
from lcifr.learn.trees.bins.places import Offsets, Places, TermPlaces
from lcifr.learn.trees.directions import KINDS, Directions
from lcifr.learn.trees.losses import evaluate
from lcifr.learn.trees.steps.range_sums import find_tops, move
from lcifr.regions.region import BoolArray, FloatArray

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
    """Values (places, slots) of the directions, and the loss there, which is computed when somebody asks."""

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
    base : (outputs,) the scores that everybody starts with. pool : threads that evaluate it.
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
