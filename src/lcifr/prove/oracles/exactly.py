"""The checker's arithmetic put to work: the exact value of given multipliers on a cell, with nothing left to trust."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from lcifr.check.exact import exact, up
from lcifr.check.functions import Network as IntegerNetwork
from lcifr.check.functions import RationalCell, has_room
from lcifr.check.proof import Problem, Relaxation
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


def plain_cell(cell: Cell, person: int) -> RationalCell:
    """One person's cell in lists of floats."""
    ends = zip(cell.numeric.tolist(), cell.lower[person].tolist(), cell.upper[person].tolist(), strict=True)
    groups = {("numeric", column): [(column, low), (column, high)] for column, low, high in ends}
    for choice in cell.choices:
        allowed = choice.columns[choice.allowed[person]].tolist()
        groups["choice", int(choice.columns[0])] = [(column, 1.0) for column in allowed]
    if cell.rows is None:
        return RationalCell(groups)
    return RationalCell(groups, np.column_stack([cell.rows.G, -cell.rows.g[person]]).tolist())


class ExactCell:
    """A network on one person's cell, its hidden intervals, and passes over it; every result is rounded outward once.

    Parameters
    ----------
    layers : as `lcifr.read_network` gives them.
    """

    def __init__(self, layers: IntegerNetwork, cell: Cell, person: int) -> None:
        self.problem = Problem(layers, plain_cell(cell, person))
        self.part = self.problem.root
        self.neurons: tuple[NeuronBound, ...] = ()
        self.prove(())

    @property
    def empty(self) -> bool:
        """Whether it is plain that there is no point: an empty box, choice or interval."""
        return self.relaxation is None or any((one.lower > one.upper).any() for one in self.hidden)

    def prove(self, neurons: Sequence[NeuronBound]) -> None:
        """Intersect intervals with what these passes prove."""
        self.neurons += tuple(neurons)
        some = all(map(has_room, self.part.groups.values()))
        self.relaxation = Relaxation(self.problem, self.part, plain_ends(self.neurons)) if some else None
        found = [] if self.relaxation is None else self.relaxation.hidden
        self.hidden = [LayerInterval(-np.array(one[1::2]), np.array(one[::2])) for one in found]

    def interval(self, depth: int) -> LayerInterval:
        """The interval of a hidden layer before its ReLU, rounded outward."""
        return self.hidden[depth]

    def bound(self, depth: int, start: FloatArray, by: Multipliers) -> float:
        """What these multipliers prove about start · y of layer ``depth``, rounded up."""
        return rounded_up(self._pass(depth, start, by))

    def shows_emptiness(self, by: Multipliers) -> bool:
        """Whether these multipliers prove that the cell has no point (Farkas)."""
        return self._pass(len(self.hidden), np.zeros(len(self.problem.network[-1].rows) - 1), by) < 0

    def _pass(self, depth: int, start: FloatArray, by: Multipliers) -> Fraction:
        assert self.relaxation is not None
        over = self.relaxation.layers[depth].before(exact([*start.tolist(), 0.0]))
        return next(self.relaxation.bounds([over], *plain_multipliers(by), depth=depth))
