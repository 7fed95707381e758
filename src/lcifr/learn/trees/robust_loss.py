"""Mean loss of a population at each person's worst place, kept up to date while shape functions change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcifr.learn.encoder_training import EncodedPeople
from lcifr.learn.trees.directions import KINDS, Directions
from lcifr.learn.trees.losses import evaluate
from lcifr.learn.trees.places import Places, TermPlaces
from lcifr.learn.trees.steps.range_sums import find_tops, move
from lcifr.regions.region import BoolArray, FloatArray


@dataclass(frozen=True)
class LossPoint:
    """The loss at some values.

    Parameters
    ----------
    value : (places, slots) of the directions. loss : the mean loss.
    slope, curve : (places, slots) first and second derivatives of the sum of all losses.
    """

    value: FloatArray
    loss: float
    slope: FloatArray
    curve: FloatArray


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
    base : (outputs,) the scores that everybody starts with.
    """

    def __init__(self, people: EncodedPeople, directions: Directions, gamma: float, base: FloatArray) -> None:
        assert people.label is not None
        self.directions = directions
        self.places = Places.of(people.x, people.region, people.weight, gamma)
        self.label = np.ascontiguousarray(people.label[self.places.person])
        self.slots = np.repeat(directions.slots(self.label), np.diff(self.places.start), axis=0)
        self.terms: list[TermPlaces] = []
        self.tops: list[FloatArray] = []
        self.people, self.size = len(people.x), float(people.weight.sum())
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
    def state(self) -> LossState:
        """Where it is now; set it to go back there."""
        return LossState(self.now, tuple(self.tops))

    @state.setter
    def state(self, state: LossState) -> None:
        self.now, self.tops = state.now, list(state.tops)

    def places_of(self, chosen: BoolArray) -> BoolArray:
        """(places,) which of them belong to the people chosen (people,)."""
        return np.repeat(chosen[self.places.person], np.diff(self.places.start))

    def at(self, value: FloatArray) -> LossPoint:
        """The loss at these values (places, slots) of the directions."""
        places, kind = self.places, KINDS[self.directions.kind]
        slope, curve = np.empty_like(value), np.empty_like(value)
        total = evaluate(kind, value, places.start, self.label, places.weight, slope, curve)
        return LossPoint(value, total / self.size, slope, curve)

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
