"""Random sampling from cells; every part of every cell has positive probability."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lcifr.regions.cell import Cell, FloatArray, LinearRows, cell_contains
from lcifr.regions.projection import project_onto_cell

REJECTION_ROUNDS = 30  # cheap and uniform; what is still outside its rows then goes through linear programs


def sample_cells(cells: Sequence[Cell], shape: tuple[int, int, int], generator: np.random.Generator) -> FloatArray:
    """Points of each person's cells, of ``shape`` (people, count, features); see :meth:`Region.sample`."""
    people, count, features = shape
    points = np.full(shape, np.nan)
    if not cells:
        return points
    present = np.stack([cell.present for cell in cells], axis=1)
    for _ in cells:  # a cell may turn out to have no point between its rows; then another one has its turn
        open_slots = np.isnan(points[:, :, 0]) & present.any(axis=1, keepdims=True)
        if not open_slots.any():
            break
        # Every cell of a person is equally likely, however small: a thin cell is where mistakes hide.
        chosen = (generator.random((people, count, len(cells))) * present[:, None, :]).argmax(axis=2)
        for c, cell in enumerate(cells):
            who, slot = np.nonzero(open_slots & (chosen == c))
            if len(who):
                points[who, slot] = _sample_cell(cell.take(who), features, generator)
                present[who[np.isnan(points[who, slot, 0])], c] = False
    return points


def _sample_cell(cell: Cell, features: int, generator: np.random.Generator) -> FloatArray:
    """One point per person of ``cell``, (people, features); NaN where no point satisfies the rows."""
    points = _sample_product(cell, features, generator)
    if cell.rows is None:
        return points
    for _ in range(REJECTION_ROUNDS):
        outside = ~cell_contains(cell, points[:, None])[:, 0]
        if not outside.any():
            return points
        points[outside] = _sample_product(cell.take(outside), features, generator)
    for person in np.flatnonzero(~cell_contains(cell, points[:, None])[:, 0]):
        points[person] = _sample_polytope(cell.take([person]), cell.rows, features, generator)
    return points


def _sample_product(cell: Cell, features: int, generator: np.random.Generator) -> FloatArray:
    people = len(cell.present)
    points = np.zeros((people, features))
    share = generator.random((people, len(cell.numeric)))
    # Corners and edges are where bounds are attained: give each end a tenth of the draws.
    share = np.where(share < 0.1, 0.0, np.where(share > 0.9, 1.0, (share - 0.1) / 0.8))
    inside = cell.lower + share * (cell.upper - cell.lower)
    points[:, cell.numeric] = np.clip(inside, cell.lower, cell.upper)
    for choice in cell.choices:
        preference = generator.random(choice.allowed.shape) * choice.allowed
        points[np.arange(people), choice.columns[preference.argmax(axis=1)]] = 1.0
    return points


def _sample_polytope(cell: Cell, rows: LinearRows, features: int, generator: np.random.Generator) -> FloatArray:
    """A point of one person's cell that rejection does not reach: a random mixture of random vertices."""
    vertex = _random_vertex(cell, rows, features, generator)
    if vertex is None:
        return np.full(features, np.nan)
    for choice in cell.choices:  # the mixture keeps this vertex's categories, so that it stays whole
        hot = vertex[choice.columns].argmax()
        choice.allowed[0] = np.arange(len(choice.columns)) == hot
        vertex[choice.columns] = choice.allowed[0]
    more = generator.integers(0, min(len(cell.numeric), 4) + 1)
    drawn = [vertex, *(_random_vertex(cell, rows, features, generator) for _ in range(more))]
    corners = [corner for corner in drawn if corner is not None]
    weights = generator.dirichlet(np.ones(len(corners)))
    mixed = np.einsum("c,cf->f", weights, np.array(corners))
    # The solver's vertices err by its feasibility tolerance; the projection takes that out again.
    result: FloatArray = project_onto_cell(cell, mixed[None], tolerance=0.0)[0]
    return result


def _random_vertex(cell: Cell, rows: LinearRows, features: int, generator: np.random.Generator) -> FloatArray | None:
    """The best point of one person's cell in a random direction, or None if there is no point at all."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    lower, upper, whole = np.zeros(features), np.zeros(features), np.zeros(features)
    lower[cell.numeric], upper[cell.numeric] = cell.lower[0], cell.upper[0]
    sums = np.zeros((len(cell.choices), features))
    for c, choice in enumerate(cell.choices):
        upper[choice.columns], whole[choice.columns], sums[c, choice.columns] = choice.allowed[0], 1, 1
    assert cell.rows is not None
    constraints = [LinearConstraint(rows.G, -np.inf, cell.rows.g[0])]
    if len(sums):
        constraints.append(LinearConstraint(sums, 1, 1))
    objective = generator.normal(size=features)
    answer = milp(objective, integrality=whole, bounds=Bounds(lower, upper), constraints=constraints)
    if answer.x is None:
        return None
    return np.clip(np.asarray(answer.x, dtype=np.float64), lower, upper)
