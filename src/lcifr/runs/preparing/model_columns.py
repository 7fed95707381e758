"""What a model says of the columns that it reads, brought into a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lcifr.data import Categorical, Schema
from lcifr.errors import NetworkError, did_you_mean

if TYPE_CHECKING:
    from lcifr.models.source import ModelOutline
    from lcifr.runs.preparing.column_choices import ColumnChoices


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
    known = {one.name: one.values for one in outline.inputs if one.is_column}
    attributes = [
        replace(one, values=tuple(sorted({*one.values, *known.get(one.name, ())})))
        if isinstance(one, Categorical)
        else one
        for one in schema
    ]
    return replace(schema, attributes=tuple(attributes))


def refuse_unknown_columns(outline: ModelOutline, names: Sequence[str], where: str, why: Mapping[str, str]) -> None:
    """Raise if the model reads a column that is not among ``names``; ``why`` says of some why they are not."""
    for name in outline.columns or ():
        if name in names:
            continue
        if name in why:
            raise NetworkError(
                f'{where}: the model reads the column "{name}", which cannot be an attribute: {why[name]}',
                fix="declare its type in a schema (`lcifr init --categorical` or `--numeric`), or train without it",
            )
        raise NetworkError(
            f'{where}: the model reads the column "{name}", which is missing.{did_you_mean(name, list(names))}',
            fix="give the columns that the model was trained on, under the same names",
        )
