"""The same way every time: one thread, a bar where somebody watches, warnings as plain lines."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.files import json_value
from lcifr.runs.events import note, warn

if TYPE_CHECKING:
    from lcifr.artifacts.saved_models import SavedEncoder, SavedHead
    from lcifr.certification.population.statement import Statement
    from lcifr.estimators import FairEncoder
    from lcifr.estimators.base_head import Head
    from lcifr.learn.score import Degeneracy
    from lcifr.models.model import Model
    from lcifr.runs.streaming.large import Done

TRAINING = Path("people") / "train.parquet"
HEADS = {"classification": "RobustClassifier", "regression": "RobustRegressor"}
"""The kind of head that a task needs; a test keeps it like the estimators, which need not be loaded for it."""


@contextmanager
def one_thread(*, say: bool = True) -> Iterator[list[str]]:
    """Learning on one thread: small networks lose time to more, and sums come out the same. Collects warnings.

    ``say`` : whether warnings are printed too; not where many models are learned and nobody could tell whose they are.
    """
    import torch

    from lcifr.learn.score import DegenerateModelWarning

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


def note_resumed(done: Done) -> None:
    """Who was done before a run was stopped, and is not done again."""
    if done.found:
        note(f"{done.found:,} of {done.people:,} people were done before it was stopped; now all are")


def load_encoder(folder: Path) -> FairEncoder:
    """The encoder of a producer's folder; its training people are there for formulas that take ranks."""
    from lcifr.estimators import FairEncoder

    training = folder / TRAINING
    return FairEncoder.load(folder / "encoder.safetensors", training=training if training.is_file() else None)


def read_saved_encoder(folder: Path) -> SavedEncoder:
    """The encoder of a producer's folder, for proofs and not for training."""
    from lcifr.artifacts.saved_models import SavedEncoder
    from lcifr.data import Individuals, Schema, read_frame

    training = folder / TRAINING

    def people(schema: Schema) -> Individuals:
        return Individuals.read(read_frame(training).select(list(schema.names)), schema, fitting=True)

    there = people if training.is_file() else None
    return SavedEncoder.read(folder / "encoder.safetensors", there, only_for_ranks=True)


def read_saved_head(folder: Path, task: str) -> SavedHead:
    """The classifier or regressor of a consumer's folder, for proofs and not for training."""
    from lcifr.artifacts.saved_models import SavedHead

    return SavedHead.read(folder / "model.safetensors", HEADS[task])


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
            "the labels are numbers, so it must be said how far two predictions may be apart",
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


def classes_of(model: Model) -> tuple[Any, ...]:
    """What a model decides between, as JSON has it; empty for numbers."""
    return () if model.labels is None else tuple(json_value(one) for one in model.labels)


def learned_warnings(found: Iterable[Degeneracy], said: Statement) -> list[str]:
    """What is trivial about a model on the people it learned from, unless the statement says it of these people."""
    accuracy, majority = said.accuracy, said.majority_rate
    below = accuracy is not None and majority is not None and accuracy < majority
    known = {name for name, holds in (("constant", said.constant is not None), ("below majority", below)) if holds}
    return [_of_learning(one) for one in found if one.name not in known]


def _of_learning(one: Degeneracy) -> str:
    there = one.name in ("constant", "below majority")
    return f"on the people it learned from: {one.message}" if there else one.message
