"""Search for the best step of one term: an attribute, or a pair of attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcifr.learn.trees.bins.places import Offsets, PairRanges, TermPlaces
from lcifr.learn.trees.steps.attribute_search import CUT, FIRST, GAIN, SECOND, find_step
from lcifr.learn.trees.steps.pair_room import GridRanges, PairRoom
from lcifr.learn.trees.steps.pair_search import FIRST_CUT, LEAVES, SECOND_CUT, find_pair_step
from lcifr.learn.trees.steps.range_sums import order_categories, spread_slopes, sum_among, sum_slopes
from lcifr.models.additive import AttributeBins, PairBins
from lcifr.regions.region import FloatArray


@dataclass(frozen=True)
class StepRules:
    """What a step must be like.

    Parameters
    ----------
    rate : the learning rate. penalty : of the squared step, in people. least : people on either side of a cut.
    """

    rate: float
    penalty: float
    least: int


@dataclass(frozen=True)
class Derivatives:
    """Those of the loss by the worst values of directions.

    Parameters
    ----------
    slots, slope, curve : (places, slots). signs : (directions,) of the output that a step changes.
    """

    slots: NDArray[np.int32]
    slope: FloatArray
    curve: FloatArray
    signs: FloatArray


@dataclass(frozen=True)
class FoundStep:
    """What is added to each bin (bins,), and by how much the sum of losses should fall."""

    addition: FloatArray
    gain: float


@dataclass(frozen=True)
class RangeSums:
    """What a search goes by.

    Parameters
    ----------
    sums : (ranges, directions, 2) of slopes and curvatures. people : (ranges,) own points.
    """

    sums: FloatArray
    people: Offsets

    def without(self, other: RangeSums) -> RangeSums:
        """Those of all places but the ones of ``other``; what rounding leaves of a curvature is not below 0."""
        sums = self.sums - other.sums
        np.maximum(sums[:, :, 1], 0.0, out=sums[:, :, 1])
        return RangeSums(sums, self.people - other.people)


class AttributeSearch:
    """Steps of one attribute: one cut, and a number on either side.

    Parameters
    ----------
    monotone : 1 or −1 where the shape function must rise or fall, else 0. directions : how many there are.
    """

    def __init__(
        self, bins: AttributeBins, places: TermPlaces, rules: StepRules, monotone: int, directions: int
    ) -> None:
        self.bins, self.places, self.rules, self.monotone = bins, places, rules, monotone
        count, ranges = bins.count, places.ranges
        spans = np.diff(ranges.start) - 1 if bins.thresholds is not None else count - 1
        cuts = np.where(np.diff(ranges.start) > 1, spans, 0)
        self.sums = np.empty((len(ranges.people), directions, 2))
        self.order = np.arange(count, dtype=np.int32)
        self.sides, self.begin = np.empty((2, count, 3)), np.empty((2, count + 1), np.int64)
        self.entries = np.empty((max(1, int(cuts.sum()) * directions), 4))
        self.scratch, self.best = np.empty((count, 3)), np.empty(4)

    def search(self, values: FloatArray, by: Derivatives) -> FoundStep | None:
        """The best step from ``values`` (bins, directions), if one promises anything."""
        sum_slopes(self.places.number, by.slots, by.slope, by.curve, self.sums)
        return self.find(values, by.signs, RangeSums(self.sums, self.places.ranges.people))

    def sums_among(self, by: Derivatives, among: Offsets) -> RangeSums:
        """Sums over the places ``among`` (n,) alone, which ``by`` is about."""
        ranges = self.places.ranges
        found = RangeSums(np.empty_like(self.sums), np.empty_like(ranges.people))
        own = int(ranges.people.sum())  # own points are the first places
        sum_among(self.places.number, among, own, by.slots, by.slope, by.curve, found.sums, found.people)
        return found

    def find(self, values: FloatArray, signs: FloatArray, known: RangeSums) -> FoundStep | None:
        """The best step from ``values`` (bins, directions) by the sums of all ranges, if one promises anything."""
        ranges, best = self.places.ranges, self.best
        if self.bins.thresholds is None:
            order_categories(ranges.start, ranges.member, signs, known.sums, self.scratch, self.order)
        find_step(
            ranges.start,
            ranges.member,
            known.people,
            self.order,
            values,
            signs,
            known.sums,
            self.rules.rate,
            self.rules.penalty,
            self.rules.least,
            self.monotone,
            self.sides,
            self.begin,
            self.entries,
            self.scratch,
            best,
        )
        if not best[GAIN] > 0.0:
            return None
        addition = np.full(len(self.order), best[SECOND])
        addition[self.order[: int(best[CUT]) + 1]] = best[FIRST]
        return FoundStep(addition, float(best[GAIN]))


class PairSearch:
    """Steps of a pair: both attributes are cut once, and each quarter gets a number.

    Parameters
    ----------
    monotone : (2,) as for an attribute, of either. directions : how many there are.
    """

    def __init__(
        self, bins: PairBins, places: TermPlaces, rules: StepRules, monotone: tuple[int, int], directions: int
    ) -> None:
        assert isinstance(places.ranges, PairRanges)
        self.bins, self.places, self.ranges, self.rules = bins, places, places.ranges, rules
        self.monotone = np.array(monotone, np.int32)
        self.sums = np.empty((len(self.ranges.people), directions, 2))
        self.spread = np.empty((bins.count, 2))
        self.room = PairRoom.of(bins.first.count, bins.second.count)

    def search(self, values: FloatArray, by: Derivatives) -> FoundStep | None:
        """The best step from ``values`` (cells, directions), if one promises anything."""
        rules, best = self.rules, self.room.best
        sum_slopes(self.places.number, by.slots, by.slope, by.curve, self.sums)
        grid = self._grid(by.signs)
        find_pair_step(
            grid, values, by.signs, self.sums, rules.rate, rules.penalty, rules.least, self.monotone, self.room
        )
        if not best[0] > 0.0:
            return None
        first, second = self.bins.first.count, self.bins.second.count
        above = (grid.place[0, :first] > best[FIRST_CUT])[:, None]
        beyond = (grid.place[1, :second] > best[SECOND_CUT])[None]
        addition = best[LEAVES:][2 * above.astype(np.int64) + beyond]
        return FoundStep(addition.ravel(), float(best[0]))

    def _grid(self, signs: FloatArray) -> GridRanges:
        """The ranges, along numbers as they are and along categories in an order that cuts can use."""
        axes, number = self.ranges.axes, self.ranges.number
        place = np.zeros((2, max(axis.count for axis in self.bins.axes)), np.int32)
        for axis, order in enumerate(self._orders(signs)):
            place[axis, order] = np.arange(len(order))
        low, high = (
            np.stack([edge.reduceat(place[i, axis.member], axis.start[:-1])[number[i]] for i, axis in enumerate(axes)])
            for edge in (np.minimum, np.maximum)
        )
        start, member, people = self.ranges.start, self.ranges.member, self.ranges.people
        return GridRanges(low, high, start, member, people, place, self.bins.second.count)

    def _orders(self, signs: FloatArray) -> list[NDArray[np.integer]]:
        """The order of either axis' bins.

        What main effects leave has no order by itself: one category wishes to move up where another attribute is high
        and down where it is low. The first singular vectors of the wishes of all cells put together those that wish
        the same.
        """
        orders: list[NDArray[np.integer]] = [np.arange(axis.count) for axis in self.bins.axes]
        if all(axis.thresholds is not None or axis.count == 2 for axis in self.bins.axes):
            return orders
        spread_slopes(self.ranges.start, self.ranges.member, signs, self.sums, self.spread)
        wishes = self.spread[:, 0] / np.sqrt(self.spread[:, 1] + self.rules.penalty)
        vectors = np.linalg.svd(wishes.reshape(len(orders[0]), -1), full_matrices=False)
        for i, vector in enumerate((vectors.U[:, 0], vectors.Vh[0])):
            if self.bins.axes[i].thresholds is None:
                orders[i] = np.argsort(vector, kind="stable")
        return orders
