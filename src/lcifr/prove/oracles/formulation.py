"""A network on one person's cell as the rows and columns of a linear program, with whole numbers or relaxed.

Columns: x′ (all features), then for every hidden layer y (before ReLU) and a (after it), then for the exact formulation
one binary per unstable ReLU. Rows: y = W a + b for every hidden neuron, first of all, so that their duals are the
coefficients of a backward pass; then the cell's own rows, then one sum per choice, then what ties a to y.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lcifr.models.network import Network
from lcifr.prove.oracles.solvers import LinearProgram
from lcifr.prove.question import FloatArray
from lcifr.regions.cell import Cell

SMALLEST = 1e-8
"""Solvers drop coefficients below about 1e-9 without a word. We drop them ourselves, and widen the row by as much as
they could have added, so that the program stays a relaxation of the truth."""


@dataclass(frozen=True)
class LayerInterval:
    """(width,) each: proved ends of a hidden layer before its ReLU."""

    lower: FloatArray
    upper: FloatArray

    @property
    def unstable(self) -> np.ndarray:
        """(width,) where the ReLU can be on and off."""
        return np.asarray((self.lower < 0) & (self.upper > 0))


@dataclass(frozen=True)
class Formulation:
    """The model, and where to find things in it.

    Parameters
    ----------
    equations : for each hidden layer the first of its rows y = W a + b.
    before, after : for each hidden layer the first column of y, and of a.
    cell_rows : the first row of the cell's own rows.
    """

    model: LinearProgram
    features: int
    equations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    cell_rows: int

    def cost(self, layer: int, weights: FloatArray) -> FloatArray:
        """The objective Σ weights · (what layer ``layer`` reads: x′ for the first, a of the hidden layer before)."""
        start = self.after[layer - 1] if layer else 0
        cost = np.zeros(len(self.model.lower))
        cost[start : start + len(weights)] = np.where(np.abs(weights) < SMALLEST, 0.0, weights)
        return cost

    def lost(self, layer: int, weights: FloatArray) -> float:
        """How far the objective can be from the true one, because of the coefficients that `cost` left out."""
        read = slice(start := self.after[layer - 1] if layer else 0, start + len(weights))
        return lost(weights, self.model.lower[read], self.model.upper[read])


class _ProgramRows(list[tuple[list[int], list[float], float, float]]):
    """Rows as they are added: columns, values, both ends."""

    def add(self, columns: Sequence[int], values: Sequence[float], lower: float, upper: float) -> None:
        kept = [(column, float(value)) for column, value in zip(columns, values, strict=True) if abs(value) >= SMALLEST]
        self.append(([column for column, _ in kept], [value for _, value in kept], lower, upper))


def formulate(
    network: Network,
    cell: Cell,
    person: int,
    intervals: Sequence[LayerInterval],
    *,
    whole: bool,
    hidden: int | None = None,
) -> Formulation:
    """Build the model of the first ``hidden`` hidden layers (default: all of them).

    Parameters
    ----------
    intervals : proved ends for each of these layers.
    whole : True for the exact model (a binary per unstable ReLU and per free category), False for the relaxation: the
        triangle of Ehlers for every unstable ReLU, categories in the simplex.
    """
    hidden = network.depth if hidden is None else hidden
    widths = [len(layer.bias) for layer in network.layers[:hidden]]
    before = [network.inputs + 2 * sum(widths[:depth]) for depth in range(hidden)]
    after = [start + width for start, width in zip(before, widths, strict=True)]
    columns = _ProgramColumns.of(cell, person, network.inputs)
    rows = _ProgramRows()
    for depth in range(hidden):
        layer, source = network.layers[depth], after[depth - 1] if depth else 0
        inputs = range(source, source + layer.weight.shape[1])
        for neuron, (weights, bias) in enumerate(zip(layer.weight, layer.bias, strict=True)):
            lost = columns.lost(inputs, weights)
            rows.add([before[depth] + neuron, *inputs], [1.0, *-weights], float(bias) - lost, float(bias) + lost)
        columns.extend(intervals[depth].lower, intervals[depth].upper)
        columns.extend(np.maximum(intervals[depth].lower, 0.0), np.maximum(intervals[depth].upper, 0.0))
    _cell_rows(rows, columns, cell, person, network.inputs)
    for depth in range(hidden):
        _relu_rows(rows, columns, intervals[depth], before[depth], after[depth], whole)
    equations = tuple(sum(widths[:depth]) for depth in range(hidden))
    model = columns.model(rows, whole)
    return Formulation(model, network.inputs, equations, tuple(before), tuple(after), sum(widths))


def lost(weights: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """How far Σ weights · columns can be from the same without the coefficients below `SMALLEST`, rounded up."""
    small = np.where(np.abs(weights) < SMALLEST, np.abs(weights), 0.0)
    return float((small * np.maximum(np.abs(low), np.abs(high))).sum() * 1.001)


@dataclass
class _ProgramColumns:
    """Columns as they are added."""

    lower: list[float]
    upper: list[float]
    whole: list[bool]

    @classmethod
    def of(cls, cell: Cell, person: int, features: int) -> _ProgramColumns:
        """x′: the box, and for a category that is not allowed the number 0."""
        lower, upper, whole = np.zeros(features), np.zeros(features), np.zeros(features, np.bool_)
        lower[cell.numeric], upper[cell.numeric] = cell.lower[person], cell.upper[person]
        for choice in cell.choices:
            allowed = choice.allowed[person]
            upper[choice.columns] = allowed
            lower[choice.columns] = allowed & (allowed.sum() == 1)
            whole[choice.columns] = allowed & (allowed.sum() > 1)
        return cls(lower.tolist(), upper.tolist(), whole.tolist())

    def lost(self, places: range, weights: FloatArray) -> float:
        """The most that the coefficients too small for a solver can add to Σ weights · columns."""
        low, high = self.lower[places.start : places.stop], self.upper[places.start : places.stop]
        return lost(weights, np.array(low), np.array(high))

    def extend(self, lower: FloatArray, upper: FloatArray, whole: bool = False) -> int:
        """Add columns; the number of the first."""
        first = len(self.lower)
        self.lower += lower.tolist()
        self.upper += upper.tolist()
        self.whole += [whole] * len(lower)
        return first

    def model(self, rows: _ProgramRows, whole: bool) -> LinearProgram:
        return LinearProgram(
            np.array(self.lower),
            np.array(self.upper),
            np.array(self.whole) & whole,
            np.array([lower for *_, lower, _ in rows]),
            np.array([upper for *_, upper in rows]),
            np.cumsum([0, *(len(columns) for columns, *_ in rows)]).astype(np.int32),
            np.array([column for columns, *_ in rows for column in columns], np.int32),
            np.array([value for _, values, *_ in rows for value in values], np.float64),
        )


def _cell_rows(rows: _ProgramRows, columns: _ProgramColumns, cell: Cell, person: int, features: int) -> None:
    if cell.rows is not None:
        for weights, limit in zip(cell.rows.G, cell.rows.g[person], strict=True):
            lost = columns.lost(range(features), weights)
            rows.add(range(features), weights.tolist(), -np.inf, float(limit) + lost)
    for choice in cell.choices:
        rows.add(choice.columns.tolist(), [1.0] * len(choice.columns), 1.0, 1.0)


def _relu_rows(
    rows: _ProgramRows, columns: _ProgramColumns, interval: LayerInterval, before: int, after: int, whole: bool
) -> None:
    """a = relu(y): an equation where it is stable; else a ≥ y, a ≥ 0 and, from above, the triangle or the binary d."""
    unstable = np.flatnonzero(interval.unstable)
    binary = columns.extend(np.zeros(len(unstable)), np.ones(len(unstable)), whole=True) if whole else 0
    for neuron, (low, high) in enumerate(zip(interval.lower.tolist(), interval.upper.tolist(), strict=True)):
        y, a = before + neuron, after + neuron
        if low >= 0:
            rows.add([a, y], [1.0, -1.0], 0.0, 0.0)
        elif high > 0:
            rows.add([a, y], [1.0, -1.0], 0.0, np.inf)
            if whole:
                d = binary + int(np.searchsorted(unstable, neuron))
                rows.add([a, d], [1.0, -high], -np.inf, 0.0 if high >= SMALLEST else high)
                rows.add([a, y, d], [1.0, -1.0, -low], -np.inf, -low)
            else:
                slope = high / (high - low)
                rows.add([a, y], [1.0, -slope], -np.inf, -slope * low if slope >= SMALLEST else high)
