"""The checker's arithmetic put to work: the exact value of given multipliers on a cell, with nothing left to trust."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from lcifr import check
from lcifr.check.exact import exact, up
from lcifr.check.network import Corners
from lcifr.check.network import Network as IntegerNetwork
from lcifr.check.proof import Problem
from lcifr.prove.answer import FloatArray
from lcifr.prove.oracles.formulation import LayerInterval
from lcifr.prove.proof import Multipliers, NeuronBound, plain_ends, plain_multipliers
from lcifr.regions.cell import Cell


def rounded_up(value: Fraction) -> float:
    """The least float64 that is not below the value, however large."""
    try:
        return up(value)
    except OverflowError:
        return math.inf if value > 0 else -math.nextafter(math.inf, 0.0)


def plain_cell(cell: Cell, person: int) -> check.RationalCell:
    """One person's cell in lists of floats."""
    ends = zip(cell.numeric.tolist(), cell.lower[person].tolist(), cell.upper[person].tolist(), strict=True)
    groups = {("numeric", column): [(column, low), (column, high)] for column, low, high in ends}
    for choice in cell.choices:
        allowed = choice.columns[choice.allowed[person]].tolist()
        groups["choice", int(choice.columns[0])] = [(column, 1.0) for column in allowed]
    if cell.rows is None:
        return check.RationalCell(groups)
    return check.RationalCell(groups, np.column_stack([cell.rows.G, -cell.rows.g[person]]).tolist())


class ExactCell:
    """A network on one person's cell, its hidden intervals, and passes over it; every result is rounded outward once.

    Parameters
    ----------
    layers : as `lcifr.check.read_network` gives them.
    """

    def __init__(self, layers: IntegerNetwork, cell: Cell, person: int) -> None:
        self.problem = Problem(layers, plain_cell(cell, person))
        self.part = self.problem.root
        self.neurons: tuple[NeuronBound, ...] = ()
        self.prove(())

    @cached_property
    def corners(self) -> Corners:
        """The corners of the part, in integers."""
        return self.problem.corners(self.part)

    @property
    def empty(self) -> bool:
        """Whether it is plain that there is no point: an empty box, choice or interval."""
        return self.part.empty or any((one.lower > one.upper).any() for one in self.hidden)

    def prove(self, neurons: Sequence[NeuronBound]) -> None:
        """Intersect intervals with what these passes prove."""
        self.neurons += tuple(neurons)
        ends = plain_ends(self.neurons)
        found = [] if self.part.empty else self.problem.intervals(self.corners, self.part.decided, ends)
        self.intervals = found
        self.hidden = [LayerInterval(-np.array(one[1::2]), np.array(one[::2])) for one in found]

    def interval(self, depth: int) -> LayerInterval:
        """The interval of a hidden layer before its ReLU, rounded outward."""
        return self.hidden[depth]

    def bound(self, depth: int, start: FloatArray, by: Multipliers) -> float:
        """What these multipliers prove about start · y of layer ``depth``, rounded up."""
        return rounded_up(self._pass(depth, start, by))

    def shows_emptiness(self, by: Multipliers) -> bool:
        """Whether these multipliers prove that the cell has no point (Farkas)."""
        return self._pass(len(self.intervals), np.zeros(len(self.problem.layers[-1].rows) - 1), by) < 0

    def _pass(self, depth: int, start: FloatArray, by: Multipliers) -> Fraction:
        over = self.problem.layers[depth].before(exact([*start.tolist(), 0.0]))
        return next(self.problem.bounds(self.corners, self.intervals[:depth], [over], plain_multipliers(by)))
