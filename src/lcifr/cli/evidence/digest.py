"""``lcifr evidence digest``: the digest of people that anybody can compute again from their own table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lcifr.cli.terminal.options import IdOption
from lcifr.cli.terminal.output import JsonOption, print_json, say, to_stderr

EXAMPLE = "Example: lcifr evidence digest people.csv --schema people.toml"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(digest)


def digest(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="The people: .csv or .parquet.")],
    schema: Annotated[str, typer.Option(metavar="FILE|NAME", help="What the columns mean: a .toml file.")],
    id_column: IdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the digest of the people of a table: the SHA-256 of one canonical line for each, sorted by id.

    The same people give the same digest, in whatever order of rows and columns, and however their numbers are spelled
    (1e3, 1000.0). Ids and categories are their exact text: 007 is not 7. Columns that the schema does not know are not
    part of it, and are listed. `lcifr check BUNDLE --people TABLE` compares a bundle's people with it.
    """
    from lcifr.runs.binding.digest import digest_people

    found = digest_people(table, schema, id_column)
    if as_json:
        print_json(found.to_dict())
        return
    say(found.digest)
    to_stderr(f"{found.people:,} people, {len(found.attributes)} attributes: {', '.join(found.attributes)}")
    if found.incomplete:
        to_stderr(f"{found.incomplete:,} of them have missing values, which are part of it as missing")
    if found.unbound:
        to_stderr(f"not part of it, as the schema does not know them: {', '.join(found.unbound)}")
