"""The checker's arithmetic put to work: the exact value of given multipliers on a cell, with nothing left to trust."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from lcifr import check
from lcifr.check.exact import Vector, exact
from lcifr.check.proof import Multipliers as Read
from lcifr.check.proof import Problem
from lcifr.prove.answer import FloatArray
from lcifr.prove.confirm import plain_cell
from lcifr.prove.formulation import Interval
from lcifr.prove.proof import Bounds, Multipliers, NeuronBound, plain_bounds, plain_multipliers
from lcifr.similarity.region import Cell


def rounded_up(value: Fraction) -> float:
    """The least float64 that is not below the value."""
    try:
        near = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.nextafter(math.inf, 0.0)
    return near if near >= value else math.nextafter(near, math.inf)


class ExactCell:
    """A network on one person's cell, its hidden intervals, and passes over it; every result is rounded outward once.

    Parameters
    ----------
    layers : as `lcifr.check.read_network` gives them.
    """

    def __init__(self, layers: check.Network, cell: Cell, person: int) -> None:
        self.problem = Problem(layers, plain_cell(cell, person))
        self.place = self.problem.root
        self.neurons: tuple[NeuronBound, ...] = ()
        self.prove(())

    @property
    def empty(self) -> bool:
        """Whether it is plain that there is no point: an empty box, choice or interval."""
        return self.place.empty

    def prove(self, neurons: Sequence[NeuronBound]) -> None:
        """Intersect intervals with what these passes prove."""
        self.neurons += tuple(neurons)
        self.place = self.problem.settle(self.place, plain_bounds(Bounds(neurons=tuple(neurons))))

    def interval(self, depth: int) -> Interval:
        """The interval of a hidden layer before its ReLU, rounded outward."""
        low, high = self.place.hidden[depth]
        lower = [-rounded_up(-end) for end in low.fractions()]
        return Interval(np.array(lower), np.array([rounded_up(end) for end in high.fractions()]))

    def bound(self, depth: int, start: FloatArray, by: Multipliers) -> float:
        """What these multipliers prove about start · y of layer ``depth``, rounded up."""
        return rounded_up(self._pass(depth, exact(start.tolist()), by))

    def by_intervals(self, start: FloatArray) -> float:
        """What the interval of the last hidden layer proves about start · output, rounded up."""
        return rounded_up(self.problem.leaf(self.place, exact(start.tolist()), None))

    def shows_emptiness(self, by: Multipliers) -> bool:
        """Whether these multipliers prove that the cell has no point (Farkas)."""
        nothing = Vector([0] * len(self.problem.layers[-1].bias.values), 0)
        return self._pass(len(self.problem.layers) - 1, nothing, by) < 0

    def _pass(self, depth: int, start: Vector, by: Multipliers) -> Fraction:
        over, constant = self.problem.layers[depth].before(start)
        found = self.problem.passes(self.place, depth, [over], Read.read(plain_multipliers(by)))
        return (found + constant).fractions()[0]
