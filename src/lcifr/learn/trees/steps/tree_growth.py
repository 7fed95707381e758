"""Growth of one tree: cut after cut, each the best step of an attribute for those who are in the node.

Whoever can be on both sides of a cut is counted where the step makes them worst, and the next cut goes on from there.
That only guides the growth: what a tree costs is taken by the loss itself, at every place's worst leaf.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from lcifr.learn.trees.bins.attribute_bins import AttributeBins
from lcifr.learn.trees.bins.places import Offsets
from lcifr.learn.trees.bins.tree_bins import TreeBins, TreeCut
from lcifr.learn.trees.steps.term_search import AttributeSearch, Derivatives, FoundStep
from lcifr.regions.region import BoolArray, FloatArray


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


class TreeGrower:
    """Grows trees from the searches of single attributes, by the number of the term."""

    def __init__(self, searches: Mapping[int, AttributeSearch], pool: ThreadPoolExecutor) -> None:
        self.searches, self.pool = searches, pool

    def grow(self, by: Derivatives, depth: int) -> GrownTree | None:
        """A tree with at most ``depth`` cuts on the way to a leaf; None where no cut promises anything."""
        root = self._node(by, np.arange(len(by.slots)), 0.0, depth)
        return None if isinstance(root, float) else _finished(root, self.searches)

    def _node(self, by: Derivatives, among: Offsets, value: float, depth: int) -> _GrownCut | float:
        """What becomes of the places ``among`` (n,), which ``by`` is about; the cut above gave them ``value``."""
        found = self._best(by, among) if depth else None
        if found is None:
            return value
        term, step = found
        first = step.addition == step.addition[0]
        a, b = float(step.addition[0]), float(step.addition[~first][0])
        side = self._on_first(among, term, first, worse=by.signs[by.slots] * (a - b) > 0)
        return _GrownCut(term, first, self._child(by, among, side, a, depth), self._child(by, among, ~side, b, depth))

    def _child(self, by: Derivatives, among: Offsets, side: BoolArray, value: float, depth: int) -> _GrownCut | float:
        rows = np.flatnonzero(side.any(1))
        there = side[rows]
        own = Derivatives(by.slots[rows], by.slope[rows] * there, by.curve[rows] * there, by.signs)
        return self._node(own, among[rows], value, depth - 1)

    def _best(self, by: Derivatives, among: Offsets) -> tuple[int, FoundStep] | None:
        """The attribute whose best step promises most, and that step."""

        def search(term: int) -> FoundStep | None:
            one = self.searches[term]
            return one.search(np.zeros((one.bins.count, len(by.signs))), by, among)

        found = zip(self.searches, self.pool.map(search, self.searches), strict=True)
        steps = {term: step for term, step in found if step is not None}
        if not steps:
            return None
        best = max(steps, key=lambda term: (steps[term].gain, -term))
        return best, steps[best]

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
