"""Some people of a file that may be larger than memory, at random; the others are never kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.runs.people.limits import LEARNED, refuse_more

if TYPE_CHECKING:
    import pyarrow as pa


def read_some(path: Path, sample: int | None, seed: int, what: str) -> tuple[pa.Table, tuple[int, ...] | None, int]:
    """A file in memory, the rows that were drawn (None for all), and how many there are.

    Parameters
    ----------
    sample : how many people to draw; None for everybody, who must not be too many. what : who needs them in memory.
    """
    import numpy as np

    if sample is None:
        fix = f"say --sample {LEARNED // 10}: so many people are drawn at random, by --seed"
        whole = read_whole(path, what, fix)
        return whole, None, len(whole)
    people = _count(path)
    if sample >= people:
        return read_whole(path, what), None, people
    rows = np.sort(np.random.default_rng(seed).choice(people, sample, replace=False))
    return _drawn(path, rows), tuple(rows.tolist()), people


def read_whole(path: Path, what: str, fix: str = "give a table of fewer people, drawn at random") -> pa.Table:
    """A file in memory, unless too many people are in it; nothing is read to find that out where it is small."""
    from lcifr.data import read_frame

    if path.is_file() and (path.suffix.lower() == ".gz" or path.stat().st_size > LEARNED):  # a row has a byte at least
        refuse_more(_count(path), LEARNED, what, fix)
    return read_frame(path)


def _count(path: Path) -> int:
    from lcifr.data.io.stream import count_people

    known = count_people(path)
    return sum(len(table) for table in _tables(path)) if known is None else known


def _tables(path: Path) -> Any:
    from lcifr.data.io.stream import read_tables

    return read_tables(path, None)


def _drawn(path: Path, rows: Any) -> pa.Table:
    """These rows; of CSV with the types that they have among themselves, as in a file of their own."""
    import numpy as np
    import pyarrow as pa

    from lcifr.data.frames import is_parquet, read_frame
    from lcifr.data.io.csv_types import infer_types

    found, start = [], 0
    for table in _tables(path):
        first, last = np.searchsorted(rows, [start, start + len(table)])
        found.append(table.take(rows[first:last] - start))
        start += len(table)
    drawn = read_frame(pa.concat_tables(found))  # which refuses two columns of one name
    return drawn if is_parquet(path) else infer_types(drawn)
