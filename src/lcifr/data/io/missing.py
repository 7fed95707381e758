"""Rows with missing values: which rows of a table have a value for every attribute of a schema."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lcifr.data import Numeric, Schema
from lcifr.data.frames import as_text
from lcifr.data.io.ids import MISSING


def complete_rows(table: pa.Table, schema: Schema) -> NDArray[np.bool_]:
    """(rows,) whether nothing is missing there. Columns of CSV may still be texts: among numbers, "NA" is missing."""
    complete = np.ones(len(table), np.bool_)
    for attribute in schema:
        if attribute.name in table.column_names:
            complete &= ~_missing(table[attribute.name], isinstance(attribute, Numeric))
    return complete


def _missing(column: pa.ChunkedArray, numeric: bool) -> NDArray[np.bool_]:
    if pa.types.is_floating(column.type):
        found = column.is_null(nan_is_null=True)
    elif numeric and pa.types.is_string(column.type):
        texts = pc.utf8_trim_whitespace(column)
        found = pc.or_kleene(column.is_null(), pc.fill_null(pc.is_in(texts, MISSING), True))
    elif numeric:
        found = column.is_null()
    else:
        found = _unnamed(column)
    return np.asarray(found.to_numpy(zero_copy_only=False) if isinstance(found, pa.Array) else found.to_numpy(), bool)


def _unnamed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whether a category is missing or blank; of texts, each that occurs is looked at once."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return as_text(column).is_null()
    blank = pc.unique(column).filter(as_text(pa.chunked_array([pc.unique(column)])).is_null())
    return pc.is_in(column, value_set=blank) if len(blank) else pc.invert(column.is_valid())
