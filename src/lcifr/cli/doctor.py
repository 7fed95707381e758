"""``lcifr doctor``: what is installed, whether solvers answer correctly, and whether a model is read correctly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from lcifr.cli.options import (
    PANEL,
    AcceptAccuracyOption,
    AcceptDraftOption,
    DescribeOption,
    MissingOption,
    ModelOption,
    ModelSchemaOption,
    ModelTargetOption,
    new_app,
    refuse_without_model,
)
from lcifr.cli.output import JsonOption, console, print_json, say
from lcifr.errors import LcifrError

if TYPE_CHECKING:
    from lcifr.workflows.diagnosis import CompareResult, DoctorResult

app = new_app()
EXAMPLE = "Example: lcifr doctor --json"
STATES = {
    "right": "answers correctly",
    "wrong": "WRONG ANSWERS",
    "absent": "not installed",
    "broken": "DOES NOT RUN",
}


@app.command(epilog=EXAMPLE)
def doctor(
    model: ModelOption = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="TABLE", help="People to compare the model on.", rich_help_panel=PANEL),
    ] = None,
    describe: DescribeOption = None,
    missing: MissingOption = None,
    schema: ModelSchemaOption = None,
    target: ModelTargetOption = None,
    accept_draft: AcceptDraftOption = False,
    accept_accuracy: AcceptAccuracyOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show versions, optional packages and the GPU, and test every solver on questions with known answers.

    With --model and --data, compare a model as lcifr reads it with its own library: on the rows of the table, on
    made-up rows, and at and next to every value where a comparison, a clip or a cast could differ. Its decisions
    are also compared with the table's true labels (--target), if there are any.

    Exit codes: 0 everything works, 1 something gives a wrong answer, or something that is needed does not run; or the
    description is still a draft, or the model ranks the labels backwards.
    """
    about: dict[str, Any] = {"describe": describe, "missing": missing, "schema": schema, "target": target}
    about |= {"accept_draft": accept_draft, "accept_accuracy": accept_accuracy}
    if model is not None:
        _compare(model, data, as_json, about)
    refuse_without_model(data=data, **about)
    from lcifr.workflows.diagnosis import doctor as run_doctor

    result = run_doctor()
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result)
    raise typer.Exit(0 if result.well else 1)


def _compare(model: Path, data: Path | None, as_json: bool, about: dict[str, Any]) -> NoReturn:
    from lcifr.workflows.diagnosis import CompareRequest, compare_model

    if data is None:
        raise LcifrError(
            "--model needs people to compare on", fix="add --data TABLE, with the columns that the model reads"
        )
    result = compare_model(CompareRequest(model=model, table=data, **about))
    if as_json:
        print_json(result.to_dict())
    else:
        _show_compared(result)
    raise typer.Exit(0 if result.is_ready else 1)


def _show_compared(result: CompareResult) -> None:
    from rich.table import Table

    from lcifr.display.text import percent

    say(f"{result.model} as lcifr reads it, and {result.runtime or 'its library, which is not installed here'}")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("compared on", "people", "same", "rounding", "DIFFERENT", "largest gap", "allowed"):
        table.add_column(heading, justify="left" if heading == "compared on" else "right")
    for one in result.rows:
        largest = "–" if one.largest is None else f"{one.largest:.2g}"
        counts = (one.people, one.equal, one.rounding, one.wrong)
        table.add_row(one.name, *(f"{number:,}" for number in counts), largest, f"{one.allowed:.2g}")
    console().print(table)
    for one in result.rows:
        if one.first is not None:
            say(f"{one.name}: the library decides {one.first['library']}, lcifr decides {one.first['read']}, for")
            say("  " + ", ".join(f"{name} {value}" for name, value in one.first["person"].items()))
    say(f"decides: {result.rule}")
    if result.declared is not None:
        say(
            f"This rule is declared. By its own rule ({result.declared.rule}), the library decides otherwise about "
            f"{result.declared.others:,} of {result.declared.people:,} rows of the table."
        )
    for text in result.assumptions:
        say(f"assumed: {text}")
    if result.labels is not None:
        below = "; BELOW the majority rate" if result.labels.accuracy < result.labels.majority else ""
        say(f"compared with the labels: {result.labels}{below}")
    if result.left_out:
        say(
            f"not compared because of missing values: {result.left_out:,} of {result.total:,} rows; an audit does not "
            "examine them, and counts them as not certified"
        )
    if not result.runtime:
        say("\nNothing was compared: install the model's library.")
        return
    gap = "" if result.largest is None else f"; the largest difference in an output is {result.largest:.2g}"
    say(f"\nSame decision for {percent(result.share)}{gap}. {_ended(result)}")


def _ended(result: CompareResult) -> str:
    if not result.agrees:
        return "DO NOT AUDIT this model: lcifr and its library compute different results."
    if result.backwards:
        return (
            "DO NOT AUDIT this model: lcifr reads the file as its library does, but the score ranks the labels "
            "backwards. Correct the description, or add --accept-accuracy."
        )
    if result.draft is not None:
        return (
            f"The library agrees, but {result.draft} is still a draft: correct it, and delete the line `draft = true` "
            "(or add --accept-draft)."
        )
    return "All agree."


def _show(result: DoctorResult) -> None:
    from rich.table import Table

    from lcifr.workflows.diagnosis import OPTIONAL

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row("python", result.python, result.platform)
    for name, known in result.packages.items():
        table.add_row(name, known or "MISSING", "")
    for name, known in result.optional.items():
        table.add_row(name, known or "not installed", f"optional: {OPTIONAL[name]}")
    table.add_row("GPU", "", result.gpu or "none; everything runs on the CPU")
    for one in result.solvers:
        table.add_row(one.name, one.version, f"{STATES[one.state]}: {one.detail}")
    console().print(table)
    typer.echo("\nEverything works." if result.well else "\nDo not trust the entries in capitals above.")
