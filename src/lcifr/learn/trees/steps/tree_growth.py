"""Growth of one tree: cut after cut, each the best step of an attribute for those who are in the node.

Whoever can be on both sides of a cut is counted where the step makes them worst, and the next cut goes on from there.
That only guides the growth: what a tree costs is taken by the loss itself, at every place's worst leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

import numpy as np

from lcifr.learn.trees.bins.places import Offsets
from lcifr.learn.trees.steps.term_search import AttributeSearch, Derivatives, FoundStep, RangeSums
from lcifr.models.additive import AttributeBins, TreeBins, TreeCut
from lcifr.regions.region import BoolArray, FloatArray

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
        """(n, slots) who counts on the first side: whoever can only be there, or on both and is worse off there."""
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
