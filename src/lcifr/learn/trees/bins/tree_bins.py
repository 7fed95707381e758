"""Bins of a tree: its leaves, each a product of one set of bins per attribute that is cut."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lcifr.learn.trees.bins.attribute_bins import AttributeBins, Bins
from lcifr.regions.region import BoolArray, Cell, FloatArray

LeafSets = NDArray[np.uint64]
"""Sets of leaves, a bit for each."""


@dataclass(frozen=True)
class TreeCut:
    """Where a tree branches.

    Parameters
    ----------
    axis : the number of the attribute among those of the tree. chosen : the bins of it that lead to ``first``, the
        lowest ones of a number. first, second : a cut, or the number of a leaf.
    """

    axis: int
    chosen: frozenset[int]
    first: TreeCut | int
    second: TreeCut | int


@dataclass(frozen=True)
class TreeBins:
    """The leaves of a tree. axes : the attributes that it cuts, divided where it does."""

    axes: tuple[AttributeBins, ...]
    root: TreeCut

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of all axes."""
        return tuple(axis.attribute for axis in self.axes)

    @cached_property
    def members(self) -> tuple[BoolArray, ...]:
        """For each axis (leaves, bins) which bins each leaf holds."""
        leaves: dict[int, list[BoolArray]] = {}
        waiting: list[tuple[TreeCut | int, list[BoolArray]]] = [
            (self.root, [np.ones(axis.count, np.bool_) for axis in self.axes])
        ]
        while waiting:
            node, held = waiting.pop()
            if isinstance(node, int):
                leaves[node] = held
                continue
            chosen = np.isin(np.arange(self.axes[node.axis].count), list(node.chosen))
            for child, side in ((node.first, chosen), (node.second, ~chosen)):
                waiting.append((child, [one & side if i == node.axis else one for i, one in enumerate(held)]))
        rows = [leaves[number] for number in range(len(leaves))]
        return tuple(np.array([row[axis] for row in rows]) for axis in range(len(self.axes)))

    @property
    def count(self) -> int:
        """How many leaves there are."""
        return len(self.members[0])

    def of_points(self, x: FloatArray) -> Bins:
        """(people,) the leaves of encoded people (people, features)."""
        return np.asarray(np.frexp(self.sets_of_points(x).astype(np.float64))[1] - 1, dtype=np.int32)  # one bit each

    def reached(self, cell: Cell) -> BoolArray:
        """(people, leaves) which leaves somebody in a cell can be in: exact, leaves and cells being products."""
        return np.asarray(self.sets_of_cell(cell)[:, None] & self._leaf > 0)

    def sets_of_points(self, x: FloatArray) -> LeafSets:
        """(people,) the leaf of each person, as a set of one."""
        return np.asarray(np.bitwise_and.reduce([bits[axis.of_points(x)] for axis, bits in self._sets]))

    def sets_of_cell(self, cell: Cell) -> LeafSets:
        """(people,) the sets of leaves that somebody in a cell can be in."""
        return np.asarray(np.bitwise_and.reduce([_touched(axis, bits, cell) for axis, bits in self._sets]))

    @property
    def _leaf(self) -> LeafSets:
        """(leaves,) each leaf as a set of one."""
        return np.uint64(1) << np.arange(self.count, dtype=np.uint64)

    @cached_property
    def _sets(self) -> tuple[tuple[AttributeBins, LeafSets], ...]:
        """Each axis with (bins,) the set of leaves that hold a bin of it."""
        held = ((self._leaf[:, None] * member).sum(0, dtype=np.uint64) for member in self.members)
        return tuple(zip(self.axes, held, strict=True))


def _touched(axis: AttributeBins, sets: LeafSets, cell: Cell) -> LeafSets:
    """(people,) the union of ``sets`` (bins,) over the bins of an attribute that somebody in a cell can be in."""
    if axis.thresholds is None:
        return np.asarray(np.bitwise_or.reduce(axis.allowed(cell) * sets, axis=1))
    low, high = (axis.find(end) for end in axis.interval(cell))
    unions = np.stack([np.bitwise_or.accumulate(np.where(np.arange(len(sets)) < b, 0, sets)) for b in range(len(sets))])
    return np.asarray(unions[low, np.maximum(low, high)])
