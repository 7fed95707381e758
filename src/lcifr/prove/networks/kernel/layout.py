"""Calls of a kernel: columns in cell order, people shared by threads, Ctrl-C."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count

import numpy as np
import torch

from lcifr.models.network import Network
from lcifr.prove.answer import IntArray
from lcifr.prove.networks.kernel.recording.pieces import Pieces
from lcifr.prove.networks.kernel.shape import Cells
from lcifr.regions.region import Cell

PIECES = 8
"""Pieces of the people for each thread: people differ widely in how long they take."""
PIECE = 512
"""People of a piece where there is one thread only: between pieces it can be interrupted."""
FEW = 64
"""People with whom the calling thread begins itself."""
WAKE = 0.1
"""Seconds after which a waiting thread looks up: some waits end by Ctrl-C only then."""


@dataclass(frozen=True)
class Layout:
    """A network as the columns of a cell order it; what is made of it is kept for the next chunk or call."""

    name: tuple[str, bytes, tuple[bytes, ...]]
    network: Network = field(compare=False)
    cell: Cell = field(compare=False)

    @classmethod
    def of(cls, network: Network, cell: Cell) -> Layout:
        """The layout of this network on this cell."""
        columns = tuple(choice.columns.tobytes() for choice in cell.choices)
        return cls((network.hash, cell.numeric.tobytes(), columns), network, cell)

    @property
    def order(self) -> IntArray:
        """The feature columns in cell order."""
        choices = (choice.columns for choice in self.cell.choices)
        return np.concatenate([self.cell.numeric, *choices]).astype(np.int64)


def cells_of(cell: Cell, order: IntArray) -> Cells:
    """The cell of everybody as the arrays that a kernel reads."""
    allowed = np.concatenate([np.zeros((len(cell.present), 0), np.bool_), *(c.allowed for c in cell.choices)], 1)
    return Cells(
        np.array(cell.lower, order="C"),
        np.array(cell.upper, order="C"),
        allowed.view(np.uint8),
        np.cumsum([0, *(len(choice.columns) for choice in cell.choices)]),
        order,
        np.array(cell.present).view(np.uint8),
    )


@cache
def _workers(threads: int) -> ThreadPoolExecutor:
    """Threads that stay: a new one would cost more than a person does. A forked process has none, and makes its own."""
    os.register_at_fork(after_in_child=_workers.cache_clear)
    return ThreadPoolExecutor(threads, thread_name_prefix="lcifr")


@dataclass
class Interruption:
    """Whether Ctrl-C ended the work; then what is known so far is all."""

    happened: bool = False


@contextmanager
def stopped_at(deadline: float | None, stop: Callable[[int], None]) -> Iterator[None]:
    """Work that is told to stop, by ``stop(1)``, at a time of ``time.monotonic``; None for never."""
    timer = None if deadline is None else threading.Timer(deadline - time.monotonic(), stop, (1,))
    if timer is not None:
        timer.start()
    try:
        yield
    finally:
        if timer is not None:
            timer.cancel()


def answer_pieces(people: int, pieces: Pieces, stop: Callable[[], None]) -> None:
    """Answer about everybody: a few people who take no time here, since waking a thread takes as long as they do."""
    done = pieces.answer_easy(people, stop) if people <= FEW else 0
    if done < people:
        share(people, pieces.answer, stop, done)


def share(people: int, work: Callable[[int, int], None], stop: Callable[[], None], done: int = 0) -> None:
    """Let as many threads as torch would use take pieces of the people from ``done`` on; the kernels hold no lock.

    The main thread only waits, because Python hears of Ctrl-C there: it calls ``stop``, and the kernels end soon after.
    """
    threads = min(torch.get_num_threads(), people - done)
    step = max(1, -(-(people - done) // (PIECES * threads))) if threads > 1 else PIECE
    numbers = count()
    failed: list[BaseException] = []

    ended, finished = threading.Semaphore(0), list[bool]()

    def run() -> None:
        try:
            while (begin := done + next(numbers) * step) < people and not failed:
                work(begin, min(people, begin + step))
        except BaseException as problem:  # handed to the caller below
            failed.append(problem)
        finally:
            finished.append(True)
            ended.release()

    waits = threading.current_thread() is threading.main_thread()
    for _ in range(threads - (not waits)):
        _workers(threads).submit(run)
    if not waits:
        run()
    while len(finished) < threads:
        try:
            ended.acquire(timeout=WAKE)  # joining a thread does not survive Ctrl-C in Python 3.11
        except KeyboardInterrupt:
            stop()
    if failed:
        raise failed[0]
