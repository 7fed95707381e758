"""The same everywhere: each shared option is named and explained once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lcifr.models.arithmetic import Arithmetic
from lcifr.runs.executors.crew import Executor


def finite(value: float) -> float:
    """Numbers that typer's ranges let through, and that are no number to compute with."""
    if not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number")
    return value


class Where(StrEnum):
    """On what a consumer proves."""

    BALL = "ball"
    BOX = "box"


class Task(StrEnum):
    """What is predicted."""

    AUTO = "auto"
    CLASSIFICATION = "classification"
    REGRESSION = "regression"


class ClassWeight(StrEnum):
    """How much each class counts in training."""

    NONE = "none"
    BALANCED = "balanced"

    @property
    def setting(self) -> str | None:
        """As estimators take it."""
        return None if self is ClassWeight.NONE else self.value


TableArgument = Annotated[
    str, typer.Argument(metavar="TABLE", help="The people: a .csv or .parquet file, or the name of a dataset.")
]
ProducerArgument = Annotated[Path, typer.Argument(metavar="PRODUCER", help="The folder that `lcifr produce` wrote.")]
ConsumerArgument = Annotated[Path, typer.Argument(metavar="CONSUMER", help="The folder that `lcifr consume` wrote.")]
OutOption = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the results go: a new folder.")]
PhiOption = Annotated[
    str, typer.Option("--phi", metavar="FILE|NAME", help="Who counts as similar: a .phi file, or a ready formula.")
]
SchemaOption = Annotated[
    str | None,
    typer.Option(
        "--schema",
        metavar="FILE|NAME",
        help="What the columns mean: a .toml file. (Default: the .toml beside the .phi, else inferred.)",
    ),
]
TargetOption = Annotated[
    str | None, typer.Option("--target", metavar="COLUMN", help="What is predicted. (Default: as the schema says.)")
]
IdOption = Annotated[
    str | None, typer.Option("--id", metavar="COLUMN", help="Names of people. (Default: row numbers, from 0.)")
]
SampleOption = Annotated[
    int | None,
    typer.Option("--sample", min=1, help="Read so many people of TABLE, drawn at random. (Default: all.)"),
]
HeldOutOption = Annotated[
    float, typer.Option("--held-out", min=0.01, max=0.9, help="Share of the people that nobody trains on.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Of splits and training; the same seed, the same run.")]
ArithmeticOption = Annotated[
    Arithmetic,
    typer.Option(
        "--arithmetic",
        help="Of verdicts: exact, or any machine that computes in float64 or float32 (not TF32, bfloat16, quantised).",
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace the results of an earlier run.")]
EpochsOption = Annotated[int, typer.Option("--epochs", min=1, help="How long to learn.")]
BatchOption = Annotated[int, typer.Option("--batch", min=1, help="People per step of learning.")]
StretchOption = Annotated[
    float,
    typer.Option(
        "--stretch",
        callback=finite,
        help="How many times its proved radius a label must survive in training: more are certified.",
    ),
]
WholeOption = Annotated[
    bool,
    typer.Option(
        "--whole-numbers",
        help="Where the schema says integer, leave out people between whole numbers: more are certified.",
    ),
]
LatentOption = Annotated[int, typer.Option("--latent", min=1, help="Width of the representation z.")]
HiddenOption = Annotated[
    str, typer.Option("--hidden", metavar="N,N,…", help='Widths of hidden layers, such as "20" or "100,100".')
]
ClassWeightOption = Annotated[
    ClassWeight,
    typer.Option("--class-weight", help="balanced: rare classes count as much as frequent ones. Not for numbers."),
]
DecoderOption = Annotated[
    float,
    typer.Option(
        "--decoder-weight",
        min=0.0,
        callback=finite,
        help="Weight of reconstructing the attributes from z: above 0, z serves other labels too.",
    ),
]
ShareOption = Annotated[
    bool, typer.Option("--share-formula/--withhold-formula", help="Whether the hand-over shows φ and scales.")
]
OnOption = Annotated[
    Where | None,
    typer.Option(
        "--on",
        help="Prove on each person's ball, as in the paper, or on the tighter box. "
        "(Default: ball; for a hand-over of trees, box.)",
    ),
]
ToleranceOption = Annotated[
    float | None,
    typer.Option(
        min=0.0, help="For numbers: two similar people's predictions less than this apart count as the same decision."
    ),
]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="Processes. (Default: one per core, where that is worth their start.)")
]
ExecutorOption = Annotated[
    Executor,
    typer.Option("--executor", help="Who works on the people: processes of this machine, or a Ray cluster."),
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="ADDRESS",
        help="Of the Ray cluster: auto, or HOST:PORT. (Default: $RAY_ADDRESS, else Ray is started here.)",
    ),
]
ChunkOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="People per part: a stopped run loses at most one per process. (Default: 32 to 256; large tables 8192.)",
    ),
]
BundleOption = Annotated[
    bool, typer.Option("--bundle/--no-bundle", help="Write the proofs for the exact checker (`lcifr check`).")
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Exit 1 if there is a counterexample, 3 if somebody is undecided.")
]
FailUnderOption = Annotated[
    float | None,
    typer.Option(
        min=0.0, max=1.0, help="Exit 1 or 3, as with --strict, if a smaller share than this is certified; else 0."
    ),
]


def list_text(values: Iterable[float]) -> str:
    """(20, 20) as ``"20,20"``: how lists are written as an option."""
    return ",".join(f"{one:g}" for one in values)


def widths_of(text: str) -> tuple[int, ...]:
    """``"20,20"`` as (20, 20); empty text is no layer."""
    from lcifr.errors import LcifrError

    words = [word.strip() for word in text.split(",") if word.strip()]
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise LcifrError(
            f"--hidden {text!r} is no list of widths", fix='whole numbers above 0, such as "20" or "50,50"'
        )
    return tuple(int(word) for word in words)
