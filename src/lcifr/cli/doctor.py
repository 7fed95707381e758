"""``lcifr doctor``: what is installed, and whether every solver found answers correctly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from lcifr.cli.terminal.output import JsonOption, console, print_json

if TYPE_CHECKING:
    from lcifr.runs.preparing.environment import DoctorResult

EXAMPLE = "Example: lcifr doctor --json"
STATES = {
    "right": "answers rightly",
    "wrong": "WRONG ANSWERS",
    "absent": "not installed",
    "broken": "DOES NOT RUN",
}


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(doctor)


def doctor(as_json: JsonOption = False) -> None:
    """Show versions, solvers, optional packages and the GPU; ask every solver questions whose answers are known.

    Exit codes: 0 all that is found answers rightly, 1 something gives a wrong answer or what is needed does not run.
    """
    from lcifr.runs.preparing.environment import doctor as run_doctor

    result = run_doctor()
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result)
    raise typer.Exit(0 if result.well else 1)


def _show(result: DoctorResult) -> None:
    from rich.table import Table

    from lcifr.runs.preparing.environment import OPTIONAL

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
    typer.echo("\nAll is well." if result.well else "\nDo not trust what is marked above.")
