"""The kernels called from Python: arrays brought into their shapes, people shared by threads, rows as penalties."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import count

import numpy as np
from numpy.typing import NDArray

from lcifr.models.network import Network
from lcifr.models.rounding import FLOOR, LARGEST
from lcifr.prove.gate import pull_inside
from lcifr.prove.networks.kernel.arrays import (
    Cells,
    FirstLayer,
    HiddenLayers,
    KernelAnswer,
    Objectives,
    Record,
    Room,
    Rows,
    WholeColumns,
    make_deep_workspace,
    make_record,
    make_workspace,
)
from lcifr.prove.networks.kernel.deep_search import make_deep_kernel
from lcifr.prove.networks.kernel.one_layer import make_kernel
from lcifr.prove.networks.kernel.proofs import RecordedCell, copy_record, gather
from lcifr.prove.networks.kernel.record import BASE, FULL, TURN
from lcifr.prove.networks.rounding import RoundingBound, balance, to_size
from lcifr.prove.question import Answer, FloatArray, IntArray, Proofs, Question
from lcifr.regions.region import Cell, LinearRows, Region, WholeColumn

# Calls of a kernel: columns in cell order, pieces of the people shared by threads, more room where needed, Ctrl-C.

PIECES = 8
"""Pieces of the people for each thread: people differ widely in how long they take."""
PIECE = 512
"""People of a piece where there is one thread only: between pieces it can be interrupted."""
FEW = 64
"""Up to so many people, the calling thread begins itself."""
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
    """The cell of all people as the arrays that a kernel reads."""
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
        """Nodes that take a few milliseconds in all; 0 where a single one may take longer."""
        size = max(1, self.neurons * (self.neurons + self.columns))
        return MILLISECONDS // size if size <= SMALL else 0


@dataclass(frozen=True, eq=False)
class Pieces:
    """The questions about one cell of all people.

    Parameters
    ----------
    ask : room for nodes, and a record -> a kernel for people begin … end−1, which returns the first one without room.
    written : what was recorded is added here.
    """

    ask: Callable[[Room, Record], Callable[[int, int], int]]
    shape: RecordShape
    about: RecordedCell
    written: list[RecordedCell]

    def answer(self, begin: int, end: int) -> None:
        """Answer people begin … end−1; one who needs more room gets it and starts again with the best point so far."""
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
        """Answer the first people, up to ``end`` or the first who takes long; returns how many.

        At Ctrl-C ``stop`` is called, and the people who are done count.
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
    """Answer all people: a few quick ones in this thread, since waking another takes as long as they do."""
    done = pieces.answer_easy(people, stop) if people <= FEW else 0
    if done < people:
        share(people, pieces.answer, stop, done)


def share(people: int, work: Callable[[int, int], None], stop: Callable[[], None], done: int = 0) -> None:
    """Let as many threads as torch would use take pieces of the people from ``done`` on; the kernels hold no lock.

    The main thread only waits, because Python hears of Ctrl-C there: it calls ``stop``, and the kernels end soon after.
    """
    threads = min(thread_count(), people - done)
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


def thread_count() -> int:
    """As many as torch uses, or would: it takes seconds to import, and a search needs it for nothing else."""
    if "torch" in sys.modules:
        return int(sys.modules["torch"].get_num_threads())
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit() and int(asked):
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# Linear rows as penalties: a question with rows becomes one that the kernel knows.
#
# For any s ≥ 0, every x′ with G x′ ≤ g has f(x′) = f(x′) − s·Σ relu(G x′ − g), so the largest value of the right side
# over the whole box and all categories is a bound of f over the points that the rows leave. The right side is a
# network: one more neuron for each row, one more output for their sum. No strength s can make the bound too small,
# whatever it is; and once s is at least as large as the best multipliers of the rows, the bound is as tight as the rows
# themselves (an exact penalty). Whether it was is seen by the best point: it keeps to the rows, or a larger s is tried.

START = 4.0
"""The first strength, in units of the steepest slope that the network can have."""
GROWTH, ROUNDS = 32.0, 3
"""Three strengths, from 4 to 4,096 times that slope. Larger ones would cost more in rounding terms than they find."""
NEAR = 1e-6
"""A best point that leaves the rows by no more than this is pulled inside; one that is further away shows that the
penalty was too weak."""
MARGIN = 1e-9
"""Of the sum of all |G x|: far more than the rounding of thousands of terms."""


def with_penalties(network: Network, cell: Cell) -> tuple[Network, Cell]:
    """The network with a last output −Σ relu(G x − g), and the cell without rows; g is a numeric that stands still."""
    assert cell.rows is not None
    rows, (first, last) = _to_reach(to_size(cell.rows), cell), network.layers
    count, hidden, features = len(rows.G), len(first.bias), network.inputs
    weight = np.block([[first.weight, np.zeros((hidden, count))], [rows.G, -np.eye(count)]])
    out = np.block([[last.weight, np.zeros((network.outputs, count))], [np.zeros((1, hidden)), -np.ones((1, count))]])
    bias = np.concatenate([first.bias, np.zeros(count)])
    whole = Network.from_arrays([(weight, bias), (out, np.append(last.bias, 0.0))])
    numeric = np.concatenate([cell.numeric, features + np.arange(count)])
    lower, upper = np.concatenate([cell.lower, rows.g], 1), np.concatenate([cell.upper, rows.g], 1)
    return whole, replace(cell, numeric=numeric, lower=lower, upper=upper, rows=None)


def _to_reach(rows: LinearRows, cell: Cell) -> LinearRows:
    """The same rows with g not far from what G x can be in the cell, because large numbers cost rounding terms.

    Where G x stays below g anyway, a smaller g means the same; one below everything that G x can be only grows.
    """
    matrix = rows.G[:, cell.numeric]
    plus, minus = np.maximum(matrix, 0.0), np.minimum(matrix, 0.0)
    with np.errstate(invalid="ignore", over="ignore"):  # of people who do not have the cell
        high = cell.upper @ plus.T + cell.lower @ minus.T
        low = cell.lower @ plus.T + cell.upper @ minus.T
        size = np.maximum(np.abs(cell.lower), np.abs(cell.upper)) @ np.abs(matrix).T
        for choice in cell.choices:
            part, allowed = rows.G[:, choice.columns], choice.allowed[:, None, :]
            if part.any():
                high = high + np.where(allowed, part, -np.inf).max(-1)
                low = low + np.where(allowed, part, np.inf).min(-1)
                size = size + np.abs(part).max(-1)
        margin = MARGIN * (1.0 + size)
        level = np.where(rows.g > high + margin, high + margin, np.maximum(rows.g, low - 1.0 - margin))
    return LinearRows(rows.G, np.where(np.isfinite(level), level, rows.g))


def strength_of(question: Question) -> FloatArray:
    """(people, k) the first strength for each direction; or (1, k) where these are alike."""
    first, last = question.network.layers
    with np.errstate(over="ignore", invalid="ignore"):
        slope = (np.abs(question.rows @ last.weight) @ np.abs(first.weight)).max(-1, initial=0.0)
    return np.minimum(START * np.where(slope > 0, slope, 1.0), LARGEST)


def answer_by_penalty(
    ask: Callable[[NDArray[np.int64], float], KernelAnswer], region: Region
) -> tuple[KernelAnswer, NDArray[np.int64]]:
    """Ask with larger and larger strengths until the best points of all people keep to the rows.

    Parameters
    ----------
    ask : people (indices) and how many times the first strength -> what the kernel finds about them.

    Returns
    -------
    What was found, with witnesses in the region or NaN; and the people (indices) for whom no strength was enough.
    """
    rest = np.arange(region.people)
    found: KernelAnswer | None = None
    for power in range(ROUNDS):
        again = ask(rest, GROWTH**power)
        inside, witness = _pulled(region.take(rest), again.witness)
        again = again._replace(witness=witness)
        found = again if found is None else _merged(found, rest, again)
        rest = rest[~inside]
        if len(rest) == 0:
            break
    assert found is not None
    return found, rest


def _merged(found: KernelAnswer, who: NDArray[np.int64], again: KernelAnswer) -> KernelAnswer:
    """The smaller bounds, the later points (and whether the budget ended the search for them), all nodes."""
    found.upper[who] = np.minimum(found.upper[who], again.upper)
    found.nodes[who] += again.nodes
    found.exhausted[who], found.witness[who] = again.exhausted, again.witness
    found.branched[who] |= again.branched
    return found


def _pulled(region: Region, witness: FloatArray) -> tuple[NDArray[np.bool_], FloatArray]:
    """(people,) whether all best points are in the region or close to it, and the points, NaN where they are not."""
    there = ~np.isnan(witness[:, :, 0])
    points = np.where(there[..., None], witness, 0.0)
    inside = region.contains(points)
    near = ~inside & there & region.contains(points, tolerance=NEAR)
    rows = np.flatnonzero(near.any(1))
    if len(rows):
        part = region.take(rows)
        points[rows] = pull_inside(part, points[rows])
        inside[rows] = part.contains(points[rows])
    kept = there & inside
    return np.asarray((inside | ~there).all(1)), np.where(kept[..., None], points, np.nan)


# The kernel for any depth called from Python: a network, its rounding and a cell as the arrays that it reads.

deep_kernel = cache(make_deep_kernel)


def answer_cell(
    question: Question,
    cell: Cell,
    number: int,
    objectives: Objectives,
    found: KernelAnswer,
    written: list[RecordedCell],
    stop: Callable[[], None],
) -> None:
    """Answer all people about one cell."""
    balanced = balance(question.network)
    first, layers, order, slope, shift = _layers(Layout.of(balanced.network, cell))
    size = np.abs(question.rows)
    layers = layers._replace(size=size)
    last = balanced.factor[layers.begin[-2] :, None]
    asked = objectives._replace(
        value=objectives.value / last, rise=size @ slope + FLOOR, shift=size @ shift + FLOOR
    )  # value is exact: a power of two
    rows, cells, neurons = _rows(cell, order), cells_of(cell, order), int(layers.begin[-1])
    wholes = _whole_columns(question.region.whole, tuple(cell.numeric.tolist()))
    early = neurons - int(layers.width[-1])
    shape = RecordShape(question.proof, asked.value.shape[2], neurons, early, len(rows.slope), len(order))

    names = {one.column: one.attribute for one in question.region.whole}
    about = RecordedCell(balanced.network, cell, number, order, names, balanced.factor)

    def ask(room: Room, record: Record) -> Callable[[int, int], int]:
        work = make_deep_workspace(first, layers, rows, cells, shape.directions, room, record)
        return lambda begin, end: deep_kernel()(first, layers, rows, wholes, cells, asked, found, work, begin, end)

    answer_pieces(len(cell.present), Pieces(ask, shape, about, written), stop)


@lru_cache(maxsize=16)
def _layers(layout: Layout) -> tuple[FirstLayer, HiddenLayers, IntArray, FloatArray, FloatArray]:
    """The layers, the columns in cell order, and the slope and shift of the last layer's rounding term."""
    network, order, rounding = layout.network, layout.order, layout.rounding
    head, slopes, shifts = network.layers[0], rounding.slope, rounding.shift
    first = FirstLayer(
        np.ascontiguousarray(head.weight[:, order].T), np.array(head.bias), slopes[0], shifts[0], rounding.unit, LARGEST
    )
    hidden = network.layers[:-1]
    width = np.array([len(layer.bias) for layer in hidden])
    weight = np.zeros((len(hidden), width.max(), width.max()))
    for number, layer in enumerate(hidden[1:], 1):
        weight[number, : width[number], : width[number - 1]] = layer.weight
    layers = HiddenLayers(
        width,
        np.cumsum([0, *width]),
        weight,
        np.ascontiguousarray(weight.swapaxes(1, 2)),
        _category_sizes(head.weight, layout.cell),
        np.concatenate([layer.bias for layer in hidden]),
        rounding.unit,
        FLOOR,
        np.abs(network.layers[-1].weight),
        np.abs(network.layers[-1].bias),
        np.zeros((0, 0, 0)),  # of each question
    )
    return first, layers, order, slopes[-1], shifts[-1]


def _category_sizes(weight: FloatArray, cell: Cell) -> FloatArray:
    """(choices, neurons) the largest |weight| of each choice's values."""
    return np.array([np.abs(weight[:, choice.columns]).max(1) for choice in cell.choices]).reshape(-1, len(weight))


def _rows(cell: Cell, order: IntArray) -> Rows:
    if cell.rows is None:
        none = np.zeros(0)
        return Rows(np.zeros((0, len(order))), np.zeros((len(cell.present), 0)), none, none)
    given = to_size(cell.rows)
    size = np.abs(given.G)
    shift = FLOOR + np.abs(given.g[cell.present]).max(0, initial=0.0)
    for choice in cell.choices:
        shift = shift + size[:, choice.columns].max(1)
    return Rows(
        np.ascontiguousarray(given.G[:, order]),
        np.array(given.g, order="C"),
        size[:, cell.numeric].sum(1) + FLOOR,
        shift,
    )


@lru_cache(maxsize=8)
def _whole_columns(whole: tuple[WholeColumn, ...], numeric: tuple[int, ...]) -> WholeColumns:
    by_column = {one.column: one for one in whole}
    found = [by_column.get(column) for column in numeric]
    values = [np.zeros(0) if one is None else one.values for one in found]
    return WholeColumns(
        np.cumsum([0, *map(len, values)]),
        np.array([0 if one is None else one.last if one.falling else one.first for one in found], np.int64),
        np.array([-1 if one is not None and one.falling else 1 for one in found], np.int64),
        np.concatenate([np.zeros(0), *values]),
    )


# The kernel called from Python: arrays brought into its shapes, people shared by threads.

one_layer_kernel = cache(make_kernel)


def covers(network: Network, region: Region) -> bool:
    """Whether the kernel can answer: hidden layers, and no giants in linear rows."""
    rows = [cell.rows for cell in region.cells if cell.rows is not None]
    return network.depth >= 1 and all(_fit(network, part) for part in rows)


def _fit(network: Network, rows: LinearRows) -> bool:
    """Whether the network with these rows as further neurons (:mod:`penalty`) is one that is not refused."""
    small = np.abs(rows.G).sum() + len(rows.G) <= LARGEST / 128 and network.sizes.max() <= LARGEST / 2
    return bool(small and (np.abs(rows.g) <= LARGEST).all())


def answer_people(question: Question) -> Answer:
    """Answer all people; those left open by penalties in place of rows go to the search that knows rows."""
    stopped = Interruption()
    if _goes_deep(question) or all(cell.rows is None for cell in question.region.cells):
        written: list[RecordedCell] = []
        found = answer_chunk(question, None, written, stopped)
        proofs = gather(question, found.upper, written) if question.proof else None
        return _claimed(question, found, proofs, stopped)
    first = strength_of(question)

    def ask(who: IntArray, times: float) -> KernelAnswer:
        return answer_chunk(question.take(who), times * (first if len(first) == 1 else first[who]), [], stopped)

    kernel_answer, rest = answer_by_penalty(ask, question.region)
    claim = _claimed(question, kernel_answer, None, stopped)
    if len(rest) == 0:
        return claim
    again = answer_people(replace(question.take(rest), proof=True))  # what it needs for proofs are the rows
    upper, nodes = np.minimum(claim.upper[rest], again.upper), claim.nodes[rest] + again.nodes
    found_again = replace(again, upper=upper, nodes=nodes)
    return replace(claim.replaced(rest, found_again), interrupted=claim.interrupted or again.interrupted)


def _goes_deep(question: Question) -> bool:
    """Whether the search through any number of layers answers.

    One layer has a kernel of its own, several times as fast, but for whole numbers and proofs about linear rows.
    """
    rows = any(cell.rows is not None for cell in question.region.cells)
    return question.network.depth > 1 or bool(question.region.whole) or (question.proof and rows)


def _claimed(question: Question, found: KernelAnswer, proof: Proofs | None, stopped: Interruption) -> Answer:
    return Answer.claimed(
        question,
        found.upper,
        found.witness,
        exhausted=found.exhausted.view(np.bool_),
        nodes=found.nodes,
        method=found.branched,
        proof=proof,
        interrupted=stopped.happened,
    )


def answer_chunk(
    question: Question, strength: FloatArray | None, written: list[RecordedCell], stopped: Interruption
) -> KernelAnswer:
    """What the kernel finds. It is given arrays of its own, writable and in order: one kind, one kernel.

    ``strength`` : (K,) or (n, K) of the penalties in place of linear rows (see :mod:`penalty`), if there are any. Best
    values and witnesses then pay the penalty, and are to be looked at.
    """
    region, shape, best = question.region, question.directions.shape[:2], question.reached()
    most = max((len(cell.rows.G) for cell in region.cells if cell.rows is not None), default=0)
    found = KernelAnswer(
        upper=np.full(shape, -np.inf),
        nodes=np.zeros(shape, np.int64),
        exhausted=np.zeros(shape, np.uint8),
        branched=np.zeros(shape, np.uint8),
        best=best,
        witness=np.full((*best.shape, region.features + most), np.nan),
    )
    objectives = _objectives(question)
    objectives.stop.fill(stopped.happened)

    def stop() -> None:
        stopped.happened = True
        objectives.stop.fill(1)

    with stopped_at(question.deadline, objectives.stop.fill):
        for number, cell in enumerate(region.cells):
            if not cell.present.any():
                continue
            if _goes_deep(question):
                answer_cell(question, cell, number, objectives, found, written, stop)
            else:
                _answer_cell(question, cell, number, strength, objectives, found, written, stop)
    return found._replace(witness=found.witness[:, :, : region.features])


def _answer_cell(
    question: Question,
    cell: Cell,
    number: int,
    strength: FloatArray | None,
    objectives: Objectives,
    found: KernelAnswer,
    written: list[RecordedCell],
    stop: Callable[[], None],
) -> None:
    """Answer all people about one cell, its linear rows as penalties."""
    network, rows = question.network, question.rows
    if cell.rows is not None and strength is not None:
        network, cell = with_penalties(network, cell)
        rows = np.concatenate([rows, strength[..., None]], -1)
        objectives = _towards(objectives, network, rows)
    layer, order, slope, shift = _first_layer(Layout.of(network, cell))
    size = np.abs(rows)
    asked = objectives._replace(
        rise=size @ slope + FLOOR, shift=size @ shift + FLOOR
    )  # as RoundingBound.rounding_error
    cells, (columns, hidden) = cells_of(cell, order), layer.weight.shape
    shape = RecordShape(question.proof, asked.value.shape[2], hidden, 0, 0, columns)

    def ask(room: Room, record: Record) -> Callable[[int, int], int]:
        workspace = make_workspace(layer, cells, shape.directions, room, record)
        return lambda begin, end: one_layer_kernel()(layer, cells, asked, found, workspace, begin, end)

    answer_pieces(len(cell.present), Pieces(ask, shape, RecordedCell(network, cell, number, order), written), stop)


def _objectives(question: Question) -> Objectives:
    none, target = np.zeros(0), question.target
    blank = Objectives(
        none[None, None],
        none[None, None],
        none[None, None],
        none[None],
        none[None],
        none[None],
        np.ascontiguousarray(question.offset),
        np.full((question.region.people, question.answers), -np.inf) if target is None else np.array(target, order="C"),
        float(question.tolerance),
        question.shared is not None,
        question.branch,
        int(question.resources.nodes),
        np.zeros(1, np.uint8),
    )
    return _towards(blank, question.network, question.rows)


def _towards(objectives: Objectives, network: Network, rows: FloatArray) -> Objectives:
    """The same question in these directions (people or 1, k, outputs) of this network."""
    last = network.layers[-1]
    value = np.ascontiguousarray(np.swapaxes(rows @ last.weight, 1, 2))
    return objectives._replace(
        value=value,
        plus=np.maximum(value, 0.0),
        minus=np.minimum(value, 0.0),
        level=np.ascontiguousarray(rows @ last.bias),
    )


@lru_cache(maxsize=16)
def _first_layer(layout: Layout) -> tuple[FirstLayer, IntArray, FloatArray, FloatArray]:
    """The first layer, its columns in cell order, and the slope and shift of the last layer's rounding term."""
    network, order = layout.network, layout.order
    rounding, first = layout.rounding, network.layers[0]
    layer = FirstLayer(
        np.ascontiguousarray(first.weight[:, order].T),
        np.array(first.bias),
        rounding.slope[0],
        rounding.shift[0],
        rounding.unit,
        LARGEST,
    )
    return layer, order, rounding.slope[1], rounding.shift[1]
