"""Calls of a kernel: columns in cell order, pieces of the people shared by threads, more room where needed, Ctrl-C."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count

import numpy as np

from lcifr.models.network import Network
from lcifr.prove.answer import FloatArray, IntArray
from lcifr.prove.networks.kernel.recording.proofs import RecordedCell, copy_record
from lcifr.prove.networks.kernel.recording.record import BASE, FULL, TURN
from lcifr.prove.networks.kernel.shape import Cells, Record, Room
from lcifr.prove.networks.kernel.workspace import make_record
from lcifr.prove.networks.rounding import RoundingBound
from lcifr.regions.region import Cell

PIECES = 8
"""Pieces of the people for each thread: people differ widely in how long they take."""
PIECE = 512
"""People of a piece where there is one thread only: between pieces it can be interrupted."""
FEW = 64
"""People with whom the calling thread begins itself."""
WAKE = 0.1
"""Seconds after which a waiting thread looks up: some waits end by Ctrl-C only then."""
NODES = 256
"""Open nodes that a tree has room for at first."""
RECORDED = 4096
"""Nodes that a record has room for at first."""
WITHOUT_END = sys.maxsize
"""Nodes that a call may work on."""
SMALL, MILLISECONDS = 20_000, 1_000_000
"""Neurons × (neurons + columns) of a network whose nodes take some microseconds each, and of all nodes that take a few
milliseconds."""


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

    @property
    def rounding(self) -> RoundingBound[FloatArray]:
        """How far rounding can take each layer."""
        layers = [(layer.weight, layer.bias) for layer in self.network.layers]
        return RoundingBound.of(layers, self.cell.numeric, [choice.columns for choice in self.cell.choices])


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


@dataclass(frozen=True)
class RecordShape:
    """Whether nodes are recorded, and how large they are: directions, neurons, those of early layers, rows, columns."""

    wanted: bool
    directions: int
    neurons: int
    early: int
    rows: int
    columns: int

    @property
    def few_nodes(self) -> int:
        """Nodes for which nobody waits long; 0 where a single one may be too many."""
        size = max(1, self.neurons * (self.neurons + self.columns))
        return MILLISECONDS // size if size <= SMALL else 0


@dataclass(frozen=True, eq=False)
class Pieces:
    """What one cell of everybody is asked with.

    Parameters
    ----------
    ask : room for nodes, and a record -> a kernel for people begin … end−1, which says whom it had no room for.
    written : what was recorded is added here.
    """

    ask: Callable[[Room, Record], Callable[[int, int], int]]
    shape: RecordShape
    about: RecordedCell
    written: list[RecordedCell]

    def answer(self, begin: int, end: int) -> None:
        """People begin … end−1; whoever needs more room gets it and starts again, with what was found."""
        nodes, recorded = NODES, RECORDED
        record = self._record(recorded, begin, end)
        kernel = self.ask(Room(nodes, WITHOUT_END), record)
        while True:
            stopped = kernel(begin, end)
            if self.shape.wanted and stopped > begin:
                self._keep(record, begin, stopped)
            if stopped == end:
                return
            if not record.size[FULL]:
                nodes *= 4
            elif stopped == begin:
                recorded *= 4
            record = self._record(recorded, stopped, end)
            begin, kernel = stopped, self.ask(Room(nodes, WITHOUT_END), record)

    def answer_easy(self, end: int, stop: Callable[[], None]) -> int:
        """The first people, up to ``end`` or the first who takes long, whose number is returned.

        At Ctrl-C ``stop`` is called, and who is done counts.
        """
        few = self.shape.few_nodes
        if few == 0:
            return 0
        record = self._record(RECORDED, 0, end)
        kernel = self.ask(Room(NODES, few), record)
        try:
            kernel(0, end)
        except KeyboardInterrupt:  # after the kernel, which does not hear of it
            stop()
        done = int(record.size[TURN])
        if self.shape.wanted and done > 0:
            self._keep(record, 0, done)
        return done

    def _record(self, nodes: int, begin: int, end: int) -> Record:
        shape = self.shape
        sizes = (shape.directions, shape.neurons, shape.early, shape.rows, shape.columns)
        record = make_record(shape.wanted, nodes, end - begin, *sizes)
        record.size[BASE] = begin
        return record

    def _keep(self, record: Record, begin: int, end: int) -> None:
        base = int(record.size[BASE])
        self.written.append(replace(self.about, start=begin, record=copy_record(record, begin - base, end - base)))


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
    threads = min(_threads(), people - done)
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


@cache
def _workers(threads: int) -> ThreadPoolExecutor:
    """Threads that stay: a new one would cost more than a person does. A forked process has none, and makes its own."""
    os.register_at_fork(after_in_child=_workers.cache_clear)
    return ThreadPoolExecutor(threads, thread_name_prefix="lcifr")


def _threads() -> int:
    """As many as torch uses, or would: it takes seconds to import, and a search needs it for nothing else."""
    if "torch" in sys.modules:
        return int(sys.modules["torch"].get_num_threads())
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit() and int(asked):
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
