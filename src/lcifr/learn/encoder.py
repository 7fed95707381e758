"""Training of encoders: the loss over regions, counterexamples, and bounds of latent radii."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from lcifr.learn import losses
from lcifr.learn.history import Epoch, ValidationMetrics
from lcifr.learn.parameters import ATTACK_STEP, ATTACK_STEPS, EncoderSettings, Schedule, TrainingMethod
from lcifr.learn.region_tensors import CellTensors, RegionTensors, detached, row_multipliers
from lcifr.learn.scores import score_of
from lcifr.learn.target import EncodedPeople, LatentReach, Target
from lcifr.learn.training_loop import TrainingTask, index_chunks, train
from lcifr.models.loaders.torch import build_torch, torch_parameters
from lcifr.models.network import Network
from lcifr.prove.networks.linear_bounds import CellBatch, Layers, backward, hidden_lines, tensors, view_cell
from lcifr.prove.networks.linear_search import CellPoints, outputs, repair, satisfies_rows
from lcifr.regions.region import FloatArray, Region

# Counterexample search by projected gradient ascent within the region (DL2).

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
    steps: int = ATTACK_STEPS,
    step: float = ATTACK_STEP,
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
    """Each cell with the positions of the people it was picked for."""
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
        numeric = torch.minimum(torch.maximum(numeric + step * slopes.sign(), batch.box.lower), batch.box.upper)
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

    box = batch.box
    numeric = box.lower + random(box.lower) * (box.upper - box.lower)
    shares = []
    for allowed in batch.allowed:
        lots = random(allowed) * allowed
        shares.append(lots / lots.sum(1, keepdim=True).clamp(min=1e-12))
    return numeric, shares


def project_onto_simplex(values: Tensor, allowed: Tensor) -> Tensor:
    """What :func:`lcifr.regions.sampling.project_onto_simplex` does, for tensors on any device."""
    masked = torch.where(allowed, values, -torch.inf)
    descending = masked.sort(1, descending=True).values
    finite = torch.where(torch.isinf(descending), 0.0, descending)
    counts = torch.arange(1, values.shape[1] + 1, dtype=values.dtype, device=values.device)
    shifts = (finite.cumsum(1) - 1.0) / counts
    last = ((descending - shifts > 0).sum(1) - 1).clamp(min=0)
    return torch.where(allowed, values - shifts.gather(1, last[:, None]), 0.0).clamp(min=0)


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


# Training of encoders, with an auxiliary head for the label and an optional decoder.


@dataclass(frozen=True)
class TrainedEncoder:
    """A trained encoder. ``head`` predicts the label from z, ``decoder`` x from z, where there are such."""

    encoder: Network
    head: Network | None
    decoder: Network | None
    history: tuple[Epoch, ...]


def train_encoder(
    training: EncodedPeople,
    validation: EncodedPeople | None,
    target: Target | None,
    settings: EncoderSettings,
    schedule: Schedule,
) -> TrainedEncoder:
    """Train an encoder; the state of torch's global random generator is restored."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(schedule.seed)
        producer = EncoderTraining(training, validation or training, target, settings, schedule.seed)
    history = train(producer, schedule)
    model = producer.module.double()  # what is learned is computed in float64 from here on
    return TrainedEncoder(
        Network.from_torch(model.encoder),
        None if model.head is None else Network.from_torch(model.head),
        None if model.decoder is None else Network.from_torch(model.decoder),
        history,
    )


class EncoderModel(nn.Module):
    """Encoder, and the parts that only training needs."""

    def __init__(self, features: int, target: Target | None, settings: EncoderSettings, decodes: bool) -> None:
        super().__init__()
        self.encoder = build_torch([features, *settings.hidden, settings.latent_dim])
        self.head = None if target is None else build_torch([settings.latent_dim, target.outputs])
        self.decoder = build_torch([settings.latent_dim, *reversed(settings.hidden), features]) if decodes else None


class _PeopleTensors:
    """Training or validation people as tensors."""

    def __init__(self, people: EncodedPeople, settings: EncoderSettings) -> None:
        def tensor(array: np.ndarray) -> Tensor:
            return torch.as_tensor(array, dtype=getattr(torch, settings.dtype), device=settings.device)

        self.x, self.weight = tensor(people.x), tensor(people.weight)
        self.label = None if people.label is None else tensor(people.label)
        self.region = RegionTensors.of(people.region, dtype=getattr(torch, settings.dtype), device=settings.device)


class EncoderTraining(TrainingTask):
    """Training task of the encoder: plain and robust loss, mixed."""

    def __init__(
        self,
        training: EncodedPeople,
        validation: EncodedPeople,
        target: Target | None,
        settings: EncoderSettings,
        seed: int,
    ) -> None:
        self.target, self.settings = target, settings
        # Without a label reconstruction is the only thing that keeps z from being nothing at all.
        self.decoder_weight = settings.decoder_weight if target is not None else settings.decoder_weight or 1.0
        self._model = EncoderModel(training.x.shape[1], target, settings, self.decoder_weight > 0)
        self._model.to(dtype=getattr(torch, settings.dtype), device=settings.device)
        self.training, self.validation = _PeopleTensors(training, settings), _PeopleTensors(validation, settings)
        self.seed = seed
        self.generator = torch.Generator().manual_seed(seed)

    @property
    def module(self) -> EncoderModel:
        return self._model

    @property
    def people(self) -> int:
        return len(self.training.x)

    def loss(self, index: Tensor, strength: float) -> Tensor:
        return self._judge(self.training, index, strength, self.generator)[0]

    def settle(self) -> None:
        """Tie the weights of attributes that z must not depend on: one weight for all their values."""
        weight = next(part for part in self._model.encoder if isinstance(part, nn.Linear)).weight
        with torch.no_grad():
            for columns in self.settings.tied:
                width = columns.stop - columns.start
                weight[:, columns] = weight[:, columns].mean(1, keepdim=True) if width > 1 else 0.0

    @torch.no_grad()
    def check(self) -> ValidationMetrics:
        side, target = self.validation, self.target
        generator = torch.Generator().manual_seed(self.seed)  # the same people are sought every time
        total, radii, outputs = 0.0, [], []
        for index in index_chunks(len(side.x)):
            loss, latent = self._judge(side, index, 1.0, generator)
            total += float(loss) * len(index)
            here = index.to(latent.device)
            radii.append(side.region.radius(torch_parameters(self._model.encoder), latent, here))
            if self._model.head is not None:
                outputs.append(self._model.head(latent))
        radius, loss_mean = torch.cat(radii), total / len(side.x)
        if target is None or side.label is None or self._model.head is None:
            return ValidationMetrics(loss_mean, radius=float(radius.mean()))
        output, weight = torch.cat(outputs), torch_parameters(self._model.head)[0][0]
        decision = losses.decide(target, output)
        held = losses.holds(
            target,
            output,
            decision,
            losses.worst_values(target, output, decision, radius, losses.lengths(target, weight)),
            self.settings.tolerance,
        )
        score = score_of(target, decision.cpu().numpy(), side.label.cpu().numpy())
        return ValidationMetrics(loss_mean, score, float(radius.mean()), float(held.double().mean()))

    # -- the objective ---------------------------------------------------------------------------------------------

    def _judge(
        self, side: _PeopleTensors, index: Tensor, strength: float, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """The loss of these people and their z."""
        index = index.to(side.x.device)
        x, gamma = side.x[index], self.settings.gamma * strength
        latent = self._model.encoder(x)
        total = latent.new_zeros(())
        if self._model.decoder is not None:
            total = total + self.decoder_weight * (self._model.decoder(latent) - x).square().mean()
        if self.settings.method is TrainingMethod.DL2:
            total = total + self._plain(side, index, latent).mean()
            return total if gamma == 0 else total + gamma * self._logic(side, latent, index, generator), latent
        return total + self._bounds(side, latent, index, gamma), latent

    def _plain(self, side: _PeopleTensors, index: Tensor, latent: Tensor) -> Tensor:
        """(n,) weighted losses of the auxiliary head."""
        if self.target is None or self._model.head is None or side.label is None:
            return latent.new_zeros(1)
        label = side.label[index]
        return side.weight[index] * losses.of(
            self.target, losses.values(self.target, self._model.head(latent), label), label
        )

    def _bounds(self, side: _PeopleTensors, latent: Tensor, index: Tensor, gamma: float) -> Tensor:
        """(plain + γ·worst) / (1 + γ), the same pace for every γ; the worst loss is on the proved ball, stretched."""
        plain = self._plain(side, index, latent).mean()
        if gamma == 0:
            return plain
        radius = side.region.radius(torch_parameters(self._model.encoder), latent, index)
        if self.target is None or self._model.head is None or side.label is None:
            # Nothing says what a large radius is but the spread of z itself: shrinking everything gains nothing.
            return gamma * radius.mean() / (latent.std(0).mean() + 1e-6)
        label = side.label[index]
        weight = torch_parameters(self._model.head)[0][0]
        reached = self.settings.stretch * radius
        worst = losses.worst_values(
            self.target, self._model.head(latent), label, reached, losses.lengths(self.target, weight)
        )
        return (plain + gamma * (side.weight[index] * losses.of(self.target, worst, label)).mean()) / (1.0 + gamma)

    def _logic(self, side: _PeopleTensors, latent: Tensor, index: Tensor, generator: torch.Generator) -> Tensor:
        """DL2 of ‖f(x) − f(x*)‖∞ ≤ δ at found x*, where φ(x, x*) holds by construction."""
        found = find_counterexamples(
            side.region,
            torch_parameters(self._model.encoder),
            latent,
            index,
            generator,
            steps=self.settings.attack_steps,
            step=self.settings.attack_step,
        )
        away = (found.latent - latent).abs().amax(1) - self.settings.delta
        return (away.clamp(min=0) * found.valid).mean()


# Latent radius of every person by plain linear bounds: sound, rounded outward, fast enough for tuning.
#
# The exact radius is `lcifr.prove`'s; this one is somewhat wider and costs microseconds a person.


def bound_radius(network: Network, x: FloatArray, region: Region) -> LatentReach:
    """z and ε of people ``x`` (people, features), by plain bounds on every cell of their region."""
    latent, rounding_error = network(x), network.error(x)
    layers = tensors(network)
    ends = np.concatenate([latent, -latent], axis=1) + np.tile(rounding_error, 2)  # f(x) itself in exact arithmetic
    for index in index_chunks(len(x)):
        rows = index.numpy()
        ends[rows] = np.maximum(ends[rows], _ends(layers, region.take(rows)))
    width = network.outputs
    return LatentReach.of_box(latent, -ends[:, width:], ends[:, :width])


@torch.no_grad()
def _ends(layers: Layers, region: Region) -> FloatArray:
    """(people, 2·outputs) upper bounds of every output, then of every negative one; −∞ where there are no people."""
    outputs = len(layers[-1][1])
    unit = torch.eye(outputs, dtype=torch.float64)
    signs = torch.cat([unit, -unit])
    result = np.full((region.people, 2 * outputs), -np.inf)
    for cell in region.cells:
        who = np.flatnonzero(cell.present)
        if not len(who):
            continue
        batch = view_cell(layers, cell.take(who)).batch
        directions = signs if batch.rows is None else signs.expand(len(who), -1, -1)
        rows = None if batch.rows is None else row_multipliers(batch, directions)
        upper = backward(batch, directions, hidden_lines(batch), rows=rows).upper.numpy()
        result[who] = np.maximum(result[who], upper)
    return result
