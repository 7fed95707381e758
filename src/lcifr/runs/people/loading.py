"""Tables in memory: all of a file, or people drawn at random; read once to count where needed, and once to keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.runs.people.limits import LEARNED, refuse_more

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 1 << 20  # bytes of a file at a time, where lines are counted


@dataclass(frozen=True, eq=False)
class LoadedTable:
    """Rows of a file in memory.

    Parameters
    ----------
    frame : the columns with the types that they have in these rows.
    written : of CSV, the column of ids as it is written, where one was named: in memory "007" is 7, and "1.50" is 1.5,
        while a hand-over and labels find each other by ids, and one of them may come from a file that keeps texts.
    drawn : which rows of the file these are; None for all. count : rows of the file.
    """

    frame: pa.Table
    written: pa.Table | None
    drawn: tuple[int, ...] | None
    count: int

    def ids(self, source: str, id_column: str) -> tuple[str | int, ...]:
        """The ids of these people, one for everybody."""
        from lcifr.data.io.ids import read_ids

        rows = range(len(self.frame)) if self.drawn is None else self.drawn
        return read_ids(self.frame if self.written is None else self.written, source, id_column, rows, texts=True)


def load_some(path: Path, id_column: str | None, sample: int | None, seed: int, what: str) -> LoadedTable:
    """A file in memory, or a sample of it.

    Parameters
    ----------
    id_column : the column of ids, or None. sample : how many people to draw; None for everybody, who must not be too
        many. what : who needs them in memory.
    """
    import numpy as np

    if sample is None:
        fix = f"say --sample {LEARNED // 10}: so many people are drawn at random, by --seed"
        return load_whole(path, id_column, what, fix)
    people, kind = _count(path, id_column)
    if sample >= people:
        refuse_more(people, LEARNED, what, "say a smaller --sample")
        return _load(path, id_column)
    rows = np.sort(np.random.default_rng(seed).choice(people, sample, replace=False))
    return _drawn(path, id_column, kind, rows, people)


def load_whole(
    path: Path, id_column: str | None, what: str, fix: str = "give a table of fewer people, drawn at random"
) -> LoadedTable:
    """A file in memory, unless too many people are in it; nothing is read to find that out where it is small."""
    if path.is_file() and (path.suffix.lower() == ".gz" or path.stat().st_size > LEARNED):  # a row has a byte at least
        _refuse_large(path, what, fix)
    return _load(path, id_column)


def read_whole(path: Path, what: str, fix: str = "give a table of fewer people, drawn at random") -> pa.Table:
    """The columns alone of :func:`load_whole`, where nobody is named."""
    return load_whole(path, None, what, fix).frame


def _refuse_large(path: Path, what: str, fix: str) -> None:
    """Lines are counted first: nothing is parsed for that, and only text in quotes has more lines than rows."""
    from lcifr.data.frames import is_parquet

    if not is_parquet(path) and _lines(path) <= LEARNED:
        return
    refuse_more(_count(path, None)[0], LEARNED, what, fix)


def _lines(path: Path) -> int:
    import pyarrow as pa

    from lcifr.data.frames import file_errors

    lines = 0
    with file_errors(path), pa.input_stream(str(path)) as file:  # which opens .gz as well
        while block := file.read(BLOCK):
            lines += block.count(b"\n")
            if lines > LEARNED:
                break
    return lines


def _load(path: Path, id_column: str | None) -> LoadedTable:
    from lcifr.data.frames import is_parquet, read_frame
    from lcifr.data.io.csv_types import fitting_id_types, infer_types, read_as

    texts = () if id_column is None or is_parquet(path) else (id_column,)
    frame, written = read_frame(path, texts=texts), None
    if texts and id_column in frame.column_names:
        ids = frame.select([id_column])
        written = read_as(ids, {str(id_column): fitting_id_types(ids[id_column])[0]})
        place = frame.column_names.index(id_column)
        frame = frame.set_column(place, id_column, infer_types(ids)[id_column])
    return LoadedTable(frame, written, None, len(frame))


def _count(path: Path, id_column: str | None) -> tuple[int, Sequence[Any]]:
    """How many rows there are, and of CSV the types that all ids fit."""
    from lcifr.data.io.csv_types import OF_IDS, fitting_id_types
    from lcifr.data.io.stream import count_people

    kinds: Sequence[Any] = OF_IDS
    if (known := count_people(path)) is not None:
        return known, kinds
    people = 0
    for table in _tables(path):
        people += len(table)
        if id_column in table.column_names:
            kinds = fitting_id_types(table[id_column], kinds)
    return people, kinds


def _tables(path: Path) -> Iterator[pa.Table]:
    from lcifr.data.io.stream import read_tables

    return read_tables(path, None)


def _drawn(path: Path, id_column: str | None, kinds: Sequence[Any], rows: Any, people: int) -> LoadedTable:
    """These rows; of CSV with the types that they have among themselves, as in a file of their own."""
    import numpy as np
    import pyarrow as pa

    from lcifr.data.frames import is_parquet, read_frame
    from lcifr.data.io.csv_types import infer_types, read_as

    found, start = [], 0
    for table in _tables(path):
        first, last = np.searchsorted(rows, [start, start + len(table)])
        found.append(table.take(rows[first:last] - start))
        start += len(table)
    drawn = read_frame(pa.concat_tables(found))  # which refuses two columns of one name
    which = tuple(rows.tolist())
    if is_parquet(path):
        return LoadedTable(drawn, None, which, people)
    named = id_column is not None and id_column in drawn.column_names
    written = read_as(drawn.select([id_column]), {str(id_column): kinds[0]}) if named else None
    return LoadedTable(infer_types(drawn), written, which, people)
