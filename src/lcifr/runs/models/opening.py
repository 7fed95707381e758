"""Model files opened for a table: the description beside them, and a schema of the columns that they read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.errors import LcifrError, NetworkError, did_you_mean
from lcifr.runs.events import note

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.data import Schema
    from lcifr.models.files.outline import ModelOutline
    from lcifr.models.load import ModelFile
    from lcifr.runs.preparing.proposal import ColumnChoices


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Which model, and what its columns mean.

    Parameters
    ----------
    model : its file. describe : a file that says which column feeds which input; None for the .toml beside the model,
        if it is one, or for none.
    schema : a file, or the name of a dataset; None for the .toml beside φ, or to infer it from the table.
    target : the column of true labels, if there is one. id_column : the column of people's names.
    """

    model: Path
    describe: Path | None = None
    schema: str | None = None
    target: str | None = None
    id_column: str | None = None


def open_model(model: Path, describe: Path | None = None) -> ModelFile:
    """Load a model with the description that was named, or that lies beside it."""
    from lcifr.models.files.description_reader import read_description
    from lcifr.models.load import load_file

    beside = model.with_suffix(".toml")
    if describe is None and _is_description(beside):
        note(f"the inputs of {model} are what {beside} says")
        describe = beside
    return load_file(model, None if describe is None else read_description(describe))


def _is_description(path: Path) -> bool:
    from lcifr.models.files.description import FORMAT

    try:
        return path.is_file() and f'"{FORMAT}"' in path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return False


def schema_of_table(frame: pa.Table, table: Path, choice: ModelOptions, outline: ModelOutline, phi: str) -> Schema:
    """The schema that was named, or the one beside the formula, or one inferred with what the model says of columns.

    Raises
    ------
    NetworkError
        If the model reads a column that the table has not, or that can be no attribute.
    """
    from lcifr.runs.formulas import read_schema, schema_beside
    from lcifr.runs.preparing.proposal import ColumnChoices, propose_schema

    named = choice.schema or schema_beside(phi)
    if named is not None:
        known = read_schema(named)
        known = known if choice.target is None else replace(known, target=choice.target)
        refuse_unknown_columns(outline, known.names, f"the schema {named}", {})
        return known
    refuse_unknown_columns(outline, frame.column_names, str(table), {})
    asked = ColumnChoices(target=choice.target, id_column=choice.id_column)
    found, left_out = propose_schema(frame, table, kinds_of_model(asked, outline))
    refuse_unknown_columns(outline, found.names, str(table), left_out)
    unasked = {name: why for name, why in left_out.items() if name != choice.id_column}
    if unasked:
        listed = "; ".join(f'"{name}" {why}' for name, why in unasked.items())
        note(f"{table}: left out, as they can be no attributes and the model does not read them: {listed}")
    note(f"the schema was inferred from {table}; `lcifr init {table} --model {choice.model}` writes it down")
    return with_values_of_model(found, outline)


def kinds_of_model(choices: ColumnChoices, outline: ModelOutline) -> ColumnChoices:
    """What the user says of columns, and where nothing was said, whether the model takes them as categories."""
    if outline.columns is None:
        return choices
    said = {*choices.named}
    kinds = {one.name: one.is_category for one in outline.inputs if one.name not in said}
    return replace(
        choices,
        categorical=(*choices.categorical, *(name for name, category in kinds.items() if category)),
        numeric=(*choices.numeric, *(name for name, category in kinds.items() if category is False)),
    )


def with_values_of_model(schema: Schema, outline: ModelOutline) -> Schema:
    """The categories of the table, and those that the model knows beyond: people may have them."""
    from lcifr.data import Categorical

    known = {one.name: one.values for one in outline.inputs if one.is_column}
    attributes = [
        replace(one, values=tuple(sorted({*one.values, *known.get(one.name, ())})))
        if isinstance(one, Categorical)
        else one
        for one in schema
    ]
    return replace(schema, attributes=tuple(attributes))


def refuse_unknown_columns(
    outline: ModelOutline, names: tuple[str, ...] | list[str], where: str, why: dict[str, str]
) -> None:
    """Raise if the model reads a column that is not among ``names``; ``why`` says of some why they are not."""
    for name in outline.columns or ():
        if name in names:
            continue
        if name in why:
            raise NetworkError(
                f'{where}: the model reads the column "{name}", which can be no attribute: {why[name]}',
                fix="say what it is in a schema (`lcifr init --categorical` or `--numeric`), or train without it",
            )
        raise NetworkError(
            f'{where}: the model reads the column "{name}", which is not there.{did_you_mean(name, list(names))}',
            fix="give the columns that the model was trained on, under the same names",
        )


def refuse_same_file(first: Path, second: Path) -> None:
    """Two files of a proposal that would have one name."""
    if first == second:
        raise LcifrError(f"schema and description would both be called {first}", fix="rename the model, or say --out")
