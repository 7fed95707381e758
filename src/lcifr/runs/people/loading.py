"""Tables in memory, with types and ids as their file spells them: all of it, people drawn at random, or labels by id.

A file is read once to count where that is needed, and once to keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError, TableError
from lcifr.runs.people.source import LEARNED, no_column, refuse_more

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
        from lcifr.data.ingest import read_ids

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
    from lcifr.data.ingest import fitting_id_types, infer_types, read_as

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
    from lcifr.data.ingest import OF_IDS, count_people, fitting_id_types

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
    from lcifr.data.ingest import read_tables

    return read_tables(path, None)


def _drawn(path: Path, id_column: str | None, kinds: Sequence[Any], rows: Any, people: int) -> LoadedTable:
    """These rows; of CSV with the types that they have among themselves, as in a file of their own."""
    import numpy as np
    import pyarrow as pa

    from lcifr.data.frames import is_parquet, read_frame
    from lcifr.data.ingest import infer_types, read_as

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


@dataclass(frozen=True, eq=False)
class Labels:
    """name : of the column. there : (people,) who has a label. values : (people with a label,)."""

    name: str
    there: Any
    values: Any


@dataclass(frozen=True, eq=False)
class LabelTable:
    """A file with labels, read once.

    Parameters
    ----------
    name : the column of labels. column : (rows,) its values. rows : the row of each id, as text.
    """

    path: Path
    name: str
    column: pa.ChunkedArray
    rows: Mapping[str, int]

    @classmethod
    def read(cls, path: Path, target: str | None, id_column: str | None) -> LabelTable:
        """The labels in a file. Without a column of ids, these are its row numbers."""
        from lcifr.data.ingest import column_names, first_duplicate

        if id_column is None and path.is_file() and target != "id" and "id" in column_names(path):
            id_column = "id"
        loaded = load_whole(path, id_column, "looking up labels", "give the labels of those who were handed over")
        known = loaded.frame.column_names
        if id_column is not None and id_column not in known:
            raise no_column(str(path), id_column, known)
        name = target if target is not None else _only(path, [one for one in known if one != id_column])
        if name not in known:
            raise no_column(str(path), name, known)
        ids = range(loaded.count) if id_column is None else loaded.ids(str(path), id_column)
        if (twice := first_duplicate(ids)) is not None:
            raise LcifrError(f'{path}: the id "{twice}" occurs twice', fix="every person needs one label")
        return cls(path, name, loaded.frame[name], {str(one): row for row, one in enumerate(ids)})

    def find(self, ids: Sequence[str | int], *, learned: bool) -> Labels:
        """The labels of these people; ``learned`` : whether something is learned from them, so that some are needed."""
        import numpy as np
        import pyarrow as pa

        there = np.array([str(one) in self.rows for one in ids], dtype=np.bool_)
        rows = [self.rows[str(one)] for one in ids if str(one) in self.rows]
        if not rows and learned:
            shown = f"the hand-over has {ids[0]!r}, …; the labels {list(self.rows)[:1]}, …"
            raise LcifrError(
                f"{self.path}: it contains nobody from the hand-over ({shown})",
                fix="--id names the column with the ids",
            )
        column = self.column.take(pa.array(rows, pa.int64()))
        return Labels(self.name, there, _values(column, self.name, self.path, rows, learned))


def _values(column: Any, name: str, path: Path, rows: list[int], learned: bool) -> Any:
    import numpy as np

    from lcifr.data.table import check_target, target_values

    try:
        return check_target(column, name) if learned else np.asarray(target_values(column, name).to_pandas())
    except TableError as error:
        fix = "correct these rows, or leave them out: nothing is learned from people without a label"
        raise TableError([one.among(rows) for one in error.problems], source=str(path), fix=fix) from None


def _only(path: Path, names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    raise LcifrError(
        f"{path} has {len(names)} columns that could be the label: {', '.join(names[:12]) or 'none'}",
        fix="choose one with --target COLUMN",
    )
