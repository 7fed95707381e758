"""Training loop: epochs, batches, warm-up, learning-rate schedule, early stopping."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from lcifr.errors import LearningError
from lcifr.learn.history import BETTER, Epoch, ValidationMetrics, show_progress
from lcifr.learn.parameters import Schedule

CHUNK = 512
"""People judged at once: larger chunks fall out of the cache and are slower for it."""


class TrainingTask(ABC):
    """A model with its data and its loss: what the loop trains."""

    @property
    @abstractmethod
    def module(self) -> nn.Module:
        """The module whose parameters are trained."""

    @property
    @abstractmethod
    def people(self) -> int:
        """The number of training people."""

    @abstractmethod
    def loss(self, index: Tensor, strength: float) -> Tensor:
        """The mean loss of these people, the weight of the robust loss multiplied by ``strength``."""

    @abstractmethod
    def check(self) -> ValidationMetrics:
        """Metrics on validation people."""

    def settle(self) -> None:  # noqa: B027  most models have nothing to put right
        """Restore exact constraints on the weights after a step."""


def train(task: TrainingTask, schedule: Schedule) -> tuple[Epoch, ...]:
    """Adam until the validation loss stops falling; the best weights are left in the model."""
    generator = torch.Generator().manual_seed(schedule.seed)
    optimiser = torch.optim.Adam(
        task.module.parameters(), lr=schedule.learning_rate, weight_decay=schedule.weight_decay
    )
    falling = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimiser, factor=0.5, patience=max(1, schedule.patience // 3), threshold=BETTER, threshold_mode="abs"
    )
    history: list[Epoch] = []
    best, kept, waited = math.inf, None, 0
    task.settle()
    with show_progress(schedule.epochs, schedule.verbose) as show:
        for number in range(schedule.epochs):
            strength = schedule.strength(number)
            loss = _epoch(task, optimiser, schedule, generator, strength)
            checked = task.check()
            history.append(Epoch(number, loss, float(optimiser.param_groups[0]["lr"]), checked))
            show(history[-1])
            if strength < 1.0:
                continue
            falling.step(checked.loss)
            if kept is None or checked.loss < best - BETTER:
                best, waited = checked.loss, 0
                kept = {name: value.clone() for name, value in task.module.state_dict().items()}
            elif (waited := waited + 1) >= schedule.patience:
                break
    if kept is not None:
        task.module.load_state_dict(kept)
    return tuple(history)


def _epoch(
    task: TrainingTask,
    optimiser: torch.optim.Optimizer,
    schedule: Schedule,
    generator: torch.Generator,
    strength: float,
) -> float:
    """One pass over the people; the mean loss. A last batch that is tiny joins the one before it."""
    order = torch.randperm(task.people, generator=generator)
    batches = list(torch.split(order, schedule.batch_size))
    if len(batches) > 1 and len(batches[-1]) < schedule.batch_size // 2:
        batches[-2:] = [torch.cat(batches[-2:])]
    total = torch.zeros(())
    for index in batches:
        optimiser.zero_grad()
        loss = task.loss(index, strength)
        torch.autograd.backward(loss)
        optimiser.step()
        task.settle()
        total += loss.detach().cpu() * len(index)
    mean = float(total) / task.people
    if not math.isfinite(mean):
        raise LearningError("the training loss is no longer a number", fix="lower learning_rate, or gamma")
    return mean


def index_chunks(count: int) -> tuple[Tensor, ...]:
    """Indices of ``count`` people, a chunk at a time."""
    return tuple(torch.split(torch.arange(count), CHUNK))
