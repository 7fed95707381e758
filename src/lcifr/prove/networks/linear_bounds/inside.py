"""Points brought into a region as whole individuals: categories whole, rows respected."""

from __future__ import annotations

import numpy as np

from lcifr.regions.cell import cell_contains, row_excess
from lcifr.regions.region import Cell, FloatArray, Region

ROUNDS = 50
"""Alternating projections move a point that is already within a solver's tolerance; a few rounds are enough."""
PUSH = 1e-13
"""Rows are entered a little beyond their boundary, or a corner of two rows would be approached for ever. The first
round does without: between the two rows of an equation there is no room for that."""


def pull_inside(region: Region, points: FloatArray) -> FloatArray:
    """Each point moved into one of its cells, the nearest that works; unchanged where none does.

    Parameters
    ----------
    points : (people, k, features), near the region already: this is a repair, not a search.
    """
    missing = ~region.contains(points)
    if not missing.any():
        return points
    result = np.array(points)
    distance = np.full(missing.shape, np.inf)
    for cell in region.cells:
        landed = pull_into_cell(cell, points)
        away = np.abs(landed - points).max(axis=-1)
        better = missing & cell_contains(cell, landed) & (away < distance)
        result[better], distance[better] = landed[better], away[better]
    return result


def pull_into_cell(cell: Cell, points: FloatArray) -> FloatArray:
    """(people, k, features): each group rounded to its largest allowed category, numerics into the box and the rows."""
    landed = np.array(points)
    for choice in cell.choices:
        scores = np.where(choice.allowed[:, None, :], points[:, :, choice.columns], -np.inf)
        landed[:, :, choice.columns] = np.arange(len(choice.columns)) == scores.argmax(axis=2)[..., None]
    lower, upper = cell.lower[:, None, :], np.maximum(cell.lower, cell.upper)[:, None, :]
    landed[:, :, cell.numeric] = np.clip(landed[:, :, cell.numeric], lower, upper)
    if cell.rows is None:
        return landed
    steps = cell.rows.G[:, cell.numeric]
    norms = np.maximum((steps**2).sum(axis=1), np.finfo(float).tiny)
    for turn in range(ROUNDS):
        if (row_excess(cell.rows, landed) <= 0.0).all():
            break
        for row, step, norm, g in zip(cell.rows.G, steps, norms, cell.rows.g.T, strict=True):
            over = landed @ row - g[:, None]
            size = 1.0 + np.abs(g)[:, None]
            over = np.where(over > 0, over + PUSH * size * (turn > 0), 0.0) / norm
            landed[:, :, cell.numeric] = np.clip(landed[:, :, cell.numeric] - over[..., None] * step, lower, upper)
    return landed
