"""The bounds of nodes: what counts as one, and how it is lowered before a node is split."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from lcifr.prove.networks.linear_bounds.cell_batch import CellBatch
from lcifr.prove.networks.linear_bounds.linear import Lines, backward
from lcifr.prove.networks.linear_bounds.multipliers import Tightened, tighten


def usable(bound: Tensor, lines: list[Lines]) -> Tensor:
    """Not a number counts as no bound, a contradiction of intervals as an empty node."""
    bound = torch.where(torch.isnan(bound), torch.inf, bound)
    for line in lines:
        bound = torch.where((line.lo > line.hi).any(-1), -torch.inf, bound)
    return bound


def sharpen(
    batch: CellBatch, direction: Tensor, lines: list[Lines], phases: list[Tensor], bound: Tensor, enough: Tensor
) -> tuple[Tightened, Tensor]:
    """Better multipliers than those of the lines that gave ``bound`` (n,), and the smaller of the two bounds."""
    better = tighten(batch, direction, lines, phases, enough)
    tight = usable(better.reach.upper[:, 0], lines)
    return _unless_worse(better, lines, tight <= bound), torch.minimum(bound, tight)


def _unless_worse(better: Tightened, lines: list[Lines], keep: Tensor) -> Tightened:
    """The multipliers that made the smaller of the two bounds: the tightened ones where ``keep`` (n,), else none."""
    if bool(keep.all()):
        return better
    wide = keep[:, None, None]
    merged = [
        replace(
            new,
            lower=torch.where(wide, new.lower if new.lower.dim() == 3 else new.lower[:, None], old.lower[:, None]),
            beta=None if new.beta is None else torch.where(wide, new.beta, 0.0),
        )
        for new, old in zip(better.lines, lines, strict=True)
    ]
    return replace(better, lines=merged, rows=None if better.rows is None else torch.where(wide, better.rows, 0.0))


def spot_empty(batch: CellBatch, direction: Tensor, lines: list[Lines], bound: Tensor) -> Tensor:
    """A node whose upper bound lies below its lower bound has no points (only splits and rows can do that)."""
    lowest = -backward(batch, -direction[:, None, :], lines).upper[:, 0]
    return torch.where(bound < lowest - 1.0 - lowest.abs(), -torch.inf, bound)
