"""``lcifr data``: which datasets there are, what they are, how to get them, and whether a table fits its schema."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli._output import JsonOption, console, print_json, to_stderr
from lcifr.runs.formulas import read_schema

if TYPE_CHECKING:
    from lcifr.data import Attribute, Schema
    from lcifr.datasets import Source
    from lcifr.errors import TableProblem

app = typer.Typer(help="Datasets, and tables of your own.", no_args_is_help=True)

FolderOption = Annotated[
    Path | None, typer.Option(help="The folder of all datasets. [default: $LCIFR_DATA, else the user's cache]")
]
NameArgument = Annotated[str, typer.Argument(help="A dataset's name, as `lcifr data list` prints it.")]


@app.command("list", epilog="Example: lcifr data list --json")
def list_datasets(folder: FolderOption = None, as_json: JsonOption = False) -> None:
    """List the datasets and whether their files are here."""
    from rich.table import Table

    from lcifr.datasets import find, names

    sources = [find(name) for name in names()]
    rows = [(source.name, source.title, _state(source, folder), source.licence) for source in sources]
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
    from lcifr.datasets import find

    source = find(name)
    if as_json:
        print_json(_as_dict(source, folder))
    else:
        _print_source(source, folder)


@app.command("fetch", epilog="Example: lcifr data fetch adult")
def fetch_dataset(name: NameArgument, folder: FolderOption = None) -> None:
    """Download a dataset's files and check them. Prints where they are."""
    from lcifr.datasets import fetch

    for path in fetch(name, folder, progress=True):
        typer.echo(path)


@app.command("check", epilog="Example: lcifr data check people.csv --schema people.toml")
def check(
    file: Annotated[Path, typer.Argument(help="The table: .csv or .parquet.")],
    schema: Annotated[str, typer.Option(help="The schema: a .toml file, or the name of a dataset.")],
    as_json: JsonOption = False,
) -> None:
    """Check a table against a schema; print every problem, with row and column. Exits 1 if there are any."""
    people, problems = _problems(file, read_schema(schema))
    if as_json:
        listed = [asdict(problem) for problem in problems]
        print_json({"file": str(file), "fits": not problems, "people": people, "problems": listed})
    elif problems:
        for problem in problems:
            typer.echo(problem)
        to_stderr(f"{file}: {len(problems)} problem{'s' if len(problems) != 1 else ''} (rows count from 0)")
    else:
        typer.echo(f"{file}: all {people} people fit the schema")
    if problems:
        raise typer.Exit(1)


def _problems(file: Path, schema: Schema) -> tuple[int, list[TableProblem]]:
    """How many people are in the table, and everything that is wrong with it, the target included if it is there."""
    from lcifr.data import Individuals, read_target
    from lcifr.errors import TableError
    from lcifr.runs.people.sample import read_whole
    from lcifr.runs.people.tables import pick_columns

    problems: list[TableProblem] = []
    people = 0
    try:
        table = read_whole(file, "data check")
        people = len(table)
        columns = pick_columns(table.column_names, str(file), schema, None, labelled=False)
        Individuals.read(table.select(columns), schema)
    except TableError as error:
        problems += error.problems
        if not people:  # no rows, or columns that share a name: nothing more can be said
            return people, problems
    if schema.target in table.column_names:
        try:
            read_target(table, schema)
        except TableError as error:
            problems += error.problems
    return people, problems


def _state(source: Source, folder: Path | None) -> str:
    """Whether a dataset can be loaded: built in, here, or how to get it."""
    from lcifr.data.io.fetch import data_folder

    place = data_folder(folder) / source.name
    if source.builtin:
        return "built in"
    if source.by_hand:
        return "here" if place.is_dir() and any(place.iterdir()) else "by hand"
    return "here" if all((place / file.name).is_file() for file in source.files) else "to fetch"


def _as_dict(source: Source, folder: Path | None) -> dict[str, Any]:
    from lcifr.data.io.fetch import data_folder

    plain = ("name", "title", "homepage", "licence", "citation", "summary", "positive")
    return {
        **{name: getattr(source, name) for name in plain},
        "by_hand": source.instructions(data_folder(folder) / source.name),
        "labels": list(source.labels),
        "cautions": list(source.cautions),
        "state": _state(source, folder),
        "files": [{"name": file.name, "sha256": file.sha256, "urls": list(file.urls)} for file in source.files],
        "schema": source.schema.to_dict(),
    }


def _print_source(source: Source, folder: Path | None) -> None:
    from rich.table import Table

    from lcifr.data import Categorical

    out = console()
    out.print(source.title, style="bold")
    out.print(source.summary)
    facts = Table(box=None, show_header=False, pad_edge=False)
    for name, value in _facts(source, folder):
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


def _facts(source: Source, folder: Path | None) -> list[tuple[str, str]]:
    from lcifr.data.io.fetch import data_folder

    other = [("other labels", ", ".join(source.labels))] if source.labels else []
    by_hand = source.instructions(data_folder(folder) / source.name)
    hand = [("by hand", by_hand)] if by_hand else []
    return [
        ("label 1", source.positive),
        *other,
        ("homepage", source.homepage),
        ("licence", source.licence),
        ("citation", source.citation),
        ("files", f"{_state(source, folder)}: {', '.join(file.name for file in source.files)}"),
        *hand,
    ]


def _values(attribute: Attribute) -> str:
    from lcifr.data import Categorical

    if isinstance(attribute, Categorical):
        return ", ".join(f'"{value}"' for value in attribute.values)  # as a formula writes them
    return f"{attribute.unit or ''}{' (whole numbers)' if attribute.integer else ''}"
