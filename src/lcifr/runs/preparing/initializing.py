"""A schema and a formula proposed for a table, from request to the two files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.models.description import is_description, write_description
from lcifr.runs.events import Listener, listening, step
from lcifr.runs.preparing.column_choices import ColumnChoices
from lcifr.runs.preparing.proposal import propose
from lcifr.runs.preparing.proposed_description import ProposedDescription, propose_description

if TYPE_CHECKING:
    from lcifr.data import Schema
    from lcifr.models.source import ModelOutline


@dataclass(frozen=True, kw_only=True)
class InitRequest(ColumnChoices):
    """The table to look at, what is known of its columns, and where both files go; see :class:`ColumnChoices`.

    Parameters
    ----------
    table : a .csv or .parquet file. out : the folder for schema and formula; None for the table's own.
    model : the file of a model that already decides about such people; what it knows of columns is used, and where it
        knows none a description of it is proposed too. missing : of an XGBoost file, what stands for a missing value.
    force : replace files that are there.
    """

    table: Path
    model: Path | None = None
    missing: float | None = None
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
    def description_file(self) -> Path | None:
        """Of a model; None where none is named."""
        return None if self.model is None else (self.out or self.model.parent) / f"{self.model.stem}.toml"

    @property
    def _stem(self) -> str:
        return self.table.name.split(".")[0] or "people"


@dataclass(frozen=True)
class InitResult:
    """What was guessed, and where it was written.

    Parameters
    ----------
    left_out : for each column that can be no attribute, what to do. to_know : what a reader should look at.
    description_file : of a model that knows no columns; None for others.
    """

    people: int
    schema: Schema
    formula: str
    left_out: Mapping[str, str]
    to_know: tuple[str, ...]
    schema_file: Path
    phi_file: Path
    description_file: Path | None = None

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
            "files": {"schema": str(self.schema_file), "phi": str(self.phi_file), **self._described},
        }

    @property
    def _described(self) -> dict[str, str]:
        return {} if self.description_file is None else {"describe": str(self.description_file)}


def init(request: InitRequest, listener: Listener | None = None) -> InitResult:
    """Propose a schema (.toml) and a similarity formula (.phi) for a table: guesses, for a person to correct.

    Parameters
    ----------
    listener : hears the events of :mod:`lcifr.runs.events`.
    """
    files = (request.schema_file, request.phi_file)
    with listening(listener):
        outline = None if request.model is None else outline_for_proposal(request.model, request.missing)
        described = None if outline is None or not outline.needs_description else request.description_file
        if described in files:
            raise LcifrError(f"schema and description would both be {described}", fix="rename the model or the table")
        if is_description(request.schema_file):
            raise LcifrError(
                f"{request.schema_file} describes a model, and the schema would replace it",
                fix="use --out for another folder, or rename the table",
            )
        there = [str(path) for path in (*files, described) if path is not None and path.exists()]
        if there and not request.force:
            raise LcifrError(
                f"already in the folder: {' and '.join(there)}",
                fix="use --force to replace, or --out for another folder",
            )
        with step(f"Reading {request.table}"):
            found = propose(request.table, request, outline)
            proposed = None if outline is None or described is None else propose_for(outline, found.schema, request)
    request.folder.mkdir(parents=True, exist_ok=True)
    found.schema.save(request.schema_file)
    request.phi_file.write_text(found.formula, encoding="utf-8")
    to_know = found.to_know
    if proposed is not None and described is not None:
        write_description(proposed.description, described, proposed.comments)
        to_know = (*proposed.to_know, *to_know)
    return InitResult(found.people, found.schema, found.formula, found.left_out, to_know, *files, described)


def outline_for_proposal(model: Path, missing: float | None = None) -> ModelOutline:
    """What a model says of its columns, before anybody has described it."""
    with step(f"Opening {model}"):
        from lcifr.models.loading import load_file
        from lcifr.runs.models.opening import with_missing

        return load_file(model, None if missing is None else with_missing(model, None, missing)).outline()


def propose_for(outline: ModelOutline, schema: Schema, request: InitRequest) -> ProposedDescription:
    """A description of a model for the columns of a table."""
    from lcifr.runs.people.loading import read_whole

    found = propose_description(outline, schema, read_whole(request.table, "lcifr init"))
    return replace(found, description=replace(found.description, missing=request.missing))
