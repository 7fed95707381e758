"""Parquet files of a large run: parts joined into one, rows appended, and read again as many as one asks for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, final

import pyarrow as pa
from pyarrow import parquet

from lcifr.data.ingest import parquet_batches
from lcifr.data.parquet import is_text
from lcifr.data.row_groups import RowGroupFile

GROUP = 1 << 16
"""Rows in a row group of Parquet: each group adds some kB to the footer, which is held in memory."""


def join_tables(parts: Sequence[Path], path: Path) -> None:
    """All parts as one Parquet file: large ones are copied as they are, of small ones row groups are made."""
    with RowGroupFile(path) as file:
        waiting: list[pa.Table] = []
        for content in map(Path.read_bytes, parts):
            rows = parquet.read_metadata(pa.BufferReader(content)).num_rows if content else 0  # else nobody is in it
            if rows >= GROUP // 2:
                _add_tables(waiting, file)
                file.add(content)
            elif rows:
                read = pa.BufferReader(content)
                coded = repeated_texts(parquet.read_schema(pa.BufferReader(content)))
                waiting.append(parquet.read_table(read, read_dictionary=coded))
                if sum(map(len, waiting)) >= GROUP:
                    _add_tables(waiting, file)
        _add_tables(waiting, file)


def _add_tables(waiting: list[pa.Table], file: RowGroupFile) -> None:
    """Add what waits as a row group; then nothing waits."""
    if waiting:
        written = pa.BufferOutputStream()
        parquet.write_table(pa.concat_tables(waiting), written, store_schema=False)
        file.add(written.getvalue().to_pybytes())
        waiting.clear()


def repeated_texts(schema: pa.Schema) -> list[str]:
    """The columns of texts of which a few occur again and again: all but the ids."""
    return [field.name for field in schema if is_text(field.type) and field.name != "id"]


@final
class ParquetAppender:
    """A Parquet file written in batches; the first batch determines its schema.

    Texts may come as dictionaries, which are written quickly: in the file they are texts.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting: list[Any] = []
        self._writer: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._flush()
        if self._writer is not None:
            self._writer.close()

    def add(self, table: Any) -> None:
        """Append rows; they are buffered until they fill a row group."""
        if self._writer is None:
            self._schema = table.schema.remove_metadata()
            self._writer = parquet.ParquetWriter(self._path, self._schema, store_schema=False)
        self._waiting.append(table.cast(self._schema))
        if sum(map(len, self._waiting)) >= GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.concat_tables(self._waiting))
            self._waiting.clear()


class ParquetRows:
    """The next rows of a Parquet file, as many as one asks for; all texts but ids are codes."""

    def __init__(self, path: Path) -> None:
        coded = repeated_texts(parquet.read_schema(path))
        self._batches = parquet_batches(path, dictionaries=coded)
        with parquet.ParquetFile(path, read_dictionary=coded) as file:
            self._waiting: pa.Table = file.schema_arrow.empty_table()

    def take(self, count: int) -> pa.Table:
        """A table of so many rows; shorter where the file ends."""
        while len(self._waiting) < count and (batch := next(self._batches, None)) is not None:
            self._waiting = pa.concat_tables([self._waiting, pa.Table.from_batches([batch])])
        rows, self._waiting = self._waiting.slice(0, count), self._waiting.slice(count)
        return rows
