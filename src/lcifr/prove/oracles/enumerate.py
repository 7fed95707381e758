"""The oracle: every ReLU pattern × every category, each an exact linear program. For tiny networks, to test the rest.

Nothing here is rounded before the end: weights, boxes and directions are taken as the rational numbers that they are,
and only the final maximum is rounded up to the next float64.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import final

import numpy as np

from lcifr.models.network import Network
from lcifr.prove.answer import Claim, FloatArray, Question
from lcifr.prove.method import Method, Obstacle
from lcifr.prove.oracles.exactly import rounded_up
from lcifr.prove.oracles.rational_simplex import Optimum, maximize_exactly
from lcifr.regions.cell import Cell

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
class Enumerate(Method):
    """Enumeration of ReLU patterns and categories; ``upper`` is the exact maximum, rounded up."""

    name = "enumerate"
    writes_proofs = False
    any_device = False

    def accepts(self, question: Question) -> Obstacle | None:
        """Tiny questions only: every pattern and category of everybody's cells is tried."""
        return super().accepts(question) or find_size_obstacle(question)

    def _maximize(self, question: Question) -> Claim:
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
        everywhere = np.ones((people, k), np.bool_)
        code = np.zeros((people, k), np.int8)
        return Claim(upper, everywhere, witness, ~everywhere, nodes, code, (self.name,))


def find_size_obstacle(question: Question) -> Obstacle | None:
    """Whether somebody's cell has more patterns × categories than can be tried."""
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
