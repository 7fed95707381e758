"""Better multipliers for a bound: exact for one hidden layer, by gradient for deeper ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lcifr.prove.networks.linear_bounds.cell_batch import CellBatch
from lcifr.prove.networks.linear_bounds.interior import solve
from lcifr.prove.networks.linear_bounds.linear import Lines, Reach, backward, settle
from lcifr.prove.networks.linear_bounds.relaxation import Hidden, make_program, rounded, split_hidden
from lcifr.prove.networks.linear_bounds.search import CellPoints, first_layer, satisfies_rows, vertex

STEPS = 12
RATE = 0.15
"""Slopes live in [0, 1]: a few steps cross the whole range. The rate falls by 5 % a step."""
CLEARLY = -1e-302
"""A proof that there is no point is good at any length of λ. A program without any gain is solved in units of 1e-300,
so this is a hundredth of one: there is no reason to look for more."""


@dataclass(frozen=True)
class Tightened:
    """A bound with its multipliers.

    Parameters
    ----------
    reach : the bound, (n, 1). lines : with slopes and β. rows : (n, 1, R) λ, or None.
    point : the relaxed optimum rounded to a point of the cell, or None where the method gives none.
    fraction : (n,) for each free choice: how far its category was from whole at the relaxed optimum.
    """

    reach: Reach
    lines: list[Lines]
    rows: Tensor | None
    point: CellPoints | None
    fraction: tuple[Tensor, ...]


def tighten(batch: CellBatch, direction: Tensor, lines: list[Lines], phases: list[Tensor], enough: Tensor) -> Tightened:
    """Lower the bound of direction (n, outputs) on each row of the batch; no more work below ``enough`` (n,)."""
    if batch.depth <= 1:
        return _by_program(batch, direction, lines, phases, enough)
    return _by_gradient(batch, direction, lines, phases, enough)


def _by_program(
    batch: CellBatch, direction: Tensor, lines: list[Lines], phases: list[Tensor], enough: Tensor
) -> Tightened:
    middle = batch.base + batch.center @ batch.weight.T
    constant, gain_of = torch.zeros_like(enough), direction
    parts: Hidden | None = None
    if batch.depth == 1:
        weight, bias = batch.tail[0]
        value = direction @ weight
        parts = split_hidden(value, lines[0], phases[0])
        gain_of = value * parts.linear
        constant = direction @ bias + (value.clamp(min=0) * parts.intercept).sum(-1)
    constant = constant + (gain_of * middle).sum(-1)
    gain = torch.cat([gain_of @ batch.weight, *(gain_of @ part for part in batch.groups)], 1)
    program = make_program(batch, gain, middle, parts)
    solution = solve(program, enough - constant)
    hidden = batch.weight.shape[0] if parts is not None else 0
    if parts is not None:
        line = lines[0]
        lower = settle(line.lo, line.hi, torch.where(parts.hinge > 0, solution.slope[:, :hidden], line.lower))
        beta = solution.multiplier[:, :hidden] * parts.sign
        lines = [replace(line, lower=lower, beta=beta[:, None, :])]
    rows = solution.multiplier[:, None, hidden:] if batch.rows is not None else None
    reach = backward(batch, direction[:, None, :], lines, rows=rows)
    point, fraction = rounded(batch, solution.x)
    return Tightened(reach, lines, rows, point, fraction)


def _by_gradient(
    batch: CellBatch, direction: Tensor, lines: list[Lines], phases: list[Tensor], enough: Tensor
) -> Tightened:
    """Adam on α, β and λ, projected after each step; the best iterate of every row is kept."""
    with torch.enable_grad():
        alpha = [line.lower.detach().clone()[:, None, :].requires_grad_() for line in lines]
        beta = [torch.zeros_like(a).requires_grad_() for a in alpha]
        count = 0 if batch.rows is None else batch.rows.weight.shape[0]
        rows, point = direction.new_zeros((len(batch), 1, count)), None
        if count or bool((phases[0] != 0).any()):  # the best λ and β of the first layer for the lines as they are
            beta[0], rows, point = cut_multipliers(batch, backward(batch, direction[:, None, :], lines), phases[0])
        beta[0].requires_grad_()
        rows.requires_grad_()
        signs = [phase.to(direction.dtype)[:, None, :] for phase in phases]
        every = [*alpha, *beta, rows]
        mean, square = [torch.zeros_like(part) for part in every], [torch.zeros_like(part) for part in every]
        best, kept = torch.full_like(enough, torch.inf), None
        for step in range(STEPS):
            now = [
                replace(p, lower=settle(p.lo[:, None], p.hi[:, None], a), beta=b * s)
                for p, a, b, s in zip(lines, alpha, beta, signs, strict=True)
            ]
            reach = backward(batch, direction[:, None, :], now, rows=rows if count else None)
            best, kept = _keep(best, kept, reach, now, rows)
            if step == STEPS - 1 or bool((best <= enough).all()):
                break
            slopes = torch.autograd.grad(reach.upper.sum(), every, allow_unused=True)
            with torch.no_grad():
                for part, slope, m, v in zip(every, slopes, mean, square, strict=True):
                    if slope is not None:
                        part -= _descent(slope, m, v, step)
                for part in alpha:
                    part.clamp_(0, 1)
                for part in (*beta, rows):
                    part.clamp_(min=0)
        assert kept is not None
        lower, multiplier, row = kept
        final = [replace(p, lower=a, beta=b) for p, a, b in zip(lines, lower, multiplier, strict=True)]
        with torch.no_grad():
            reach = backward(batch, direction[:, None, :], final, rows=row if count else None)
    return Tightened(reach, final, row if count else None, point, ())


def _descent(slope: Tensor, mean: Tensor, square: Tensor, step: int) -> Tensor:
    """How far to go: Adam, written out, as torch.optim takes seconds to import; keeps its two averages up to date."""
    mean.lerp_(slope, 0.1)
    square.lerp_(slope**2, 0.001)
    away = (mean / (1 - 0.9 ** (step + 1))) / ((square / (1 - 0.999 ** (step + 1))).sqrt() + 1e-12)
    return RATE * 0.95**step * away


@torch.no_grad()
def cut_multipliers(batch: CellBatch, reach: Reach, phase: Tensor) -> tuple[Tensor, Tensor, CellPoints]:
    """The best multipliers of what cuts the cell, for a linear bound that is given, and where it is then largest.

    These are exact: with all lines but those of the first layer's split neurons stable, so is the bound. Where the
    bound's own vertex keeps to all cuts, 0 is best, and no program is solved.

    Parameters
    ----------
    phase : (n, h) of the first layer.

    Returns
    -------
    (n, 1, h) size of β of the first layer, (n, 1, R) λ of the linear rows, and the points.
    """
    groups = tuple(part[:, 0] for part in reach.groups)
    point, sign = vertex(batch, reach.coefficient[:, 0], groups), phase.to(batch.base.dtype)
    count, hidden = 0 if batch.rows is None else batch.rows.weight.shape[0], sign.shape[1]
    beta, rows = torch.zeros_like(sign)[:, None, :], batch.base.new_zeros((len(batch), 1, count))
    kept = satisfies_rows(batch, point) & (first_layer(batch, point) * sign >= 0).all(-1)
    cut = (~kept).nonzero()[:, 0]
    if len(cut) == 0:
        return beta, rows, point
    part, nothing = batch.take(cut), torch.zeros_like(sign[cut])
    gain = torch.cat([reach.coefficient[:, 0], *groups], 1)[cut]
    middle = part.base + part.center @ part.weight.T
    solution = solve(make_program(part, gain, middle, Hidden(nothing, nothing, nothing, sign[cut])))
    beta[cut] = solution.multiplier[:, None, :hidden]
    rows[cut] = solution.multiplier[:, None, hidden:]
    moved = rounded(part, solution.x)[0]
    point.numeric[cut] = moved.numeric
    for old, new in zip(point.hot, moved.hot, strict=True):
        old[cut] = new
    return beta, rows, point


@torch.no_grad()
def emptiness(batch: CellBatch) -> tuple[Tensor, Tensor]:
    """(n,) whether the rows leave no point of the cell, and the λ (n, 1, R) that prove it (Farkas).

    λ·(g − G x) is at least 0 at every point of the region; if its maximum over the cell is below 0, there is none.
    """
    count = 0 if batch.rows is None else batch.rows.weight.shape[0]
    nothing = batch.base.new_zeros((len(batch), 1, count))
    if count == 0:
        return torch.zeros(len(batch), dtype=torch.bool, device=batch.base.device), nothing
    blank = Reach(
        nothing[:, :, 0],
        batch.base.new_zeros((len(batch), 1, batch.weight.shape[1])),
        tuple(batch.base.new_zeros((len(batch), 1, part.shape[1])) for part in batch.groups),
    )
    program = make_program(
        batch, torch.cat([blank.coefficient[:, 0], *(part[:, 0] for part in blank.groups)], 1), batch.base, None
    )
    rows = solve(program, torch.full_like(batch.largest, CLEARLY)).multiplier[:, None, :]
    rows = rows / rows.amax(-1, keepdim=True).clamp(min=1e-300)
    width = batch.weight.shape[0]
    value = backward(batch, batch.base.new_zeros((len(batch), 1, width)), [], layer=0, rows=rows).upper[:, 0]
    return value < 0, rows


Kept = tuple[list[Tensor], list[Tensor], Tensor]


def _keep(best: Tensor, kept: Kept | None, reach: Reach, lines: list[Lines], rows: Tensor) -> tuple[Tensor, Kept]:
    value = reach.upper.detach()[:, 0]
    better = value < best
    lower = [line.lower.detach() for line in lines]
    beta = [line.beta.detach() for line in lines if line.beta is not None]
    if kept is None:
        return torch.where(better, value, best), (lower, beta, rows.detach().clone())
    pick = better[:, None, None]
    return torch.where(better, value, best), (
        [torch.where(pick, new, old) for new, old in zip(lower, kept[0], strict=True)],
        [torch.where(pick, new, old) for new, old in zip(beta, kept[1], strict=True)],
        torch.where(pick, rows.detach(), kept[2]),
    )
