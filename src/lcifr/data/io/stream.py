"""Streaming reader of people from Parquet and CSV in chunks of bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from lcifr.data import Individuals, Numeric, Schema
from lcifr.data.frames import check_separator, delimiter_of, file_errors, is_parquet, text_of
from lcifr.data.io.ids import Id, read_ids
from lcifr.data.io.parquet_table import READ_AHEAD, ParquetTable
from lcifr.errors import LcifrError, TableError

ROWS = 1 << 15
"""Rows per chunk where nothing is proved; callers leave the size out, so that it is set in one place."""
BLOCK = 1 << 18
"""Bytes of a CSV file at a time. Arrow reads some thirty of them ahead."""


@dataclass(frozen=True)
class FileColumns:
    """Some columns of a file, and what a scan of the whole file has found.

    Parameters
    ----------
    names : the columns that are read. people : rows of the file.
    kinds : of CSV, the types of the columns: those that every row fits, as if all had been read at once.
    left_out : rows of the file that this one was made of, with missing values.
    """

    path: Path
    names: tuple[str, ...]
    people: int | None = None
    kinds: tuple[tuple[str, pa.DataType], ...] = ()
    left_out: int = 0


TableSource: TypeAlias = str | Path | pa.Table | FileColumns
"""A .parquet or .csv file or some of its columns, or a table that is in memory anyway."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive validated rows of a table: the people from row ``start`` on, and their ids."""

    number: int
    start: int
    people: Individuals
    ids: tuple[Id, ...]

    def content(self) -> Iterator[bytes]:
        """Everything about these people except their ids."""
        yield self.people.numbers.tobytes(order="C")
        yield self.people.codes.tobytes(order="C")


def name_of(source: TableSource) -> str:
    """The name of a source in messages."""
    if isinstance(source, pa.Table):
        return "the table"
    return str(source.path if isinstance(source, FileColumns) else source)


def count_people(source: TableSource) -> int | None:
    """The number of rows, where it is known without reading the file; None otherwise."""
    if isinstance(source, pa.Table):
        return len(source)
    if isinstance(source, FileColumns):
        return source.people if source.people is not None else count_people(source.path)
    try:
        return ParquetTable.open(source).rows if is_parquet(source) else None
    except (LcifrError, pa.ArrowException, OSError):
        return None  # whoever reads it will say why


def column_names(path: Path) -> list[str]:
    """The column names of a file."""
    from pyarrow import csv

    with file_errors(path):
        if is_parquet(path):
            return list(ParquetTable.open(path).schema.names)
        check_separator(path)
        with csv.open_csv(path, parse_options=csv.ParseOptions(delimiter=delimiter_of(path))) as reader:
            return list(reader.schema.names)


def read_chunks(source: TableSource, schema: Schema, size: int, id_column: str | None = None) -> Iterator[Chunk]:
    """The people of a file in chunks of ``size``; the same chunks every time."""
    start = 0
    named = name_of(source)
    coded = [name for name in schema.names_categorical if name != id_column]
    for number, table in enumerate(read_tables(source, schema, size, dictionaries=coded)):
        rows = range(start, start + len(table))
        ids: tuple[Id, ...] = tuple(rows)
        if id_column is not None:
            ids = read_ids(table, named, id_column, rows, texts=isinstance(source, FileColumns))
            table = table if id_column in schema else table.drop_columns([id_column])
        yield Chunk(number, start, read_individuals(table, named, schema, rows), ids)
        start += len(table)
    if start == 0:
        raise LcifrError(f"{named}: there are no rows")


def read_tables(
    source: TableSource,
    schema: Schema | None,
    size: int | None = None,
    *,
    dictionaries: Sequence[str] = (),
    rows: range | None = None,
) -> Iterator[pa.Table]:
    """The rows of a file in tables of ``size``, not yet validated. Without a schema, CSV columns are text.

    ``dictionaries`` : columns of Parquet whose texts may come as codes (:meth:`ParquetTable.batches`).
    ``rows`` : of Parquet, consecutive ones that are read alone.
    """
    size = size or ROWS
    typed = (
        isinstance(source, pa.Table) or (isinstance(source, FileColumns) and source.kinds) or is_parquet(_path(source))
    )
    for table in _resized(_batches(source, size, dictionaries, rows), size):
        yield table if typed or schema is None else convert_csv_texts(table, schema)


def read_individuals(table: pa.Table, named: str, schema: Schema, rows: Sequence[int]) -> Individuals:
    """Validate a table that holds these rows of a file; problems name the rows of the file."""
    try:
        return Individuals.read(table, schema)
    except TableError as error:
        raise TableError([one.among(rows) for one in error.problems], source=named, fix=error.fix) from None


def convert_csv_texts(table: pa.Table, schema: Schema) -> pa.Table:
    """Convert CSV text columns to the numbers and categories that a reader of the whole file would give.

    Of a few rows nobody knows the type of the column, so this is generous: ``True`` is a 1 among numbers. What does not
    fit stays as it is, and the gate names it with its row.
    """
    for place, name in enumerate(table.column_names):
        column = table[name]
        if name not in schema or not pa.types.is_string(column.type):
            continue
        attribute = schema[name]
        try:
            meant = _numbers(column) if isinstance(attribute, Numeric) else _known(column, attribute.values)
        except pa.ArrowInvalid:
            continue
        table = table.set_column(place, name, meant)
    return table


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    texts = pc.utf8_trim_whitespace(column)
    try:
        return texts.cast(pa.float64())
    except pa.ArrowInvalid:
        return texts.cast(pa.bool_())


def _known(column: pa.ChunkedArray, values: tuple[str, ...]) -> pa.ChunkedArray:
    """Known categories in other spellings: ``True`` for true, ``3.0`` for 3."""
    written = [text for text in pc.unique(column).to_pylist() if text is not None]
    meant = {text: other for text in written if text not in values and (other := _other_name(text)) in values}
    for text, other in meant.items():
        column = pc.if_else(pc.equal(column, text), other, column)
    return column


def _other_name(text: str) -> str:
    for kind in (pa.int64(), pa.bool_(), pa.float64()):
        try:
            return text_of(pa.scalar(text.strip()).cast(kind).as_py())
        except (pa.ArrowInvalid, ValueError, OverflowError):
            continue
    return text


def _path(source: Any) -> Path:
    return source.path if isinstance(source, FileColumns) else Path(source)


def parquet_batches(path: Path, *, dictionaries: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
    """Record batches of a Parquet file in order and in bounded memory.

    ``dictionaries`` : columns whose texts come as codes (:meth:`ParquetTable.batches`).
    """
    from pyarrow import parquet

    coded = list(dictionaries)
    with parquet.ParquetFile(path, pre_buffer=False, buffer_size=READ_AHEAD, read_dictionary=coded) as file:
        yield from file.iter_batches(batch_size=ROWS)


def _batches(
    source: TableSource, size: int, dictionaries: Sequence[str], rows: range | None
) -> Iterator[pa.RecordBatch]:
    from pyarrow import csv

    if isinstance(source, pa.Table):
        yield from source.to_batches(max_chunksize=size)
        return
    path, some = _path(source), source if isinstance(source, FileColumns) else None
    names = list(some.names) if some else None
    with file_errors(path):
        if is_parquet(path):
            start, count = (0, None) if rows is None else (rows.start, len(rows))
            yield from ParquetTable.open(path).batches(size, names, start, count, dictionaries=dictionaries)
            return
        # Types are not guessed from the first block, because a later one might not fit. And a category may well be
        # called "NA", as in memory; the gate knows blank ones as missing.
        types = dict.fromkeys(names or column_names(path), pa.string()) | dict(some.kinds if some else ())
        options = csv.ConvertOptions(column_types=types, include_columns=names, strings_can_be_null=False)
        layout = csv.ParseOptions(delimiter=delimiter_of(path))
        with csv.open_csv(path, csv.ReadOptions(block_size=BLOCK), layout, options) as reader:
            yield from reader


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
