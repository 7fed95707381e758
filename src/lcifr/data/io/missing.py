"""Rows with missing values: which rows of a table have a value for every attribute of a schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from lcifr.data.attributes import Attribute, Numeric
from lcifr.data.frames import as_text
from lcifr.data.io.parquet_table import is_dictionary_of_texts, is_text
from lcifr.data.schema import Schema

MISSING = pa.array(csv.ConvertOptions().null_values)
"""Spellings of missing values, except in text columns, where "NA" may be a name."""


@dataclass(frozen=True)
class RowSkip:
    """How rows with missing values are left out: ``column`` keeps the numbers of the rows that stay; None for none."""

    column: str | None = None

    def complete(self, table: pa.Table, schema: Schema, start: int) -> tuple[Sequence[int], pa.Table]:
        """The rows in which nothing is missing, of a table that begins with row ``start``: numbers, and the rows."""
        complete = complete_rows(table, schema)
        if complete.all():
            return range(start, start + len(table)), table
        kept = np.flatnonzero(complete)
        return (kept + start).tolist(), table.take(kept)


def taken_rows(table: pa.Table, schema: Schema, start: int, skipping: RowSkip | None) -> tuple[Sequence[int], pa.Table]:
    """The rows of a table that begins with row ``start`` that are looked at: their numbers, and the rows."""
    return (range(start, start + len(table)), table) if skipping is None else skipping.complete(table, schema, start)


def complete_rows(table: pa.Table, schema: Schema) -> NDArray[np.bool_]:
    """(rows,) whether nothing is missing there. Columns of CSV may still be texts: among numbers, "NA" is missing."""
    complete = np.ones(len(table), np.bool_)
    for attribute in schema:
        if attribute.name in table.column_names and _may_miss(table[attribute.name], isinstance(attribute, Numeric)):
            complete &= ~missing_values(table[attribute.name], attribute)
    return complete


def missing_values(column: pa.ChunkedArray, attribute: Attribute) -> NDArray[np.bool_]:
    """(rows,) whether the value of an attribute is missing; see :func:`complete_rows`."""
    return _missing(column, isinstance(attribute, Numeric))


def _may_miss(column: pa.ChunkedArray, numeric: bool) -> bool:
    """Whether something may be missing, without a look at every row: most columns have all their values."""
    if column.null_count:
        return True
    if numeric:
        return not pa.types.is_integer(column.type)
    if not is_dictionary_of_texts(column.type):
        return True
    return any(as_text(pa.chunked_array([chunk.dictionary])).null_count for chunk in column.chunks)


def _missing(column: pa.ChunkedArray, numeric: bool) -> NDArray[np.bool_]:
    if pa.types.is_floating(column.type):
        found = column.is_null(nan_is_null=True)
    elif numeric and is_text(column.type):
        texts = pc.utf8_trim_whitespace(column)
        found = pc.or_kleene(column.is_null(), pc.fill_null(pc.is_in(texts, MISSING), True))
    elif numeric:
        found = column.is_null()
    else:
        found = _unnamed(column)
    return np.asarray(found.to_numpy(zero_copy_only=False) if isinstance(found, pa.Array) else found.to_numpy(), bool)


def _unnamed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whether a category is missing or blank; of texts, each that occurs is looked at once."""
    if not is_text(column.type):
        return as_text(column).is_null()
    blank = pc.unique(column).filter(as_text(pa.chunked_array([pc.unique(column)])).is_null())
    return pc.is_in(column, value_set=blank) if len(blank) else pc.invert(column.is_valid())
