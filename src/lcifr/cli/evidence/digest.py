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
    schema: Annotated[str, typer.Option("--schema", metavar="FILE|NAME", help="The schema: a .toml file.")],
    id_column: IdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a digest of the people in a table: the SHA-256 of one canonical line per person, sorted by id.

    The digest does not depend on the order of rows and columns, or on how numbers are written (1e3, 1000.0). Ids and
    categories count as exact text: 007 is not 7. Columns that are not in the schema are ignored and listed. To compare
    a bundle's people with a table, use `lcifr check BUNDLE --people TABLE`.
    """
    from lcifr.runs.binding.digest import digest_people

    found = digest_people(table, schema, id_column)
    if as_json:
        print_json(found.to_dict())
        return
    say(found.digest)
    to_stderr(f"{found.people:,} people, {len(found.attributes)} attributes: {', '.join(found.attributes)}")
    if found.incomplete:
        to_stderr(f"{found.incomplete:,} of them have missing values, which count as missing in the digest")
    if found.unbound:
        to_stderr(f"ignored, because they are not in the schema: {', '.join(found.unbound)}")
