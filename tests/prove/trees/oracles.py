"""What the largest value of trees over a region is, found slowly: all cells of all thresholds, and a MIP in HiGHS."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from lcifr.models.trees import CATEGORY, LEAF, Trees
from lcifr.regions.region import Cell, Region, WholeColumn

CLOSE = 1e-7
"""A linear program that is feasible, or not, by less than this decides nothing."""


def largest_by_cells(trees: Trees, region: Region, person: int, direction: np.ndarray) -> float:
    """By looking at every combination of bins and values; NaN where rows are too close to call."""
    values = [
        _largest_in(trees, cell, region.whole, person, direction) for cell in region.cells if cell.present[person]
    ]
    return float(np.max(values, initial=-np.inf)) if not np.isnan(values).any() else np.nan


def _largest_in(trees: Trees, cell: Cell, whole: tuple[WholeColumn, ...], person: int, direction: np.ndarray) -> float:
    bins = [
        _bins(trees, int(column), low, high, whole)
        for column, low, high in zip(cell.numeric, cell.lower[person], cell.upper[person], strict=True)
    ]
    values = [choice.columns[choice.allowed[person]] for choice in cell.choices]
    boxes = list(product(*bins))
    points = np.zeros((len(boxes), *(len(v) for v in values), trees.inputs))
    for place, box in enumerate(boxes):
        points[place, ..., cell.numeric] = np.array([low for low, _ in box]).reshape(-1, *(1,) * len(values))
    for which in product(*(range(len(v)) for v in values)):
        for choice, at in zip(values, which, strict=True):
            points[(slice(None), *which, choice[at])] = 1.0
    found = (trees(points) @ direction).reshape(len(boxes), -1).max(1)
    if cell.rows is None:
        return float(found.max(initial=-np.inf))
    for place in np.argsort(-found):
        room = _violation(cell, person, boxes[place])
        if abs(room) < CLOSE:
            return np.nan
        if room < 0:
            return float(found[place])
    return -np.inf


def _bins(
    trees: Trees, column: int, low: float, high: float, whole: tuple[WholeColumn, ...]
) -> list[tuple[float, float]]:
    """The intervals between thresholds, as the floats at their ends; of whole numbers each by itself."""
    for one in whole:
        if one.column == column:
            return [(v, v) for v in one.values.tolist() if low <= v <= high]
    nodes = trees.nodes
    used = np.unique(nodes.threshold[(nodes.kind != LEAF) & (nodes.kind != CATEGORY) & (nodes.column == column)])
    inside = used[(used >= low) & (used < high)]
    starts = [low, *np.nextafter(inside, np.inf).tolist()]
    return list(zip(starts, [*inside.tolist(), high], strict=True))


def _violation(cell: Cell, person: int, box: tuple[tuple[float, float], ...]) -> float:
    """The least amount by which a point of the box violates its worst row; negative where all hold."""
    assert cell.rows is not None
    G, g = cell.rows.G[:, cell.numeric], cell.rows.g[person]
    slack = np.column_stack([G, -np.ones(len(G))])
    answer = linprog([0.0] * len(box) + [1.0], A_ub=slack, b_ub=g, bounds=[*box, (-1e3, 1e3)], method="highs")
    return float(answer.fun)


def largest_by_milp(trees: Trees, region: Region, person: int, direction: np.ndarray) -> float:
    """Kantchelian's program, cell by cell (without rows and whole numbers): a switch for each threshold and value."""
    return max(
        (_milp(trees, cell, person, direction) for cell in region.cells if cell.present[person]), default=-np.inf
    )


def _milp(trees: Trees, cell: Cell, person: int, direction: np.ndarray) -> float:
    nodes, switches, lower, upper, cost, rows, least, most = trees.nodes, {}, [], [], [], [], [], []

    def variable(low: float, high: float, gain: float = 0.0) -> int:
        lower.append(low)
        upper.append(high)
        cost.append(-gain)
        return len(cost) - 1

    def row(entries: dict[int, float], low: float, high: float) -> None:
        rows.append(entries)
        least.append(low)
        most.append(high)

    for column, low, high in zip(cell.numeric.tolist(), cell.lower[person], cell.upper[person], strict=True):
        about = (nodes.kind == 1) & (nodes.column == column)
        before = None
        for t in np.unique(nodes.threshold[about]).tolist():
            switches[column, t] = variable(float(high <= t), float(low <= t))
            if before is not None:
                row({before: 1.0, switches[column, t]: -1.0}, -np.inf, 0.0)
            before = switches[column, t]
    for choice in cell.choices:
        for at, column in enumerate(choice.columns.tolist()):
            switches[column] = variable(0.0, float(choice.allowed[person, at]))
        row({switches[column]: 1.0 for column in choice.columns.tolist()}, 1.0, 1.0)
    whole = len(cost)

    def leaves_below(n: int) -> list[int]:
        if nodes.kind[n] == LEAF:
            return [variable(0.0, 1.0, float(nodes.value[n] @ direction) * float(trees.scale))]
        first, second = leaves_below(n + 1), leaves_below(int(nodes.second[n]))
        if nodes.kind[n] == CATEGORY:
            side = {switches[c]: 1.0 for c in np.flatnonzero(nodes.sets[nodes.chosen[n]]).tolist()}
        else:
            side = {switches[int(nodes.column[n]), float(nodes.threshold[n])]: 1.0}
        row({**dict.fromkeys(first, 1.0), **dict.fromkeys(side, -1.0)}, -np.inf, 0.0)
        row({**dict.fromkeys(second, 1.0), **side}, -np.inf, 1.0)
        return first + second

    for root in nodes.root.tolist():
        row(dict.fromkeys(leaves_below(root), 1.0), 1.0, 1.0)
    matrix = csr_array(
        (
            [v for entries in rows for v in entries.values()],
            ([r for r, entries in enumerate(rows) for _ in entries], [c for entries in rows for c in entries]),
        ),
        shape=(len(rows), len(cost)),
    )
    answer = milp(
        cost,
        integrality=[1] * whole + [0] * (len(cost) - whole),
        bounds=Bounds(lower, upper),
        constraints=LinearConstraint(matrix, least, most),
        options={"mip_rel_gap": 0.0},
    )
    assert answer.status == 0, answer.message
    return float(direction @ trees.base - answer.fun)
