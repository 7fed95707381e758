"""Random points of cells, and projection onto cells: box and simplices in closed form, rows by least squares.

Every part of every cell has positive probability. Where a cell has rows, only the columns that they touch take part in
a projection; all others keep their place in box × simplices. What is left is a least distance problem, min ‖u‖ with
A u ≥ b, which non-negative least squares solves exactly, as Lawson and Hanson show (Solving Least Squares Problems,
chapter 23).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lcifr.regions.cell import Cell, FloatArray, IntArray, LinearRows, cell_contains, on_rows

# Projection onto cells: box and simplices in closed form, linear rows by non-negative least squares.
#
# Where a cell has rows, only the columns that they touch take part; all others keep their place in box × simplices.
# What is left is a least distance problem, min ‖u‖ with A u ≥ b, which non-negative least squares solves exactly, as
# Lawson and Hanson show (Solving Least Squares Problems, chapter 23).

ROUNDS = 4  # each solves for what rounding left over in the one before
FAR = 1e4  # constraints that are this many times further away than the move is long do not matter to it
FLAT = 1e-14  # a slope below this, relative to the problem's size, is rounding
CHANGES = 10  # of the active set per unknown; a handful in all is usual
NO_POINT = 1e-12  # a least distance problem whose residual vanishes has no feasible point


def project_onto_cell(cell: Cell, target: FloatArray, tolerance: float) -> FloatArray:
    """(people, features) the nearest point of the cell to each target; rows may be exceeded by the tolerance."""
    landed = _onto_product(cell, target)
    if cell.rows is not None:
        outside = np.flatnonzero(cell.present & ~on_rows(cell, landed, tolerance))
        pull_onto_rows(cell, cell.rows, landed, outside, target)
    return landed


def _onto_product(cell: Cell, point: FloatArray) -> FloatArray:
    """The nearest point of box × simplices."""
    landed = point.copy()
    landed[:, cell.numeric] = np.clip(point[:, cell.numeric], cell.lower, np.maximum(cell.lower, cell.upper))
    for choice in cell.choices:
        landed[:, choice.columns] = project_onto_simplex(point[:, choice.columns], choice.allowed)
    return landed


def project_onto_simplex(values: FloatArray, allowed: NDArray[np.bool_]) -> FloatArray:
    """Each row's projection onto {p ≥ 0, Σp = 1, p = 0 where not allowed}, by sorting (Held et al. 1974).

    Parameters
    ----------
    values, allowed : (rows, categories); every row allows at least one category.
    """
    masked = np.where(allowed, values, -np.inf)
    descending = -np.sort(-masked, axis=1)
    finite = np.where(np.isinf(descending), 0.0, descending)
    shifts = (finite.cumsum(axis=1) - 1.0) / np.arange(1, values.shape[1] + 1)
    last = np.maximum((descending - shifts > 0).sum(axis=1) - 1, 0)
    projected = np.where(allowed, values - np.take_along_axis(shifts, last[:, None], axis=1), 0.0)
    return np.maximum(projected, 0.0)


def pull_onto_rows(cell: Cell, rows: LinearRows, landed: FloatArray, people: IntArray, target: FloatArray) -> None:
    """Move the points ``landed`` of some people to the nearest of their cell, in place.

    Parameters
    ----------
    landed, target : (people, features) points of box × simplices, and what they shall be near to.
    people : whose points. Where no point satisfies the rows, theirs end up anywhere in box × simplices.
    """
    touched = np.abs(rows.G).max(axis=0) > 0
    for choice in cell.choices:  # the entries of a simplex move together
        touched[choice.columns] = touched[choice.columns].any()
    columns = np.flatnonzero(touched)
    for person in map(int, people if len(columns) else ()):
        matrix, limits, lower, upper = _constraints(cell.take([person]), rows, columns, person)
        point = target[person, columns]
        for _ in range(ROUNDS):
            gap = limits - matrix @ point  # A u ≥ gap
            move = least_move(matrix, gap)
            if move is None:
                break
            point = np.clip(point + move, lower, upper)
            if (matrix @ point >= limits).all():
                break
        landed[person, columns] = point


def _constraints(
    cell: Cell, rows: LinearRows, columns: IntArray, person: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """One person's cell as A p ≥ b over some columns, unit rows; and the bounds of the columns."""
    home = {int(column): k for k, column in enumerate(columns)}
    lower, upper = np.zeros(len(columns)), np.zeros(len(columns))
    for j, column in enumerate(cell.numeric):
        if int(column) in home:
            lower[home[int(column)]], upper[home[int(column)]] = cell.lower[0, j], cell.upper[0, j]
    sums = []
    for choice in cell.choices:
        if int(choice.columns[0]) in home:
            places = [home[int(column)] for column in choice.columns]
            upper[places] = choice.allowed[0]
            sums.append(np.isin(np.arange(len(columns)), places) / np.sqrt(len(places)))
    norms = np.maximum(np.linalg.norm(rows.G, axis=1), np.finfo(float).tiny)
    whole = np.array(sums).reshape(-1, len(columns))
    ones = whole.max(axis=1, initial=0.0)
    eye = np.eye(len(columns))
    matrix = np.vstack([-rows.G[:, columns] / norms[:, None], whole, -whole, eye, -eye])
    limits = np.concatenate([-rows.g[person] / norms, ones, -ones, lower, -upper])
    return matrix, limits, lower, upper


def least_move(matrix: FloatArray, gap: FloatArray) -> FloatArray | None:
    """The shortest u with ``matrix`` u ≥ ``gap``, or None where there is none."""
    size = float(gap.max(initial=0.0))
    if size <= 0:
        return np.zeros(matrix.shape[1])
    near = gap > -FAR * size
    system = np.vstack([matrix[near].T, gap[near] / size])  # scaled, so that the move is of the size of 1
    goal = np.zeros(len(system))
    goal[-1] = 1.0
    rest = system @ nonnegative_least_squares(system, goal) - goal
    if abs(rest[-1]) <= NO_POINT:
        return None
    move: FloatArray = -rest[:-1] / rest[-1] * size
    return move if np.isfinite(move).all() else None


def nonnegative_least_squares(system: FloatArray, goal: FloatArray) -> FloatArray:
    """The y ≥ 0 with the least ‖system y − goal‖, by Lawson and Hanson's active sets.

    SciPy's own has returned wrong minimisers and crashed (scipy issues 25389, 24861); these problems have a handful of
    unknowns, and plain least squares on the active ones is quick and safe.
    """
    weights = np.zeros(system.shape[1])
    used = np.zeros(len(weights), np.bool_)
    size = np.linalg.norm(system, axis=0).max(initial=0.0)
    for _ in range(CHANGES * len(weights)):
        slope = np.where(used, -np.inf, system.T @ (goal - system @ weights))
        entering = int(slope.argmax())
        if slope[entering] <= FLAT * size:
            break
        used[entering] = True
        while used.any():
            wanted = np.zeros(len(weights))
            wanted[used] = np.linalg.lstsq(system[:, used], goal, rcond=None)[0]
            falling = used & (wanted <= 0)
            if not falling.any():
                weights = wanted
                break
            # As far towards the wanted ones as none turns negative; the first to vanish leaves.
            shares = np.full(len(weights), np.inf)
            shares[falling] = weights[falling] / (weights[falling] - wanted[falling] + np.finfo(float).tiny)
            weights = np.maximum(weights + shares.min() * (wanted - weights), 0.0)
            used[shares == shares.min()] = False
            weights[~used] = 0.0
    return weights


# Random sampling from cells; every part of every cell has positive probability.

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
