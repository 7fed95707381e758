"""Row groups of Parquet files copied into one file as they are: nothing is decoded, compressed or hashed again.

Arrow writes and reads whole files and has no call for this. A file is the pages of its row groups, and a footer that
says where they begin: the pages are copied, and every place in the footer is moved by the same number of bytes.
"""

from __future__ import annotations

import struct
from pathlib import Path
from types import TracebackType
from typing import Self, final

from lcifr.data.thrift import Struct, ThriftError
from lcifr.errors import ArtefactError

MAGIC = b"PAR1"
TAIL = struct.Struct("<I4s")
SCHEMA, ROWS, GROUPS, TEXTS = 2, 3, 4, 5
"""Fields of a footer; texts are keys and values, such as Arrow's own schema."""
COLUMNS, GROUP_ROWS, GROUP_START, ORDINAL = 1, 3, 5, 7
"""Of a row group."""
LARGEST_ORDINAL = (1 << 15) - 1
"""It has 16 bits, and may be left out."""
CHUNK_PLACES, METADATA = (4, 6), 3
"""Of a column of a row group: where its indices lie, and all that is known of its pages."""
PAGE_PLACES = (9, 10, 11, 14)
"""Of that: where pages, index pages, dictionaries and Bloom filters begin."""


@final
class RowGroupFile:
    """A Parquet file that is made of the row groups of others, which have the same columns.

    Parameters
    ----------
    path : of the new file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._footer: Struct | None = None
        self._groups: list[bytes] = []
        self._rows = 0

    def __enter__(self) -> Self:
        self._file = self._path.open("wb")
        self._file.write(MAGIC)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._file:
            if error is None and self._footer is not None:
                footer = self._footer.with_integers({ROWS: self._rows}).with_structs(GROUPS, self._groups).to_bytes()
                self._file.write(footer + TAIL.pack(len(footer), MAGIC))
        if error is None:
            self._check()

    def add(self, content: bytes) -> None:
        """Append the row groups of a whole Parquet file.

        Raises
        ------
        ArtefactError
            If it is none, or has other columns.
        """
        footer, end = _footer(content)
        if self._footer is None:
            self._footer = footer.without(TEXTS)
        if footer.raw(SCHEMA) != self._footer.raw(SCHEMA):
            raise ArtefactError(f"{self._path}: its parts have different columns", fix="remove them, and run it again")
        moved = self._file.tell() - len(MAGIC)
        self._file.write(memoryview(content)[len(MAGIC) : end])
        for group in footer.structs(GROUPS):
            self._rows += group.integer(GROUP_ROWS)
            self._groups.append(_moved_group(group, moved, len(self._groups)))

    def _check(self) -> None:
        """Whether Arrow reads the footer as it is meant; a file of nothing is none."""
        from pyarrow import parquet

        if self._footer is None:
            self._path.unlink()
            return
        found = parquet.read_metadata(self._path)
        if (found.num_rows, found.num_row_groups) != (self._rows, len(self._groups)):
            raise ArtefactError(f"{self._path} has {found.num_rows} rows, and its parts have {self._rows}")


def _footer(content: bytes) -> tuple[Struct, int]:
    """The footer of a file, and where its row groups end."""
    try:
        length, magic = TAIL.unpack(content[-TAIL.size :])
        start = len(content) - TAIL.size - length
        if content[: len(MAGIC)] == magic == MAGIC and start >= len(MAGIC):
            return Struct.read(content[start : start + length]), start
    except (struct.error, ThriftError):
        pass
    raise ArtefactError("a part is no Parquet file, or not all of it", fix="remove the parts, and run it again")


def _moved_group(group: Struct, moved: int, ordinal: int) -> bytes:
    columns = [_moved_column(column, moved).to_bytes() for column in group.structs(COLUMNS)]
    found = _moved(group, (GROUP_START,), moved).with_structs(COLUMNS, columns)
    if ordinal > LARGEST_ORDINAL:
        return found.without(ORDINAL).to_bytes()
    return (found.with_integers({ORDINAL: ordinal}) if ORDINAL in found else found).to_bytes()


def _moved_column(column: Struct, moved: int) -> Struct:
    pages = _moved(column.struct(METADATA), PAGE_PLACES, moved)
    return _moved(column, CHUNK_PLACES, moved).with_struct(METADATA, pages)


def _moved(found: Struct, places: tuple[int, ...], moved: int) -> Struct:
    return found.with_integers({place: found.integer(place) + moved for place in places if place in found})
