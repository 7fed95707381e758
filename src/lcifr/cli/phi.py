"""``lcifr phi``: what a formula says in English, whether it is odd, and what it means for real people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli._output import JsonOption, console, print_json, to_stderr
from lcifr.errors import LcifrError, TableError
from lcifr.runs.events import StepKind, step
from lcifr.runs.formulas import fit_similarity, read_formula, read_schema, schema_beside
from lcifr.runs.people.tables import find_schema, is_file, pick_columns, with_fix

if TYPE_CHECKING:
    from lcifr.data import Schema
    from lcifr.similarity import Similarity

app = typer.Typer(help="Similarity formulas.", no_args_is_help=True)

FormulaArgument = Annotated[
    str, typer.Argument(metavar="FILE|NAME", help="A .phi file, or a ready formula as `lcifr phi list` prints them.")
]
SchemaOption = Annotated[
    str | None, typer.Option(metavar="FILE|NAME", help="The schema: a .toml file, or the name of a dataset.")
]
DataOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|NAME",
        help="The people: a .csv or .parquet file, or the name of a dataset (then its training people).",
    ),
]


@app.command("list", epilog="Example: lcifr phi list")
def list_formulas(as_json: JsonOption = False) -> None:
    """List the ready formulas: the paper's constraints on its datasets."""
    from rich.table import Table

    from lcifr.similarity import ready, ready_names

    entries = [(name, _summary(ready(name))) for name in ready_names()]
    if as_json:
        print_json([{"name": name, "summary": text, "formula": ready(name)} for name, text in entries])
        return
    table = Table("name", "what it says", box=None, header_style="bold", pad_edge=False)
    for entry in entries:
        table.add_row(*entry)
    console().print(table)


@app.command("explain", epilog="Example: lcifr phi explain adult/cat_noise")
def explain_formula(
    formula: FormulaArgument, schema: SchemaOption = None, data: DataOption = None, as_json: JsonOption = False
) -> None:
    """Say a formula in English: what must be equal, what may differ and by how much, what is free.

    Distances in standard deviations are said in the data's own units where the data is given.
    """
    from lcifr.language.explain.sentences import explain
    from lcifr.language.parser import parse

    text, source = read_formula(formula)
    if data is not None:
        crowd = _crowd(data, schema, formula)
        similarity = _fit(text, source, crowd)
        english, tree = similarity.explain(), similarity.formula
    else:
        known = _known_schema(schema, formula)
        tree = parse(text, known, source=source)
        english = explain(tree, known)
    if as_json:
        from lcifr.language.printer import print_formula

        print_json({"source": source, "formula": print_formula(tree), "english": english})
    else:
        typer.echo(english)


@app.command("check", epilog="Example: lcifr phi check german/cat_noise --data german")
def check_formula(
    formula: FormulaArgument,
    data: DataOption = None,
    schema: SchemaOption = None,
    most: Annotated[int, typer.Option(min=1, help="How many people's neighbours to count; more are sampled.")] = 500,
    seed: Annotated[int, typer.Option(help="Of the sample and the examples.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Read a formula, look for what is odd about it, and show what it means for real people.

    Ready formulas are checked on their own dataset unless --data says otherwise. Exits 1 if nothing could be proved
    about the formula.
    """
    from lcifr.cli._phi_report import Report
    from lcifr.similarity.linting.finding import Severity
    from lcifr.similarity.linting.linter import lint
    from lcifr.similarity.linting.neighbours import find_neighbours

    text, source = read_formula(formula)
    crowd = _crowd(data or _dataset_of(formula), schema, formula)
    similarity = _fit(text, source, crowd)
    findings = lint(similarity, seed=seed)
    with step("Comparing people", StepKind.COUNT) as progress:
        neighbours = find_neighbours(similarity, similarity.encoding.training, most=most, seed=seed, progress=progress)
    report = Report(similarity, crowd.name, findings, neighbours, seed)
    if as_json:
        print_json(report.as_dict())
    else:
        typer.echo(report.as_text())
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise typer.Exit(1)


# -- what was named ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Crowd:
    """The people a formula is looked at with: where they come from, their schema and table."""

    name: str
    schema: Schema
    table: Any


def _dataset_of(named: str) -> str:
    """The dataset that a ready formula is about."""
    from lcifr.similarity import ready_names

    if named not in ready_names() or Path(named).is_file():
        raise LcifrError(f"{named} is looked at with people", fix="say which: --data german, or --data people.csv")
    return named.split("/")[0]


def _known_schema(schema: str | None, formula: str) -> Schema:
    from lcifr.datasets import find
    from lcifr.similarity import ready_names

    schema = schema or schema_beside(formula)
    if schema is None:
        if formula not in ready_names() or Path(formula).is_file():
            raise LcifrError(
                f"nothing says what the names in {formula} mean", fix="add --schema people.toml, or --data people.csv"
            )
        return find(formula.split("/")[0]).schema
    return read_schema(schema)


def _crowd(data: str, schema: str | None, formula: str) -> _Crowd:
    from lcifr.datasets import load
    from lcifr.runs.people.sample import read_whole

    if is_file(data):
        table = read_whole(Path(data), "looking at people with φ")
        known = find_schema(table, data, formula, schema, None, None)
        return _Crowd(data, known, table.select(pick_columns(table.column_names, data, known, None, labelled=False)))
    dataset = load(data)
    if dataset.partial:
        to_stderr(f"Note: {dataset.partial}")
    known = read_schema(schema) if schema is not None else dataset.schema
    name = f"the {len(dataset.train)} training people of {dataset.source.title}"
    return _Crowd(name, known, dataset.train.X)


def _fit(text: str, source: str, crowd: _Crowd) -> Similarity:
    try:
        return fit_similarity(text, source, crowd.schema, crowd.table)
    except TableError as error:
        raise with_fix(error, crowd.name) from None


def _summary(text: str) -> str:
    """The comment that a formula begins with, up to the end of its first sentence."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    return " ".join(lines).split(". ")[0].rstrip(".") + "."
