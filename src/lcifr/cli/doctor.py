"""``lcifr doctor``: what is installed, whether solvers answer correctly, and whether a model is read correctly."""

from __future__ import annotations

import typer
from rich.table import Table

from lcifr.cli.options import Call, new_app, refuse_without_model, request_command
from lcifr.cli.output import console, say
from lcifr.display.text import percent
from lcifr.workflows.diagnosis import OPTIONAL, CompareRequest, CompareResult, DoctorResult, compare_model
from lcifr.workflows.diagnosis import doctor as run_doctor

app = new_app()
EXAMPLE = "Example: lcifr doctor --json"
STATES = {
    "right": "answers correctly",
    "wrong": "WRONG ANSWERS",
    "absent": "not installed",
    "broken": "DOES NOT RUN",
}


@request_command(app, CompareRequest, epilog=EXAMPLE)
def doctor(request: CompareRequest, call: Call) -> None:
    """Show versions, optional packages and the GPU, and test every solver on questions with known answers.

    With --model and --data, compare a model as lcifr reads it with its own library: on the rows of the table, on
    made-up rows, and at and next to every value where a comparison, a clip or a cast could differ. Its decisions
    are also compared with the table's true labels (--target), if there are any.

    Exit codes: 0 everything works, 1 something gives a wrong answer, or something that is needed does not run; or the
    description is still a draft, or the model ranks the labels backwards.
    """
    if request.model is not None:
        compared = compare_model(request)
        call.print(compared, _show_compared)
        raise typer.Exit(0 if compared.is_ready else 1)
    refuse_without_model(request)
    found = run_doctor()
    call.print(found, _show)
    raise typer.Exit(0 if found.well else 1)


def _show_compared(result: CompareResult) -> None:
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
