"""Mean loss of a population at each person's worst place, kept up to date while shape functions change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lcifr.learn.encoder_training import EncodedPeople
from lcifr.learn.trees.attribute_bins import AttributeBins
from lcifr.learn.trees.directions import KINDS, Directions
from lcifr.learn.trees.losses import evaluate
from lcifr.learn.trees.places import Places
from lcifr.learn.trees.range_sums import find_tops, move
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
    """Where the loss would be with another shape function of one attribute.

    Parameters
    ----------
    tops : (ranges, directions) of the attribute. point : where the loss is taken.
    """

    attribute: int
    tops: FloatArray
    point: LossPoint


class RobustLoss:
    """The loss of some people: plain and ``gamma`` times robust, divided by 1 + ``gamma``, and by the people's weights.

    Parameters
    ----------
    base : (outputs,) the scores that everybody starts with.
    """

    def __init__(
        self,
        bins: Sequence[AttributeBins],
        people: EncodedPeople,
        directions: Directions,
        gamma: float,
        base: FloatArray,
    ) -> None:
        assert people.label is not None
        self.directions = directions
        self.places = Places.of(bins, people.x, people.region, people.weight, gamma)
        self.label = np.ascontiguousarray(people.label[self.places.person])
        self.slots = np.repeat(directions.slots(self.label), np.diff(self.places.start), axis=0)
        self.tops = [np.zeros((len(ranges.people), len(directions.matrix))) for ranges in self.places.ranges]
        self.people, self.size = len(people.x), float(people.weight.sum())
        self.now = self.at((directions.matrix @ base)[self.slots])

    @property
    def loss(self) -> float:
        """The mean loss now."""
        return self.now.loss

    def places_of(self, chosen: BoolArray) -> BoolArray:
        """(places,) which of them belong to the people chosen (people,)."""
        return np.repeat(chosen[self.places.person], np.diff(self.places.start))

    def at(self, value: FloatArray) -> LossPoint:
        """The loss at these values (places, slots) of the directions."""
        places, kind = self.places, KINDS[self.directions.kind]
        slope, curve = np.empty_like(value), np.empty_like(value)
        total = evaluate(kind, value, places.start, self.label, places.weight, slope, curve)
        return LossPoint(value, total / self.size, slope, curve)

    def after(self, attribute: int, values: FloatArray) -> Moved:
        """With ``values`` (bins, outputs) as the shape function of an attribute."""
        ranges = self.places.ranges[attribute]
        tops = np.empty_like(self.tops[attribute])
        find_tops(ranges.start, ranges.member, np.ascontiguousarray(values @ self.directions.matrix.T), tops)
        value = self.now.value.copy()
        move(self.places.number[attribute], self.slots, tops - self.tops[attribute], value)
        return Moved(attribute, tops, self.at(value))

    def keep(self, moved: Moved) -> None:
        """Go there."""
        self.now, self.tops[moved.attribute] = moved.point, moved.tops
