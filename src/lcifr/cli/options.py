"""Options of the command line: each is named and explained once."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli.output import command, is_asked, to_stderr
from lcifr.errors import LcifrError
from lcifr.learn.parameters import AUTO, BOOSTER, MOST_DEPTH, Learner
from lcifr.models.arithmetic import Arithmetic
from lcifr.workflows.executors import Device, Executor

if TYPE_CHECKING:
    from lcifr.workflows.drafting import InitRequest, InitResult


# The same everywhere: each shared option is named and explained once.


def new_app(**settings: Any) -> typer.Typer:
    """The Typer of one module of commands."""
    return typer.Typer(add_completion=False, rich_markup_mode="rich", **settings)


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

    words = [word.strip() for word in text.split(",") if word.strip()]
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise LcifrError(
            f"--hidden {text!r} is not a list of widths", fix='write whole numbers above 0, such as "20" or "50,50"'
        )
    return tuple(int(word) for word in words)


# Which family learns, network or trees, and the options that are about one of them alone.


class ProduceLearner(StrEnum):
    """What a producer learns: one of the two."""

    NETWORK = Learner.NETWORK.value
    TREES = Learner.TREES.value


LEARNER_HELP = "network: an encoder; z mixes attributes. trees: boosted step functions; z is one score per attribute."
ProduceLearnerOption = Annotated[ProduceLearner, typer.Option("--learner", help=LEARNER_HELP)]
TuneLearnerOption = Annotated[
    Learner, typer.Option("--learner", help=f"{LEARNER_HELP} both: search both, and choose one model.")
]
TREES = "Trees only"
RoundsOption = Annotated[
    int, typer.Option("--rounds", min=1, rich_help_panel=TREES, help="Boosting rounds, at most; training stops early.")
]
RateOption = Annotated[
    float,
    typer.Option("--learning-rate", min=1e-6, max=1.0, rich_help_panel=TREES, help="Shrinks each boosting step."),
]
BinsOption = Annotated[
    int, typer.Option("--max-bins", min=2, rich_help_panel=TREES, help="Bins per numeric attribute, at most.")
]
LeastOption = Annotated[
    int, typer.Option("--min-people", min=1, rich_help_panel=TREES, help="People on either side of a split, at least.")
]
SubsampleOption = Annotated[
    float,
    typer.Option("--subsample", min=0.01, max=1.0, rich_help_panel=TREES, help="Share of people used in each round."),
]
PairsOption = Annotated[
    str,
    typer.Option(
        "--interactions",
        metavar="N|auto",
        rich_help_panel=TREES,
        help="Pairs of attributes with a score of their own, at most; auto: as many as help validation people.",
    ),
]
PAIRS = str(BOOSTER.interactions)
DepthOption = Annotated[
    int,
    typer.Option(
        "--depth",
        min=1,
        max=MOST_DEPTH,
        rich_help_panel=TREES,
        help="Above 1: add trees with up to this many cuts on the way to a leaf, each with its own score.",
    ),
]
BagsOption = Annotated[
    int,
    typer.Option(
        "--bags",
        min=1,
        rich_help_panel=TREES,
        help="Models to average, each trained without a different share of the people; for small tables.",
    ),
]
RisingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rising",
        metavar="COLUMN",
        rich_help_panel=TREES,
        help="The score must not fall as this number rises. Repeatable.",
    ),
]
FallingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--falling",
        metavar="COLUMN",
        rich_help_panel=TREES,
        help="The score must not rise as this number rises. Repeatable.",
    ),
]

OF_FAMILY = {
    Learner.NETWORK: ("decoder_weight", "latent", "hidden", "epochs", "batch"),
    Learner.TREES: (
        "rounds",
        "learning_rate",
        "max_bins",
        "min_people",
        "subsample",
        "interactions",
        "depth",
        "bags",
        "rising",
        "falling",
    ),
}


def refuse_other_family(context: typer.Context, learner: str) -> None:
    """Options that were given, and mean nothing for what learns."""
    for family, names in OF_FAMILY.items():
        if learner in (family, Learner.BOTH):
            continue
        for name in names:
            if is_asked(context, name):
                option = f"--{name.replace('_', '-')}"
                raise LcifrError(
                    f"{option} works only with --learner {family}, not with --learner {learner}",
                    fix=f"leave out {option}, or use --learner {family}",
                )


def pairs_of(text: str) -> int | str:
    """``"10"`` as 10; ``"auto"`` stays."""
    if text == AUTO:
        return text
    if not text.isdecimal():
        raise LcifrError(f"--interactions {text!r} is no number of pairs", fix="0, a whole number above it, or auto")
    return int(text)


def directions_of(rising: list[str] | None, falling: list[str] | None) -> tuple[tuple[str, int], ...]:
    """Monotone attributes as requests have them: 1 for rising, -1 for falling."""
    if both := set(rising or ()) & set(falling or ()):
        raise LcifrError(f"--rising and --falling both name {min(both)}", fix="leave one of them out")
    return tuple((name, 1) for name in rising or ()) + tuple((name, -1) for name in falling or ())


# Options and next steps of models that already decide, shared by the commands that take one.

PANEL = "A model of your own"

ModelOption = Annotated[
    Path | None,
    typer.Option(
        "--model", metavar="FILE", help="The model file: ONNX, skops, XGBoost or LightGBM.", rich_help_panel=PANEL
    ),
]
DescribeOption = Annotated[
    Path | None,
    typer.Option(
        "--describe",
        metavar="TOML",
        help="Describes the model's inputs and outputs. (Default: the .toml next to the model.)",
        rich_help_panel=PANEL,
    ),
]
MissingOption = Annotated[
    float | None,
    typer.Option(
        "--missing",
        metavar="NUMBER",
        help="For XGBoost files: the number that stands for a missing value. (Default: from --describe, else NaN.)",
        rich_help_panel=PANEL,
    ),
]
ReferenceOption = Annotated[
    Path | None,
    typer.Option(
        "--reference",
        metavar="TABLE",
        help="The table that supplies the standard deviations in φ, such as the training table. (Default: TABLE.)",
        rich_help_panel=PANEL,
    ),
]
ModelSchemaOption = Annotated[
    str | None,
    typer.Option(
        "--schema",
        metavar="FILE|NAME",
        help="The schema: a .toml file. (Default: the .toml next to the .phi, else inferred.)",
        rich_help_panel=PANEL,
    ),
]
ModelTargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="COLUMN",
        help="The column of true labels, for accuracy. (Default: from the schema.)",
        rich_help_panel=PANEL,
    ),
]
ModelToleranceOption = Annotated[
    float | None,
    typer.Option(
        "--tolerance",
        min=0.0,
        help="For regression: predictions closer than this count as the same decision.",
        rich_help_panel=PANEL,
    ),
]
SameOption = Annotated[
    list[str] | None,
    typer.Option(
        "--same",
        metavar="CLASS,CLASS,…",
        help="Classes that count as one decision. Repeatable.",
        rich_help_panel=PANEL,
    ),
]
AcceptDraftOption = Annotated[
    bool,
    typer.Option(
        "--accept-draft",
        help="Go on with a description that is still marked `draft = true`.",
        rich_help_panel=PANEL,
    ),
]
AcceptAccuracyOption = Annotated[
    bool,
    typer.Option(
        "--accept-accuracy",
        help="Go on with a model whose score ranks the true labels backwards.",
        rich_help_panel=PANEL,
    ),
]
AnyArithmeticOption = Annotated[
    Arithmetic | None,
    typer.Option(
        "--arithmetic",
        help="Verdicts hold in exact arithmetic, or on any float64 or float32 machine (not TF32, bfloat16, quantised). "
        "(Default: float64; for a model of your own, its own format.)",
    ),
]


def refuse_without_model(**given: Any) -> None:
    """Options that only mean something with ``--model``."""
    for name, value in given.items():
        if value is not None and value is not False and value != []:
            raise LcifrError(f"--{name.replace('_', '-')} works only with --model", fix="add --model FILE")


def one_table(command: str, first: Path, *others: Path | None) -> Path:
    """With ``--model`` there is one argument, the table."""
    if any(one is not None for one in others):
        raise LcifrError(
            f"--model takes one TABLE, and no folder of a producer or consumer; found {first} and more",
            fix=f"lcifr {command} people.csv --model model.onnx --phi people.phi --out OUT",
        )
    return first


def needed_folder(second: Path | None, first: Path, command: str, arguments: str) -> Path:
    """Without ``--model``: the second argument, without which nobody knows what the first one is.

    Parameters
    ----------
    arguments : both, as the command's usage calls them, such as ``PRODUCER CONSUMER``.
    """
    if second is None:
        raise LcifrError(
            f"{first}: an argument is missing after it",
            fix=f"lcifr {command} TABLE --model FILE --phi FILE --out OUT, or lcifr {command} {arguments} --out OUT",
        )
    return second


def needed_formula(phi: str | None) -> str:
    """Who counts as similar, which a model from elsewhere does not say."""
    if phi is None:
        raise LcifrError(
            "--phi is missing: it says who counts as similar", fix="add --phi FILE; `lcifr init TABLE` drafts one"
        )
    return phi


def groups_of(same: list[str] | None) -> tuple[tuple[str, ...], ...]:
    """``["a,b"]`` as (("a", "b"),)."""
    return tuple(tuple(name.strip() for name in one.split(",") if name.strip()) for one in same or ())


def show_next_of_model(request: InitRequest, result: InitResult) -> None:
    """The commands to go on with after a proposal for a model that already decides, to paste."""
    phi, people, schema = request.phi_file, request.table, request.schema_file
    described = [] if result.description_file is None else ["--describe", result.description_file]
    named = ["--id", request.id_column] if request.id_column else []
    missing = ["--missing", f"{request.missing:g}"] if request.missing is not None and not described else []
    asked = ["audit", people, "--model", request.model, *described, *missing, *named]
    to_stderr(f"\nNext, read and correct {shlex.quote(str(phi))}. To see what it means for these people:")
    to_stderr(f"  {command('phi', 'check', phi, '--data', people, '--schema', schema)}")
    to_stderr("To check that lcifr computes the model as its library does:")
    to_stderr(
        f"  {command('doctor', '--model', request.model, *described, *missing, '--data', people, '--schema', schema)}"
    )
    to_stderr(f"Then run the audit:\n  {command(*asked, '--phi', phi, '--out', 'audit')}")
