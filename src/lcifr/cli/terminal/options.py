"""The same everywhere: each shared option is named and explained once."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lcifr.models.arithmetic import Arithmetic
from lcifr.runs.executors.crew import Executor
from lcifr.runs.executors.devices import Device


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
OutOption = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The new folder for the results.")]
PhiOption = Annotated[
    str, typer.Option("--phi", metavar="FILE|NAME", help="Who counts as similar: a .phi file or a ready-made formula.")
]
SchemaOption = Annotated[
    str | None,
    typer.Option(
        "--schema",
        metavar="FILE|NAME",
        help="The schema: a .toml file. (Default: the .toml next to the .phi, else inferred.)",
    ),
]
TargetOption = Annotated[
    str | None, typer.Option("--target", metavar="COLUMN", help="The column to predict. (Default: from the schema.)")
]
IdOption = Annotated[
    str | None, typer.Option("--id", metavar="COLUMN", help="The column of ids. (Default: row numbers, from 0.)")
]
SampleOption = Annotated[
    int | None,
    typer.Option("--sample", min=1, help="Use this many people of TABLE, drawn at random. (Default: all.)"),
]
HeldOutOption = Annotated[
    float, typer.Option("--held-out", min=0.01, max=0.9, help="Share of people to hold out from training.")
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="Seed for splits and training; the same seed gives the same run.")
]
ArithmeticOption = Annotated[
    Arithmetic,
    typer.Option(
        "--arithmetic",
        help="Verdicts hold in exact arithmetic, or on any float64 or float32 machine (not TF32, bfloat16, quantised).",
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace existing results.")]
EpochsOption = Annotated[int, typer.Option("--epochs", min=1, help="Training epochs.")]
BatchOption = Annotated[int, typer.Option("--batch", min=1, help="People per training step.")]
StretchOption = Annotated[
    float,
    typer.Option(
        "--stretch",
        callback=finite,
        help="Train labels to survive this many times the proved radius; higher values certify more people.",
    ),
]
WholeOption = Annotated[
    bool,
    typer.Option(
        "--whole-numbers",
        help="Integer attributes take whole numbers only, so that more people are certified.",
    ),
]
LatentOption = Annotated[int, typer.Option("--latent", min=1, help="Width of the representation z.")]
HiddenOption = Annotated[
    str, typer.Option("--hidden", metavar="N,N,…", help='Widths of hidden layers, such as "20" or "100,100".')
]
ClassWeightOption = Annotated[
    ClassWeight,
    typer.Option("--class-weight", help="balanced: rare classes count as much as frequent ones. Not for regression."),
]
DecoderOption = Annotated[
    float,
    typer.Option(
        "--decoder-weight",
        min=0.0,
        callback=finite,
        help="Weight of reconstructing the attributes from z; above 0, z also serves other labels.",
    ),
]
ShareOption = Annotated[
    bool,
    typer.Option("--share-formula/--withhold-formula", help="Whether the hand-over includes φ, schema and scales."),
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
    typer.Option(min=0.0, help="For regression: predictions closer than this count as the same decision."),
]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="Number of processes. (Default: one per core, if that pays off.)")
]
ExecutorOption = Annotated[
    Executor,
    typer.Option("--executor", help="Run on processes of this machine, or on a Ray cluster."),
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="ADDRESS",
        help="The Ray cluster: auto, or HOST:PORT. (Default: $RAY_ADDRESS, else start Ray here.)",
    ),
]
LabelsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        metavar="CLASS=NAME,…",
        help="What to call the decisions in output and reports, such as 0=refused,1=granted.",
    ),
]
DeviceOption = Annotated[
    Device,
    typer.Option("--device", help="Where bounds are computed before any search: cuda is a GPU, auto one if there is."),
]
ChunkOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="People per chunk; a stopped run loses at most one per process. (Default: 32 to 256; large tables 8192.)",
    ),
]
BundleOption = Annotated[bool, typer.Option("--bundle/--no-bundle", help="Write the proofs for `lcifr check`.")]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Exit 1 if there is a counterexample, 3 if someone is undecided.")
]
FailUnderOption = Annotated[
    float | None,
    typer.Option(min=0.0, max=1.0, help="Exit as with --strict if less than this share is certified; else exit 0."),
]


def labels_of(given: Iterable[str] | None) -> dict[str, str]:
    """``["0=refused,1=granted"]`` as ``{"0": "refused", "1": "granted"}``; a class may contain ``=``."""
    from lcifr.errors import LcifrError

    fix = "write CLASS=NAME,CLASS=NAME, such as --labels 0=refused,1=granted"
    found: dict[str, str] = {}
    for entry in (one for text in given or () for one in re.split(r",(?=[^,]*=)", text)):
        decision, equals, name = (part.strip() for part in entry.rpartition("="))
        if not (decision and equals and name):
            raise LcifrError(f"--labels: {entry!r} does not say what to call a decision", fix=fix)
        if decision in found:
            raise LcifrError(f"--labels names the decision {decision!r} twice", fix=fix)
        found[decision] = name
    return found


def list_text(values: Iterable[float]) -> str:
    """(20, 20) as ``"20,20"``: how lists are written as an option."""
    return ",".join(f"{one:g}" for one in values)


def widths_of(text: str) -> tuple[int, ...]:
    """``"20,20"`` as (20, 20); empty text is no layer."""
    from lcifr.errors import LcifrError

    words = [word.strip() for word in text.split(",") if word.strip()]
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise LcifrError(
            f"--hidden {text!r} is not a list of widths", fix='write whole numbers above 0, such as "20" or "50,50"'
        )
    return tuple(int(word) for word in words)
