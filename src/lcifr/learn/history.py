"""The history of training: a line per epoch with its progress on the terminal, and the figures of every model tried."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from lcifr.data.codec import Record, key
from lcifr.models.model import Degeneracy

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


# The models that ``tune`` tried: figures of each, and all of them as a frontier of score and certified share.

USELESS = ("constant", "below majority", "below mean")
"""Names of what makes a model one that nobody should choose, whatever its certified share."""


def _messages(degeneracies: tuple[Degeneracy, ...]) -> list[str]:
    return [one.message for one in degeneracies]


def _of_messages(messages: list[str]) -> tuple[Degeneracy, ...]:
    """Of what is trivial about a model, results keep the words alone."""
    return tuple(Degeneracy("", text) for text in messages)


@dataclass(frozen=True)
class FrontierPoint(Record):
    """The metrics of one model on validation people.

    Parameters
    ----------
    name : ``"plain"``, ``"unaware"`` or the weight, behind its family where there are two. gamma : the weight.
    score, balanced : accuracy and balanced accuracy, or R² for a number.
    certified : share proved on the ball or box by bounds alone: a lower bound of what exact proofs give.
    radius : mean ε. degeneracies : what is trivial about it.
    score_error, balanced_error, certified_error : standard errors of these figures.
    learner : ``network`` or ``trees``. on : ``ball`` or ``box``, where ``certified`` is proved.
    """

    also = ("advice",)
    name: str
    gamma: float
    score: float
    balanced: float
    certified: float
    radius: float
    degeneracies: tuple[Degeneracy, ...] = field(default=(), metadata=key(write=_messages, read=_of_messages))
    score_error: float = 0.0
    balanced_error: float = 0.0
    certified_error: float = 0.0
    learner: str = "network"
    on: str = "ball"

    @property
    def title(self) -> str:
        """The name in words: ``gamma 1``, or ``trees, gamma 1``."""
        return self.name.replace(f"{self.learner}-", f"{self.learner}, ").replace("gamma-", "gamma ")

    @property
    def useful(self) -> bool:
        """Whether the model distinguishes people, and does better than a constant decision."""
        return not any(one.name in USELESS for one in self.degeneracies)

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do about what is trivial."""
        return tuple(one.advice for one in self.degeneracies if one.advice)


@dataclass(frozen=True)
class FrontierPoints:
    """Score and certified share for every weight tried.

    Parameters
    ----------
    points : one for each weight tried, rising, family by family. plain, unaware : the baselines.
    required : the score asked for. by : the score that counts, ``"accuracy"`` (R² for a number) or ``"balanced"``.
    why : the choice of a model, or of none, in words. others : baselines of a second family.
    """

    points: tuple[FrontierPoint, ...]
    plain: FrontierPoint
    unaware: FrontierPoint
    required: float
    by: str = field(default="accuracy", kw_only=True)
    why: str = field(default="", kw_only=True)
    others: tuple[FrontierPoint, ...] = field(default=(), kw_only=True)

    @property
    def baselines(self) -> tuple[FrontierPoint, ...]:
        """Plain and unaware, of every family."""
        return self.plain, self.unaware, *self.others
