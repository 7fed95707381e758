"""Every pattern of ReLUs by itself, in exact arithmetic: the slowest oracle and the surest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm
from typing import final

import numpy as np

from lcifr.check.exact import exact, up
from lcifr.check.functions import Network as IntegerNetwork
from lcifr.check.functions import RationalCell, has_room
from lcifr.check.proof import Problem, Relaxation
from lcifr.models.network import Network
from lcifr.prove.oracles.formulation import LayerInterval
from lcifr.prove.proof import Multipliers, NeuronBound, plain_ends, plain_multipliers
from lcifr.prove.question import Answer, Engine, FloatArray, Obstacle, Question
from lcifr.regions.cell import Cell

# Exact linear programs over the rationals, for oracles: integer pivoting, Bland's rule, no tolerance anywhere.

Row = Sequence[Fraction]


@dataclass(frozen=True)
class Optimum:
    """The largest value and a point that reaches it."""

    value: Fraction
    point: tuple[Fraction, ...]


def maximize_exactly(objective: Row, rows: Sequence[Row], limits: Row, width: Row) -> Optimum | None:
    """max objective·u over 0 ≤ u ≤ width, rows·u ≤ limits; None if there is no such u."""
    count = len(width)
    unit = [[Fraction(int(i == j)) for j in range(count)] for i in range(count)]
    table = [_integers([*row, limit]) for row, limit in zip([*unit, *rows], [*width, *limits], strict=True)]
    scale = lcm(*(c.denominator for c in objective)) if objective else 1
    tableau = _Tableau(table, [int(-c * scale) for c in objective] + [0])
    if not tableau.become_feasible():
        return None
    tableau.become_optimal()
    values = tableau.values()
    point = tuple(values.get(j, Fraction(0)) for j in range(count))
    return Optimum(sum((c * u for c, u in zip(objective, point, strict=True)), Fraction(0)), point)


def _integers(row: Row) -> list[int]:
    scale = lcm(*(value.denominator for value in row))
    return [int(value * scale) for value in row]


class _Tableau:
    """Basic variables in terms of the others: integers over the common denominator ``over``; the last row is the cost.

    Variables 0 … n−1 are the u, the slack of row i is n + i. Pivoting on p replaces every other entry a by
    (a·p − column·row) / over, which is an integer again, and p becomes the denominator.
    """

    def __init__(self, rows: list[list[int]], cost: list[int]) -> None:
        self.rows = [*rows, cost]
        width = len(cost) - 1
        self.outside = list(range(width))
        self.basis = [width + i for i in range(len(rows))]
        self.over = 1

    def become_feasible(self) -> bool:
        """Dual pivots with a zero cost, smallest index first, until no right-hand side is negative."""
        while True:
            wrong = [i for i in range(len(self.basis)) if self.rows[i][-1] < 0]
            if not wrong:
                return True
            row = min(wrong, key=lambda i: self.basis[i])
            usable = [j for j in range(len(self.outside)) if self.rows[row][j] < 0]
            if not usable:
                return False
            self.pivot(row, min(usable, key=lambda j: self.outside[j]))

    def become_optimal(self) -> None:
        """Primal pivots, smallest index first. The box makes every problem bounded."""
        while True:
            usable = [j for j in range(len(self.outside)) if self.rows[-1][j] < 0]
            if not usable:
                return
            column = min(usable, key=lambda j: self.outside[j])
            rising = [i for i in range(len(self.basis)) if self.rows[i][column] > 0]
            ratio = {i: Fraction(self.rows[i][-1], self.rows[i][column]) for i in rising}
            self.pivot(min(rising, key=lambda i: (ratio[i], self.basis[i])), column)

    def pivot(self, row: int, column: int) -> None:
        at, line, over = self.rows[row][column], self.rows[row], self.over
        for i, other in enumerate(self.rows):
            if i != row:
                factor = other[column]
                self.rows[i] = [(a * at - factor * b) // over for a, b in zip(other, line, strict=True)]
                self.rows[i][column] = -factor
        line[column] = over
        self.over = at
        self.basis[row], self.outside[column] = self.outside[column], self.basis[row]
        if at < 0:
            self.rows, self.over = [[-a for a in other] for other in self.rows], -at

    def values(self) -> dict[int, Fraction]:
        return {name: Fraction(self.rows[i][-1], self.over) for i, name in enumerate(self.basis)}


# The checker's arithmetic put to work: the exact value of given multipliers on a cell, with nothing left to trust.


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


# The oracle: every ReLU pattern × every category, each an exact linear program. For tiny networks, to test the rest.
#
# Nothing here is rounded before the end: weights, boxes and directions are taken as the rational numbers that they are,
# and only the final maximum is rounded up to the next float64.

LARGEST = 2**20
"""The most patterns × categories per person and cell that are tried; beyond it the oracle would not come back."""
LARGEST_EMPTY = 4096
"""The most combinations of categories that are tried to show that a cell is empty."""


@dataclass(frozen=True)
class Affine:
    """weights · u + constant, u being how far the moving numeric columns are above the lower ends of their box."""

    weights: tuple[Fraction, ...]
    constant: Fraction


@dataclass(frozen=True)
class Slab:
    """One category for every choice: what is left is a box, with linear rows.

    Parameters
    ----------
    point : (features,) the corner u = 0, exactly.
    moving : the feature columns that u moves, and ``width`` by how much at most.
    rows, limits : rows · u ≤ limits.
    """

    point: tuple[Fraction, ...]
    moving: tuple[int, ...]
    width: tuple[Fraction, ...]
    rows: tuple[tuple[Fraction, ...], ...]
    limits: tuple[Fraction, ...]


@final
class Enumerate(Engine):
    """Enumeration of ReLU patterns and categories; ``upper`` is the exact maximum, rounded up."""

    name = "enumerate"
    functions = Network
    writes_proofs = False
    any_device = False

    def accepts(self, question: Question) -> Obstacle | None:
        """Tiny questions only: every pattern and category of all cells is tried."""
        return super().accepts(question) or find_size_obstacle(question)

    def answer(self, question: Question) -> Answer:
        people, k = question.directions.shape[:2]
        upper = np.full((people, k), -np.inf)
        witness = np.full((people, k, question.region.features), np.nan)
        nodes = np.zeros((people, k), np.int64)
        for person in range(people):
            for slab in slabs_of(question, person):
                for outputs, rows, limits in linear_pieces(question.network, slab):
                    nodes[person] += 1
                    for direction, weights in enumerate(question.directions[person]):
                        found = maximize_exactly(*_objective(weights, outputs), rows, limits, slab.width)
                        if found is not None:
                            value = found.value + _dot(weights, [output.constant for output in outputs])
                            if value > upper[person, direction]:
                                upper[person, direction] = rounded_up(value)
                                witness[person, direction] = _point(slab, found)
        return Answer.claimed(question, upper, witness, nodes=nodes, methods=(self.name,))


def find_size_obstacle(question: Question) -> Obstacle | None:
    """Whether a person's cell has more patterns × categories than can be tried."""
    neurons = sum(len(layer.bias) for layer in question.network.layers[:-1])
    for cell in question.region.cells:
        for person in np.flatnonzero(cell.present):
            size = 2**neurons * math.prod(len(columns) for columns in allowed_columns(cell, int(person)))
            if size > LARGEST:
                return Obstacle(
                    f"person {person}: enumeration would try {size:,} patterns × categories, its limit is {LARGEST:,}",
                    'use method="milp" or "cascade"; enumeration is for tiny networks',
                )
    return None


def slabs_of(question: Question, person: int) -> Iterator[Slab]:
    """Every combination of allowed categories of every cell the person has."""
    for cell in question.region.cells:
        if cell.present[person]:
            for columns in product(*allowed_columns(cell, person)):
                yield from _slab(cell, person, columns, question.region.features)


def surely_empty(cell: Cell, person: int, features: int) -> bool:
    """Whether the person's cell has no point, in exact arithmetic; False also where finding out would take too long.

    Only the choices that a linear row reads matter; of the others any allowed category will do.
    """
    options = allowed_columns(cell, person)
    for place, choice in enumerate(cell.choices):
        if cell.rows is None or not cell.rows.G[:, choice.columns].any():
            options[place] = options[place][:1]
    if math.prod(len(columns) for columns in options) > LARGEST_EMPTY:
        return False
    slabs = (slab for columns in product(*options) for slab in _slab(cell, person, columns, features))
    return not any(maximize_exactly([Fraction(0)] * len(s.width), s.rows, s.limits, s.width) for s in slabs)


def allowed_columns(cell: Cell, person: int) -> list[list[int]]:
    """For each choice the feature columns of its allowed categories."""
    return [[int(c) for c, may in zip(ch.columns, ch.allowed[person], strict=True) if may] for ch in cell.choices]


def _slab(cell: Cell, person: int, columns: tuple[int, ...], features: int) -> Iterator[Slab]:
    point = [Fraction(0)] * features
    for column in columns:
        point[column] = Fraction(1)
    moving, width = [], []
    for column, low, high in zip(cell.numeric, cell.lower[person], cell.upper[person], strict=True):
        if low > high:
            return
        point[column] = Fraction(low)
        if low < high:
            moving.append(int(column))
            width.append(Fraction(high) - Fraction(low))
    rows, limits = [], []
    if cell.rows is not None:
        for row, limit in zip(cell.rows.G, cell.rows.g[person], strict=True):
            rows.append(tuple(Fraction(row[column]) for column in moving))
            limits.append(Fraction(limit) - _dot(row, point))
    yield Slab(tuple(point), tuple(moving), tuple(width), tuple(rows), tuple(limits))


Piece = tuple[list[Affine], list[tuple[Fraction, ...]], list[Fraction]]


def linear_pieces(network: Network, slab: Slab) -> Iterator[Piece]:
    """(outputs as affine functions, rows, limits) of every ReLU pattern that some point of the slab has."""
    unit = [tuple(Fraction(int(column == other)) for other in slab.moving) for column in range(len(slab.point))]
    inputs = [Affine(weights, value) for weights, value in zip(unit, slab.point, strict=True)]
    yield from _pieces(network, 0, inputs, [], list(slab.rows), list(slab.limits), slab.width)


def _pieces(
    network: Network,
    depth: int,
    inputs: list[Affine],
    done: list[Affine],
    rows: list[tuple[Fraction, ...]],
    limits: list[Fraction],
    width: tuple[Fraction, ...],
) -> Iterator[Piece]:
    """Decide the next ReLU: ``done`` are this layer's outputs so far, rows·u ≤ limits is where they hold."""
    layer = network.layers[depth]
    if depth == network.depth:
        yield (
            [_affine(weights, bias, inputs) for weights, bias in zip(layer.weight, layer.bias, strict=True)],
            rows,
            limits,
        )
    elif len(done) == len(layer.bias):
        yield from _pieces(network, depth + 1, done, [], rows, limits, width)
    else:
        y = _affine(layer.weight[len(done)], layer.bias[len(done)], inputs)
        zero = Affine(tuple(Fraction(0) for _ in width), Fraction(0))
        for sign, result in ((-1, zero), (1, y)):
            side = tuple(-sign * weight for weight in y.weights)
            if _some(rows, limits, width, side, sign * y.constant):
                further = [*rows, side], [*limits, sign * y.constant]
                yield from _pieces(network, depth, inputs, [*done, result], *further, width)


def _some(
    rows: list[tuple[Fraction, ...]],
    limits: list[Fraction],
    width: tuple[Fraction, ...],
    side: tuple[Fraction, ...],
    limit: Fraction,
) -> bool:
    """Whether a point is left when side·u ≤ limit is added."""
    lowest = maximize_exactly([-weight for weight in side], rows, limits, width)
    return lowest is not None and -lowest.value <= limit


def _affine(weights: FloatArray, bias: float, inputs: list[Affine]) -> Affine:
    exact = [Fraction(weight) for weight in weights]
    columns = zip(*(value.weights for value in inputs), strict=True)
    moved = tuple(sum((w * c for w, c in zip(exact, column, strict=True)), Fraction(0)) for column in columns)
    return Affine(moved, Fraction(bias) + _dot(weights, [value.constant for value in inputs]))


def _objective(weights: FloatArray, outputs: list[Affine]) -> tuple[list[Fraction]]:
    columns = zip(*(output.weights for output in outputs), strict=True)
    return ([_dot(weights, list(column)) for column in columns],)


def _dot(weights: FloatArray, values: list[Fraction]) -> Fraction:
    return sum((Fraction(w) * value for w, value in zip(weights, values, strict=True)), Fraction(0))


def _point(slab: Slab, found: Optimum) -> FloatArray:
    point = list(slab.point)
    for column, value in zip(slab.moving, found.point, strict=True):
        point[column] += value
    return np.array([float(value) for value in point])
