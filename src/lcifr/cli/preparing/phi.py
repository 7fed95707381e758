"""``lcifr phi``: what a formula says in English, whether it is odd, and what it means for real people."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from lcifr.cli.terminal.output import JsonOption, console, print_json

app = typer.Typer(help="List, explain and check similarity formulas.", no_args_is_help=True)

FormulaArgument = Annotated[
    str, typer.Argument(metavar="FILE|NAME", help="A .phi file, or a ready-made formula; see `lcifr phi list`.")
]
SchemaOption = Annotated[
    str | None,
    typer.Option("--schema", metavar="FILE|NAME", help="The schema: a .toml file, or the name of a dataset."),
]
DataOption = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="FILE|NAME",
        help="The people: a .csv or .parquet file, or the name of a dataset (its training people).",
    ),
]


@app.command("list", epilog="Example: lcifr phi list")
def list_formulas(as_json: JsonOption = False) -> None:
    """List the ready-made formulas: the paper's constraints on its datasets."""
    from rich.table import Table

    from lcifr.phi import ready, ready_names

    entries = [(name, _summary(ready(name))) for name in ready_names()]
    if as_json:
        print_json([{"name": name, "summary": text, "formula": ready(name)} for name, text in entries])
        return
    table = Table("name", "meaning", box=None, header_style="bold", pad_edge=False)
    for entry in entries:
        table.add_row(*entry)
    console().print(table)


@app.command("explain", epilog="Example: lcifr phi explain adult/cat_noise")
def explain(
    formula: FormulaArgument, schema: SchemaOption = None, data: DataOption = None, as_json: JsonOption = False
) -> None:
    """Explain a formula in English: what must be equal, what may differ and by how much, and what is free.

    With --data, distances in standard deviations are also given in the data's own units.
    """
    from lcifr.runs.preparing.formula_check import FormulaRequest, explain_formula

    found = explain_formula(FormulaRequest(formula, data, schema))
    if as_json:
        print_json(asdict(found))
    else:
        typer.echo(found.english)


@app.command("check", epilog="Example: lcifr phi check german/cat_noise --data german")
def check(
    formula: FormulaArgument,
    data: DataOption = None,
    schema: SchemaOption = None,
    most: Annotated[int, typer.Option(min=1, help="Count the similar people of at most this many people.")] = 500,
    seed: Annotated[int, typer.Option(help="Seed for the sample and the examples.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Check a formula for likely mistakes, and show what it means for real people.

    Ready-made formulas are checked on their own dataset unless you pass --data. Exits 1 if nothing can be proved with
    the formula.
    """
    from lcifr.runs.preparing.formula_check import FormulaRequest, check_formula

    result = check_formula(FormulaRequest(formula, data, schema), most=most, seed=seed)
    if as_json:
        print_json(result.to_dict())
    else:
        from lcifr.cli.terminal.formula_report import formula_report

        typer.echo(formula_report(result))
    if result.has_errors:
        raise typer.Exit(1)


def _summary(text: str) -> str:
    """The comment that a formula begins with, up to the end of its first sentence."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    return " ".join(lines).split(". ")[0].rstrip(".") + "."
