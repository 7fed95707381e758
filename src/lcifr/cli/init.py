"""``lcifr init``: looks at a table, and proposes a schema and a commented formula for a person to correct."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli._options import ForceOption, IdOption
from lcifr.cli._output import JsonOption, print_json, say, to_stderr
from lcifr.errors import LcifrError

if TYPE_CHECKING:
    from lcifr.data import Schema

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
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Where both files go. (Default: beside the table.)")
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Propose a schema (.toml) and a similarity formula (.phi) for a table: guesses, for you to read and correct.

    Columns that can be no attribute (dates, ids, free text, constants) are left out, each with advice.
    """
    from lcifr.runs.proposal import propose

    folder = table.parent if out is None else out
    stem = table.name.split(".")[0] or "people"
    schema_file, phi_file = folder / f"{stem}.toml", folder / f"{stem}.phi"
    there = [str(path) for path in (schema_file, phi_file) if path.exists()]
    if there and not force:
        raise LcifrError(f"there already: {' and '.join(there)}", fix="say --force to replace, or --out another folder")
    found = propose(table, target, id_column, categorical or [], numeric or [], drop or [])
    folder.mkdir(parents=True, exist_ok=True)
    found.schema.save(schema_file)
    phi_file.write_text(found.formula, encoding="utf-8")
    result = {
        "format": "lcifr-proposal-1",
        "command": "init",
        "people": found.people,
        "schema": found.schema.to_dict(),
        "formula": found.formula,
        "left_out": found.left_out,
        "to_know": found.to_know,
        "files": {"schema": str(schema_file), "phi": str(phi_file)},
    }
    if as_json:
        print_json(result)
        return
    _show(result, found.schema)
    named = f" --id {_word(id_column)}" if id_column else ""
    people, schema_word, phi_word = (_word(str(path)) for path in (table, schema_file, phi_file))
    if target is None:  # nothing could be learned with these files
        to_stderr("\nNow say what is to be predicted:")
        to_stderr(f"  lcifr init {people} --target COLUMN{named}{f' --out {_word(str(out))}' if out else ''} --force")
        return
    to_stderr(f"\nNow read and correct {phi_word}. What it means for these people:")
    to_stderr(f"  lcifr phi check {phi_word} --data {people} --schema {schema_word}")
    to_stderr(f"Then:\n  lcifr produce {people} --phi {phi_word} --target {_word(target)}{named} --out producer")


def _word(text: str) -> str:
    """As a shell reads it."""
    import shlex

    return shlex.quote(text)


def _show(result: dict[str, Any], schema: Schema) -> None:
    kinds = f"{len(schema.numeric)} numeric and {len(schema.categorical)} categorical attributes"
    say(f"{result['people']} people, {kinds}" + (f', target "{schema.target}"' if schema.target else ""))
    for name, advice in result["left_out"].items():
        say(f'left out: "{name}": {advice}')
    for text in result["to_know"]:
        say(f"to know: {text}")
    say(f"\n{result['files']['schema']}   what the columns mean")
    say(f"{result['files']['phi']}    who counts as similar: a guess, yours to correct")
