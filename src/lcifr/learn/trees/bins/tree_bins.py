"""Bins of a tree: its leaves, each a product of one set of bins per attribute that is cut."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lcifr.learn.trees.bins.attribute_bins import AttributeBins, Bins
from lcifr.regions.region import BoolArray, Cell, FloatArray


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
        inside = np.ones((len(x), self.count), np.bool_)
        for axis, member in zip(self.axes, self.members, strict=True):
            inside &= member.T[axis.of_points(x)]
        return np.asarray(inside.argmax(1), dtype=np.int32)

    def reached(self, cell: Cell) -> BoolArray:
        """(people, leaves) which leaves somebody in a cell can be in: exact, leaves and cells being products."""
        inside = np.ones((len(cell.present), self.count), np.bool_)
        for axis, member in zip(self.axes, self.members, strict=True):
            inside &= (axis.reached(cell).astype(np.int32) @ member.T.astype(np.int32)) > 0
        return inside
