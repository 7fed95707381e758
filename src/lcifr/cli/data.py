"""``lcifr data``: which datasets there are, what they are, how to get them, and whether a table fits its schema."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lcifr.cli.options import Call, new_app, request_command
from lcifr.cli.output import JsonOption, console, print_json, to_stderr
from lcifr.datasets import fetch, names
from lcifr.errors import NO_VALUE
from lcifr.workflows.formulas import DatasetInfo, TableCheckRequest, TableCheckResult, check_table, dataset_info

if TYPE_CHECKING:
    from lcifr.data import Attribute

app = new_app(help="List, fetch and check datasets and tables.", no_args_is_help=True)

FolderOption = Annotated[
    Path | None, typer.Option(help="The folder of all datasets. (Default: $LCIFR_DATA, else your cache folder.)")
]
NameArgument = Annotated[str, typer.Argument(help="The name of a dataset; see `lcifr data list`.")]


@app.command("list", epilog="Example: lcifr data list --json")
def list_datasets(folder: FolderOption = None, as_json: JsonOption = False) -> None:
    """List the datasets, and whether their files are available."""
    from rich.table import Table

    found = [dataset_info(name, folder) for name in names()]
    rows = [(one.source.name, one.source.title, one.state, one.source.licence) for one in found]
    columns = ("name", "title", "files", "licence")
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
        return
    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        table.add_row(*row)
    console().print(table)


@app.command("show", epilog="Example: lcifr data show german")
def show(name: NameArgument, folder: FolderOption = None, as_json: JsonOption = False) -> None:
    """Show a dataset: its source, label, cautions, files and attributes."""
    found = dataset_info(name, folder)
    if as_json:
        print_json(found.to_dict())
    else:
        _show(found)


@app.command("fetch", epilog="Example: lcifr data fetch adult")
def fetch_dataset(name: NameArgument, folder: FolderOption = None) -> None:
    """Download a dataset's files, check them, and print their paths."""
    for path in fetch(name, folder, progress=True):
        typer.echo(path)


@request_command(app, TableCheckRequest, epilog="Example: lcifr data check people.csv")
def check(request: TableCheckRequest, call: Call) -> None:
    """Check a table against a schema and print every problem with its row and column. Exits 1 if there are any."""
    result = check_table(request)
    call.print(result, _show_problems)
    if result.problems:
        raise typer.Exit(1)


def _show_problems(result: TableCheckResult) -> None:
    table, problems = result.table, result.problems
    if not problems:
        typer.echo(f"{table}: all {result.people:,} people fit the schema")
        return
    for problem in problems:
        typer.echo(problem)
    to_stderr(f"{table}: {len(problems):,} problem{'s' if len(problems) != 1 else ''} (rows count from 0)")
    if all(one.message == NO_VALUE for one in problems):
        to_stderr("`lcifr audit --model` leaves people with missing values out; other commands refuse the table.")


def _show(found: DatasetInfo) -> None:
    from rich.table import Table

    from lcifr.data import Categorical

    out, source = console(), found.source
    out.print(source.title, style="bold")
    out.print(source.summary)
    facts = Table(box=None, show_header=False, pad_edge=False)
    for name, value in _facts(found):
        facts.add_row(name, value)
    out.print(facts)
    out.print("\nCautions", style="bold")
    for caution in source.cautions:
        out.print(f"- {caution}")
    out.print("\nAttributes", style="bold")
    attributes = Table(box=None, show_header=False, pad_edge=False)
    for attribute in source.schema:
        kind = "categorical" if isinstance(attribute, Categorical) else "numeric"
        attributes.add_row(attribute.name, kind, _values(attribute))
    out.print(attributes)


def _facts(found: DatasetInfo) -> list[tuple[str, str]]:
    source = found.source
    other = [("other labels", ", ".join(source.labels))] if source.labels else []
    hand = [("by hand", found.by_hand)] if found.by_hand else []
    return [
        ("label 1", source.positive),
        *other,
        ("homepage", source.homepage),
        ("licence", source.licence),
        ("citation", source.citation),
        ("files", f"{found.state}: {', '.join(file.name for file in source.files)}"),
        *hand,
    ]


def _values(attribute: Attribute) -> str:
    from lcifr.data import Categorical

    if isinstance(attribute, Categorical):
        return ", ".join(f'"{value}"' for value in attribute.values)  # as a formula writes them
    return f"{attribute.unit or ''}{' (whole numbers)' if attribute.integer else ''}"
