"""Proposed boosting steps of each term: an attribute, a pair or a tree of attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lcifr.learn.boosting.attribute_steps import (
    CUT,
    FIRST,
    GAIN,
    SECOND,
    find_step,
    order_categories,
    spread_slopes,
    sum_among,
    sum_slopes,
)
from lcifr.learn.boosting.losses import RobustLoss
from lcifr.learn.boosting.pair_steps import FIRST_CUT, LEAVES, SECOND_CUT, GridRanges, PairRoom, find_pair_step
from lcifr.learn.boosting.places import Offsets, PairRanges, TermPlaces
from lcifr.models.additive import AttributeBins, PairBins, TreeBins, TreeCut
from lcifr.regions.region import BoolArray, FloatArray

# Search for the best step of one term: an attribute, or a pair of attributes.


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


# Growth of one tree: cut after cut, each the best step of an attribute for those who are in the node.
#
# People who can be on both sides of a cut are counted where the step makes them worst, and the next cut goes on from
# there. That only guides the growth: what a tree costs is taken by the loss itself, at every place's worst leaf.

T = TypeVar("T")
Sums = dict[int, RangeSums]
TOGETHER = 8
"""Attributes that a thread is given at a time."""


@dataclass(frozen=True)
class GrownTree:
    """A tree, and what its leaves add to one output (leaves,)."""

    bins: TreeBins
    addition: FloatArray


@dataclass(frozen=True)
class _GrownCut:
    """A node that is cut at an attribute: which of its bins lead to ``first``, and what both children are."""

    term: int
    chosen: BoolArray
    first: _GrownCut | float
    second: _GrownCut | float


@dataclass(frozen=True)
class _GrownNode:
    """The places (n,) in a node, and the derivatives of their worst values that count there."""

    by: Derivatives
    among: Offsets

    def part(self, side: BoolArray) -> _GrownNode:
        """A child, where the worst values ``side`` (n, slots) count."""
        rows = np.flatnonzero(side.any(1))
        by, there = self.by, side[rows]
        own = Derivatives(by.slots[rows], by.slope[rows] * there, by.curve[rows] * there, by.signs)
        return _GrownNode(own, self.among[rows])


class TreeGrower:
    """Grows trees from the searches of single attributes, by the number of the term."""

    def __init__(self, searches: Mapping[int, AttributeSearch], pool: ThreadPoolExecutor) -> None:
        self.searches, self.pool = searches, pool
        self.nothing = {term: np.zeros((one.bins.count, one.sums.shape[1])) for term, one in searches.items()}

    def grow(self, by: Derivatives, depth: int) -> GrownTree | None:
        """A tree with at most ``depth`` cuts on the way to a leaf; None where no cut promises anything."""
        root = _GrownNode(by, np.arange(len(by.slots)))
        grown = self._grow(root, self._sums(root), 0.0, depth)
        return None if isinstance(grown, float) else _finished(grown, self.searches)

    def _grow(self, node: _GrownNode, sums: Sums, value: float, depth: int) -> _GrownCut | float:
        """What becomes of a node with these sums by attribute; the cut above gave it ``value``."""
        found = self._best(node.by.signs, sums)
        if found is None:
            return value
        term, step = found
        first = step.addition == step.addition[0]
        a, b = float(step.addition[0]), float(step.addition[~first][0])
        if depth == 1:
            return _GrownCut(term, first, a, b)
        side = self._on_first(node.among, term, first, worse=node.by.signs[node.by.slots] * (a - b) > 0)
        children = node.part(side), node.part(~side)
        known = self._sums_of(children, sums)
        grown = (self._grow(*each, depth - 1) for each in zip(children, known, (a, b), strict=True))
        return _GrownCut(term, first, *grown)

    def _sums_of(self, children: tuple[_GrownNode, _GrownNode], sums: Sums) -> tuple[Sums, Sums]:
        """Of both children, who have together the sums of the node: the smaller one is counted, the other is the rest.

        Each worst value of a place is on one side, and so is every own point.
        """
        small = int(len(children[1].among) < len(children[0].among))
        counted = self._sums(children[small])
        rest = {term: one.without(counted[term]) for term, one in sums.items()}
        return (rest, counted) if small else (counted, rest)

    def _sums(self, node: _GrownNode) -> Sums:
        return self._each(lambda term: self.searches[term].sums_among(node.by, node.among))

    def _best(self, signs: FloatArray, sums: Sums) -> tuple[int, FoundStep] | None:
        """The attribute whose best step promises most, and that step."""
        found = self._each(lambda term: self.searches[term].find(self.nothing[term], signs, sums[term]))
        steps = {term: step for term, step in found.items() if step is not None}
        if not steps:
            return None
        best = max(steps, key=lambda term: (steps[term].gain, -term))
        return best, steps[best]

    def _each(self, what: Callable[[int], T]) -> dict[int, T]:
        """What comes out for each attribute, shared among threads: a few attributes at a time, for each is quick."""
        terms = list(self.searches)
        parts = (terms[first : first + TOGETHER] for first in range(0, len(terms), TOGETHER))
        found = self.pool.map(lambda part: [what(term) for term in part], parts)
        return dict(zip(terms, chain.from_iterable(found), strict=True))

    def _on_first(self, among: Offsets, term: int, first: BoolArray, worse: BoolArray) -> BoolArray:
        """(n, slots) who counts on the first side: people who can only be there, or on both and are worse off there."""
        places = self.searches[term].places
        ranges, number = places.ranges, places.number[among]
        can_first, can_second = (
            np.logical_or.reduceat(side[ranges.member], ranges.start[:-1])[number][:, None] for side in (first, ~first)
        )
        return np.asarray(can_first & (~can_second | worse))


def _finished(root: _GrownCut, searches: Mapping[int, AttributeSearch]) -> GrownTree:
    """The tree on axes that are divided only where it cuts."""
    cuts: dict[int, list[BoolArray]] = {}
    waiting: list[_GrownCut | float] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _GrownCut):
            cuts.setdefault(node.term, []).append(node.chosen)
            waiting += [node.first, node.second]
    terms = sorted(cuts)
    axes = {term: _axis(searches[term].bins, cuts[term]) for term in terms}
    leaves: list[float] = []

    def built(node: _GrownCut | float) -> TreeCut | int:
        if not isinstance(node, _GrownCut):
            leaves.append(node)
            return len(leaves) - 1
        axis = axes[node.term]
        chosen = node.chosen
        if axis.thresholds is not None:
            fine = searches[node.term].bins.thresholds
            assert fine is not None
            chosen = np.append(axis.thresholds, np.inf) <= fine[int(chosen.sum()) - 1]
        held = frozenset(np.flatnonzero(chosen).tolist())
        return TreeCut(terms.index(node.term), held, built(node.first), built(node.second))

    cut = built(root)
    assert isinstance(cut, TreeCut)
    return GrownTree(TreeBins(tuple(axes.values()), cut), np.array(leaves))


def _axis(bins: AttributeBins, cuts: list[BoolArray]) -> AttributeBins:
    if bins.thresholds is None:
        return bins
    return replace(bins, thresholds=bins.thresholds[sorted({int(chosen.sum()) - 1 for chosen in cuts})])


# Proposals of steps: the best one of every attribute and pair, found in threads.


@dataclass(frozen=True)
class BoostingStep:
    """Add to one output's shape function of a term, which is an attribute or a pair.

    Parameters
    ----------
    term : its number. addition : (bins,) what is added. gain : by how much the mean loss should fall.
    """

    term: int
    output: int
    addition: FloatArray
    gain: float


class StepProposer:
    """The best step of each attribute and pair for the loss of some people, by its second-order model.

    Attributes
    ----------
    searches : by the number of the term; trees have none, once they are grown.
    """

    def __init__(self, loss: RobustLoss, pool: ThreadPoolExecutor) -> None:
        self.loss, self.pool = loss, pool
        self.searches: dict[int, AttributeSearch | PairSearch] = {}

    def propose(self, values: Sequence[FloatArray], output: int, by: Derivatives) -> list[BoostingStep]:
        """The steps that promise something, best first.

        Parameters
        ----------
        values : of each term, (bins, outputs).
        """
        matrix = self.loss.directions.matrix

        def best(term: int) -> BoostingStep | None:
            found = self.searches[term].search(np.ascontiguousarray(values[term] @ matrix.T), by)
            if found is None:
                return None
            return BoostingStep(term, output, found.addition, found.gain / self.loss.size)

        found = [step for step in self.pool.map(best, self.searches) if step is not None]
        return sorted(found, key=lambda step: (-step.gain, step.term))
