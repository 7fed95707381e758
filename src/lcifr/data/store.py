"""Ranges of rows of a Parquet table: chunks of people that whoever works on them reads, on whichever machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
import pyarrow as pa

from lcifr.data import Individuals, Schema
from lcifr.data.files import StoragePlace, is_remote
from lcifr.data.frames import file_errors
from lcifr.data.ingest import Chunk, Id, read_ids, read_individuals
from lcifr.data.parquet import ParquetTable, RowReader
from lcifr.data.table import RowSkip, taken_rows
from lcifr.errors import LcifrError

AT_ONCE = 1 << 13
"""Rows that are decoded at a time."""


@final
@dataclass(frozen=True)
class ScannedTable:
    """A Parquet table of which every row was looked at.

    Parameters
    ----------
    path : an absolute path or a URI. digest : of what was there (:meth:`lcifr.data.files.StoragePlace.digest`).
    names : its columns that are attributes. id_column : the one with people's names; None for row numbers.
    rows : of the table. skips : whether rows with missing values are left out.
    stamp : names, sizes and dates of its files before the first row was looked at.
    """

    path: str
    digest: str
    names: tuple[str, ...]
    id_column: str | None
    rows: int
    skips: bool
    stamp: str

    def refuse_changed(self) -> None:
        """Refuse to go on with a table that is another one by now: nobody would know whose verdicts are whose."""
        if StoragePlace.of(self.path).stamp() != self.stamp:
            raise LcifrError(
                f"{self.path} has changed while people were read from it",
                fix="run the same command again, and let nobody write there meanwhile",
            )

    @property
    def identity(self) -> str:
        """A hash of everything that the people of a range depend on, besides the range."""
        said = [self.digest, self.names, self.id_column, self.skips]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()

    def ranges(self, size: int) -> Iterator[RowRange]:
        """All rows, so many at a time."""
        for number, start in enumerate(range(0, self.rows, size)):
            yield RowRange(self, number, start, min(size, self.rows - start))


@final
@dataclass(frozen=True)
class RowRange:
    """Consecutive rows of a scanned table, not yet read."""

    table: ScannedTable
    number: int
    start: int
    count: int

    @property
    def size(self) -> int:
        """How many rows there are; some may be left out when they are read."""
        return self.count

    @property
    def ids(self) -> tuple[Id, ...]:
        """None before the rows are read."""
        return ()

    def content(self) -> Iterator[bytes]:
        """What tells it from all other ranges."""
        yield f"{self.table.identity} {self.start} {self.count}".encode()

    def read(self, schema: Schema) -> Chunk:
        """The people of these rows; nobody where something is missing in all of them."""
        table, named = self.table, self.table.path
        columns = [*table.names, *([table.id_column] if table.id_column not in (None, *table.names) else [])]
        coded = tuple(name for name in schema.names_categorical if name != table.id_column)
        with file_errors(table.path):
            rows = _reader(table, tuple(map(str, columns)), coded).take(self.start, self.count)
        if is_remote(table.path):  # what is local is looked at where the part is stored
            table.refuse_changed()
        numbers, rows = taken_rows(rows, schema, self.start, RowSkip() if table.skips else None)
        if not len(rows):
            nobody = Individuals(
                schema, np.zeros((0, len(schema.numeric))), np.zeros((0, len(schema.categorical)), np.int32)
            )
            return Chunk(self.number, self.start, nobody, ())
        ids: tuple[Id, ...] = tuple(numbers)
        if table.id_column is not None:
            ids = read_ids(rows, named, table.id_column, numbers, texts=True)
        people = read_individuals(rows.select(list(table.names)), named, schema, numbers)
        return Chunk(self.number, self.start, people, ids)


@final
class _TableReader:
    """Rows of one table, mostly those after the last ones: then nothing is decoded twice."""

    def __init__(self, path: str, names: tuple[str, ...], dictionaries: tuple[str, ...]) -> None:
        self._table, self._names, self._dictionaries = ParquetTable.open(path), names, dictionaries
        self._at = -1

    def take(self, start: int, count: int) -> pa.Table:
        """These rows."""
        if start != self._at:
            batches = self._table.batches(AT_ONCE, self._names, start, dictionaries=self._dictionaries)
            self._rows = RowReader(batches)
        self._at = start + count
        return self._rows.take(count)


@lru_cache(maxsize=1)
def _reader(table: ScannedTable, names: tuple[str, ...], dictionaries: tuple[str, ...]) -> _TableReader:
    """The reader of this process: one, so that memory stays flat."""
    return _TableReader(table.path, names, dictionaries)
