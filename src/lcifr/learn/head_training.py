"""Training of heads on z that keep their decision on the whole ball or box.

It sees z, its surroundings and y only. Before a linear head the worst point there is known in closed form; deeper heads
are trained against the same linear bounds that prove them, or against projected gradient within one δ, as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lcifr.learn.linear_head import LatentPeople, fit_linear
from lcifr.learn.region_tensors import exact_rounding
from lcifr.learn.score import score_of
from lcifr.learn.target import Target
from lcifr.learn.training_loop import Epoch, Schedule, TrainingTask, ValidationMetrics, index_chunks, train
from lcifr.models.loaders.torch import build_torch, torch_parameters
from lcifr.models.network import Network
from lcifr.prove.networks.linear_bounds import CellBatch, Layers, backward, hidden_lines, tensors, view_cell
from lcifr.regions.region import Region

FloatArray = NDArray[np.float64]
ATTACK_STEPS = 10


class Perturbation(StrEnum):
    """The perturbations of z that training is robust against."""

    NOTHING = "nothing"
    DELTA = "delta"
    RADIUS = "radius"


@dataclass(frozen=True)
class TrainedHead:
    """A trained head."""

    network: Network
    history: tuple[Epoch, ...]


def train_head(
    training: LatentPeople,
    validation: LatentPeople,
    target: Target,
    *,
    hidden: tuple[int, ...],
    against: Perturbation,
    gamma: float,
    penalty: float,
    schedule: Schedule,
) -> TrainedHead:
    """Train a head: a linear one to the optimum of its convex loss, a deeper one by the loop."""
    if not hidden:
        gamma = 0.0 if against is Perturbation.NOTHING else gamma
        return TrainedHead(fit_linear(training, target, gamma=gamma, penalty=penalty), ())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(schedule.seed)
        consumer = HeadTraining(training, validation, target, hidden, against, gamma, schedule.seed)
    history = train(consumer, schedule)
    return TrainedHead(Network.from_torch(consumer.module), history)


class HeadTraining(TrainingTask):
    """A deeper head, trained in batches."""

    def __init__(
        self,
        training: LatentPeople,
        validation: LatentPeople,
        target: Target,
        hidden: tuple[int, ...],
        against: Perturbation,
        gamma: float,
        seed: int,
    ) -> None:
        self.target, self.against, self.gamma = target, against, gamma
        self.training, self.validation = _tensors(training), _tensors(validation)
        self._model = build_torch([training.z.shape[1], *hidden, target.outputs]).double()
        self.generator = torch.Generator().manual_seed(seed)

    @property
    def module(self) -> nn.Sequential:
        return self._model

    @property
    def people(self) -> int:
        return len(self.training[0])

    def loss(self, index: Tensor, strength: float) -> Tensor:
        return self._loss(self.training, index, self.gamma * strength)

    def _loss(self, side: tuple[Tensor, ...], index: Tensor, gamma: float) -> Tensor:
        z, middle, reach, label, weight = (part[index] for part in side)
        plain = (weight * self.target.losses(self.target.values(self._model(z), label), label)).mean()
        if gamma == 0 or self.against is Perturbation.NOTHING:
            return plain
        if self.against is Perturbation.DELTA:
            values = self.target.values(self._model(self._attack(z, reach, label)), label)
        else:
            values = box_bounds(torch_parameters(self._model), middle, reach, self.target.directions(label))
        return (plain + gamma * (weight * self.target.losses(values, label)).mean()) / (1.0 + gamma)

    def _attack(self, z: Tensor, reach: Tensor, label: Tensor) -> Tensor:
        """The costliest point that signed gradient steps find in each ball."""
        lots = torch.rand(z.shape, generator=self.generator, dtype=z.dtype)
        moved = reach * (2 * lots - 1)
        for _ in range(ATTACK_STEPS):
            moved = moved.detach().requires_grad_()
            with torch.enable_grad():
                loss = self.target.losses(self.target.values(self._model(z + moved), label), label).sum()
                (slope,) = torch.autograd.grad(loss, moved)
            moved = moved + 2.5 / ATTACK_STEPS * reach * slope.sign()
            moved = torch.minimum(torch.maximum(moved, -reach), reach)
        return (z + moved).detach()

    @torch.no_grad()
    def check(self) -> ValidationMetrics:
        total, decisions = 0.0, []
        for index in index_chunks(len(self.validation[0])):
            total += float(self._loss(self.validation, index, self.gamma)) * len(index)
            decisions.append(self.target.decide(self._model(self.validation[0][index])))
        decision = torch.cat(decisions).numpy()
        score = score_of(self.target, decision, self.validation[3].numpy())
        return ValidationMetrics(total / len(decision), score)


def _tensors(side: LatentPeople) -> tuple[Tensor, ...]:
    return tuple(torch.as_tensor(part) for part in side.parts)


def box_bounds(layers: Layers, middle: Tensor, reach: Tensor, directions: Tensor) -> Tensor:
    """(n, k) upper bounds of ``directions`` (n, k, outputs) on each ball or box; differentiable, not rounded."""
    weight, bias = layers[0]
    batch = CellBatch(
        weight=weight,
        groups=(),
        tail=tuple(layers[1:]),
        base=bias.expand(len(middle), len(bias)),
        lower=middle - reach,
        upper=middle + reach,
        allowed=(),
        largest=middle.new_zeros(len(middle)),
        rounding=exact_rounding(layers),
        rows=None,
        center=middle,
        radius=reach.expand_as(middle),
    )
    return backward(batch, directions, hidden_lines(batch)).upper


def certified(
    network: Network, target: Target, z: FloatArray, low: FloatArray, high: FloatArray, tolerance: float = 0.0
) -> NDArray[np.bool_]:
    """(people,) whose decision is proved from ``low`` to ``high`` (people, d), by linear bounds; exact if linear."""
    region = Region.from_arrays(np.nextafter(low, -np.inf), np.nextafter(high, np.inf))
    layers = tensors(network)
    held = []
    with torch.no_grad():
        for index in index_chunks(len(z)):
            view = view_cell(layers, region.cells[0].take(index.numpy()))
            output = torch.as_tensor(network(z[index.numpy()]))
            decision = target.decide(output)
            bounds = backward(view.batch, target.directions(decision), hidden_lines(view.batch)).upper
            held.append(target.holds(output, decision, bounds, tolerance))
    return np.asarray(torch.cat(held).numpy(), dtype=np.bool_)
