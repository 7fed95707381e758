"""``lcifr init``: looks at a table, and proposes a schema and a commented formula for a person to correct."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lcifr.cli.terminal.model_options import ModelOption, show_next_of_model
from lcifr.cli.terminal.options import ForceOption, IdOption
from lcifr.cli.terminal.output import JsonOption, print_json, say, to_stderr

if TYPE_CHECKING:
    from lcifr.runs.preparing.initializing import InitRequest, InitResult

EXAMPLE = "Example: lcifr init people.csv --target repaid"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(init)


def init(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="The people: a .csv or .parquet file.")],
    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="What is to be predicted.")] = None,
    id_column: IdOption = None,
    categorical: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Numbers that are names: postcodes, codes. Repeatable.")
    ] = None,
    numeric: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Columns to read as numbers. Repeatable.")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Columns to leave out. Repeatable.")] = None,
    model: ModelOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Where both files go. (Default: beside the table.)")
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Propose a schema (.toml) and a similarity formula (.phi) for a table: guesses, for you to read and correct.

    Columns that can be no attribute (dates, ids, free text, constants) are left out, each with advice. With --model,
    the file of a model that already decides about such people, what it knows of columns is used; where it knows none, a
    description is proposed too: which column feeds which input, what the outputs mean.
    """
    from lcifr.runs.preparing.initializing import InitRequest
    from lcifr.runs.preparing.initializing import init as run_init

    request = InitRequest(
        table=table,
        out=out,
        target=target,
        id_column=id_column,
        categorical=tuple(categorical or ()),
        numeric=tuple(numeric or ()),
        drop=tuple(drop or ()),
        model=model,
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
    say(f"{result.people} people, {kinds}" + (f', target "{schema.target}"' if schema.target else ""))
    for name, advice in result.left_out.items():
        say(f'left out: "{name}": {advice}')
    for text in result.to_know:
        say(f"to know: {text}")
    say(f"\n{result.schema_file}   what the columns mean")
    say(f"{result.phi_file}    who counts as similar: a guess, yours to correct")
    if result.description_file is not None:
        say(f"{result.description_file}   which column feeds which input: a guess, yours to correct")


def _show_next(request: InitRequest) -> None:
    """The commands to go on with, to paste."""
    words = [shlex.quote(str(path)) for path in (request.table, request.schema_file, request.phi_file)]
    people, schema, phi = words
    named = f" --id {shlex.quote(request.id_column)}" if request.id_column else ""
    if request.target is None:  # nothing could be learned with these files
        out = f" --out {shlex.quote(str(request.out))}" if request.out else ""
        to_stderr("\nNow say what is to be predicted:")
        to_stderr(f"  lcifr init {people} --target COLUMN{named}{out} --force")
        return
    to_stderr(f"\nNow read and correct {phi}. What it means for these people:")
    to_stderr(f"  lcifr phi check {phi} --data {people} --schema {schema}")
    target = shlex.quote(request.target)
    to_stderr(f"Then:\n  lcifr produce {people} --phi {phi} --target {target}{named} --out producer")
