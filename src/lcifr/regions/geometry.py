"""Membership in a region and projection onto it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lcifr.data.encoding import UNIT_ROUNDOFF
from lcifr.errors import RegionError
from lcifr.regions.projection import pull_onto_rows
from lcifr.regions.region import BoolArray, Cell, Choice, FloatArray, LinearRows, Region


def points_of(region: Region, points: ArrayLike) -> FloatArray:
    """``points`` as (people, k, features), checked."""
    array = np.asarray(points, dtype=np.float64)
    if array.ndim not in (2, 3) or array.shape[0] != region.people or array.shape[-1] != region.features:
        raise RegionError(
            f"points have shape {array.shape}, expected ({region.people}, {region.features}) "
            f"or ({region.people}, k, {region.features})"
        )
    return array if array.ndim == 3 else array[:, None, :]


def region_contains(region: Region, points: ArrayLike, tolerance: float) -> BoolArray:
    stacked = points_of(region, points)
    inside = np.zeros(stacked.shape[:2], bool)
    for cell in region.cells:
        inside |= cell_contains(cell, stacked, tolerance)
    return inside if np.ndim(points) == 3 else inside[:, 0]


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
    """(people, k): which of the points are at one allowed value of each choice. All choices at once is quicker."""
    values = points[:, :, np.concatenate([choice.columns for choice in choices])]
    allowed = np.concatenate([choice.allowed for choice in choices], axis=1)[:, None]
    starts = np.cumsum([0, *(len(choice.columns) for choice in choices[:-1])])
    one = np.abs(values - 1.0) <= tolerance
    fits: BoolArray = ((one & allowed) | (np.abs(values) <= tolerance)).all(axis=2)
    single: BoolArray = (np.add.reduceat(one, starts, axis=2, dtype=np.intp) == 1).all(axis=2)
    return fits & single


def row_excess(rows: LinearRows, points: FloatArray) -> FloatArray:
    """(people, k, rows): by how much G x − g exceeds what rounding of the dot product alone could make of 0.

    A dot product of n terms errs by at most n·u/(1 − n·u) · Σ|G||x| (Higham, Accuracy and Stability, §3.1); one more
    rounding for the subtraction. The term is doubled rather than tuned: it only decides ties.
    """
    value = points @ rows.G.T - rows.g[:, None]
    size = np.abs(points) @ np.abs(rows.G).T + np.abs(rows.g)[:, None]
    excess: FloatArray = value - 2 * (points.shape[2] + 2) * UNIT_ROUNDOFF * size
    return excess


def project_onto_region(region: Region, points: ArrayLike, tolerance: float) -> FloatArray:
    start = points_of(region, points)
    if np.ndim(points) == 3:
        raise RegionError("project takes one point per person: (people, features)")
    target = start[:, 0]
    nearest = np.full_like(target, np.nan)
    distance = np.full(region.people, np.inf)
    for cell in region.cells:
        landed = project_onto_cell(cell, target, tolerance)
        reached = cell.present & on_rows(cell, landed, tolerance)  # a cell may have no point between its rows
        away = np.where(reached, np.linalg.norm(landed - target, axis=1), np.inf)
        closer = away < distance
        nearest[closer], distance[closer] = landed[closer], away[closer]
    return nearest


def project_onto_cell(cell: Cell, target: FloatArray, tolerance: float) -> FloatArray:
    """(people, features) the nearest point of the cell to each target; rows may be exceeded by the tolerance."""
    landed = _onto_product(cell, target)
    if cell.rows is not None:
        outside = np.flatnonzero(cell.present & ~on_rows(cell, landed, tolerance))
        pull_onto_rows(cell, cell.rows, landed, outside, target)
    return landed


def on_rows(cell: Cell, points: FloatArray, tolerance: float) -> BoolArray:
    """(people,) whether the points (people, features) satisfy the cell's rows, within a tolerance."""
    if cell.rows is None:
        return np.ones(len(points), np.bool_)
    satisfied: BoolArray = row_excess(cell.rows, points[:, None])[:, 0].max(axis=1) <= tolerance
    return satisfied


def _onto_product(cell: Cell, point: FloatArray) -> FloatArray:
    """The nearest point of box × simplices."""
    landed = point.copy()
    landed[:, cell.numeric] = np.clip(point[:, cell.numeric], cell.lower, np.maximum(cell.lower, cell.upper))
    if cell.choices:
        import torch

        from lcifr.regions.simplex import project_onto_simplex

        for choice in cell.choices:
            values, allowed = torch.tensor(point[:, choice.columns]), torch.tensor(choice.allowed)
            landed[:, choice.columns] = project_onto_simplex(values, allowed).numpy()
    return landed
