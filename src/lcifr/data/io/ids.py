"""Columns as files spell them: the types that values of CSV fit, and ids of people, each of whom has one.

Arrow's own CSV reader decides whether texts fit a type, so the result is the one that it infers from the whole file at
once (:func:`lcifr.data.frames.read_frame`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from lcifr.data.frames import is_missing
from lcifr.data.io.missing import MISSING
from lcifr.data.io.parquet_table import is_text
from lcifr.errors import LcifrError

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


Id = str | int


def as_ids(ids: Any, people: int) -> tuple[Id, ...]:
    """Validated ids given by the caller, one per person; 0, 1, … if None."""
    if ids is None:
        return tuple(range(people))
    listed = [one.item() if isinstance(one, np.generic) else one for one in ids]
    if len(listed) != people:
        raise LcifrError(f"there are {people} people and {len(listed)} ids", fix="pass one per person")
    return _checked(listed, "the list of ids", range(people))


def read_ids(
    table: pa.Table, named: str, id_column: str, rows: Sequence[int], *, texts: bool = False
) -> tuple[Id, ...]:
    """The ids of people of a table.

    Parameters
    ----------
    named, rows : the name of the file and the row numbers in it, for messages.
    texts : whether dates, fractions and the like are taken as the text they print; otherwise they are refused.
    """
    if id_column not in table.column_names:
        raise LcifrError(f'{named} has no column "{id_column}"', fix="name the column with the ids, or none")
    kind = table[id_column].type
    binary = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    if pa.types.is_nested(kind) or any(is_kind(kind) for is_kind in binary):
        raise LcifrError(
            f'{named}: the ids in column "{id_column}" are of the type {kind}',
            fix="turn them into text; ids are text or whole numbers, one for everybody",
        )
    listed = table[id_column].to_pylist()
    if _are_plain(table[id_column]):
        return tuple(listed)
    if texts:
        listed = [one if type(one) is int or is_missing(one) else str(one) for one in listed]
    return _checked(listed, f'{named}: column "{id_column}"', rows)


def _are_plain(column: pa.ChunkedArray) -> bool:
    """Whether all of them are whole numbers, or texts that are more than spaces."""
    if column.null_count:
        return False
    if is_text(column.type):
        return not pc.any(pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(column)), 0)).as_py()
    return bool(pa.types.is_integer(column.type))


def _checked(listed: Sequence[Any], where: str, rows: Sequence[int]) -> tuple[Id, ...]:
    for row, one in zip(rows, listed, strict=True):
        if type(one) is int or (type(one) is str and one and not one.isspace()):
            continue
        nothing = is_missing(one) or type(one) is str
        found = "no id" if nothing else f"the {type(one).__name__} {one!r}"
        fix = "give this person an id, or leave the row out" if nothing else "turn them into text"
        raise LcifrError(
            f"{where} has {found} in row {row}", fix=f"{fix}; ids are text or whole numbers, one for everybody"
        )
    return tuple(listed)


def first_duplicate(ids: Iterable[Id]) -> str | None:
    """The first id that has occurred before; None where all differ. A number and its digits are the same id."""
    seen: set[str] = set()
    for one in map(str, ids):
        if one in seen:
            return one
        seen.add(one)
    return None


def duplicate_id_error(named: str, id_column: str, name: Id) -> LcifrError:
    """The error for an id that occurs in two rows of a table."""
    return LcifrError(
        f'{named}: column "{id_column}" contains {str(name)!r} twice', fix="give every person a unique id"
    )
