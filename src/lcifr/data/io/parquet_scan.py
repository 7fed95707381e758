"""Scan of a Parquet table before any proof: every row is validated once, and stored where it is needed again.

The types of its columns are known, so one look is enough, unlike that of CSV (:mod:`lcifr.data.io.scan`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from lcifr.data import Schema
from lcifr.data.io.checked_rows import check_rows
from lcifr.data.io.duplicate_ids import DuplicateIds, hash_column
from lcifr.data.io.ids import duplicate_id_error
from lcifr.data.io.missing import complete_rows
from lcifr.data.io.stream import FileColumns, name_of, read_tables
from lcifr.errors import LcifrError


@dataclass(frozen=True)
class RowSkip:
    """How rows with missing values are left out: ``column`` keeps the numbers of the rows that stay; None for none."""

    column: str | None = None

    def complete(self, table: pa.Table, schema: Schema, start: int) -> tuple[Sequence[int], pa.Table]:
        """The rows in which nothing is missing, of a table that begins with row ``start``: numbers, and the rows."""
        kept = np.flatnonzero(complete_rows(table, schema))
        return (kept + start).tolist(), table if len(kept) == len(table) else table.take(kept)


def taken_rows(table: pa.Table, schema: Schema, start: int, skipping: RowSkip | None) -> tuple[Sequence[int], pa.Table]:
    """The rows of a table that begins with row ``start`` that are looked at: their numbers, and the rows."""
    return (range(start, start + len(table)), table) if skipping is None else skipping.complete(table, schema, start)


def with_numbers(kept: pa.Table, rows: Sequence[int], skipping: RowSkip | None) -> pa.Table:
    """The rows with their numbers in the table, where these are kept."""
    if skipping is None or skipping.column is None:
        return kept
    return kept.append_column(skipping.column, pa.array(rows, pa.int64()))


def stored_columns(found: FileColumns, store: Path, people: int, skipping: RowSkip | None) -> FileColumns:
    """The file in which the rows of ``found`` that stay are stored."""
    numbers = () if skipping is None or skipping.column is None else (skipping.column,)
    return FileColumns(store, (*found.names, *numbers), people, left_out=int(found.people or 0) - people)


def scan_parquet(
    source: FileColumns,
    schema: Schema,
    id_column: str | None,
    label: str | None,
    folder: Path,
    store: Path | None,
    skipping: RowSkip | None,
) -> FileColumns:
    """Read every row once; parameters as for :func:`lcifr.data.io.scan.scan_file`."""
    start = people = 0
    with DuplicateIds(folder) as names, ExitStack() as stack:
        writer: parquet.ParquetWriter | None = None
        for table in read_tables(source, None):
            rows, kept = taken_rows(table, schema, start, skipping)
            check_rows(kept, source, schema, id_column, label, rows)
            if id_column is not None and len(kept):
                names.add_column(kept[id_column])
            start, people = start + len(table), people + len(kept)
            if store is not None:
                kept = with_numbers(kept, rows, skipping)
                writer = writer or stack.enter_context(parquet.ParquetWriter(store, kept.schema))
                writer.write_table(kept)
        if id_column is not None and (twice := names.repeated()) is not None:
            _refuse_twice(source, id_column, twice)
    if start == 0:
        raise LcifrError(f"{name_of(source)} has no rows", fix="give at least one person")
    if people == 0:
        raise LcifrError(
            f"{name_of(source)}: every row has a missing value", fix="give at least one row without missing values"
        )
    found = replace(source, people=start)
    return found if store is None else stored_columns(found, store, people, skipping)


def _refuse_twice(source: FileColumns, id_column: str, twice: bytes) -> None:
    """Raise for a duplicate id. Only hashes are kept, so the table is searched for the id itself."""
    wanted = np.frombuffer(twice, np.uint64)
    for table in read_tables(replace(source, names=(id_column,)), None):
        rows = np.flatnonzero((hash_column(table[id_column]) == wanted).all(1))
        if len(rows):
            raise duplicate_id_error(name_of(source), id_column, table[id_column][int(rows[0])].as_py())
