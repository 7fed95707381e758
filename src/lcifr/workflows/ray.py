"""Chunked runs on a Ray cluster: Ray schedules and retries, the driver stores parts and validates tables there."""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType
from typing import Any, Self, final

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
from lcifr.errors import LcifrError, TableError, TableProblem, missing_extra
from lcifr.workflows.executors import RayCluster, use_one_thread

# A Ray cluster that works on the pieces of a large run: Ray schedules, retries and spills; the driver stores parts.
#
# The work goes to the object store once a node, and is opened once a worker process. A piece of a Parquet table is a
# range of rows, which the worker reads itself from where the table is. What comes back is the content of a part, some
# bytes a person.

RETRIES = 20
"""Times that a piece is tried again elsewhere when its node or its process dies."""

GPU_SHARE = 0.125
"""The share of a GPU per piece that uses one: eight processes prepare people for it, and search what it leaves open."""

CANCELLED = 10_000
"""Pieces that are called off when a run is stopped; more are never waiting."""


class ClusterError(LcifrError):
    """What a worker of a cluster said, or that it cannot work."""


@dataclass(frozen=True)
class Refusal:
    """An error that a worker raised on purpose, in words."""

    text: str


def _content(reference: Any) -> bytes:
    """Wait for the content of a part that is being made somewhere."""
    import ray

    try:
        found = ray.get(reference)
    except ray.exceptions.RayError as problem:
        raise ClusterError(
            f"Ray gave a piece up: {type(problem).__name__}: {str(problem).strip().splitlines()[0]}",
            fix="see that the nodes have memory and lcifr; the same command resumes with what is done",
        ) from None
    if isinstance(found, Refusal):
        raise ClusterError(found.text)
    return bytes(found)


@final
class RayPool:
    """The cores of a Ray cluster.

    Parameters
    ----------
    job : what is done; it is packed as bytes once.
    """

    def __init__(self, job: Any, cluster: RayCluster) -> None:
        self._job, self._cluster = job, cluster
        self._started = False
        self._pending: deque[Any] = deque(maxlen=CANCELLED)

    @property
    def size(self) -> int:
        """Cores of the cluster as it is now: nodes come and go."""
        there = _ray().cluster_resources()
        most = max(int(there.get("CPU", 1)), 1)
        if self._job.device is not None:
            most = max(min(most, int(there.get("GPU", 0) / GPU_SHARE)), 1)
        return min(most, self._cluster.workers or most)

    def __enter__(self) -> Self:
        ray = _ray()
        from lcifr.workflows.jobs import PackedWork

        work = PackedWork.of(self._job)  # first: what cannot be sent is refused before anything is started
        self._started = connect(self._cluster)
        self._work, self._name = [ray.put(work.data)], work.sha256
        options = {"num_cpus": 1, "max_retries": RETRIES, "name": f"lcifr {type(self._job).__name__}"}
        if self._job.device is not None:
            self._refuse_without_gpu(ray)
            options["num_gpus"] = GPU_SHARE
        self._task = ray.remote(**options)(_work)
        return self

    def _refuse_without_gpu(self, ray: Any) -> None:
        there = ray.cluster_resources()
        if not there.get("GPU", 0):
            found = f"{len(ray.nodes())} node(s) with {there.get('CPU', 0):g} cores and no GPU"
            self.__exit__(None, None, None)
            raise ClusterError(
                f"--device cuda: the cluster has {found}", fix="say --device cpu, or add a node with a GPU"
            )

    def submit(self, piece: Any, left: int | None) -> Callable[[], bytes]:
        """Waits for the content of its part."""
        reference = self._task.remote(self._name, self._work, piece)
        self._pending.append(reference)
        return partial(_content, reference)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        import ray

        if error is not None:  # Ctrl-C above all: no one waits for pieces that will not be stored
            for reference in self._pending:
                ray.cancel(reference, force=True)
        self._pending.clear()
        if self._started:
            ray.shutdown()


def connect(cluster: RayCluster) -> bool:
    """Connect this process with a cluster, or start one here; False where it is connected already."""
    ray = _ray()
    if ray.is_initialized():
        return False
    address = cluster.address
    os.environ.setdefault("RAY_DEDUP_LOGS", "0")
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address is None and "RAY_ADDRESS" not in os.environ:
        options |= {"include_dashboard": False, "num_cpus": cluster.workers, "address": "local"}
    else:
        options["address"] = address
    try:
        ray.init(**options)
    except (ConnectionError, ValueError, RuntimeError) as problem:
        raise ClusterError(
            f"no Ray cluster answers at {address or os.environ.get('RAY_ADDRESS') or 'this machine'}: "
            f"{str(problem).strip().splitlines()[0]}",
            fix="start one on its head node by `ray start`, and say --address auto, or its address",
        ) from None
    return True


def _ray() -> Any:
    try:
        import ray
    except ModuleNotFoundError as error:
        raise missing_extra(error, "--executor ray") from None
    return ray


_OPENED: dict[str, Any] = {}
"""Jobs of this worker process by the hash of their bytes: one, as a cluster serves many runs."""


def _work(name: str, work: list[Any], piece: Any) -> bytes | Refusal:
    """On a worker: the content of the part of a piece. Errors travel as words, as their types may not be there.

    ``work`` : the reference to the bytes of that ``name``, in a list so that Ray fetches them only where they are asked
    for: once a process.
    """
    import ray

    from lcifr.workflows.jobs import PackedWork

    use_one_thread()
    try:
        if name not in _OPENED:
            _OPENED.clear()
            _OPENED[name] = PackedWork(ray.get(work[0])).job()
        return bytes(_OPENED[name].part(piece))
    except LcifrError as problem:
        return Refusal(str(problem))


# The first look at a Parquet table by a Ray cluster: every row validated, and ids compared in a shuffle.
#
# Tasks look at ranges of rows, and return the hashes of their ids divided into buckets; then a task for each bucket
# looks for hashes that occur twice. Ray moves, spills and makes again what is lost. No machine holds everyone, and all
# of it is before the first proof.

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
    """What a range holds: its ``people``, or the first problem, as words or as those of a table with all its rows."""

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
