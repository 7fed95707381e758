"""Worker pools for chunked runs: local processes or a Ray cluster; and the devices that compute bounds."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Any, Protocol, Self, final

from lcifr.errors import LcifrError

# Worker pools for chunked runs: processes of this machine, or a Ray cluster; what both have in common.


class Executor(StrEnum):
    """Where pieces are worked on."""

    LOCAL = "local"
    """Processes of this machine."""
    RAY = "ray"
    """The nodes of a Ray cluster, or a Ray that is started here."""


@dataclass(frozen=True)
class RayCluster:
    """A Ray cluster.

    Parameters
    ----------
    address : of its head, such as ``ray://head:10001`` or ``auto``; None for the one that this process is connected to,
        else ``$RAY_ADDRESS``, else one that is started on this machine.
    workers : pieces at a time at most; None for one per core of the cluster.
    """

    address: str | None = None
    workers: int | None = None


Workers = int | None | RayCluster
"""Processes of this machine (None for one per core, where that is worth their start), or a cluster."""


def workers_of(executor: str, workers: int | None, address: str | None) -> Workers:
    """What the options of a command say."""
    if Executor(executor) is Executor.RAY:
        return RayCluster(address, workers)
    if address is not None:
        raise LcifrError(f"--address {address} is for a Ray cluster", fix="say --executor ray, or leave it out")
    return workers


class Piece(Protocol):
    """Consecutive people of a run: the ``number`` of the piece, the row that it ``start``s with, and how many rows."""

    @property
    def number(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def ids(self) -> tuple[str | int, ...]: ...
    def content(self) -> Iterator[bytes]:
        """All that is known of them besides their ids."""


class WorkerPool(Protocol):
    """Workers that make parts; the content of a part does not depend on which of them makes it."""

    @property
    def size(self) -> int:
        """How many work at the moment."""

    def submit(self, piece: Any, left: int | None) -> Callable[[], bytes]:
        """Waits for the content of its part. ``left`` : people still to do, with these; None if it is not known."""


# Devices of a run: where bounds of whole chunks are computed, and what is there of it.

GPU = "cuda"
"""As torch names it."""
EMULATION = "CUBLAS_EMULATE_DOUBLE_PRECISION"
"""With it, products of float64 matrices are put together from smaller numbers, and no rounding term holds."""


class Device(StrEnum):
    """What bounds are computed on. Searches, and all proofs on file, are the CPU's."""

    CPU = "cpu"
    CUDA = "cuda"
    AUTO = "auto"
    """A GPU where there is one."""


def job_device(asked: str, workers: Workers) -> str | None:
    """The device of a job as torch names it; None for the compiled search alone.

    Raises
    ------
    LcifrError
        If a GPU was asked for and none can be used here; of a cluster, its pool says so.
    """
    wanted = Device(asked)
    if wanted is Device.CPU:
        return None
    if isinstance(workers, RayCluster):
        if wanted is Device.AUTO:
            raise LcifrError("--device auto: the nodes of a cluster differ", fix="say --device cuda or --device cpu")
        return GPU
    problem = cuda_problem()
    if problem is None:
        return GPU
    if wanted is Device.AUTO:
        return None
    raise LcifrError(f"--device cuda: {problem}", fix="say --device cpu, or --device auto for a GPU where there is one")


def cuda_problem() -> str | None:
    """Why no GPU can be used by this process, with what was found; None where one can."""
    import torch

    if torch.version.cuda is None:
        return f"PyTorch {torch.__version__} is installed, which was built without CUDA"
    if not torch.cuda.is_available():
        return f"PyTorch {torch.__version__} with CUDA {torch.version.cuda} finds no GPU that it can use"
    if os.environ.get(EMULATION, "0") not in ("", "0"):
        return f"{EMULATION} is set, and bounds need float64 as IEEE 754 has it"
    return None


# Processes that work on the chunks of a large run: this one, and one per core where that is worth their start.

STARTING = 6.0
"""Seconds of work that must be left for one process before others are started. A process takes two to three seconds of
a core to start, because it imports pandas and numba; two of them gain something only where twice that is left."""
THREADS = "OMP_NUM_THREADS"
"""Where torch reads how many threads it begins with, and searches how many they have where there is no torch."""
TRIED = 2
"""Chunks done here before that is judged: the first one may have compiled something."""


class WorkerTask(Protocol):
    """What is done with a piece. It travels to other processes."""

    def part(self, piece: Any) -> bytes: ...


@final
class LocalPool:
    """Processes of this machine. Each of them works on one core, so results are the same however many there are.

    Parameters
    ----------
    workers : processes; 1 is this one alone. If None, one per core as soon as that is worth it.
    """

    def __init__(self, job: WorkerTask, workers: int | None) -> None:
        self._job = job
        self._asked, self._cores = workers, workers or available_cores()
        self._pool: ProcessPoolExecutor | None = None
        self._tried, self._spent, self._fastest = 0, 0.0, math.inf

    @property
    def size(self) -> int:
        """How many work at the moment."""
        return 1 if self._pool is None else self._cores

    def submit(self, piece: Piece, left: int | None) -> Callable[[], bytes]:
        """Waits for the content of its part. ``left`` : people still to do, with these; None if it is not known."""
        if self._pool is None and self._worth_starting(left):
            self._start()
        if self._pool is not None:
            return _deaf_to_ctrl_c(self._pool.submit, _work, piece).result
        begun = time.perf_counter()
        content = self._job.part(piece)
        took = time.perf_counter() - begun
        self._tried, self._spent = self._tried + 1, self._spent + took
        self._fastest = min(self._fastest, took / max(piece.size, 1))
        return lambda: content

    def _worth_starting(self, left: int | None) -> bool:
        if self._cores == 1 or self._asked is not None:
            return self._cores > 1
        ahead = self._spent if left is None else left * self._fastest
        return self._tried >= TRIED and ahead > STARTING

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._others = set(multiprocessing.active_children())
        self._pool = ProcessPoolExecutor(self._cores, context, _begin, (self._job, os.getpid()))

    def __enter__(self) -> Self:
        self._alone = single_thread()
        self._alone.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._alone.__exit__(kind, error, at)
        if self._pool is None:
            return
        self._pool.shutdown(wait=error is None, cancel_futures=error is not None)
        if error is not None:  # Ctrl-C above all: nobody waits for chunks that will not be stored
            for worker in set(multiprocessing.active_children()) - self._others:
                worker.terminate()


def use_one_thread() -> None:
    """Of searches and of torch: at once where it is imported already, and if it ever is."""
    os.environ[THREADS] = "1"
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


@contextmanager
def single_thread() -> Iterator[None]:
    """One thread for searches and for torch, whether torch is imported already or later; restored at the end."""
    asked = os.environ.get(THREADS)
    before = sys.modules["torch"].get_num_threads() if "torch" in sys.modules else None
    use_one_thread()
    try:
        yield
    finally:
        if asked is None:
            del os.environ[THREADS]
        else:
            os.environ[THREADS] = asked
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(before or int(asked or available_cores()))


def available_cores() -> int:
    """Those that this process may use, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def _deaf_to_ctrl_c(submit: Callable[..., Future[bytes]], *work: Any) -> Future[bytes]:
    """Submit: workers start here and inherit the mask, else Ctrl-C while they import would print their tracebacks.

    The mask is that of one thread, and another may take the signal. So it is noted meanwhile, and obeyed afterwards: a
    worker that is half started would complain.
    """
    if not hasattr(signal, "pthread_sigmask"):
        return submit(*work)
    handler, came = signal.getsignal(signal.SIGINT), list[int]()
    deferred = callable(handler) and threading.current_thread() is threading.main_thread()
    if deferred:
        signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return submit(*work)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)  # what came meanwhile is delivered now
        if deferred:
            signal.signal(signal.SIGINT, handler)
        if came and callable(handler):
            handler(signal.SIGINT, None)


_JOB: WorkerTask | None = None  # of a worker process


def _begin(job: WorkerTask, parent: int) -> None:
    global _JOB
    use_one_thread()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who keeps what is finished
    _JOB = job
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: int) -> None:
    """A worker whose parent was killed would wait for ever."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _work(piece: Any) -> bytes:
    assert _JOB is not None
    return _JOB.part(piece)
