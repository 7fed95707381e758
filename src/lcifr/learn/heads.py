"""Training of heads on latents: networks by gradient, linear ones to the optimum."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor, nn

from lcifr.learn import losses
from lcifr.learn.history import Epoch, ValidationMetrics
from lcifr.learn.parameters import Schedule
from lcifr.learn.region_tensors import exact_rounding
from lcifr.learn.scores import score_of
from lcifr.learn.target import Target
from lcifr.learn.training_loop import TrainingTask, index_chunks, train
from lcifr.models.loaders.torch import build_torch, torch_parameters
from lcifr.models.network import Network
from lcifr.models.rule import Kind
from lcifr.prove.networks.linear_bounds import Box, CellBatch, Layers, backward, hidden_lines, tensors, view_cell
from lcifr.regions.region import Region

# Robust linear heads: the convex problem, solved to its optimum.
#
# The worst case of a linear head is ε‖w‖₁ above the middle of a ball of radius ε, and Σ rⱼ|wⱼ| above that of a box, in
# closed form. It has a kink wherever a weight is zero. A quasi-Newton method that starts at such a kink may never leave
# it, so the problem is put in a smooth form first:
#
# - One output (two classes, a number): w = p − q with p, q ≥ 0 and |w| = p + q, which is exact.
# - Several classes: the distances |w_k − w_l| between pairs, and for a number |prediction − y|, take √(u² + μ²) for
#   |u|, with μ taken down to ``SMOOTHING[-1]``; the optimum moves by at most the sum of those μ.

FloatArray = NDArray[np.float64]

SMOOTHING = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
"""μ of each stage, in units of z's own spread; every stage starts from the optimum of the one before."""

ITERATIONS = 2000
"""Per stage. Typical problems (20 latent numbers) take 30 to 200."""

RESTARTS = 20
"""At most this many per stage; the second one mostly finds nothing left to do."""

GRADIENT = 1e-7
"""A stage ends where no component of the projected gradient is larger; losses are of the order of 1."""

STALLED = 1e-3
"""A final projected gradient above this is worth a warning: the head is not the optimum that was asked for."""


Array = TypeVar("Array", FloatArray, Tensor)


@dataclass(frozen=True)
class LatentPeople(Generic[Array]):
    """The consumer's training data.

    Parameters
    ----------
    z, middle : (people, d) of each person, and of the ball or box around: the middle of a ball is z itself.
    reach : (people, 1) ε, or one δ for all, or zeros; or (people, d) half the edges of boxes.
    label : (people,) codes or scaled numbers. weight : (people,) of mean 1.
    """

    z: Array
    middle: Array
    reach: Array
    label: Array
    weight: Array

    def take(self, rows: Any) -> LatentPeople[Array]:
        """Some of them."""
        z = self.z[rows]
        middle = z if self.middle is self.z else self.middle[rows]
        return LatentPeople(z, middle, self.reach[rows], self.label[rows], self.weight[rows])

    @property
    def tensors(self) -> LatentPeople[Tensor]:
        """The same as tensors."""
        z, *others = map(torch.as_tensor, (self.z, self.reach, self.label, self.weight))
        return LatentPeople(z, z if self.middle is self.z else torch.as_tensor(self.middle), *others)


@dataclass(frozen=True)
class LinearProblem:
    """Minimise (plain + γ · worst) / (1 + γ) + penalty · ‖W‖² over the weights and shifts of a linear head."""

    people: LatentPeople[Tensor]
    target: Target
    gamma: float
    penalty: float

    @property
    def robust(self) -> bool:
        """Whether the worst case differs from the plain one at all."""
        return self.gamma > 0 and bool((self.people.reach > 0).any())

    @property
    def split(self) -> bool:
        """Whether the weights are written as p − q."""
        return self.robust and self.target.outputs == 1

    def objective(
        self, matrix: Tensor, shift: Tensor, sizes: Tensor, absolute: Callable[[Tensor], Tensor] = torch.abs
    ) -> Tensor:
        """The value at weights (outputs, d) and shifts (outputs,), with the given |·| of the directions."""
        target, people, label = self.target, self.people, self.people.label
        output = people.z @ matrix.T + shift
        value = (people.weight * losses.of(target, losses.values(target, output, label), label, absolute)).mean()
        if self.robust:
            there = output if people.middle is people.z else people.middle @ matrix.T + shift
            worst = losses.of(target, losses.worst_around(target, there, label, people.reach, sizes), label, absolute)
            value = (value + self.gamma * (people.weight * worst).mean()) / (1.0 + self.gamma)
        return value + self.penalty * matrix.square().sum()

    def exact_objective(self, matrix: Tensor, shift: Tensor) -> float:
        """The value that is meant, kinks included."""
        return float(self.objective(matrix, shift, losses.sizes(self.target, matrix)))


def solve_linear_head(problem: LinearProblem) -> tuple[Tensor, Tensor]:
    """The optimal weights (outputs, d) and shifts (outputs,)."""
    width, outputs = problem.people.z.shape[1], problem.target.outputs
    bounded = 2 * width if problem.split else 0
    point = np.zeros((bounded or outputs * width) + outputs)
    smooth = problem.target.kind is Kind.SIGN or not problem.robust
    for mu in SMOOTHING[-1:] if smooth else SMOOTHING:
        point, steepest = _descend(problem, mu, point, bounded)
    if not steepest <= STALLED:
        warnings.warn(
            f"the linear head stopped before its optimum (projected gradient {steepest:.2g})",
            ConvergenceWarning,
            stacklevel=2,
        )
    matrix, shift, _ = _parts(problem, torch.as_tensor(point), torch.abs)
    return matrix, shift


def _descend(problem: LinearProblem, mu: float, point: FloatArray, bounded: int) -> tuple[FloatArray, float]:
    """The optimum for one μ, and what is left of the projected gradient there.

    The line search of L-BFGS-B may give up where a variable meets its bound; without its memory it continues.
    """
    limits = [(0.0, None)] * bounded + [(None, None)] * (len(point) - bounded)
    options = {"maxiter": ITERATIONS, "maxfun": 2 * ITERATIONS, "maxcor": 20, "gtol": GRADIENT, "ftol": 1e-15}
    value_of = partial(_value_and_gradient, problem, mu)
    for _ in range(RESTARTS):
        found = minimize(value_of, point, jac=True, method="L-BFGS-B", bounds=limits, options=options)
        steepest, moved = _projected_gradient(found.x, found.jac, bounded), bool((found.x != point).any())
        point = found.x
        if steepest <= GRADIENT or not moved:
            break
    return point, steepest


def _value_and_gradient(problem: LinearProblem, mu: float, point: FloatArray) -> tuple[float, FloatArray]:
    def absolute(values: Tensor) -> Tensor:
        return (values.square() + mu * mu).sqrt()

    variables = torch.tensor(point, requires_grad=True)
    with torch.enable_grad():
        value = problem.objective(*_parts(problem, variables, absolute), absolute)
        (gradient,) = torch.autograd.grad(value, variables)
    return float(value.detach()), gradient.numpy()


def _parts(
    problem: LinearProblem, variables: Tensor, absolute: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    """Weights, shifts and the |·| of the directions."""
    width, outputs = problem.people.z.shape[1], problem.target.outputs
    weights, shift = variables[:-outputs], variables[-outputs:]
    if problem.split:
        plus, minus = weights[:width], weights[width:]
        return (plus - minus)[None], shift, (plus + minus)[None]
    matrix = weights.reshape(outputs, width)
    return matrix, shift, losses.sizes(problem.target, matrix, absolute)


def _projected_gradient(point: FloatArray, gradient: FloatArray, bounded: int) -> float:
    """The largest component of a unit gradient step; the first ``bounded`` variables cannot go below 0."""
    moved = point - gradient
    moved[:bounded] = np.maximum(moved[:bounded], 0.0)
    return float(np.abs(point - moved).max())


def fit_linear(people: LatentPeople[FloatArray], target: Target, *, gamma: float, penalty: float) -> Network:
    """The optimal linear head; learned around the mean of z and in its own scale, where the problem is round."""
    z, middle = people.z, people.middle
    mean, spread = z.mean(0), max(float(z.std(0, ddof=1).mean()), 1e-12)
    scaled = (z - mean) / spread
    around = scaled if middle is z else (middle - mean) / spread
    given = replace(people, z=scaled, middle=around, reach=people.reach / spread).tensors
    problem = LinearProblem(given, target, gamma, penalty)
    matrix, shift = (part.numpy() for part in solve_linear_head(problem))
    learned = matrix / spread
    return Network.from_arrays([(learned, shift - learned @ mean)])


# Training of heads on z that keep their decision on the whole ball or box.
#
# It sees z, its surroundings and y only. Before a linear head the worst point there is known in closed form; deeper
# heads are trained against the same linear bounds that prove them, or against projected gradient within one δ, as in
# the paper.

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
    training: LatentPeople[FloatArray],
    validation: LatentPeople[FloatArray],
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
        training: LatentPeople[FloatArray],
        validation: LatentPeople[FloatArray],
        target: Target,
        hidden: tuple[int, ...],
        against: Perturbation,
        gamma: float,
        seed: int,
    ) -> None:
        self.target, self.against, self.gamma = target, against, gamma
        self.training, self.validation = training.tensors, validation.tensors
        self._model = build_torch([training.z.shape[1], *hidden, target.outputs]).double()
        self.generator = torch.Generator().manual_seed(seed)

    @property
    def module(self) -> nn.Sequential:
        return self._model

    @property
    def people(self) -> int:
        return len(self.training.z)

    def loss(self, index: Tensor, strength: float) -> Tensor:
        return self._loss(self.training, index, self.gamma * strength)

    def _loss(self, side: LatentPeople[Tensor], index: Tensor, gamma: float) -> Tensor:
        people = side.take(index)
        label, weight = people.label, people.weight
        values = losses.values(self.target, self._model(people.z), label)
        plain = (weight * losses.of(self.target, values, label)).mean()
        if gamma == 0 or self.against is Perturbation.NOTHING:
            return plain
        if self.against is Perturbation.DELTA:
            values = losses.values(self.target, self._model(self._attack(people.z, people.reach, label)), label)
        else:
            layers, directions = torch_parameters(self._model), losses.directions(self.target, label)
            values = box_bounds(layers, people.middle, people.reach, directions)
        return (plain + gamma * (weight * losses.of(self.target, values, label)).mean()) / (1.0 + gamma)

    def _attack(self, z: Tensor, reach: Tensor, label: Tensor) -> Tensor:
        """The costliest point that signed gradient steps find in each ball."""
        lots = torch.rand(z.shape, generator=self.generator, dtype=z.dtype)
        moved = reach * (2 * lots - 1)
        for _ in range(ATTACK_STEPS):
            moved = moved.detach().requires_grad_()
            with torch.enable_grad():
                loss = losses.of(self.target, losses.values(self.target, self._model(z + moved), label), label).sum()
                (slope,) = torch.autograd.grad(loss, moved)
            moved = moved + 2.5 / ATTACK_STEPS * reach * slope.sign()
            moved = torch.minimum(torch.maximum(moved, -reach), reach)
        return (z + moved).detach()

    @torch.no_grad()
    def check(self) -> ValidationMetrics:
        total, decisions = 0.0, []
        for index in index_chunks(len(self.validation.z)):
            total += float(self._loss(self.validation, index, self.gamma)) * len(index)
            decisions.append(losses.decide(self.target, self._model(self.validation.z[index])))
        decision = torch.cat(decisions).numpy()
        score = score_of(self.target, decision, self.validation.label.numpy())
        return ValidationMetrics(total / len(decision), score)


def box_bounds(layers: Layers, middle: Tensor, reach: Tensor, directions: Tensor) -> Tensor:
    """(n, k) upper bounds of ``directions`` (n, k, outputs) on each ball or box; differentiable, not rounded."""
    weight, bias = layers[0]
    batch = CellBatch(
        weight=weight,
        groups=(),
        tail=tuple(layers[1:]),
        base=bias.expand(len(middle), len(bias)),
        box=Box(middle - reach, middle + reach, middle, reach.expand_as(middle)),
        allowed=(),
        largest=middle.new_zeros(len(middle)),
        rounding=exact_rounding(layers),
        rows=None,
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
            decision = losses.decide(target, output)
            bounds = backward(view.batch, losses.directions(target, decision), hidden_lines(view.batch)).upper
            held.append(losses.holds(target, output, decision, bounds, tolerance))
    return np.asarray(torch.cat(held).numpy(), dtype=np.bool_)
