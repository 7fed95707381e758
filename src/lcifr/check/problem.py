"""What a claim is about: a network on a cell, in exact numbers, with the columns that cannot move folded away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lcifr.check.exact import Rejected, Vector, dot, exact, numbers

Matrix = list[list[int]]


@dataclass(frozen=True)
class Layer:
    """W x + b, W in integers over ``2**shift``: its rows split by sign for intervals, its columns for passes."""

    positive: Matrix
    negative: Matrix
    columns: Matrix
    shift: int
    bias: Vector


@dataclass(frozen=True)
class Cell:
    """One cell of one person in plain lists: a box × one allowed category per choice, cut by rows G x ≤ g.

    Parameters
    ----------
    numeric : feature columns of the box; ``lower`` and ``upper`` are its ends.
    choices : the columns of each one-hot group; ``allowed`` says for each of them whether it may be the 1.
    G, g : linear rows over all features, and their right-hand sides.
    """

    numeric: Sequence[int]
    lower: Sequence[float]
    upper: Sequence[float]
    choices: Sequence[Sequence[int]] = ()
    allowed: Sequence[Sequence[bool]] = ()
    G: Sequence[Sequence[float]] = ()
    g: Sequence[float] = ()


@dataclass(frozen=True)
class Problem:
    """A network on a cell, over moving columns only, numbered anew: first those of the box, then those of choices.

    Parameters
    ----------
    layers : the affine layers; what the fixed columns contribute is in the bias of the first.
    columns : feature column → moving column, for the box.
    lower, upper : the ends of the box.
    choices : for each choice, value → moving column; nothing for a choice with one allowed value.
    allowed : choice → its allowed moving columns, for those that move.
    rows, limits : the linear rows, as columns; what the fixed columns contribute is in the limits.
    """

    layers: tuple[Layer, ...]
    columns: dict[int, int]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    choices: tuple[dict[int, int], ...]
    allowed: dict[int, frozenset[int]]
    rows: Matrix
    rows_shift: int
    limits: Vector


def read_network(layers: Sequence[tuple[Sequence[Sequence[float]], Sequence[float]]]) -> tuple[Layer, ...]:
    """Read (W, b) per layer, W as rows (outputs × inputs); layers whose sizes do not fit are rejected."""
    if not layers or not layers[0][0]:
        raise Rejected("the network has no layer or no neuron")
    result, inputs = [], len(layers[0][0][0])
    for place, (weight, bias) in enumerate(layers):
        columns, shift = _columns(weight, inputs, f"a row of W of layer {place}")
        inputs = len(weight)
        result.append(_layer(columns, shift, exact(numbers(bias, f"b of layer {place}", inputs))))
    return tuple(result)


def _columns(rows: Sequence[Sequence[float]], width: int, what: str) -> tuple[Matrix, int]:
    flat = exact(value for row in rows for value in numbers(row, what, width))
    return [flat.values[column::width] for column in range(width)], flat.shift


def _layer(columns: Matrix, shift: int, bias: Vector) -> Layer:
    rows = [[column[row] for column in columns] for row in range(len(bias.values))]
    positive, negative = ([[pick(value, 0) for value in row] for row in rows] for pick in (max, min))
    return Layer(positive, negative, columns, shift, bias)


def pose(network: tuple[Layer, ...], cell: Cell) -> Problem:
    """Put the network on the cell: fixed columns go into the bias of the first layer and the limits of the rows."""
    first, features = network[0], len(network[0].columns)
    if sorted([*cell.numeric, *(column for columns in cell.choices for column in columns)]) != list(range(features)):
        raise Rejected("the cell does not hold every feature column exactly once")
    lower, upper = (numbers(ends, "an end of the box", len(cell.numeric)) for ends in (cell.lower, cell.upper))
    ends = list(zip(cell.numeric, lower, upper, strict=True))
    allowed = [
        [c for c, may in zip(*pair, strict=True) if may] for pair in zip(cell.choices, cell.allowed, strict=True)
    ]
    fixed = {column: low for column, low, high in ends if low == high}
    for columns, may in zip(cell.choices, allowed, strict=True):
        fixed |= {column: float(column in may) for column in columns if len(may) == 1}
    moving = [c for c in (*cell.numeric, *(c for columns in cell.choices for c in columns)) if c not in fixed]
    anew = {column: place for place, column in enumerate(moving)}
    rows, rows_shift = _columns(cell.G, features, "a row of the cell")
    limits = exact(numbers(cell.g, "the limits of the rows", len(cell.G)))
    bias = first.bias + _product(first.columns, first.shift, fixed, 1)
    return Problem(
        (_layer([first.columns[column] for column in moving], first.shift, bias), *network[1:]),
        {column: anew[column] for column in cell.numeric if column in anew},
        tuple(low for column, low, _ in ends if column in anew),
        tuple(high for column, _, high in ends if column in anew),
        tuple({value: anew[c] for value, c in enumerate(columns) if c in anew} for columns in cell.choices),
        {choice: frozenset(anew[c] for c in may) for choice, may in enumerate(allowed) if len(may) != 1},
        [rows[column] for column in moving],
        rows_shift,
        limits + _product(rows, rows_shift, fixed, -1),
    )


def _product(columns: Matrix, shift: int, at: dict[int, float], sign: int) -> Vector:
    """sign · Σ columns[c]·at[c]."""
    values = exact(sign * value for value in at.values())
    height = len(columns[0])
    sums = [dot(values.values, (columns[c][row] for c in at)) for row in range(height)]
    return Vector(sums, shift + values.shift)
