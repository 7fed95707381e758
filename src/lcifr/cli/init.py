"""``lcifr init``: looks at a table, and proposes a schema and a commented formula for a person to correct."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lcifr.cli.options import (
    ForceOption,
    IdOption,
    MissingOption,
    ModelOption,
    new_app,
    refuse_without_model,
    show_next_of_model,
)
from lcifr.cli.output import JsonOption, print_json, say, to_stderr

if TYPE_CHECKING:
    from lcifr.workflows.drafting import InitRequest, InitResult

app = new_app()
EXAMPLE = "Example: lcifr init people.csv --target repaid"


@app.command(epilog=EXAMPLE)
def init(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="The people: a .csv or .parquet file.")],
    target: Annotated[str | None, typer.Option("--target", metavar="COLUMN", help="The column to predict.")] = None,
    id_column: IdOption = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            "--categorical",
            metavar="COLUMN",
            help="A column of numbers that are categories, such as postcodes. Repeatable.",
        ),
    ] = None,
    numeric: Annotated[
        list[str] | None, typer.Option("--numeric", metavar="COLUMN", help="A column to read as numbers. Repeatable.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option("--drop", metavar="COLUMN", help="A column to leave out. Repeatable.")
    ] = None,
    model: ModelOption = None,
    missing: MissingOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Where to write the files. (Default: next to the table.)"),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Draft a schema (.toml) and a similarity formula (.phi) for a table, for you to correct.

    Columns that cannot be attributes (dates, ids, free text, constants) are left out, each with advice. With --model,
    lcifr uses what the model knows about its columns. If the model knows nothing about them, it also drafts a
    description: which column feeds which input, and what the outputs mean.
    """
    from lcifr.workflows.drafting import InitRequest
    from lcifr.workflows.drafting import init as run_init

    if model is None:
        refuse_without_model(missing=missing)
    request = InitRequest(
        table=table,
        out=out,
        target=target,
        id_column=id_column,
        categorical=tuple(categorical or ()),
        numeric=tuple(numeric or ()),
        drop=tuple(drop or ()),
        model=model,
        missing=missing,
        force=force,
    )
    result = run_init(request)
    if as_json:
        print_json(result.to_dict())
        return
    _show(result)
    if request.model is None:
        _show_next(request)
    else:
        show_next_of_model(request, result)


def _show(result: InitResult) -> None:
    schema = result.schema
    kinds = f"{len(schema.numeric)} numeric and {len(schema.categorical)} categorical attributes"
    say(f"{result.people:,} people, {kinds}" + (f', target "{schema.target}"' if schema.target else ""))
    for name, advice in result.left_out.items():
        say(f'left out: "{name}": {advice}')
    for text in result.to_know:
        say(f"note: {text}")
    say(f"\n{result.schema_file}   the schema: what the columns mean")
    say(f"{result.phi_file}    the formula: who counts as similar. This is a draft; please correct it")
    if result.description_file is not None:
        say(f"{result.description_file}   which column feeds which input. This is a draft; please correct it")


def _show_next(request: InitRequest) -> None:
    """The commands to go on with, to paste."""
    words = [shlex.quote(str(path)) for path in (request.table, request.schema_file, request.phi_file)]
    people, schema, phi = words
    named = f" --id {shlex.quote(request.id_column)}" if request.id_column else ""
    if request.target is None:  # nothing could be learned with these files
        out = f" --out {shlex.quote(str(request.out))}" if request.out else ""
        to_stderr("\nNow name the column to predict:")
        to_stderr(f"  lcifr init {people} --target COLUMN{named}{out} --force")
        return
    to_stderr(f"\nNext, read and correct {phi}. To see what it means for these people:")
    to_stderr(f"  lcifr phi check {phi} --data {people} --schema {schema}")
    target = shlex.quote(request.target)
    to_stderr(f"Then:\n  lcifr produce {people} --phi {phi} --target {target}{named} --out producer")
