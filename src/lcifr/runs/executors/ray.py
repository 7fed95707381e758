"""A Ray cluster that works on the pieces of a large run: Ray schedules, retries and spills; the driver stores parts.

The work goes to the object store once a node, and is opened once a worker process. A piece of a Parquet table is a
range of rows, which the worker reads itself from where the table is. What comes back is the content of a part, some
bytes a person.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, final

from lcifr.errors import LcifrError
from lcifr.runs.executors.crew import RayCluster
from lcifr.runs.executors.local import use_one_thread

RETRIES = 20
"""Times that a piece is tried again elsewhere when its node or its process dies."""

GPU_SHARE = 0.125
"""Of a GPU for a piece that uses one: eight processes prepare people for it, and search for whom it leaves open."""

CANCELLED = 10_000
"""Pieces that are called off when a run is stopped; more are never waiting."""


class ClusterError(LcifrError):
    """What a worker of a cluster said, or that it cannot work."""


@dataclass(frozen=True)
class Refusal:
    """An error that a worker raised on purpose, in words."""

    text: str


@final
class RayPart:
    """The content of a part that is being made somewhere."""

    def __init__(self, reference: Any) -> None:
        self.reference = reference

    def result(self) -> bytes:
        """Wait for it."""
        import ray

        try:
            found = ray.get(self.reference)
        except ray.exceptions.RayError as problem:
            raise ClusterError(
                f"Ray gave a piece up: {type(problem).__name__}: {str(problem).strip().splitlines()[0]}",
                fix="see that the nodes have memory and lcifr; the same command goes on with what is done",
            ) from None
        if isinstance(found, Refusal):
            raise ClusterError(found.text)
        return bytes(found)


@final
class RayCrew:
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
        from lcifr.runs.executors.work import PackedWork

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

    def submit(self, piece: Any, left: int | None) -> RayPart:
        """What will be the content of its part."""
        reference = self._task.remote(self._name, self._work, piece)
        self._pending.append(reference)
        return RayPart(reference)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        import ray

        if error is not None:  # Ctrl-C above all: nobody waits for pieces that will not be stored
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
    except ModuleNotFoundError:
        raise LcifrError("Ray is not installed", fix="pip install 'lcifr[ray]'") from None
    return ray


_OPENED: dict[str, Any] = {}
"""Jobs of this worker process by the hash of their bytes: one, as a cluster serves many runs."""


def _work(name: str, work: list[Any], piece: Any) -> bytes | Refusal:
    """On a worker: the content of the part of a piece. Errors travel as words, as their types may not be there.

    ``work`` : the reference to the bytes of that ``name``, in a list so that Ray fetches them only where they are asked
    for: once a process.
    """
    import ray

    from lcifr.runs.executors.work import PackedWork

    use_one_thread()
    try:
        if name not in _OPENED:
            _OPENED.clear()
            _OPENED[name] = PackedWork(ray.get(work[0])).job()
        return bytes(_OPENED[name].part(piece))
    except LcifrError as problem:
        return Refusal(str(problem))
