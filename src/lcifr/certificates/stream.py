"""What was proved of whom? People in chunks from Parquet or CSV, so that memory does not grow with the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from lcifr.data import Individuals, Numeric, Schema
from lcifr.errors import LcifrError, TableError

Source: TypeAlias = str | Path | pa.Table
"""A .parquet or .csv file, or a table that is in memory anyway."""
READ_AHEAD = 1 << 16
"""Bytes of a Parquet column at a time. Otherwise a whole row group is fetched, and a file may be a single one."""
BLOCK = 1 << 18
"""Bytes of a CSV file at a time. Arrow reads some thirty of them ahead."""


@dataclass(frozen=True)
class Chunk:
    """Some rows of a table, checked: the people from ``start`` on, and their ids."""

    number: int
    start: int
    people: Individuals
    ids: tuple[str | int, ...]


def count_people(source: Source) -> int | None:
    """How many rows there are, where the file says so at once."""
    from pyarrow import parquet

    if isinstance(source, pa.Table):
        return len(source)
    try:
        return int(parquet.ParquetFile(source).metadata.num_rows) if _is_parquet(Path(source)) else None
    except (pa.ArrowException, OSError):
        return None  # whoever reads it will say why


def read_chunks(source: Source, schema: Schema, size: int, id_column: str | None = None) -> Iterator[Chunk]:
    """The people of a file in chunks of ``size``; the same chunks every time."""
    start = 0
    named = "the table" if isinstance(source, pa.Table) else str(source)
    for number, table in enumerate(_resized(_batches(source, schema, size, id_column), size)):
        ids: tuple[str | int, ...] = tuple(range(start, start + len(table)))
        if id_column is not None:
            ids = _read_ids(table, named, id_column, start)
            table = table.drop_columns([id_column])
        yield Chunk(number, start, _read_people(table, named, schema, start), ids)
        start += len(table)
    if start == 0:
        raise LcifrError(f"{named}: there are no rows")


def _read_ids(table: pa.Table, named: str, id_column: str, start: int) -> tuple[str | int, ...]:
    if id_column not in table.column_names:
        raise LcifrError(f'{named} has no column "{id_column}"', fix="name the column with the ids, or none")
    ids = tuple(table[id_column].to_pylist())
    for row, name in enumerate(ids, start):
        if type(name) not in (str, int) or name == "":
            found = f"the {type(name).__name__} {name!r}" if name not in (None, "") else "no id"
            fix = "ids are text or whole numbers, one for everybody"
            raise LcifrError(f'{named}: column "{id_column}" has {found} in row {row}', fix=fix)
    return ids


def _read_people(table: pa.Table, named: str, schema: Schema, start: int) -> Individuals:
    """The gate, whose problems count rows from the beginning of the file."""
    try:
        return Individuals.read(table, schema)
    except TableError as error:
        problems = [one if one.row is None else replace(one, row=one.row + start) for one in error.problems]
        raise TableError(problems, source=named, fix=error.fix) from None


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _batches(source: Source, schema: Schema, size: int, id_column: str | None) -> Iterator[pa.RecordBatch]:
    from pyarrow import csv, parquet

    if isinstance(source, pa.Table):
        yield from source.to_batches(max_chunksize=size)
        return
    path = Path(source)
    try:
        if _is_parquet(path):
            with parquet.ParquetFile(path, pre_buffer=False, buffer_size=READ_AHEAD) as file:
                yield from file.iter_batches(batch_size=size)
            return
        # Types are not guessed from the first block, because a later one might not fit.
        types: dict[str, Any] = {a.name: pa.float64() if isinstance(a, Numeric) else pa.string() for a in schema}
        if id_column is not None:
            types[id_column] = pa.string()
        # A category may well be called "NA", as in memory; the gate knows blank ones as missing.
        options = csv.ConvertOptions(column_types=types, strings_can_be_null=False)
        with csv.open_csv(path, csv.ReadOptions(block_size=BLOCK), convert_options=options) as reader:
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
