"""What was proved of whom? People in chunks from Parquet or CSV, so that memory does not grow with the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from lcifr.data import Individuals, Numeric, Schema
from lcifr.errors import LcifrError


@dataclass(frozen=True)
class Chunk:
    """Some rows of a table, checked: the people from ``start`` on, and their ids."""

    number: int
    start: int
    people: Individuals
    ids: tuple[str | int, ...]


def count_people(path: str | Path) -> int | None:
    """How many rows there are, where the file says so at once."""
    from pyarrow import parquet

    try:
        return int(parquet.ParquetFile(path).metadata.num_rows) if _is_parquet(Path(path)) else None
    except (pa.ArrowException, OSError):
        return None  # whoever reads it will say why


def read_chunks(path: str | Path, schema: Schema, size: int, id_column: str | None = None) -> Iterator[Chunk]:
    """The people of a file in chunks of ``size``; the same chunks every time."""
    start = 0
    for number, table in enumerate(_resized(_batches(Path(path), schema, id_column), size)):
        ids: tuple[str | int, ...] = tuple(range(start, start + len(table)))
        if id_column is not None:
            if id_column not in table.column_names:
                raise LcifrError(f'{path} has no column "{id_column}"', fix="name the column with the ids, or none")
            ids = tuple(table[id_column].to_pylist())
            table = table.drop_columns([id_column])
        yield Chunk(number, start, Individuals.read(table, schema), ids)
        start += len(table)
    if start == 0:
        raise LcifrError(f"{path}: there are no rows")


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _batches(path: Path, schema: Schema, id_column: str | None) -> Iterator[pa.RecordBatch]:
    from pyarrow import csv, parquet

    try:
        if _is_parquet(path):
            yield from parquet.ParquetFile(path).iter_batches()
            return
        # Types are not guessed from the first block, because a later one might not fit.
        types: dict[str, Any] = {a.name: pa.float64() if isinstance(a, Numeric) else pa.string() for a in schema}
        if id_column is not None:
            types[id_column] = pa.string()
        options = csv.ConvertOptions(column_types=types, strings_can_be_null=True)
        with csv.open_csv(path, convert_options=options) as reader:
            yield from reader
    except FileNotFoundError:
        raise LcifrError(f"{path}: there is no such file") from None
    except (pa.ArrowException, OSError) as error:
        raise LcifrError(f"{path}: cannot be read: {error}", fix="give a .parquet or .csv file") from None


def _resized(batches: Iterator[pa.RecordBatch], size: int) -> Iterator[pa.Table]:
    waiting: list[pa.Table] = []
    rows = 0
    for batch in batches:
        waiting.append(pa.Table.from_batches([batch]))
        rows += len(batch)
        if rows >= size:
            whole = pa.concat_tables(waiting)
            for start in range(0, rows - size + 1, size):
                yield whole.slice(start, size)
            waiting = [whole.slice(rows - rows % size)]
            rows %= size
    if rows:
        yield pa.concat_tables(waiting)
