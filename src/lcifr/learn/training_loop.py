"""Training loop: epochs, batches, warm-up, learning-rate schedule, early stopping, history."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from lcifr.errors import LearningError
from lcifr.learn.parameters import ScheduleParameters, find_invalid

CHUNK = 512
"""People judged at once: larger chunks fall out of the cache and are slower for it."""
BETTER = 1e-5
"""A validation loss must fall by this much to count as progress."""


@dataclass(frozen=True)
class Schedule(ScheduleParameters):
    """Hyper-parameters of the training loop, checked.

    Parameters
    ----------
    warmup : share of the epochs over which the weight of the robust loss (gamma) grows from 0 to its full value.
    patience : epochs without progress before stopping; the learning rate is halved at a third of that.
    """

    seed: int = 0
    verbose: bool = False

    def __post_init__(self) -> None:
        if wrong := find_invalid(self):
            raise LearningError(
                f"{', '.join(wrong)} is not a valid schedule", fix="counts and rates are positive, warmup is in [0, 1]"
            )

    def strength(self, epoch: int) -> float:
        """The share of that weight in ``epoch`` (from 0)."""
        return min(1.0, (epoch + 1) / max(1.0, self.warmup * self.epochs))


@dataclass(frozen=True)
class ValidationMetrics:
    """Metrics on validation people; NaN where they do not apply.

    Parameters
    ----------
    loss : the objective at full strength. score : accuracy, or R² for a number.
    radius : mean proved ε. certified : share of people whose decision is proved by bounds alone.
    """

    loss: float
    score: float = math.nan
    radius: float = math.nan
    certified: float = math.nan


@dataclass(frozen=True)
class Epoch:
    """One line of the history."""

    number: int
    loss: float
    rate: float
    validation: ValidationMetrics = field(default_factory=lambda: ValidationMetrics(math.nan))


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
    """One pass over everybody; the mean loss. A last batch that is tiny joins the one before it."""
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


@contextmanager
def show_progress(epochs: int, verbose: bool) -> Iterator[Callable[[Epoch], None]]:
    """What to tell each epoch to: a bar on stderr with its figures, if asked for."""
    if not verbose:
        yield _Show()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True)) as bar:
        yield _Show(bar, bar.add_task("training", total=epochs))


class _Show:
    def __init__(self, bar: object = None, task: object = None) -> None:
        self.bar, self.task, self.known = bar, task, dict[str, float]()

    def __call__(self, epoch: Epoch) -> None:
        if self.bar is None:
            return
        seen = epoch.validation
        figures = {"score": seen.score, "radius": seen.radius, "certified": seen.certified}
        self.known |= {name: value for name, value in figures.items() if not math.isnan(value)}
        later = (f"{name} {value:.4f}" for name, value in self.known.items())
        text = " · ".join([f"loss {epoch.loss:.4f}", f"validation {seen.loss:.4f}", *later])
        self.bar.update(self.task, advance=1, description=text)  # type: ignore[attr-defined]
