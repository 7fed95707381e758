"""Lines that touch the network where the bound points: cheap, and often exact, for one hidden layer.

The bound A·x + d of a node is largest at some vertex x*. There it exceeds the network by what the lines give away at
x*: chords above neurons with a positive coefficient, and lines below neurons with a negative one. Turning the latter
into tangents at x* removes their share at x*; if x* stays the vertex, only chords are left. Chords are removed by
deciding the phase of their neuron, and no more than that: for c > 0, max over x of (rest + c·relu(y)) is the larger of
the maxima of (rest + c·y) and (rest), so that the halfspaces y ≥ 0 and y ≤ 0 are not needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lcifr.prove.networks.linear_bounds.cell_batch import CellBatch
from lcifr.prove.networks.linear_bounds.linear import Lines, Reach, backward, settle
from lcifr.prove.networks.linear_bounds.multipliers import Tightened
from lcifr.prove.networks.linear_bounds.search import CellPoints, first_layer, vertex

TURNS = 3


@dataclass(frozen=True)
class Touch:
    """The best bound, and what it gives away where it points.

    Parameters
    ----------
    reach : (n, 1) bound. line : of the hidden layer. points : x*. value : (n,) of the network there.
    above : (n, h) given away by chords. below : (n,) given away by lower lines, in total.
    """

    reach: Reach
    line: Lines
    points: CellPoints
    value: Tensor
    above: Tensor
    below: Tensor

    def take(self, index: Tensor) -> Touch:
        """Some of the rows."""
        line, reach = self.line, self.reach
        groups = tuple(part[index] for part in reach.groups)
        return Touch(
            Reach(reach.upper[index], reach.coefficient[index], groups),
            Lines(line.lo[index], line.hi[index], line.upper[index], line.lower[index]),
            self.points.take(index),
            self.value[index],
            self.above[index],
            self.below[index],
        )

    def as_tightened(self) -> Tightened:
        """The same as what other ways to bound a node return."""
        return Tightened(self.reach, [self.line], None, self.points, ())


def touch(batch: CellBatch, direction: Tensor, line: Lines) -> Touch:
    """The bound of direction (n, outputs) with these lines, and what it gives away at the vertex it points at."""
    reach = backward(batch, direction[:, None, :], [line])
    points = vertex(batch, reach.coefficient[:, 0], tuple(part[:, 0] for part in reach.groups))
    weight, bias = batch.tail[0]
    value = direction @ weight
    before = first_layer(batch, points)
    after = before.clamp(min=0)
    above = value.clamp(min=0) * (line.upper * before + line.intercept - after).clamp(min=0)
    below = (value.clamp(max=0) * (line.lower * before - after)).sum(-1)
    return Touch(reach, line, points, direction @ bias + (value * after).sum(-1), above, below)


def turn_lines(batch: CellBatch, direction: Tensor, line: Lines, seen: Callable[[CellPoints, Tensor], None]) -> Lines:
    """The lower lines turned towards tangents at the vertices that their bounds point at, as good as a few turns make.

    By the average of the tangents seen: where two vertices alternate, the best lines are between theirs. These are
    proposals, compared without a thought for rounding: the linear bound at the vertex where it is largest. ``seen``
    hears of every vertex and its value (n,).
    """
    weight, bias = batch.tail[0]
    value, whole = direction @ weight, torch.cat([batch.weight, *batch.groups], 1)
    rise, fall, level = value.clamp(min=0), value.clamp(max=0), direction @ bias
    chords = (rise * line.intercept).sum(-1)
    rise = rise * line.upper
    free = (settle(line.lo, line.hi, torch.full_like(line.lo, 0.5)) == 0.5).to(value.dtype)
    sizes = [batch.weight.shape[1], *(part.shape[1] for part in batch.groups)]
    lower = best = line.lower
    least = torch.full_like(level, torch.inf)
    for step in range(TURNS + 1):
        coefficient = torch.addcmul(rise, fall, lower)
        slopes, *groups = torch.split(coefficient @ whole, sizes, 1)
        points = vertex(batch, slopes, tuple(groups))
        before = first_layer(batch, points)
        seen(points, level + (value * before.clamp(min=0)).sum(-1))
        bound = chords + (coefficient * before).sum(-1)
        better = bound < least
        best, least = torch.where(better[:, None], lower, best), torch.where(better, bound, least)
        lower = lower + ((before > 0).to(value.dtype) - lower) * (free / (step + 1))
    return replace(line, lower=settle(line.lo, line.hi, best))
