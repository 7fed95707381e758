"""Learning of encoders and heads the same way every time: one thread, warnings as plain lines, heads by task."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.runs.events import warn
from lcifr.runs.folders.summaries import TRAINING

if TYPE_CHECKING:
    from lcifr.estimators.baselines import Producer
    from lcifr.estimators.heads import Head


@contextmanager
def one_thread(*, say: bool = True) -> Iterator[list[str]]:
    """Learning on one thread: small networks lose time to more, and sums come out the same. Collects warnings.

    ``say`` : whether warnings are printed too; not where many models are learned and nobody could tell whose they are.
    """
    import torch

    from lcifr.learn.scores import DegenerateModelWarning

    before, said = torch.get_num_threads(), list[str]()
    torch.set_num_threads(1)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DegenerateModelWarning)
            yield said
    finally:
        torch.set_num_threads(before)
    for one in caught:
        text = str(one.message)
        if text not in said:
            said.append(text)
            if say:
                warn(text)


def load_encoder(folder: Path) -> Producer:
    """The encoder or booster of a producer's folder; training people are there for formulas that take ranks."""
    from lcifr.estimators.saving import load_producer

    training = folder / TRAINING
    found: Producer = load_producer(folder / "encoder.safetensors", training=training if training.is_file() else None)
    return found


def head_of(
    y: Any, task: str, tolerance: float | None, class_weight: str | None, *, instead: str = "", **options: Any
) -> Head:
    """A classifier or a regressor, as the labels need; refused where what was asked for is about the other."""
    from lcifr.estimators import RobustClassifier, RobustRegressor
    from lcifr.learn.target import Target
    from lcifr.models.rule import Kind

    number = Target.of(y, task).kind is Kind.NUMBER
    if number and tolerance is None:
        raise LcifrError(
            "the labels are numbers, so a tolerance is needed: how far apart two predictions may be",
            fix=f"for example {example_tolerance(y)}, a tenth of their standard deviation{instead}",
        )
    if number and class_weight is not None:
        raise LcifrError("--class-weight is for classes, and the labels are numbers", fix="leave it out")
    if not number and tolerance is not None:
        raise LcifrError("--tolerance is for numbers, and the labels are classes", fix="leave it out")
    if number:
        return RobustRegressor(tolerance=float(tolerance or 0), **options)
    return RobustClassifier(class_weight=class_weight, **options)


def example_tolerance(y: Any) -> str:
    """An option to begin with: a tenth of these labels' standard deviation, one digit of it."""
    import numpy as np

    tenth = float(np.std(np.asarray(y, dtype=np.float64))) / 10
    return f"--tolerance {float(f'{tenth:.0e}'):g}"
