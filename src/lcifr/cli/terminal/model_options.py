"""Options and next steps of models that already decide, shared by the commands that take one."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli.terminal.output import command, to_stderr
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic

if TYPE_CHECKING:
    from lcifr.runs.preparing.initializing import InitRequest, InitResult

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
