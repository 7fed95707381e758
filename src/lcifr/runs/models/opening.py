"""Model files opened for a table: the description beside them, and a schema of the columns that they read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.errors import LcifrError
from lcifr.models.description import description_beside
from lcifr.runs.events import note

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.data import Schema
    from lcifr.models.description import ModelDescription
    from lcifr.models.loading import ModelFile
    from lcifr.models.source import ModelOutline


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Which model, and what its columns mean.

    Parameters
    ----------
    model : its file. describe : a file that says which column feeds which input; None for the .toml beside the model,
        if it is one, or for none.
    schema : a file, or the name of a dataset; None for the .toml beside φ, or to infer it from the table.
    target : the column of true labels, if there is one. id_column : the column of people's names.
    missing : of an XGBoost file, the number that stands for a missing value; None for what its description says.
    accept_draft : go on with a description that is still marked as a draft.
    accept_accuracy : go on with a model whose score ranks the labels backwards.
    """

    model: Path
    describe: Path | None = None
    schema: str | None = None
    target: str | None = None
    id_column: str | None = None
    missing: float | None = None
    accept_draft: bool = False
    accept_accuracy: bool = False

    @property
    def description(self) -> Path | None:
        """The description that is used: the one that was named, or that lies beside the model."""
        return self.describe or description_beside(self.model)


def open_model(
    model: Path, describe: Path | None = None, missing: float | None = None, *, drafts: bool = False
) -> ModelFile:
    """Load a model with the description that was named, or that lies beside it.

    Parameters
    ----------
    missing : see :class:`ModelOptions`. drafts : whether a description may still be marked as a draft.

    Raises
    ------
    LcifrError
        For ``missing`` with another format than XGBoost's, or against what the description says.
    """
    from lcifr.models.description import read_description
    from lcifr.models.loading import load_file

    if describe is None and (beside := description_beside(model)) is not None:
        note(f"using the description of {model} in {beside}")
        describe = beside
    description = None if describe is None else read_description(describe)
    if description is not None and not drafts:
        description.refuse_draft("on the command line, `--accept-draft` goes on with the guesses")
    return load_file(model, description if missing is None else with_missing(model, description, missing))


def with_missing(model: Path, description: ModelDescription | None, missing: float) -> ModelDescription:
    """The description, or a new one, with the number that an option names; see :func:`open_model`."""
    from lcifr.models.description import ModelDescription
    from lcifr.models.loading import ModelFormat, recognise

    if (found := recognise(model)) is not ModelFormat.XGBOOST:
        raise LcifrError(
            f"--missing is for files of XGBoost, and {model} is a model of {found}",
            fix="leave --missing out: such a file says itself what is missing, or takes no missing values",
        )
    if description is None:
        return ModelDescription(missing=missing, source=MISSING_OPTION)
    if description.missing is not None and repr(description.missing) != repr(missing):
        raise LcifrError(
            f"--missing {missing:g}, and {description.source} says missing = {description.missing:g}",
            fix="leave one of them out",
        )
    return replace(description, missing=missing)


MISSING_OPTION = "--missing"
"""Where a description comes from that the option alone makes."""


def schema_of_table(frame: pa.Table, table: Path, choice: ModelOptions, outline: ModelOutline, phi: str) -> Schema:
    """The schema that was named, or the one beside the formula, or one inferred with what the model says of columns.

    Raises
    ------
    NetworkError
        If the model reads a column that the table has not, or that can be no attribute.
    """
    from lcifr.runs.formulas import read_schema, schema_beside
    from lcifr.runs.preparing.column_choices import ColumnChoices
    from lcifr.runs.preparing.model_columns import refuse_unknown_columns
    from lcifr.runs.preparing.proposal import propose_schema

    named = choice.schema or schema_beside(phi)
    if named is not None:
        known = read_schema(named)
        known = known if choice.target is None else replace(known, target=choice.target)
        refuse_unknown_columns(outline, known.names, f"the schema {named}", {})
        return known
    asked = ColumnChoices(target=choice.target, id_column=choice.id_column)
    found, left_out = propose_schema(frame, table, asked, outline)
    unasked = {name: why for name, why in left_out.items() if name != choice.id_column}
    if unasked:
        listed = "; ".join(f'"{name}" {why}' for name, why in unasked.items())
        note(f"{table}: ignored columns that cannot be attributes and that the model does not read: {listed}")
    note(f"the schema was inferred from {table}; `lcifr init {table} --model {choice.model}` writes it down")
    return found
