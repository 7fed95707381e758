"""Parquet tables: one file, or a folder of many (partitioned or not), local or in a store: read by rows, and written.

The rows of a folder are those of its files one after the other, in the order of their names; a column of a partition
(``state=CA/part.parquet``) is one like the others.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self, final

import pyarrow as pa
from pyarrow import parquet

from lcifr.data.files import StoragePlace, is_remote
from lcifr.errors import ArtefactError, LcifrError, no_such_file

READ_AT_ONCE = 1 << 16
"""Rows of a table that is read at a time."""
READ_AHEAD = 1 << 16
"""Bytes of a Parquet column at a time. Otherwise a whole row group is fetched, and a file may be a single one."""
FETCHED = 1 << 20
"""The same in a store, where every request has its price."""


def is_text(kind: pa.DataType) -> bool:
    """Whether values of this type are texts; pandas writes the large ones."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_dictionary_of_texts(kind: pa.DataType) -> bool:
    """Whether values of this type are codes of texts."""
    return bool(pa.types.is_dictionary(kind) and is_text(kind.value_type))


@dataclass(frozen=True)
class ParquetPiece:
    """One file of a table: how many ``rows`` each of its row groups has, and the values of its partition."""

    path: str
    groups: tuple[int, ...]
    keys: tuple[tuple[str, Any], ...] = ()

    @property
    def rows(self) -> int:
        return sum(self.groups)


@final
@dataclass(frozen=True)
class ParquetTable:
    """A table in Parquet files.

    Parameters
    ----------
    place : the file or folder. schema : of all files, the columns of partitions included.
    """

    place: StoragePlace
    schema: pa.Schema
    pieces: tuple[ParquetPiece, ...]

    @classmethod
    def open(cls, path: str | Path) -> ParquetTable:
        """Read the footers: nobody's row yet."""
        place = StoragePlace.of(path)
        kind = place.kind()
        if kind == "nothing":
            raise no_such_file(place.text)
        return cls._of_file(place) if kind == "file" else cls._of_folder(place)

    @classmethod
    def _of_file(cls, place: StoragePlace) -> ParquetTable:
        with parquet.ParquetFile(place.open()) as file:
            return cls(place, file.schema_arrow, (ParquetPiece(place.path, _groups(file)),))

    @classmethod
    def _of_folder(cls, place: StoragePlace) -> ParquetTable:
        from pyarrow import dataset

        found = dataset.dataset(place.path, filesystem=place.filesystem, format="parquet", partitioning="hive")
        pieces = []
        for fragment in sorted(found.get_fragments(), key=lambda one: one.path):
            keys = tuple(dataset.get_partition_keys(fragment.partition_expression).items())
            with parquet.ParquetFile(place.filesystem.open_input_file(fragment.path)) as file:
                pieces.append(ParquetPiece(fragment.path, _groups(file), keys))
        if not pieces:
            raise LcifrError(f"{place}: the folder holds no Parquet files", fix="give a folder of .parquet files")
        return cls(place, found.schema, tuple(pieces))

    @cached_property
    def rows(self) -> int:
        """In all files together."""
        return sum(piece.rows for piece in self.pieces)

    def read(self) -> pa.Table:
        """All of it, in memory."""
        return pa.Table.from_batches(self.batches(), self.schema)

    def batches(
        self,
        size: int = READ_AT_ONCE,
        names: Sequence[str] | None = None,
        start: int = 0,
        count: int | None = None,
        *,
        dictionaries: Sequence[str] = (),
    ) -> Iterator[pa.RecordBatch]:
        """Record batches of at most ``size`` rows, from row ``start`` on, ``count`` rows in all; in bounded memory.

        ``dictionaries`` : columns whose texts come as codes and a dictionary, as files mostly hold them: five times as
        fast as one text per row. Columns of other types come as they are.
        """
        wanted = list(self.schema.names if names is None else names)
        coded = [name for name in wanted if name in dictionaries and is_text(self.schema.field(name).type)]
        left = self.rows - start if count is None else min(count, self.rows - start)
        for piece in self.pieces:
            if start >= piece.rows:
                start -= piece.rows
                continue
            for batch in self._of_piece(piece, size, wanted, coded, start):
                if left <= 0:
                    return
                yield batch.slice(0, left)
                left -= len(batch)
            start = 0

    def _of_piece(
        self, piece: ParquetPiece, size: int, names: list[str], coded: list[str], start: int
    ) -> Iterator[pa.RecordBatch]:
        first = 0
        while start and start >= piece.groups[first]:
            start -= piece.groups[first]
            first += 1
        groups = list(range(first, len(piece.groups)))
        keys = dict(piece.keys)
        own = [name for name in names if name not in keys]
        with self._file(piece, coded) as file:
            self._refuse_other_columns(piece, file.schema_arrow, own)
            for batch in file.iter_batches(batch_size=size, row_groups=groups, columns=own):
                if start >= len(batch):
                    start -= len(batch)
                    continue
                yield self._whole(batch.slice(start), names, keys, piece, coded)
                start = 0

    def _refuse_other_columns(self, piece: ParquetPiece, schema: pa.Schema, names: list[str]) -> None:
        """Refuse a file that lacks a column of the table, or has other values there than the table can hold."""
        for name in names:
            if name not in schema.names:
                raise LcifrError(
                    f'{piece.path} has no column "{name}", which other files of the table have',
                    fix="write all files of a table with the same columns",
                )
            there, here = schema.field(name).type, self.schema.field(name).type
            if not is_lossless(there, here):
                raise _other_types(piece, f'"{name}" is {there} there and {here} elsewhere')

    def _file(self, piece: ParquetPiece, coded: list[str]) -> parquet.ParquetFile:
        remote = is_remote(self.place.text)
        file = self.place.filesystem.open_input_file(piece.path) if remote else piece.path
        buffer = FETCHED if remote else READ_AHEAD
        return parquet.ParquetFile(file, pre_buffer=False, buffer_size=buffer, read_dictionary=coded)

    def _whole(
        self, batch: pa.RecordBatch, names: list[str], keys: dict[str, Any], piece: ParquetPiece, coded: list[str]
    ) -> pa.RecordBatch:
        """With the columns of the partition, in order, and of the types that the table has; ``coded`` stay codes."""
        _refuse_broken_texts(batch, piece)
        if len(self.pieces) == 1 and not keys:
            return batch
        kinds = {name: self.schema.field(name).type for name in names}
        try:
            columns = [
                pa.repeat(pa.scalar(keys[name], kinds[name]), len(batch))
                if name in keys
                else _of_type(batch.column(name), kinds[name], coded=name in coded)
                for name in names
            ]
        except pa.ArrowException as problem:
            raise _other_types(piece, str(problem)) from None
        return pa.RecordBatch.from_arrays(columns, names)


def is_lossless(kind: pa.DataType, into: pa.DataType) -> bool:
    """Whether a cast keeps every value, or fails: Arrow also rounds to decimals and shorter floats, and reads texts."""
    kind, into = (one.value_type if pa.types.is_dictionary(one) else one for one in (kind, into))
    if kind == into or pa.types.is_null(kind) or (is_text(kind) and is_text(into)):
        return True
    if pa.types.is_integer(kind):  # casts of whole numbers are checked, value by value
        return bool(pa.types.is_integer(into) or pa.types.is_float64(into))
    return bool(pa.types.is_floating(kind) and pa.types.is_floating(into) and kind.bit_width <= into.bit_width)


def _other_types(piece: ParquetPiece, problem: str) -> LcifrError:
    return LcifrError(
        f"{piece.path}: its columns are not of the types of the other files: {problem}",
        fix="write all files of a table with the same schema",
    )


def _refuse_broken_texts(batch: pa.RecordBatch, piece: ParquetPiece) -> None:
    """Arrow takes the bytes of texts as they are: whoever reads them later would fail without a word of the file."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if is_text(column.type) or is_dictionary_of_texts(column.type):
            try:
                column.validate(full=True)
            except pa.ArrowInvalid:
                raise LcifrError(
                    f'{piece.path}: column "{name}" holds texts that are not UTF-8', fix="write them as UTF-8"
                ) from None


def _of_type(column: pa.Array, kind: pa.DataType, *, coded: bool) -> pa.Array:
    """The column in the table's type; a dictionary of such texts stays one where codes are asked for."""
    return column if coded and is_dictionary_of_texts(column.type) and is_text(kind) else column.cast(kind)


def _groups(file: parquet.ParquetFile) -> tuple[int, ...]:
    return tuple(file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups))


@final
class RowReader:
    """The next rows of record batches, as many as one asks for."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches, self._waiting, self._rows = batches, list[pa.RecordBatch](), 0

    def take(self, count: int) -> pa.Table:
        """A table of so many rows; shorter where they end."""
        while self._rows < count and (batch := next(self._batches, None)) is not None:
            self._waiting.append(batch)
            self._rows += len(batch)
        if not self._waiting:
            return pa.table({})
        whole = pa.Table.from_batches(self._waiting)
        self._waiting, self._rows = whole.slice(count).to_batches(), max(0, self._rows - count)
        return whole.slice(0, count)


# Tables that are written: rows appended to one file, and parts that become one file, or the files of a folder.

GROUP = 1 << 16
"""Rows in a row group: each group adds some kB to the footer, which is held in memory."""
ONE_FILE = 1_000_000
"""Rows up to which parts are written as one file again, which takes a second. Of more, large parts are copied as they
are into a folder, whose files pandas, polars and Arrow read as one table."""


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

    def add(self, table: pa.Table) -> None:
        """Append rows; they are buffered until they fill a row group."""
        if self._writer is None:
            self._schema = table.schema.remove_metadata()
            self._writer = parquet.ParquetWriter(self._path, self._schema, store_schema=False)
        try:
            self._waiting.append(table.cast(self._schema))
        except ValueError:
            raise ArtefactError(
                f"{self._path}: its parts have different columns", fix="remove them, and run it again"
            ) from None
        if sum(map(len, self._waiting)) >= GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.concat_tables(self._waiting))
            self._waiting.clear()


def join_parts(parts: Sequence[Path], path: Path) -> None:
    """All parts as one table: a Parquet file; or, beyond ``ONE_FILE`` rows, a folder of that name. Empty parts are
    those that no one is in.
    """
    rows = {part: parquet.read_metadata(part).num_rows for part in parts if part.stat().st_size}
    if sum(rows.values()) <= ONE_FILE:
        _write_file(list(rows), path)
        return
    path.mkdir()
    files, waiting = list[list[Path]](), list[Path]()
    for part, count in rows.items():
        waiting.append(part)
        if count >= GROUP // 2 or sum(rows[one] for one in waiting) >= GROUP:
            files.append(waiting)
            waiting = []
    for number, some in enumerate([*files, *filter(None, [waiting])]):
        file = path / f"part-{number:08d}.parquet"
        if len(some) == 1:
            shutil.copyfile(some[0], file)
        else:
            _write_file(some, file)


def _write_file(parts: Sequence[Path], path: Path) -> None:
    with ParquetAppender(path) as file:
        for part in parts:
            file.add(parquet.read_table(part, read_dictionary=repeated_texts(parquet.read_schema(part))))
