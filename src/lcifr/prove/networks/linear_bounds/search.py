"""Concrete points of a cell with large values: vertex jumps along the gradient, category swaps."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lcifr.prove.networks.linear_bounds.cell_batch import RowsScene, Scene
from lcifr.prove.networks.linear_bounds.linear import Reach

JUMPS = 4
"""A piecewise linear function on a box settles on a vertex after a few jumps, or cycles; the best point is kept."""
REPAIRS = 60
"""Projections onto rows; what is still outside then does not count."""
PATIENCE = 10
"""Projections in which a point must come nearer by a tenth."""


@dataclass(frozen=True)
class Points:
    """One point per row of a scene: numerics (n, m) and for each free choice the position of its category (n,)."""

    numeric: Tensor
    hot: tuple[Tensor, ...]

    def where(self, better: Tensor, other: Points) -> Points:
        """These points, replaced by ``other`` where ``better`` (n,) is True."""
        hot = tuple(torch.where(better, new, old) for new, old in zip(other.hot, self.hot, strict=True))
        return Points(torch.where(better[:, None], other.numeric, self.numeric), hot)

    def take(self, index: Tensor) -> Points:
        """Some of the points."""
        return Points(self.numeric[index], tuple(hot[index] for hot in self.hot))


def first_layer(scene: Scene, points: Points) -> Tensor:
    """(n, h) the first layer before its ReLU."""
    return _affine(scene.base, scene.weight, scene.groups, points)


def outputs(scene: Scene, points: Points) -> Tensor:
    """(n, outputs) a plain forward pass."""
    value = first_layer(scene, points)
    for weight, bias in scene.tail:
        value = torch.relu(value) @ weight.T + bias
    return value


def vertex(scene: Scene, slopes: Tensor, groups: tuple[Tensor, ...]) -> Points:
    """The point where a linear function with these slopes (n, m), (n, values)… is largest; rows are not looked at."""
    hot = tuple(
        torch.where(allowed, part, -torch.inf).argmax(-1) for part, allowed in zip(groups, scene.allowed, strict=True)
    )
    return Points(torch.where(slopes > 0, scene.upper, scene.lower), hot)


def vertex_of(scene: Scene, reach: Reach, which: Tensor) -> Points:
    """The vertex that a bound of direction ``which`` (n,) points at."""
    at = torch.arange(len(scene), device=scene.base.device)
    return vertex(scene, reach.coefficient[at, which], tuple(part[at, which] for part in reach.groups))


def gradient(scene: Scene, direction: Tensor, points: Points) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Slopes of direction (n, outputs) · network at the points: numerics (n, m), choices (n, values)…"""
    value, masks = first_layer(scene, points), []
    for weight, bias in scene.tail:
        masks.append(value > 0)
        value = torch.relu(value) @ weight.T + bias
    coefficient = direction
    for (weight, _), mask in zip(reversed(scene.tail), reversed(masks), strict=True):
        coefficient = (coefficient @ weight) * mask
    return coefficient @ scene.weight, tuple(coefficient @ weight for weight in scene.groups)


def value_of(scene: Scene, direction: Tensor, points: Points) -> Tensor:
    """(n,) direction · network at the points; −inf where a row is violated."""
    value = (direction * outputs(scene, points)).sum(-1)
    if scene.rows is not None:
        value = torch.where(satisfies_rows(scene, points), value, -torch.inf)
    return value


def climb(scene: Scene, direction: Tensor, start: Points, jumps: int = JUMPS) -> tuple[Points, Tensor]:
    """The best point (and its value) on a walk from ``start``: jump to the gradient's vertex, or half of the way."""
    best = repair(scene, start)
    value = value_of(scene, direction, best)
    current = best
    for _ in range(jumps):
        slopes, groups = gradient(scene, direction, current)
        corner = repair(scene, vertex(scene, slopes, groups))
        half = repair(scene, Points((current.numeric + corner.numeric) * 0.5, corner.hot))
        reached, halfway = value_of(scene, direction, corner), value_of(scene, direction, half)
        current = corner.where(halfway > reached, half)
        reached = torch.maximum(reached, halfway)
        better = reached > value
        if not bool(better.any()):
            break
        best, value = best.where(better, current), torch.where(better, reached, value)
    return best, value


def satisfies_rows(scene: Scene, points: Points) -> Tensor:
    """(n,) whether the linear rows hold, up to rounding: between the two rows of an equation there is no more room."""
    rows = scene.rows
    if rows is None:
        return torch.ones(len(scene), dtype=torch.bool, device=scene.base.device)
    return (_rows_at(rows, points) <= _rounding(scene, rows)).all(-1)


def repair(scene: Scene, points: Points) -> Points:
    """Numerics moved into the rows by projections onto the row that is missed most, within the box.

    Every other turn goes a little beyond the row, or a corner would be approached for ever; not every one, or an
    equation (two rows) would never be met.
    """
    rows = scene.rows
    if rows is None or (kept := satisfies_rows(scene, points)).all():
        return points
    wrong = (~kept).nonzero()[:, 0]
    scene, moved = scene.take(wrong), points.take(wrong)
    numeric, rows = moved.numeric, scene.rows or rows
    length = (rows.weight**2).sum(1).sqrt().clamp(min=torch.finfo(rows.weight.dtype).tiny)
    unit, close = rows.weight / length[:, None], _rounding(scene, rows) / length
    level = _rows_at(rows, Points(torch.zeros_like(numeric), moved.hot)) / length - close
    left, before = torch.ones_like(wrong, dtype=torch.bool), torch.full_like(scene.largest, torch.inf)
    for turn in range(REPAIRS):
        over, worst = (level + numeric @ unit.T).max(-1)
        left &= over > 0
        if turn % PATIENCE == 0:  # what comes no nearer never does: these categories leave no point
            left, before = left & (over < 0.9 * before), over
        if not bool(left.any()):
            break
        push = over * (1 + 1e-6) + 1e-12 if turn % 2 else over + close.gather(1, worst[:, None])[:, 0]
        step = torch.where(left, push, 0.0)[:, None] * unit[worst]
        numeric = torch.clamp(numeric - step, scene.lower, scene.upper)
    whole = points.numeric.clone()
    whole[wrong] = numeric
    return Points(whole, points.hot)


def _rounding(scene: Scene, rows: RowsScene) -> Tensor:
    """(n, R) what rounding alone makes of a row that holds with equality; the caller of a proof looks again."""
    return 2.0**-52 * (scene.largest[:, None] * rows.slope + rows.shift)


def _rows_at(rows: RowsScene, points: Points) -> Tensor:
    return _affine(rows.base, rows.weight, rows.groups, points)


def _affine(base: Tensor, weight: Tensor, groups: tuple[Tensor, ...], points: Points) -> Tensor:
    value = base + points.numeric @ weight.T
    for part, hot in zip(groups, points.hot, strict=True):
        value = value + part.T[hot]
    return value
