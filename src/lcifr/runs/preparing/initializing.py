"""A schema and a formula proposed for a table, from request to the two files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.runs.events import Listener, listening, step
from lcifr.runs.preparing.proposal import ColumnChoices, propose

if TYPE_CHECKING:
    from lcifr.data import Schema


@dataclass(frozen=True, kw_only=True)
class InitRequest(ColumnChoices):
    """The table to look at, what is known of its columns, and where both files go; see :class:`ColumnChoices`.

    Parameters
    ----------
    table : a .csv or .parquet file. out : the folder for schema and formula; None for the table's own.
    force : replace files that are there.
    """

    table: Path
    out: Path | None = None
    force: bool = False

    @property
    def folder(self) -> Path:
        """Where both files go."""
        return self.table.parent if self.out is None else self.out

    @property
    def schema_file(self) -> Path:
        return self.folder / f"{self._stem}.toml"

    @property
    def phi_file(self) -> Path:
        return self.folder / f"{self._stem}.phi"

    @property
    def _stem(self) -> str:
        return self.table.name.split(".")[0] or "people"


@dataclass(frozen=True)
class InitResult:
    """What was guessed, and where it was written.

    Parameters
    ----------
    left_out : for each column that can be no attribute, what to do. to_know : what a reader should look at.
    """

    people: int
    schema: Schema
    formula: str
    left_out: Mapping[str, str]
    to_know: tuple[str, ...]
    schema_file: Path
    phi_file: Path

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        return {
            "format": "lcifr-proposal-1",
            "command": "init",
            "people": self.people,
            "schema": self.schema.to_dict(),
            "formula": self.formula,
            "left_out": dict(self.left_out),
            "to_know": list(self.to_know),
            "files": {"schema": str(self.schema_file), "phi": str(self.phi_file)},
        }


def init(request: InitRequest, listener: Listener | None = None) -> InitResult:
    """Propose a schema (.toml) and a similarity formula (.phi) for a table: guesses, for a person to correct.

    Parameters
    ----------
    listener : hears the events of :mod:`lcifr.runs.events`.
    """
    files = (request.schema_file, request.phi_file)
    there = [str(path) for path in files if path.exists()]
    if there and not request.force:
        raise LcifrError(f"there already: {' and '.join(there)}", fix="say --force to replace, or --out another folder")
    with listening(listener), step(f"Reading {request.table}"):
        found = propose(request.table, request)
    request.folder.mkdir(parents=True, exist_ok=True)
    found.schema.save(request.schema_file)
    request.phi_file.write_text(found.formula, encoding="utf-8")
    return InitResult(found.people, found.schema, found.formula, found.left_out, found.to_know, *files)
