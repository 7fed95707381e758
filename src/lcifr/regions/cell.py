"""Cell: a box × one allowed category per choice, cut by linear rows, for a batch of people; whole-number columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.data.encoding import UNIT_ROUNDOFF
from lcifr.errors import RegionError

# Cell: a box × one allowed category per choice, cut by linear rows, for a batch of people; with membership.

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

AT_ONCE = 2048
"""People whose points stay in the cache together."""


@dataclass(frozen=True)
class Choice:
    """One one-hot group: exactly one of ``columns`` is 1, and only an allowed one.

    Parameters
    ----------
    columns : (values,) feature columns of the group.
    allowed : (people, values) which of them the other individual may have.
    """

    columns: IntArray
    allowed: BoolArray

    @cached_property
    def only(self) -> IntArray | None:
        """(people,) the position of the one value that is allowed; None unless that is so for all people."""
        people, values = self.allowed.shape
        places = np.flatnonzero(self.allowed)
        if len(places) != people:
            return None
        found = places - np.arange(0, people * values, values)
        return found if ((found >= 0) & (found < values)).all() else None


@dataclass(frozen=True)
class LinearRows:
    """Linear rows G x′ ≤ g.

    Parameters
    ----------
    G : (rows, features), the same for all people.
    g : (people, rows).
    """

    G: FloatArray
    g: FloatArray


@dataclass(frozen=True)
class Cell:
    """A box over the numeric columns × one allowed category per choice, cut by linear rows; for many people at once.

    Parameters
    ----------
    numeric : (numerics,) the feature columns that are in no choice, ascending.
    lower, upper : (people, numerics) the box, in the order of ``numeric``.
    choices : the one-hot groups; together with ``numeric`` they hold every feature column exactly once.
    rows : linear rows, or None.
    present : (people,) who has this cell at all. Where it is False the other arrays mean nothing.
    """

    numeric: IntArray
    lower: FloatArray
    upper: FloatArray
    choices: tuple[Choice, ...]
    rows: LinearRows | None
    present: BoolArray

    def take(self, index: Any) -> Cell:
        """The same cell for some of the people; ``index`` is anything that indexes an array's first axis."""
        return Cell(
            self.numeric,
            self.lower[index],
            self.upper[index],
            tuple(Choice(choice.columns, choice.allowed[index]) for choice in self.choices),
            LinearRows(self.rows.G, self.rows.g[index]) if self.rows is not None else None,
            self.present[index],
        )

    def hull(self) -> Cell:
        """One person's cell that holds those of all people who have it; without linear rows."""
        here = self if self.present.all() else self.take(self.present)
        ends = here.lower.min(0, keepdims=True), here.upper.max(0, keepdims=True)
        choices = tuple(Choice(choice.columns, np.asarray(choice.allowed.any(0))[None]) for choice in here.choices)
        return Cell(self.numeric, *ends, choices, None, np.ones(1, np.bool_))

    def between(self, lower: FloatArray, upper: FloatArray) -> Cell:
        """The same cell with another box, inside its own; people with an empty box have no cell."""
        present = self.present & (lower <= upper).all(1)
        lower, upper = (np.where(present[:, None], end, 0.0) for end in (lower, upper))
        return replace(self, lower=lower, upper=upper, present=present)


def cell_contains(cell: Cell, points: FloatArray, tolerance: float = 0.0) -> BoolArray:
    """(people, k): which of the points (people, k, features) lie in the cell."""
    values = points[:, :, cell.numeric]
    inside = (values >= cell.lower[:, None] - tolerance) & (values <= cell.upper[:, None] + tolerance)
    result: BoolArray = inside.all(axis=2) & cell.present[:, None]
    if cell.choices:
        result &= _are_allowed(cell.choices, points, tolerance)
    if cell.rows is not None:
        result &= row_excess(cell.rows, points).max(axis=2) <= tolerance
    return result


def _are_allowed(choices: Sequence[Choice], points: FloatArray, tolerance: float) -> BoolArray:
    """(people, k): which of the points are at one allowed value of each choice.

    All choices at once is quicker, and so are people who stay in the cache together.
    """
    columns = np.concatenate([choice.columns for choice in choices])
    of_choice = np.repeat(np.arange(len(choices)), [len(choice.columns) for choice in choices])
    member = (of_choice[:, None] == np.arange(len(choices))).astype(np.float32)
    result = np.empty(points.shape[:2], np.bool_)
    for start in range(0, len(points), AT_ONCE):
        rows = slice(start, start + AT_ONCE)
        values = points[rows][:, :, columns]
        allowed = np.concatenate([choice.allowed[rows] for choice in choices], axis=1)[:, None]
        one = np.abs(values - 1.0) <= tolerance
        fits = ((one & allowed) | (np.abs(values) <= tolerance)).all(axis=2)
        result[rows] = fits & (one.astype(np.float32) @ member == 1.0).all(axis=2)
    return result


def row_excess(rows: LinearRows, points: FloatArray) -> FloatArray:
    """(people, k, rows): by how much G x − g exceeds what rounding of the dot product alone could make of 0.

    A dot product of n terms errs by at most n·u/(1 − n·u) · Σ|G||x| (Higham, Accuracy and Stability, §3.1); one more
    rounding for the subtraction. The term is doubled rather than tuned: it only decides ties.
    """
    value = points @ rows.G.T - rows.g[:, None]
    size = np.abs(points) @ np.abs(rows.G).T + np.abs(rows.g)[:, None]
    excess: FloatArray = value - 2 * (points.shape[2] + 2) * UNIT_ROUNDOFF * size
    return excess


def on_rows(cell: Cell, points: FloatArray, tolerance: float) -> BoolArray:
    """(people,) whether the points (people, features) satisfy the cell's rows, within a tolerance."""
    if cell.rows is None:
        return np.ones(len(points), np.bool_)
    satisfied: BoolArray = row_excess(cell.rows, points[:, None])[:, 0].max(axis=1) <= tolerance
    return satisfied


def cell_from_arrays(
    lower: ArrayLike,
    upper: ArrayLike,
    choices: Sequence[tuple[ArrayLike, ArrayLike]],
    rows: tuple[ArrayLike, ArrayLike] | None,
) -> tuple[Cell, int]:
    """The cell, and the number of features. See :meth:`Region.from_arrays`."""
    low, high = _matrix(lower, "lower"), _matrix(upper, "upper")
    if low.shape != high.shape:
        raise RegionError(
            f"lower has shape {low.shape} but upper has {high.shape}", fix="give both as (people, features)"
        )
    people, features = low.shape
    checked = tuple(_choice(columns, allowed, low, high) for columns, allowed in choices)
    used = np.concatenate([choice.columns for choice in checked]) if checked else np.zeros(0, np.intp)
    if len(np.unique(used)) != len(used):
        raise RegionError("a feature column is in two choices", fix="give every column to at most one choice")
    numeric = np.setdiff1d(np.arange(features), used)
    present: BoolArray = np.all(low[:, numeric] <= high[:, numeric], axis=1)
    for choice in checked:
        present &= choice.allowed.any(axis=1)
    cell = Cell(numeric, low[:, numeric], high[:, numeric], checked, _rows(rows, people, features), present)
    return cell, features


def _matrix(values: ArrayLike, name: str) -> FloatArray:
    array = np.array(values, dtype=np.float64)  # a copy: a region never changes with the caller's arrays
    if array.ndim != 2:
        raise RegionError(f"{name} must have two axes, found shape {array.shape}")
    if not np.isfinite(array).all():
        raise RegionError(f"{name} holds values that are not finite", fix="every numeric column needs both bounds")
    return array


def _choice(columns: ArrayLike, allowed: ArrayLike, low: FloatArray, high: FloatArray) -> Choice:
    index: IntArray = np.asarray(columns, dtype=np.intp)
    mask: BoolArray = np.array(allowed, dtype=np.bool_)
    people, features = low.shape
    if (
        index.ndim != 1
        or not len(index)
        or index.min() < 0
        or index.max() >= features
        or len(np.unique(index)) < len(index)
    ):
        raise RegionError(f"a choice needs distinct columns between 0 and {features - 1}, found {index.tolist()}")
    if mask.shape != (people, len(index)):
        raise RegionError(
            f"allowed has shape {mask.shape}, expected {(people, len(index))} (people, columns of the choice)"
        )
    forced = low[:, index] > 0  # a column that must be positive rules out every other category
    others_free = forced.sum(axis=1, keepdims=True) - forced == 0
    return Choice(index, mask & (high[:, index] >= 1) & (low[:, index] <= 1) & others_free)


def _rows(rows: tuple[ArrayLike, ArrayLike] | None, people: int, features: int) -> LinearRows | None:
    if rows is None:
        return None
    matrix, limits = _matrix(rows[0], "rows G"), _matrix(rows[1], "rows g")
    if matrix.shape[1] != features or limits.shape != (people, len(matrix)):
        raise RegionError(
            f"rows have shapes {matrix.shape} and {limits.shape}, expected (rows, {features}) and ({people}, rows)"
        )
    return LinearRows(matrix, limits) if len(matrix) else None


# Columns that hold encoded whole numbers: a search may split between one of them and the next.


@dataclass(frozen=True)
class WholeColumn:
    """A feature column of a whole-number attribute.

    Parameters
    ----------
    attribute : its name in the schema. column : the feature column.
    first, last : the whole numbers, in the table's units, that any region can hold.
    encode : whole numbers (n,) -> encoded values (n,), monotone.
    """

    attribute: str
    column: int
    first: int
    last: int
    encode: Callable[[FloatArray], FloatArray]

    @cached_property
    def _encoded(self) -> FloatArray:
        return np.asarray(self.encode(np.arange(self.first, self.last + 1, dtype=np.float64)))

    @property
    def falling(self) -> bool:
        """Whether larger numbers are encoded to smaller values."""
        return bool(self._encoded[0] > self._encoded[-1])

    @property
    def values(self) -> FloatArray:
        """The encoded values of all these numbers, ascending."""
        return self._encoded[::-1] if self.falling else self._encoded
