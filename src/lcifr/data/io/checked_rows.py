"""Rows of a table as a scan validates them: ids, labels and attributes, with the rows of the file in every message."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from lcifr.data import Schema
from lcifr.data.frames import is_parquet
from lcifr.data.io.ids import Id, read_ids
from lcifr.data.io.stream import FileColumns, convert_csv_texts, name_of, read_individuals
from lcifr.data.table import target_values
from lcifr.errors import TableError


def check_rows(
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
