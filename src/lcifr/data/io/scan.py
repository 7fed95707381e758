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
from lcifr.data.io.csv_types import KINDS, OF_IDS, fitting, fitting_id_types, spells_missing
from lcifr.data.io.ids import DuplicateIds, Id, duplicate_id_error, hash_id, read_ids
from lcifr.data.io.stream import FileColumns, convert_csv_texts, name_of, read_individuals, read_tables
from lcifr.data.table import target_values
from lcifr.errors import LcifrError


def scan_file(
    source: FileColumns,
    schema: Schema,
    id_column: str | None,
    label: str | None,
    folder: Path,
    store: Path | None = None,
) -> FileColumns:
    """Read every row once: the same columns, with the number of people and the types that all rows fit.

    Parameters
    ----------
    id_column, label : columns among those of the source that are no attributes, or None.
    folder : where temporary files hold the hashes of ids, so that memory is bounded.
    store : a new Parquet file for these columns with their types; what is returned is then that file, so that the
        source is read twice, however often its people are needed.
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
            names.add(_checked(table, source, schema, id_column, label, people))
            people += len(table)
        if id_column is not None and (twice := names.repeated()) is not None:
            _refuse_twice(source, id_column, twice)
    if people == 0:
        raise LcifrError(f"{source.path} has no rows", fix="give at least one person")
    found = replace(source, people=people, kinds=tuple((name, left[0]) for name, left in kinds.items()))
    if store is None and not any(name in unsure and not pa.types.is_string(kind) for name, kind in found.kinds):
        return found
    return _look_again(found, schema, id_column, label, store)


def _checked(
    table: pa.Table, source: FileColumns, schema: Schema, id_column: str | None, label: str | None, start: int
) -> tuple[Id, ...]:
    """Validate these rows; returns their ids."""
    named, rows = name_of(source), range(start, start + len(table))
    ids: tuple[Id, ...] = () if id_column is None else read_ids(table, named, id_column, rows, texts=True)
    if label is not None:
        target_values(table[label], label, start)
    more = [name for name in (id_column, label) if name is not None and name not in schema]
    attributes = table.drop_columns(more)
    typed = is_parquet(source.path) or source.kinds
    read_individuals(attributes if typed else convert_csv_texts(attributes, schema), named, schema, rows)
    return ids


def _look_again(
    found: FileColumns, schema: Schema, id_column: str | None, label: str | None, store: Path | None
) -> FileColumns:
    """Check for missing values once the types are known: "NA" is missing in a column of numbers, and text elsewhere."""
    start = 0
    with ExitStack() as stack:
        writer: parquet.ParquetWriter | None = None
        for table in read_tables(found, schema):
            _checked(table, found, schema, id_column, label, start)
            start += len(table)
            if store is not None:
                writer = writer or stack.enter_context(parquet.ParquetWriter(store, table.schema))
                writer.write_table(table)
    return found if store is None else FileColumns(store, found.names, found.people)


def _refuse_twice(source: FileColumns, id_column: str, twice: bytes) -> None:
    """Raise for a duplicate id. Only hashes are kept, so the file is searched for the id itself."""
    for table in read_tables(source, None):
        for one in table[id_column].to_pylist():
            if hash_id(one) == twice:
                raise duplicate_id_error(name_of(source), id_column, one)
