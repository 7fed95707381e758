"""Counterexample search by projected gradient ascent within the region (DL2)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lcifr.learn.region_tensors import CellTensors, RegionTensors, detached
from lcifr.prove.networks.linear_bounds import CellBatch, Layers
from lcifr.prove.networks.linear_search import CellPoints, outputs, repair, satisfies_rows
from lcifr.regions.sampling import project_onto_simplex

STEPS = 25  # the paper's
STEP = 0.05  # the paper's, in standard deviations

ROW_SLACK = 1e-5  # standard deviations: an equality row is never met exactly by floats


@dataclass(frozen=True)
class BatchCounterexamples:
    """Counterexamples of a batch.

    Parameters
    ----------
    latent : (n, outputs) f(x*), differentiable in the weights.
    points : (n, features) x*, whole categories, inside the region where ``valid`` (n,).
    """

    latent: Tensor
    points: Tensor
    valid: Tensor


def find_counterexamples(
    region: RegionTensors,
    layers: Layers,
    latent: Tensor,
    index: Tensor,
    generator: torch.Generator,
    *,
    steps: int = STEPS,
    step: float = STEP,
) -> BatchCounterexamples:
    """For each person of the batch a similar person x* with f(x*) as far from ``latent`` (n, outputs) as ascent gets.

    Of several cells one is picked at random for each person: over the epochs all of them have their turn, and a
    disjunction costs no more than a conjunction.
    """
    count, width = len(index), layers[0][0].shape[1]
    points = latent.new_zeros((count, width))
    valid = torch.zeros(count, dtype=torch.bool, device=latent.device)
    parts: list[tuple[Tensor, Tensor]] = []
    for cell, members in _picked(region, index, generator):
        batch = cell.batch(layers, index[members])
        found, good = _ascend(detached(batch), latent[members].detach(), generator, steps, step)
        points[members] = _whole(cell, index[members], found)
        valid[members] = good
        parts.append((members, outputs(batch, found)))
    reached = latent.detach().clone()
    for members, value in parts:
        reached = reached.index_put((members,), value)
    return BatchCounterexamples(reached, points, valid)


def _picked(region: RegionTensors, index: Tensor, generator: torch.Generator) -> list[tuple[CellTensors, Tensor]]:
    """Each cell with the positions of those for whom it was picked."""
    cells = region.cells
    if len(cells) == 1:
        return [(cells[0], cells[0].members(index))]
    present = torch.stack([cell.present[index] for cell in cells], 1)
    lots = torch.rand(present.shape, generator=generator).to(present.device) * present
    chosen = torch.where(present.any(1), lots.argmax(1), -1)
    pairs = [(cell, (chosen == number).nonzero()[:, 0]) for number, cell in enumerate(cells)]
    return [(cell, members) for cell, members in pairs if len(members)]


def _ascend(
    batch: CellBatch, center: Tensor, generator: torch.Generator, steps: int, step: float
) -> tuple[CellPoints, Tensor]:
    """Whole points of the cell, and whether they satisfy its rows; categories live on their simplex on the way."""
    numeric, shares = _start(batch, generator)
    for _ in range(steps):
        slopes, groups = _slopes(batch, center, numeric, shares)
        numeric = torch.minimum(torch.maximum(numeric + step * slopes.sign(), batch.lower), batch.upper)
        shares = [
            project_onto_simplex(share + step * part.sign(), allowed)
            for share, part, allowed in zip(shares, groups, batch.allowed, strict=True)
        ]
    hot = tuple(
        torch.where(allowed, share, -torch.inf).argmax(1) for share, allowed in zip(shares, batch.allowed, strict=True)
    )
    points = repair(batch, CellPoints(numeric, hot))
    if batch.rows is None:
        return points, satisfies_rows(batch, points)
    rows = replace(batch.rows, base=batch.rows.base - ROW_SLACK)
    return points, satisfies_rows(replace(batch, rows=rows), points)


def _start(batch: CellBatch, generator: torch.Generator) -> tuple[Tensor, list[Tensor]]:
    """A random point: at x itself the distance is 0 and has no direction."""

    def random(like: Tensor) -> Tensor:
        return torch.rand(like.shape, generator=generator, dtype=batch.base.dtype).to(batch.base.device)

    numeric = batch.lower + random(batch.lower) * (batch.upper - batch.lower)
    shares = []
    for allowed in batch.allowed:
        lots = random(allowed) * allowed
        shares.append(lots / lots.sum(1, keepdim=True).clamp(min=1e-12))
    return numeric, shares


def _slopes(batch: CellBatch, center: Tensor, numeric: Tensor, shares: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
    """The gradient of ‖f(x′) − z‖∞, by hand: an affine layer forward, a masked one back."""
    value = batch.base + numeric @ batch.weight.T
    for weight, share in zip(batch.groups, shares, strict=True):
        value = value + share @ weight.T
    masks = []
    for weight, bias in batch.tail:
        masks.append(value > 0)
        value = torch.addmm(bias, value.clamp(min=0), weight.T)
    away = value - center
    which = away.abs().argmax(1)
    signs = away.gather(1, which[:, None]).sign()
    if not batch.tail:
        coefficient = torch.zeros_like(value).scatter_(1, which[:, None], signs)
    else:
        coefficient = batch.tail[-1][0][which] * signs * masks[-1]
        for (weight, _), mask in zip(reversed(batch.tail[:-1]), reversed(masks[:-1]), strict=True):
            coefficient = (coefficient @ weight) * mask
    return coefficient @ batch.weight, [coefficient @ weight for weight in batch.groups]


def _whole(cell: CellTensors, who: Tensor, points: CellPoints) -> Tensor:
    """(n, features): the encoded people."""
    whole = cell.still[who].clone()
    whole[:, cell.moving] = points.numeric
    rows = torch.arange(len(who), device=who.device)
    for columns, hot in zip(cell.free, points.hot, strict=True):
        whole[rows, columns[hot]] = 1.0
    return whole
