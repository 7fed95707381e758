"""Formulas and schemas as commands name them: files, or those that are ready."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError, no_such_file
from lcifr.runs.events import note

if TYPE_CHECKING:
    from lcifr.data import Schema
    from lcifr.phi import Similarity


def read_formula(named: str) -> tuple[str, str]:
    """The text of a formula, and what errors call it."""
    from lcifr.phi import ready

    path = Path(named)
    if not path.is_file():
        if path.suffix == ".phi":
            raise no_such_file(
                named, "check the path; `lcifr init TABLE` drafts one, and `lcifr phi list` lists ready-made ones"
            )
        if any(sign in named for sign in " ()<=>'\n"):
            raise LcifrError(
                f"a formula is given as a file or by a ready-made name, and {named!r} is neither",
                fix="write the formula to a file, such as people.phi, and give that; "
                "`lcifr phi list` lists ready-made ones",
            )
        return ready(named), named
    try:
        return path.read_text(encoding="utf-8-sig"), named
    except (OSError, UnicodeDecodeError) as error:
        raise LcifrError(f"{named}: cannot be read: {error}", fix="give a text file, saved as UTF-8") from None


def read_schema(named: str) -> Schema:
    """A schema by its file, or by the dataset whose schema it is."""
    from lcifr.data import Schema
    from lcifr.datasets import find, names

    return find(named).schema if named in names() and not Path(named).is_file() else Schema.load(named)


def schema_beside(phi: str) -> str | None:
    """The schema of a .phi file, if one lies beside it; other formulas are ready-made."""
    return schema_of_file(Path(phi)) if phi.endswith(".phi") else None


def schema_of_file(file: Path) -> str | None:
    """The .toml next to a formula or a table, as `lcifr init` writes it, unless it describes a model."""
    from lcifr.models.description import is_description

    beside = file.with_suffix(".toml")
    if not beside.is_file() or is_description(beside):
        return None
    note(f"using the schema {beside}")
    return str(beside)


def fit_similarity(text: str, source: str, schema: Schema, people: Any, *, skip_missing: bool = False) -> Similarity:
    """A formula with the scales of these people (a table); ``skip_missing`` : as for :meth:`Encoding.fit`."""
    from lcifr.data import Encoding
    from lcifr.phi import Similarity
    from lcifr.phi.parser import parse

    parse(text, schema, source=source)  # what is wrong with the formula comes before what is wrong with the data
    return Similarity(text, schema, Encoding.fit(people, schema, skip_missing=skip_missing), source=source)
