"""The history of a training run, one line an epoch, and its progress on the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

BETTER = 1e-5
"""A validation loss must fall by this much to count as progress."""


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
