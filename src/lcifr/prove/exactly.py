"""The checker's arithmetic put to work: the exact value of given multipliers on a cell, with nothing left to trust."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from lcifr import check
from lcifr.check.bound import Place, backward, by_intervals, settle
from lcifr.check.exact import Number, Vector, exact
from lcifr.check.problem import pose
from lcifr.check.read import Reader
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

    def __init__(self, layers: tuple[check.Layer, ...], cell: Cell, person: int) -> None:
        self.problem = pose(layers, plain_cell(cell, person))
        self.reader = Reader(self.problem)
        self.place = Place(self.problem.lower, self.problem.upper, self.problem.allowed)
        self.neurons: tuple[NeuronBound, ...] = ()
        if not self.empty:
            self.prove(())

    @property
    def empty(self) -> bool:
        """Whether it is plain that there is no point: an empty box, choice or interval."""
        return self.place.without_points()

    def prove(self, neurons: Sequence[NeuronBound]) -> None:
        """Intersect intervals with what these passes prove."""
        self.neurons += tuple(neurons)
        bounds = self.reader.bounds(plain_bounds(Bounds(neurons=tuple(neurons))))
        self.place = settle(self.problem, self.place, bounds)

    def interval(self, depth: int) -> Interval:
        """The interval of a hidden layer before its ReLU, rounded outward."""
        known = self.place.intervals[depth]
        lower = [-rounded_up(Fraction(-end, 1 << known.shift)) for end in known.lower]
        return Interval(np.array(lower), np.array([rounded_up(Fraction(end, 1 << known.shift)) for end in known.upper]))

    def bound(self, depth: int, start: FloatArray, by: Multipliers) -> float:
        """What these multipliers prove about start · y of layer ``depth``, rounded up."""
        return _up(self._pass(depth, exact(start.tolist()), by))

    def by_intervals(self, start: FloatArray) -> float:
        """What the interval of the last hidden layer proves about start · output, rounded up."""
        return _up(by_intervals(self.problem, self.place, exact(start.tolist())))

    def shows_emptiness(self, by: Multipliers) -> bool:
        """Whether these multipliers prove that the cell has no point (Farkas)."""
        depth = len(self.problem.layers) - 1
        nothing = Vector([0] * len(self.problem.layers[-1].bias.values), 0)
        return self._pass(depth, nothing, by).value < 0

    def _pass(self, depth: int, start: Vector, by: Multipliers) -> Number:
        return backward(self.problem, self.place, depth, start, self.reader.multipliers(plain_multipliers(by)))


def _up(number: Number) -> float:
    return rounded_up(Fraction(number.value, 1 << number.shift))
