"""Where to split a node: a category set, a ReLU phase or a numeric interval."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lcifr.prove.networks.linear_bounds.cell_batch import CellBatch
from lcifr.prove.networks.linear_bounds.linear import Lines
from lcifr.prove.networks.linear_bounds.multipliers import Tightened
from lcifr.prove.networks.linear_bounds.search import CellPoints, first_layer

if TYPE_CHECKING:
    from lcifr.prove.networks.batched.nodes import Nodes

WHOLE = 1e-4
"""A category whose share at the relaxed optimum is within this of 1 counts as decided by the relaxation."""
NEARLY = -0.5
"""The score of such a choice: below that of any that is open, above that of one with a single category left."""
FEW = 8
"""Deep networks with at most this many moving numerics are split on those: every interval shrinks with the box."""
LAST = 3
"""With at most this many unstable neurons left, phases of the first layer are decided instead: at a maximum that lies
on a kink halving the box would never make them stable, and the multipliers of these splits are exact."""
STUCK, RELU, CHOICE, NUMERIC = 0, 1, 2, 3


@dataclass(frozen=True)
class Branching:
    """How each of n nodes is split.

    Parameters
    ----------
    kind : (n,) one of STUCK, RELU, CHOICE, NUMERIC. layer, place : (n,) which hidden layer, and which neuron, choice or
        moving column. threshold : (n,) of a numeric split. chosen : for each free choice (n, values), the first set.
    """

    kind: Tensor
    layer: Tensor
    place: Tensor
    threshold: Tensor
    chosen: tuple[Tensor, ...]

    @property
    def stuck(self) -> Tensor:
        """(n,) nothing is left to decide."""
        return self.kind == STUCK

    def apply(self, nodes: Nodes) -> tuple[Nodes, Nodes]:
        """The two children of every node: phase ≤ 0, the chosen set, below the threshold; and the others."""
        return self._child(nodes, True), self._child(nodes, False)

    def _child(self, nodes: Nodes, first: bool) -> Nodes:
        at = torch.arange(len(nodes), device=self.kind.device)
        phases = []
        for layer, old in enumerate(nodes.phases):
            rows = at[(self.kind == RELU) & (self.layer == layer)]
            new = old.clone()
            new[rows, self.place[rows]] = -1 if first else 1
            phases.append(new)
        allowed = []
        for choice, old in enumerate(nodes.allowed):
            mine = ((self.kind == CHOICE) & (self.place == choice))[:, None]
            part = self.chosen[choice] if first else ~self.chosen[choice]
            allowed.append(torch.where(mine, old & part, old))
        lower, upper = nodes.lower.clone(), nodes.upper.clone()
        rows = at[self.kind == NUMERIC]
        (upper if first else lower)[rows, self.place[rows]] = self.threshold[rows]
        return replace(nodes, phases=tuple(phases), allowed=tuple(allowed), lower=lower, upper=upper)


def decide(batch: CellBatch, direction: Tensor, better: Tightened, nodes: Nodes) -> Branching:
    """Categories that the relaxation leaves open, then the neuron with the largest gap, then the widest numeric."""
    count, device = len(batch), batch.base.device
    kind = torch.zeros(count, dtype=torch.int64, device=device)
    layer, place, threshold = torch.zeros_like(kind), torch.zeros_like(kind), torch.zeros_like(batch.largest)
    choice, chosen, open_choice, nearly = _choices(batch, better)
    gap, where, depth = _neurons(batch, direction, better, nodes)
    open_choice |= nearly & (gap <= 0)  # a share of 1e-5 between steep rows can be all that is left
    column, middle, width = _numerics(batch, better)
    several = batch.depth >= 2 and batch.weight.shape[1] <= FEW
    kind = torch.where(width > 0, NUMERIC, kind)
    place, threshold = torch.where(width > 0, column, place), middle
    by_relu = gap > 0
    if several:
        by_relu &= (width == 0) | ((_unstable(better) <= LAST) & (depth == 0))
    kind, layer = torch.where(by_relu, RELU, kind), torch.where(by_relu, depth, layer)
    place = torch.where(by_relu, where, place)
    kind, place = torch.where(open_choice, CHOICE, kind), torch.where(open_choice, choice, place)
    return Branching(kind, layer, place, threshold, chosen)


def decide_by_gap(batch: CellBatch, above: Tensor, groups: tuple[Tensor, ...]) -> Branching:
    """The phase of the neuron that gives away most (n, h), or the choice that keeps this neuron unstable.

    Splitting a choice narrows the intervals of all neurons at once, so it is preferred where the choice moves the
    neuron more than half as far as all numerics together. ``groups`` (n, values)… : coefficients of the linear bound.
    """
    top = above.max(1)
    where, count = top.indices, len(batch)
    kind = torch.where(top.values > 0, RELU, STUCK)
    place, zero = where, torch.zeros_like(where)
    if batch.groups:
        numeric = (batch.weight.abs()[where] * batch.radius).sum(1) * 2
        ranges, chosen = [], []
        for weight, allowed, value in zip(batch.groups, batch.allowed, groups, strict=True):
            row = weight[where]
            high = torch.where(allowed, row, -torch.inf).amax(1)
            ranges.append(high - torch.where(allowed, row, torch.inf).amin(1))
            chosen.append(_better_half(value, allowed))
        widest = torch.stack(ranges, 1).max(1)
        by_choice = (widest.values > 0.5 * numeric) & (kind == RELU)
        kind, place = torch.where(by_choice, CHOICE, kind), torch.where(by_choice, widest.indices, place)
        return Branching(kind, zero, place, batch.largest.new_zeros(count), tuple(chosen))
    return Branching(kind, zero, place, batch.largest.new_zeros(count), ())


def _better_half(value: Tensor, allowed: Tensor) -> Tensor:
    """(n, values) the better half of the allowed categories by their coefficient: siblings share what is large."""
    rank = torch.where(allowed, value, -torch.inf).argsort(1, descending=True).argsort(1)
    return rank < (allowed.sum(1) // 2)[:, None]


def _choices(batch: CellBatch, better: Tightened) -> tuple[Tensor, tuple[Tensor, ...], Tensor, Tensor]:
    """Which choice to split (n,), the first set of each, whether the relaxation leaves it open (n,), or nearly not."""
    count, device = len(batch), batch.base.device
    score, chosen = [], []
    for index, allowed in enumerate(batch.allowed):
        value = torch.where(allowed, better.reach.groups[index][:, 0], -torch.inf)
        several = allowed.sum(1)
        chosen.append(_better_half(value, allowed))
        spread = value.amax(1) - torch.where(allowed, value, torch.inf).amin(1)
        if better.fraction:
            spread = torch.where(better.fraction[index] > WHOLE, spread, NEARLY)
        score.append(torch.where(several > 1, spread, -1.0))
    if not score:
        return (
            torch.zeros(count, dtype=torch.int64, device=device),
            (),
            torch.zeros(count, dtype=torch.bool, device=device),
            torch.zeros(count, dtype=torch.bool, device=device),
        )
    top = torch.stack(score, 1).max(1)
    return top.indices, tuple(chosen), top.values >= 0, top.values == NEARLY


def _neurons(batch: CellBatch, direction: Tensor, better: Tightened, nodes: Nodes) -> tuple[Tensor, Tensor, Tensor]:
    """The largest gap between a line and its ReLU (n,), its neuron (n,) and its layer (n,)."""
    zero = torch.zeros(len(batch), dtype=torch.int64, device=batch.base.device)
    gap, where, depth = torch.zeros_like(batch.largest), zero, zero
    coefficient = direction[:, None, :]
    for index in reversed(range(batch.depth)):
        line = better.lines[index]
        value = coefficient @ batch.tail[index][0]
        score = _gap(batch, value[:, 0], line, better.point if batch.depth == 1 else None)
        score = torch.where(nodes.phases[index] != 0, 0.0, score)
        top = score.max(1)
        take = top.values > gap
        gap, where = torch.where(take, top.values, gap), torch.where(take, top.indices, where)
        depth = torch.where(take, index, depth)
        coefficient = line.pull(value)[0]
    return gap, where, depth


def _unstable(better: Tightened) -> Tensor:
    """(n,) how many neurons can still be on and off."""
    return torch.stack([((line.lo < 0) & (line.hi > 0)).sum(1) for line in better.lines]).sum(0)


def _gap(batch: CellBatch, value: Tensor, line: Lines, point: CellPoints | None) -> Tensor:
    """(n, h) what each neuron's line gives away: at the relaxed optimum where known, else at its worst place."""
    unstable = (line.lo < 0) & (line.hi > 0)
    if point is None:
        above = value.clamp(min=0) * line.intercept
        below = (-value).clamp(min=0) * torch.minimum(line.hi, -line.lo)
        return torch.where(unstable, above + 0.5 * below, 0.0)
    reached = first_layer(batch, point)
    away = line.upper * reached + line.intercept - reached.clamp(min=0)
    full = value.clamp(min=0) * line.intercept
    # a neuron may show no gap at this point and still hold the bound up: its worst place breaks ties
    return torch.where(unstable & (value > 0), value.clamp(min=0) * away.clamp(min=0) + 1e-6 * full, 0.0)


def _numerics(batch: CellBatch, better: Tightened) -> tuple[Tensor, Tensor, Tensor]:
    """The numeric column that moves the bound most (n,), the middle of its interval (n,), and its weight (n,)."""
    count, device = len(batch), batch.base.device
    if batch.weight.shape[1] == 0:
        none = torch.zeros(count, dtype=torch.int64, device=device)
        return none, torch.zeros_like(batch.largest), torch.zeros_like(batch.largest)
    size = batch.weight.abs().sum(0) * batch.radius
    middle = batch.center
    splittable = (middle > batch.lower) & (middle < batch.upper)
    top = torch.where(splittable, size, 0.0).max(1)
    return top.indices, middle.gather(1, top.indices[:, None])[:, 0], top.values
