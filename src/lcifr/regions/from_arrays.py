"""Cells from plain arrays, validated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lcifr.errors import RegionError
from lcifr.regions.region import BoolArray, Cell, Choice, FloatArray, IntArray, LinearRows


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
