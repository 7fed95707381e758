"""The first look at a Parquet table by a Ray cluster: every row validated, and ids compared in a shuffle.

Tasks look at ranges of rows, and return the hashes of their ids divided into buckets; then a task for each bucket looks
for hashes that occur twice. Ray moves, spills and makes again what is lost. No machine holds everybody, and all of it
is before the first proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Schema
from lcifr.data.files import is_remote, versions
from lcifr.data.frames import file_errors
from lcifr.data.ingest import (
    ROWS,
    FileColumns,
    divide,
    hash_column,
    look_at,
    refuse_nobody,
    refuse_twice,
    repeated_hash,
    smallest,
)
from lcifr.data.parquet import ParquetTable
from lcifr.data.table import RowSkip
from lcifr.errors import LcifrError, TableError, TableProblem
from lcifr.runs.executors.crew import RayCluster
from lcifr.runs.executors.ray import RETRIES, ClusterError, connect

BUCKET, MOST = 1 << 20, 512
"""Hashes in a bucket (16 MB), and buckets at most: beyond half a billion people they become larger."""
SHARE = 1 << 13
"""Hashes of a range in a bucket at least (128 kB): smaller results of tasks would be held by the driver itself."""
RANGE = 2 * ROWS
"""Rows of a range at least; a multiple of what is validated at a time, so that errors are those of one process."""


@dataclass(frozen=True)
class Look:
    """What a look is for: the columns, and how they are read. ``versions`` : of the packages of who asks."""

    source: FileColumns
    schema: Schema
    id_column: str | None
    label: str | None
    skipping: RowSkip | None
    versions: dict[str, str]

    def anywhere(self) -> Look:
        """The same for processes that work in other folders."""
        path = self.source.path
        return self if is_remote(path) else replace(self, source=replace(self.source, path=path.absolute()))

    def ranges(self, rows: int, buckets: int) -> Iterator[range]:
        """All rows of the table, divided."""
        size = -(-max(RANGE, SHARE * buckets) // RANGE) * RANGE
        return (range(start, min(start + size, rows)) for start in range(0, rows, size))


@dataclass(frozen=True)
class Seen:
    """Of a range: the ``people`` in it, or the first problem: its words, or those of a table with all its rows."""

    people: int = 0
    problems: tuple[TableProblem, ...] = ()
    words: str = ""
    fix: str | None = None


def look_on_cluster(look: Look, cluster: RayCluster) -> FileColumns:
    """What :func:`lcifr.data.ingest.scan_file` finds without a store, by the nodes of a cluster."""
    with file_errors(look.source.path):
        rows = ParquetTable.open(look.source.path).rows
    started = connect(cluster)
    import ray

    try:
        people, twice = _shuffle(look, rows)
    except ray.exceptions.RayError as problem:
        raise ClusterError(
            f"Ray gave the first look up: {type(problem).__name__}: {str(problem).strip().splitlines()[0]}",
            fix="see that the nodes have memory and lcifr, and run the same command again",
        ) from None
    finally:
        if started:
            ray.shutdown()
    if twice is not None and look.id_column is not None:
        refuse_twice(look.source, look.id_column, twice)
    refuse_nobody(look.source, rows, people)
    return replace(look.source, people=rows, left_out=rows - people)


def _shuffle(look: Look, rows: int) -> tuple[int, bytes | None]:
    """How many people there are, and the smallest hash of an id that comes twice."""
    import ray

    buckets = 0 if look.id_column is None else min(-(-rows // BUCKET), MOST)
    options: dict[str, Any] = {"num_cpus": 1, "max_retries": RETRIES}
    look_once = ray.remote(num_returns=1 + buckets, **options)(_look)
    compare = ray.remote(**options)(_compare)
    there = look.anywhere()
    asked: list[Any] = [look_once.remote(there, some, buckets) for some in look.ranges(rows, buckets)]
    made: list[list[Any]] = asked if buckets else [[one] for one in asked]
    people = 0
    try:
        for seen in (ray.get(one[0]) for one in made):  # in order: the first problem of the table is the one
            _raise(seen, str(there.source.path), str(look.source.path))
            people += seen.people
    except BaseException:
        for one in made:
            ray.cancel(one[0], force=True)
        raise
    return people, smallest(ray.get([compare.remote(*(one[1 + b] for one in made)) for b in range(buckets)]))


def _raise(seen: Seen, there: str, named: str) -> None:
    """Raise what was found, in the words of one process: the table is named as the command names it."""
    if seen.problems:
        raise TableError(seen.problems, fix=seen.fix)
    if seen.words:
        raise LcifrError(seen.words.replace(there, named))


def _look(look: Look, some: range, buckets: int) -> Any:
    """On a worker: a range validated, and the hashes of its ids by bucket."""
    from lcifr.runs.executors.local import use_one_thread

    use_one_thread()
    people, hashes = 0, [np.empty((0, 2), np.uint64)]
    try:
        if look.versions != versions():
            raise LcifrError(f"a worker has other packages: {versions()}", fix=f"install {look.versions} everywhere")
        with file_errors(look.source.path):
            for _, _, kept in look_at(look.source, look.schema, look.id_column, look.label, look.skipping, some):
                people += len(kept)
                if look.id_column is not None and len(kept):
                    hashes.append(hash_column(kept[look.id_column]))
        seen = Seen(people)
    except TableError as problem:
        seen = Seen(problems=problem.problems, fix=problem.fix)
    except LcifrError as problem:
        seen = Seen(words=str(problem))
    return (seen, *divide(np.concatenate(hashes), buckets)) if buckets else seen


def _compare(*mine: NDArray[np.uint64]) -> bytes | None:
    """On a worker: the smallest hash of a bucket that occurs twice."""
    return repeated_hash(np.concatenate(mine))
