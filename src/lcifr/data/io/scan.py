"""Scan of a whole file before any proof: validation of every row, and types of CSV columns.

A missing value in the last row would otherwise be found after hours of proofs; and only all rows together determine
the type of a CSV column.
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
from lcifr.data.frames import is_parquet
from lcifr.data.io.ids import (
    KINDS,
    OF_IDS,
    DuplicateIds,
    Id,
    duplicate_id_error,
    fitting,
    fitting_id_types,
    hash_id,
    read_ids,
    spells_missing,
)
from lcifr.data.io.missing import complete_rows
from lcifr.data.io.stream import FileColumns, convert_csv_texts, name_of, read_individuals, read_tables
from lcifr.data.table import target_values
from lcifr.errors import LcifrError, TableError


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
    store : a new Parquet file for these columns with their types; what is returned is then that file, so that the
        source is read twice, however often its people are needed.
    skipping : leaves rows with missing values out of the stored file; None to refuse them.
    """
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
            rows, kept = _taken(table, schema, people, skipping)
            names.add(_checked(kept, source, schema, id_column, label, rows))
            people += len(table)
        if id_column is not None and (twice := names.repeated()) is not None:
            _refuse_twice(source, id_column, twice)
    if people == 0:
        raise LcifrError(f"{source.path} has no rows", fix="give at least one person")
    found = replace(source, people=people, kinds=tuple((name, left[0]) for name, left in kinds.items()))
    if store is None and not any(name in unsure and not pa.types.is_string(kind) for name, kind in found.kinds):
        return found
    return _look_again(found, schema, id_column, label, store, skipping)


@dataclass(frozen=True)
class RowSkip:
    """How rows with missing values are left out: ``column`` keeps the numbers of the rows that stay; None for none."""

    column: str | None = None

    def complete(self, table: pa.Table, schema: Schema, start: int) -> tuple[Sequence[int], pa.Table]:
        """The rows in which nothing is missing, of a table that begins with row ``start``: numbers, and the rows."""
        kept = np.flatnonzero(complete_rows(table, schema))
        return (kept + start).tolist(), table.take(kept)


def _taken(table: pa.Table, schema: Schema, start: int, skipping: RowSkip | None) -> tuple[Sequence[int], pa.Table]:
    """The rows of a table that begins with row ``start`` that are looked at: their numbers, and the rows."""
    return (range(start, start + len(table)), table) if skipping is None else skipping.complete(table, schema, start)


def _checked(
    table: pa.Table,
    source: FileColumns,
    schema: Schema,
    id_column: str | None,
    label: str | None,
    rows: Sequence[int],
) -> tuple[Id, ...]:
    """Validate these rows; returns their ids."""
    if not len(table):  # all of them were left out
        return ()
    named = name_of(source)
    ids: tuple[Id, ...] = () if id_column is None else read_ids(table, named, id_column, rows, texts=True)
    if label is not None:
        _check_label(table[label], label, rows)
    more = [name for name in (id_column, label) if name is not None and name not in schema]
    attributes = table.drop_columns(more)
    typed = is_parquet(source.path) or source.kinds
    read_individuals(attributes if typed else convert_csv_texts(attributes, schema), named, schema, rows)
    return ids


def _check_label(column: pa.ChunkedArray, name: str, rows: Sequence[int]) -> None:
    try:
        target_values(column, name)
    except TableError as error:
        raise TableError([one.among(rows) for one in error.problems], fix=error.fix) from None


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
            rows, kept = _taken(table, schema, start, skipping)
            _checked(kept, found, schema, id_column, label, rows)
            start, people = start + len(table), people + len(kept)
            if store is not None:
                if skipping is not None and skipping.column is not None:
                    kept = kept.append_column(skipping.column, pa.array(rows, pa.int64()))
                writer = writer or stack.enter_context(parquet.ParquetWriter(store, kept.schema))
                writer.write_table(kept)
    if people == 0:
        raise LcifrError(f"{found.path}: something is missing in every row", fix="give people of whom all is known")
    numbers = () if skipping is None or skipping.column is None else (skipping.column,)
    return found if store is None else FileColumns(store, (*found.names, *numbers), people, left_out=start - people)


def _refuse_twice(source: FileColumns, id_column: str, twice: bytes) -> None:
    """Raise for a duplicate id. Only hashes are kept, so the file is searched for the id itself."""
    for table in read_tables(source, None):
        for one in table[id_column].to_pylist():
            if hash_id(one) == twice:
                raise duplicate_id_error(name_of(source), id_column, one)
