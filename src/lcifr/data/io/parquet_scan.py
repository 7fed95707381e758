"""Scan of a Parquet table before any proof: every row is validated once.

The types of its columns are known, so one look is enough, unlike that of CSV (:mod:`lcifr.data.io.scan`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from lcifr.data import Schema
from lcifr.data.io.checked_rows import check_rows
from lcifr.data.io.duplicate_ids import DuplicateIds, hash_column
from lcifr.data.io.ids import duplicate_id_error
from lcifr.data.io.missing import RowSkip, taken_rows
from lcifr.data.io.places import is_remote
from lcifr.data.io.stream import FileColumns, name_of, read_tables
from lcifr.errors import LcifrError


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
    """Read every row once; parameters as for :func:`lcifr.data.io.scan.scan_file`.

    A local table needs no copy unless rows are left out of it. Only then is it read again, to store those that stay.
    """
    if store is not None and not is_remote(source.path):
        found = scan_parquet(source, schema, id_column, label, folder, None, skipping)
        if not found.left_out:
            return found
    start = people = 0
    with DuplicateIds(folder) as names, ExitStack() as stack:
        writer: parquet.ParquetWriter | None = None
        for seen, rows, kept in look_at(source, schema, id_column, label, skipping, coded=store is None):
            if id_column is not None and len(kept):
                names.add_column(kept[id_column])
            start, people = start + seen, people + len(kept)
            if store is not None:
                kept = with_numbers(kept, rows, skipping)
                writer = writer or stack.enter_context(parquet.ParquetWriter(store, kept.schema))
                writer.write_table(kept)
        if id_column is not None and (twice := names.repeated()) is not None:
            refuse_twice(source, id_column, twice)
    refuse_nobody(source, start, people)
    found = replace(source, people=start, left_out=start - people)
    return found if store is None else stored_columns(found, store, people, skipping)


def look_at(
    source: FileColumns,
    schema: Schema,
    id_column: str | None,
    label: str | None,
    skipping: RowSkip | None,
    among: range | None = None,
    *,
    coded: bool = True,
) -> Iterator[tuple[int, Sequence[int], pa.Table]]:
    """Validate rows some at a time: how many were read, and the numbers and columns of those that stay.

    ``among`` : these rows alone. ``coded`` : whether categories may come as codes.
    """
    start = 0 if among is None else among.start
    names = [name for name in schema.names_categorical if name != id_column] if coded else []
    for table in read_tables(source, None, dictionaries=names, rows=among):
        rows, kept = taken_rows(table, schema, start, skipping)
        check_rows(kept, source, schema, id_column, label, rows)
        yield len(table), rows, kept
        start += len(table)


def refuse_nobody(source: FileColumns, rows: int, people: int) -> None:
    """Refuse a table of which no row stays."""
    if rows == 0:
        raise LcifrError(f"{name_of(source)} has no rows", fix="give at least one person")
    if people == 0:
        raise LcifrError(
            f"{name_of(source)}: every row has a missing value", fix="give at least one row without missing values"
        )


def refuse_twice(source: FileColumns, id_column: str, twice: bytes) -> None:
    """Raise for a duplicate id. Only hashes are kept, so the table is searched for the id itself."""
    wanted = np.frombuffer(twice, np.uint64)
    for table in read_tables(replace(source, names=(id_column,)), None):
        rows = np.flatnonzero((hash_column(table[id_column]) == wanted).all(1))
        if len(rows):
            raise duplicate_id_error(name_of(source), id_column, table[id_column][int(rows[0])].as_py())
