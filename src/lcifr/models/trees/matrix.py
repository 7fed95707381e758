"""The matrix that a library of trees makes of the columns of a frame: numbers, and categories as their codes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lcifr.data import Categorical, Numeric
from lcifr.data.frames import text_of
from lcifr.errors import NetworkError
from lcifr.models.columns import Block, Column, RawColumn, TableColumn, as_numbers


def library_matrix(
    columns: tuple[RawColumn, ...] | Block,
    table: Any,
    encoder: Any,
    stored: tuple[tuple[Any, ...], ...] | None,
    unknown: float | None,
    where: str,
) -> Block:
    """The matrix of the library: numbers as they are, categories of a frame as their codes.

    ``stored`` : the values of categorical columns, in their order, that the library keeps; None for the table's own.
    """
    if isinstance(columns, Block):
        if encoder is not None:
            raise NetworkError(f"{where} encodes categories itself, behind another transformer", fix="leave one out")
        return columns
    if encoder is not None:  # of histogram boosting: categories come first, as codes of its own
        flags = np.zeros(len(columns), np.bool_)
        flags[encoder._transformer_to_input_indices["encoder"]] = True
        known = encoder.named_transformers_["encoder"].categories_
        chosen = [column for column, flag in zip(columns, flags, strict=True) if flag]
        coded = [code_column(column.attribute, values) for column, values in zip(chosen, known, strict=True)]
        rest = tuple(column for column, flag in zip(columns, flags, strict=True) if not flag)
        return Block((*coded, *(as_numbers(rest, where).columns if rest else ())))
    found: list[Column] = []
    own = {
        column.attribute.name: kind.categories
        for column in columns
        if isinstance(column.attribute, Categorical)
        and hasattr(kind := table[column.attribute.name].dtype, "categories")
    }
    if stored is not None and len(stored) != len(own):
        raise NetworkError(
            f"{where} was fitted with {len(stored)} categorical columns, the table has {len(own)}",
            fix="give the columns of the table the pandas dtypes that they had then",
        )
    known = iter(own.values() if stored is None else stored)
    for column in columns:
        if column.attribute.name in own:
            found.append(code_column(column.attribute, next(known), unknown))
        else:
            found += as_numbers((column,), where).columns
    kinds = {column.dtype for column in columns}
    return Block(tuple(found), np.dtype(np.float32) if kinds == {np.dtype(np.float32)} else np.dtype(np.float64))


def code_column(
    attribute: Numeric | Categorical, values: Sequence[Any], unknown: float | None = math.nan
) -> TableColumn:
    """The code of each value of the schema; ``unknown`` where the library does not know it, see :class:`TreeSource`."""
    if not isinstance(attribute, Categorical):
        raise NetworkError(
            f'"{attribute.name}" is a category to the model and a number in the schema',
            fix="declare it as categorical in the schema",
        )
    places = {text_of(value).strip(): place for place, value in enumerate(values)}
    codes = tuple(float(places[value]) if value in places else unknown for value in attribute.values)
    return TableColumn(attribute.name, codes)
