"""Scan of a whole file before any proof: validation of every row, and types of CSV columns.

A missing value in the last row would otherwise be found after hours of proofs; and only all rows together determine
the type of a CSV column.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from lcifr.data import Schema
from lcifr.data.frames import is_parquet
from lcifr.data.io.checked_rows import check_rows
from lcifr.data.io.duplicate_ids import DuplicateIds, hash_id
from lcifr.data.io.ids import (
    KINDS,
    OF_IDS,
    duplicate_id_error,
    fitting,
    fitting_id_types,
    spells_missing,
)
from lcifr.data.io.missing import RowSkip, taken_rows
from lcifr.data.io.parquet_scan import scan_parquet, stored_columns, with_numbers
from lcifr.data.io.stream import FileColumns, name_of, read_tables
from lcifr.errors import LcifrError


def scan_file(
    source: FileColumns,
    schema: Schema,
    id_column: str | None,
    label: str | None,
    folder: Path,
    store: Path | None = None,
    *,
    skipping: RowSkip | None = None,
) -> FileColumns:
    """Read every row once: the same columns, with the number of people and the types that all rows fit.

    Parameters
    ----------
    id_column, label : columns among those of the source that are no attributes, or None.
    folder : where temporary files hold the hashes of ids, so that memory is bounded.
    store : a new Parquet file for these columns with their types; what is returned is then that file, so that CSV and
        remote tables are read twice at most, however often their people are needed. A local Parquet table from which
        no row is left out is returned itself.
    skipping : leaves rows with missing values out of the stored file; None to refuse them.
    """
    if is_parquet(source.path):
        return scan_parquet(source, schema, id_column, label, folder, store, skipping)
    kinds: dict[str, Sequence[pa.DataType]] = {name: OF_IDS if name == id_column else KINDS for name in source.names}
    unsure: set[str] = set()
    people = 0
    with DuplicateIds(folder) as names:
        for table in read_tables(source, None):
            kinds = {
                name: (fitting_id_types if name == id_column else fitting)(table[name], left)
                for name, left in kinds.items()
            }
            unsure |= {name for name, left in kinds.items() if len(left) > 1 and spells_missing(table[name])}
            rows, kept = taken_rows(table, schema, people, skipping)
            names.add(check_rows(kept, source, schema, id_column, label, rows))
            people += len(table)
        if id_column is not None and (twice := names.repeated()) is not None:
            _refuse_twice(source, id_column, twice)
    if people == 0:
        raise LcifrError(f"{source.path} has no rows", fix="give at least one person")
    found = replace(source, people=people, kinds=tuple((name, left[0]) for name, left in kinds.items()))
    if store is None and not any(name in unsure and not pa.types.is_string(kind) for name, kind in found.kinds):
        return found
    return _look_again(found, schema, id_column, label, store, skipping)


def _look_again(
    found: FileColumns,
    schema: Schema,
    id_column: str | None,
    label: str | None,
    store: Path | None,
    skipping: RowSkip | None,
) -> FileColumns:
    """Check for missing values once the types are known: "NA" is missing in a column of numbers, and text elsewhere."""
    start = people = 0
    with ExitStack() as stack:
        writer: parquet.ParquetWriter | None = None
        for table in read_tables(found, schema):
            rows, kept = taken_rows(table, schema, start, skipping)
            check_rows(kept, found, schema, id_column, label, rows)
            start, people = start + len(table), people + len(kept)
            if store is not None:
                kept = with_numbers(kept, rows, skipping)
                writer = writer or stack.enter_context(parquet.ParquetWriter(store, kept.schema))
                writer.write_table(kept)
    if people == 0:
        raise LcifrError(
            f"{found.path}: every row has a missing value", fix="give at least one row without missing values"
        )
    return found if store is None else stored_columns(replace(found, people=start), store, people, skipping)


def _refuse_twice(source: FileColumns, id_column: str, twice: bytes) -> None:
    """Raise for a duplicate id. Only hashes are kept, so the file is searched for the id itself."""
    for table in read_tables(source, None):
        for one in table[id_column].to_pylist():
            if hash_id(one) == twice:
                raise duplicate_id_error(name_of(source), id_column, one)
