"""Type inference of CSV columns, chunk by chunk, with the result of Arrow's own reader.

Arrow's own CSV reader decides whether texts fit a type, so the result is the one that it infers from the whole file at
once (:func:`lcifr.data.frames.read_frame`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

KINDS = (
    pa.null(),
    pa.int64(),
    pa.bool_(),
    pa.float64(),
    pa.date32(),
    pa.time32("s"),
    *(pa.timestamp(unit, zone) for unit in ("s", "ns") for zone in (None, "UTC")),
    pa.string(),
)
"""Types of columns, in the order in which Arrow tries them."""
OF_IDS = (pa.int64(), pa.string())
"""Types of id columns: whole numbers, or the text as written."""
WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
"""A whole number that is written as it prints. "007" is another id than 7, and is a text like "1.50"."""
MISSING = pa.array(csv.ConvertOptions().null_values)
"""Spellings of missing values, except in text columns, where "NA" may be a name."""


def fitting(column: pa.ChunkedArray, kinds: Sequence[pa.DataType]) -> Sequence[pa.DataType]:
    """The types among ``kinds`` that all texts of the column fit; a column that is not text keeps its type."""
    if not pa.types.is_string(column.type):
        return [column.type]
    return kinds if len(kinds) == 1 else [kind for kind in kinds if _fits(column, kind)]


def fitting_id_types(column: pa.ChunkedArray, kinds: Sequence[pa.DataType] = OF_IDS) -> Sequence[pa.DataType]:
    """As :func:`fitting` for ids, which must print exactly as they are written."""
    if len(kinds) == 1 or not pa.types.is_string(column.type):
        return fitting(column, kinds)
    whole = pc.or_(pc.match_substring_regex(column, WHOLE), pc.is_in(column, MISSING))
    return kinds if pc.all(whole, min_count=0).as_py() else kinds[1:]


def infer_types(texts: pa.Table) -> pa.Table:
    """A table of texts as if it had been read from a CSV file of its own."""
    return read_as(texts, {name: fitting(texts[name], KINDS)[0] for name in texts.column_names})


def read_as(texts: pa.Table, kinds: Mapping[str, pa.DataType]) -> pa.Table:
    """Convert texts to these types as Arrow's CSV reader does: in numbers, "NA" is missing."""
    content = pa.BufferOutputStream()
    csv.write_csv(texts, content)
    return csv.read_csv(
        pa.BufferReader(content.getvalue()),
        csv.ReadOptions(use_threads=False),
        csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(column_types=dict(kinds)),
    )


def spells_missing(column: pa.ChunkedArray) -> bool:
    """Whether one of the texts may be a missing value."""
    return pa.types.is_string(column.type) and bool(pc.any(pc.is_in(column, MISSING)).as_py())


def _fits(column: pa.ChunkedArray, kind: pa.DataType) -> bool:
    if pa.types.is_string(kind):
        return True
    try:
        read_as(pa.table({"": column}), {"": kind})
    except pa.ArrowInvalid:
        return False
    return True
