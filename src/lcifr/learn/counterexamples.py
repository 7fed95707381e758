"""The similar person who lands farthest away: projected gradient inside the region (the paper)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from lcifr.learn.region_tensors import Ground, Surroundings, detached
from lcifr.models.network import Network
from lcifr.prove.networks.linear_bounds.cell_batch import Layers, Scene, tensors
from lcifr.prove.networks.linear_bounds.search import Points, outputs, repair, satisfies_rows
from lcifr.regions.region import FloatArray, Region

STEPS = 25  # the paper's
STEP = 0.05  # the paper's, in standard deviations

ROW_SLACK = 1e-5  # standard deviations: an equality row is never met exactly by floats


@dataclass(frozen=True)
class Found:
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
    surroundings: Surroundings,
    layers: Layers,
    latent: Tensor,
    index: Tensor,
    generator: torch.Generator,
    *,
    steps: int = STEPS,
    step: float = STEP,
) -> Found:
    """For each person of the batch a similar person x* with f(x*) as far from ``latent`` (n, outputs) as ascent gets.

    Of several cells one is picked at random for each person: over the epochs all of them have their turn, and a
    disjunction costs no more than a conjunction.
    """
    count, width = len(index), layers[0][0].shape[1]
    points = latent.new_zeros((count, width))
    valid = torch.zeros(count, dtype=torch.bool, device=latent.device)
    parts: list[tuple[Tensor, Tensor]] = []
    for ground, members in _picked(surroundings, index, generator):
        scene = ground.scene(layers, index[members])
        found, good = _ascend(detached(scene), latent[members].detach(), generator, steps, step)
        points[members] = _whole(ground, index[members], found)
        valid[members] = good
        parts.append((members, outputs(scene, found)))
    reached = latent.detach().clone()
    for members, value in parts:
        reached = reached.index_put((members,), value)
    return Found(reached, points, valid)


def similar_people(network: Network, x: ArrayLike, region: Region, *, seed: int = 0) -> FloatArray:
    """(people, features) x* of everybody ``x`` (people, features) of a region; NaN where none was found."""
    surroundings = Surroundings.of(region)
    index = torch.arange(region.people)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        latent = torch.as_tensor(network(x))
        found = find_counterexamples(surroundings, tensors(network), latent, index, generator)
    return np.where(found.valid.numpy()[:, None], found.points.numpy(), np.nan)


def _picked(surroundings: Surroundings, index: Tensor, generator: torch.Generator) -> list[tuple[Ground, Tensor]]:
    """Each cell with the positions of those for whom it was picked."""
    grounds = surroundings.grounds
    if len(grounds) == 1:
        return [(grounds[0], grounds[0].members(index))]
    present = torch.stack([ground.present[index] for ground in grounds], 1)
    lots = torch.rand(present.shape, generator=generator).to(present.device) * present
    chosen = torch.where(present.any(1), lots.argmax(1), -1)
    pairs = [(ground, (chosen == number).nonzero()[:, 0]) for number, ground in enumerate(grounds)]
    return [(ground, members) for ground, members in pairs if len(members)]


def _ascend(scene: Scene, center: Tensor, generator: torch.Generator, steps: int, step: float) -> tuple[Points, Tensor]:
    """Whole points of the cell, and whether they satisfy its rows; categories live on their simplex on the way."""
    numeric, shares = _start(scene, generator)
    for _ in range(steps):
        slopes, groups = _slopes(scene, center, numeric, shares)
        numeric = torch.minimum(torch.maximum(numeric + step * slopes.sign(), scene.lower), scene.upper)
        shares = [
            onto_simplex(share + step * part.sign(), allowed)
            for share, part, allowed in zip(shares, groups, scene.allowed, strict=True)
        ]
    hot = tuple(
        torch.where(allowed, share, -torch.inf).argmax(1) for share, allowed in zip(shares, scene.allowed, strict=True)
    )
    points = repair(scene, Points(numeric, hot))
    if scene.rows is None:
        return points, satisfies_rows(scene, points)
    rows = replace(scene.rows, base=scene.rows.base - ROW_SLACK)
    return points, satisfies_rows(replace(scene, rows=rows), points)


def _start(scene: Scene, generator: torch.Generator) -> tuple[Tensor, list[Tensor]]:
    """A random point: at x itself the distance is 0 and has no direction."""

    def random(like: Tensor) -> Tensor:
        return torch.rand(like.shape, generator=generator, dtype=scene.base.dtype).to(scene.base.device)

    numeric = scene.lower + random(scene.lower) * (scene.upper - scene.lower)
    shares = []
    for allowed in scene.allowed:
        lots = random(allowed) * allowed
        shares.append(lots / lots.sum(1, keepdim=True).clamp(min=1e-12))
    return numeric, shares


def _slopes(scene: Scene, center: Tensor, numeric: Tensor, shares: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
    """The gradient of ‖f(x′) − z‖∞, by hand: an affine layer forward, a masked one back."""
    value = scene.base + numeric @ scene.weight.T
    for weight, share in zip(scene.groups, shares, strict=True):
        value = value + share @ weight.T
    masks = []
    for weight, bias in scene.tail:
        masks.append(value > 0)
        value = torch.addmm(bias, value.clamp(min=0), weight.T)
    away = value - center
    which = away.abs().argmax(1)
    signs = away.gather(1, which[:, None]).sign()
    if not scene.tail:
        coefficient = torch.zeros_like(value).scatter_(1, which[:, None], signs)
    else:
        coefficient = scene.tail[-1][0][which] * signs * masks[-1]
        for (weight, _), mask in zip(reversed(scene.tail[:-1]), reversed(masks[:-1]), strict=True):
            coefficient = (coefficient @ weight) * mask
    return coefficient @ scene.weight, [coefficient @ weight for weight in scene.groups]


def onto_simplex(values: Tensor, allowed: Tensor) -> Tensor:
    """Euclidean projection of each row onto the simplex of its allowed entries, by sorting."""
    masked = torch.where(allowed, values, -torch.inf)
    descending = masked.sort(1, descending=True).values
    finite = torch.where(torch.isinf(descending), 0.0, descending)
    counts = torch.arange(1, values.shape[1] + 1, dtype=values.dtype, device=values.device)
    shifts = (finite.cumsum(1) - 1.0) / counts
    last = ((descending - shifts > 0).sum(1) - 1).clamp(min=0)
    return torch.where(allowed, values - shifts.gather(1, last[:, None]), 0.0).clamp(min=0)


def _whole(ground: Ground, who: Tensor, points: Points) -> Tensor:
    """(n, features): the encoded people."""
    whole = ground.still[who].clone()
    whole[:, ground.moving] = points.numeric
    rows = torch.arange(len(who), device=who.device)
    for columns, hot in zip(ground.free, points.hot, strict=True):
        whole[rows, columns[hot]] = 1.0
    return whole
