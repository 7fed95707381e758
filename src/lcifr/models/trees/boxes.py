"""Boxes of sums of trees: of every output the least and the largest value over a cell, from the leaves it can reach.

If an output comes from one tree, as a score of an additive model does, both are attained where the cell has no linear
rows: the box is exact. Otherwise it is sound, and each tree stands for itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lcifr.models.trees.trees import CATEGORY, LEAF, Trees
from lcifr.regions.region import BoolArray, Cell, FloatArray, Region


@dataclass(frozen=True)
class OutputBox:
    """lower, upper : (people, outputs), which hold the outputs at every point, in exact arithmetic."""

    lower: FloatArray
    upper: FloatArray

    def widened(self, room: FloatArray) -> OutputBox:
        """The same with room (people, outputs) on either side, rounded outward."""
        return OutputBox(np.nextafter(self.lower - room, -np.inf), np.nextafter(self.upper + room, np.inf))

    def joined(self, other: OutputBox, where: BoolArray) -> OutputBox:
        """The hull of both for these people (people,); for others this one."""
        lower, upper = np.minimum(self.lower, other.lower), np.maximum(self.upper, other.upper)
        mask = where[:, None]
        return OutputBox(np.where(mask, lower, self.lower), np.where(mask, upper, self.upper))


def box_over_cell(trees: Trees, cell: Cell) -> OutputBox:
    """The box of everybody in a cell; 0 where a person has no such cell. Linear rows are left out."""
    lower, upper = np.zeros((2, len(cell.present), trees.outputs))
    for root in trees.nodes.root.tolist():
        walk = _Walk(trees, cell, np.flatnonzero(trees.nodes.value[root : _end(trees, root)].any(0)))
        walk.visit(root, np.ones(len(cell.present), np.bool_), {})
        lower[:, walk.outputs] += walk.least
        upper[:, walk.outputs] += walk.largest
    scale, error = float(trees.scale), _sum_error(trees)
    found = OutputBox(trees.base + scale * lower - error, trees.base + scale * upper + error)
    mask = cell.present[:, None]
    return OutputBox(np.where(mask, found.lower, 0.0), np.where(mask, found.upper, 0.0))


def box_around(trees: Trees, x: FloatArray, region: Region) -> OutputBox:
    """The hull of the boxes of all cells, and of the outputs at x (people, features) itself."""
    own, error = trees(x), _sum_error(trees)
    found = OutputBox(own - error, own + error)
    for cell in region.cells:
        found = found.joined(box_over_cell(trees, cell), cell.present)
    return found


def output_region(trees: Trees, region: Region, room: FloatArray) -> Region:
    """The boxes of all cells, with room (people, outputs) around each, as a region that a network takes."""
    cells = []
    for cell in region.cells:
        box = box_over_cell(trees, cell).widened(room)
        cells.append(Cell(np.arange(trees.outputs), box.lower, box.upper, (), None, cell.present))
    return replace(region, features=trees.outputs, cells=tuple(cells), origin=None, whole=())


def is_exact_over(trees: Trees, region: Region) -> BoolArray:
    """(people,) whether every end of :func:`box_around` is attained: one tree for each output, and no linear rows."""
    alone = (_trees_of_output(trees) <= 1).all()
    found = np.full(region.people, alone)
    for cell in region.cells:
        if cell.rows is not None:
            found &= ~cell.present
    return found


def _end(trees: Trees, root: int) -> int:
    place = int(np.searchsorted(trees.nodes.root, root, side="right"))
    return int(trees.nodes.root[place]) if place < trees.count else len(trees.nodes.kind)


def _trees_of_output(trees: Trees) -> FloatArray:
    """(outputs,) how many trees each output comes from."""
    return np.asarray((trees.largest > 0).sum(0))


def _sum_error(trees: Trees) -> FloatArray:
    """(outputs,) what sums round at most; nothing where a stored leaf is the output itself."""
    stored = (_trees_of_output(trees) <= 1) & (trees.base == 0) & (trees.scale == 1)
    return np.where(stored, 0.0, 2.0 * trees.error(np.zeros(trees.inputs)))


class _Walk:
    """Through one tree with everybody's cell at once: who can reach which leaf."""

    def __init__(self, trees: Trees, cell: Cell, outputs: np.ndarray) -> None:
        self.nodes, self.cell, self.outputs = trees.nodes, cell, outputs
        shape = len(cell.present), len(outputs)
        self.least, self.largest = np.full(shape, np.inf), np.full(shape, -np.inf)

    @cached_property
    def _choices(self) -> dict[int, int]:
        return {int(choice.columns[0]): place for place, choice in enumerate(self.cell.choices)}

    def visit(self, n: int, here: BoolArray, left: dict[int, BoolArray]) -> None:
        """Node n, which ``here`` (people,) can reach; of attributes in ``left`` these values are on the way."""
        if not here.any():
            return
        nodes, column = self.nodes, int(self.nodes.column[n])
        if nodes.kind[n] == LEAF:
            values, mask = nodes.value[n, self.outputs], here[:, None]
            self.least = np.where(mask, np.minimum(self.least, values), self.least)
            self.largest = np.where(mask, np.maximum(self.largest, values), self.largest)
        elif nodes.kind[n] == CATEGORY:
            choice = self.cell.choices[self._choices[column]]
            chosen, known = nodes.sets[nodes.chosen[n], choice.columns], left.get(column)
            for child, part in ((n + 1, chosen), (int(nodes.second[n]), ~chosen)):
                part = part if known is None else part & known
                self.visit(child, here & choice.allowed[:, part].any(1), {**left, column: part})
        else:
            place, threshold = int(np.searchsorted(self.cell.numeric, column)), nodes.threshold[n]
            self.visit(n + 1, here & (self.cell.lower[:, place] <= threshold), left)
            self.visit(int(nodes.second[n]), here & (self.cell.upper[:, place] > threshold), left)
