"""Concrete points of a cell with large values: vertex jumps along the gradient, category swaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lcifr.prove.networks.linear_bounds.cell_batch import CellBatch, CellView, RowBatch
from lcifr.prove.networks.linear_bounds.linear import Reach
from lcifr.regions.region import Cell

JUMPS = 4
"""A piecewise linear function on a box settles on a vertex after a few jumps, or cycles; the best point is kept."""
REPAIRS = 60
"""Projections onto rows; what is still outside then does not count."""
PATIENCE = 10
"""Projections in which a point must come nearer by a tenth."""


@dataclass(frozen=True)
class CellPoints:
    """One point per row of a batch: numerics (n, m) and for each free choice the position of its category (n,)."""

    numeric: Tensor
    hot: tuple[Tensor, ...]

    def where(self, better: Tensor, other: CellPoints) -> CellPoints:
        """These points, replaced by ``other`` where ``better`` (n,) is True."""
        hot = tuple(torch.where(better, new, old) for new, old in zip(other.hot, self.hot, strict=True))
        return CellPoints(torch.where(better[:, None], other.numeric, self.numeric), hot)

    def take(self, index: Tensor) -> CellPoints:
        """Some of the points."""
        return CellPoints(self.numeric[index], tuple(hot[index] for hot in self.hot))


def first_layer(batch: CellBatch, points: CellPoints) -> Tensor:
    """(n, h) the first layer before its ReLU."""
    return _affine(batch.base, batch.weight, batch.groups, points)


def outputs(batch: CellBatch, points: CellPoints) -> Tensor:
    """(n, outputs) a plain forward pass."""
    value = first_layer(batch, points)
    for weight, bias in batch.tail:
        value = torch.relu(value) @ weight.T + bias
    return value


def vertex(batch: CellBatch, slopes: Tensor, groups: tuple[Tensor, ...]) -> CellPoints:
    """The point where a linear function with these slopes (n, m), (n, values)… is largest; rows are not looked at."""
    hot = tuple(
        torch.where(allowed, part, -torch.inf).argmax(-1) for part, allowed in zip(groups, batch.allowed, strict=True)
    )
    return CellPoints(torch.where(slopes > 0, batch.upper, batch.lower), hot)


def vertex_of(batch: CellBatch, reach: Reach, which: Tensor) -> CellPoints:
    """The vertex that a bound of direction ``which`` (n,) points at."""
    at = torch.arange(len(batch), device=batch.base.device)
    return vertex(batch, reach.coefficient[at, which], tuple(part[at, which] for part in reach.groups))


def gradient(batch: CellBatch, direction: Tensor, points: CellPoints) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Slopes of direction (n, outputs) · network at the points: numerics (n, m), choices (n, values)…"""
    value, masks = first_layer(batch, points), []
    for weight, bias in batch.tail:
        masks.append(value > 0)
        value = torch.relu(value) @ weight.T + bias
    coefficient = direction
    for (weight, _), mask in zip(reversed(batch.tail), reversed(masks), strict=True):
        coefficient = (coefficient @ weight) * mask
    return coefficient @ batch.weight, tuple(coefficient @ weight for weight in batch.groups)


def value_of(batch: CellBatch, direction: Tensor, points: CellPoints) -> Tensor:
    """(n,) direction · network at the points; −inf where a row is violated."""
    value = (direction * outputs(batch, points)).sum(-1)
    if batch.rows is not None:
        value = torch.where(satisfies_rows(batch, points), value, -torch.inf)
    return value


def climb(batch: CellBatch, direction: Tensor, start: CellPoints, jumps: int = JUMPS) -> tuple[CellPoints, Tensor]:
    """The best point (and its value) on a walk from ``start``: jump to the gradient's vertex, or half of the way."""
    best = repair(batch, start)
    value = value_of(batch, direction, best)
    current = best
    for _ in range(jumps):
        slopes, groups = gradient(batch, direction, current)
        corner = repair(batch, vertex(batch, slopes, groups))
        half = repair(batch, CellPoints((current.numeric + corner.numeric) * 0.5, corner.hot))
        reached, halfway = value_of(batch, direction, corner), value_of(batch, direction, half)
        current = corner.where(halfway > reached, half)
        reached = torch.maximum(reached, halfway)
        better = reached > value
        if not bool(better.any()):
            break
        best, value = best.where(better, current), torch.where(better, reached, value)
    return best, value


def assemble(view: CellView, cell: Cell, item: Tensor, points: CellPoints) -> np.ndarray:
    """(n, features) whole individuals from points of a batch; ``item`` says whose cell each belongs to."""
    people = item.cpu().numpy()
    features = len(cell.numeric) + sum(len(choice.columns) for choice in cell.choices)
    full = np.zeros((len(people), features))
    full[:, cell.numeric] = cell.lower[people]
    full[:, view.moving] = points.numeric.cpu().numpy()
    rows = np.arange(len(people))
    hot = {choice: part.cpu().numpy() for choice, part in zip(view.free, points.hot, strict=True)}
    for position, choice in enumerate(cell.choices):
        value = hot[position] if position in hot else choice.allowed[people].argmax(1)
        full[rows, choice.columns[value]] = 1.0
    return full


def satisfies_rows(batch: CellBatch, points: CellPoints) -> Tensor:
    """(n,) whether the linear rows hold, up to rounding: between the two rows of an equation there is no more room."""
    rows = batch.rows
    if rows is None:
        return torch.ones(len(batch), dtype=torch.bool, device=batch.base.device)
    return (_rows_at(rows, points) <= _rounding(batch, rows)).all(-1)


def repair(batch: CellBatch, points: CellPoints) -> CellPoints:
    """Numerics moved into the rows by projections onto the row that is missed most, within the box.

    Every other turn goes a little beyond the row, or a corner would be approached for ever; not every one, or an
    equation (two rows) would never be met.
    """
    rows = batch.rows
    if rows is None or (kept := satisfies_rows(batch, points)).all():
        return points
    wrong = (~kept).nonzero()[:, 0]
    batch, moved = batch.take(wrong), points.take(wrong)
    numeric, rows = moved.numeric, batch.rows or rows
    length = (rows.weight**2).sum(1).sqrt().clamp(min=torch.finfo(rows.weight.dtype).tiny)
    unit, close = rows.weight / length[:, None], _rounding(batch, rows) / length
    level = _rows_at(rows, CellPoints(torch.zeros_like(numeric), moved.hot)) / length - close
    left, before = torch.ones_like(wrong, dtype=torch.bool), torch.full_like(batch.largest, torch.inf)
    for turn in range(REPAIRS):
        over, worst = (level + numeric @ unit.T).max(-1)
        left &= over > 0
        if turn % PATIENCE == 0:  # what comes no nearer never does: these categories leave no point
            left, before = left & (over < 0.9 * before), over
        if not bool(left.any()):
            break
        push = over * (1 + 1e-6) + 1e-12 if turn % 2 else over + close.gather(1, worst[:, None])[:, 0]
        step = torch.where(left, push, 0.0)[:, None] * unit[worst]
        numeric = torch.clamp(numeric - step, batch.lower, batch.upper)
    whole = points.numeric.clone()
    whole[wrong] = numeric
    return CellPoints(whole, points.hot)


def _rounding(batch: CellBatch, rows: RowBatch) -> Tensor:
    """(n, R) what rounding alone makes of a row that holds with equality; the caller of a proof looks again."""
    return 2.0**-52 * (batch.largest[:, None] * rows.slope + rows.shift)


def _rows_at(rows: RowBatch, points: CellPoints) -> Tensor:
    return _affine(rows.base, rows.weight, rows.groups, points)


def _affine(base: Tensor, weight: Tensor, groups: tuple[Tensor, ...], points: CellPoints) -> Tensor:
    value = base + points.numeric @ weight.T
    for part, hot in zip(groups, points.hot, strict=True):
        value = value + part.T[hot]
    return value
