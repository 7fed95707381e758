"""What is the exact answer? The kernel called from Python: arrays brought into its shapes, people shared by threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from itertools import count

import numpy as np
import torch

from lcifr.bounds.scene import Gauge, tensors
from lcifr.network import FLOOR, Network
from lcifr.prove.answer import Budget, FloatArray, IntArray
from lcifr.prove.compiled.kernel import make_kernel
from lcifr.prove.compiled.room import make_room
from lcifr.prove.compiled.shape import Ask, Cells, Found, Net
from lcifr.similarity.region import Cell, Region

PIECES = 8
"""Pieces of the people for each thread: people differ widely in how long they take."""
PIECE = 512
"""People of a piece where there is one thread only: between pieces it can be interrupted."""
NODES = 256
"""Open nodes that a tree has room for at first."""

kernel = cache(make_kernel)


def answer_chunk(
    network: Network,
    region: Region,
    directions: FloatArray,
    offset: FloatArray,
    target: FloatArray | None,
    best: FloatArray,
    tolerance: float,
    budget: Budget,
    *,
    together: bool,
    branch: bool,
    deadline: float | None,
) -> Found:
    """What the kernel finds about n people. It is given arrays of its own, writable and in order: one kind, one kernel.

    Parameters
    ----------
    directions : (K, outputs) or (n, K, outputs). offset : (n, K). target : (n, answers) or None.
    best : (n, answers) what is reached anyway, or −inf. together : whether all directions share one answer.
    deadline : by ``time.monotonic``, or None.
    """
    people, answers = best.shape
    goal = np.full(best.shape, -np.inf) if target is None else np.array(target, order="C")
    found = Found(
        upper=np.full(offset.shape, -np.inf),
        nodes=np.zeros(offset.shape, np.int64),
        exhausted=np.zeros(offset.shape, np.uint8),
        branched=np.zeros(offset.shape, np.uint8),
        best=best,
        witness=np.full((people, answers, region.features), np.nan),
    )
    ask = _ask(network, directions, np.ascontiguousarray(offset), goal, tolerance, budget, together, branch)
    size = np.abs(directions if directions.ndim == 3 else directions[None])
    timer = None if deadline is None else threading.Timer(deadline - time.monotonic(), ask.stop.fill, (1,))
    if timer is not None:
        timer.start()
    try:
        for cell in region.cells:
            if cell.present.any():
                net, order, slope, shift = _net(_Layout.of(network, cell))
                asked = ask._replace(rise=size @ slope, shift=size @ shift + FLOOR)
                _share(people, partial(_answer_piece, net, _cells(cell, order), asked, found))
    finally:
        if timer is not None:
            timer.cancel()
    return found


def _answer_piece(net: Net, cells: Cells, ask: Ask, found: Found, begin: int, end: int) -> None:
    """People begin … end−1; whoever needs a larger tree gets it and starts again, with what was found."""
    nodes = NODES
    room = make_room(net, cells, ask.value.shape[2], nodes)
    while (begin := kernel()(net, cells, ask, found, room, begin, end)) < end:
        nodes *= 4
        room = make_room(net, cells, ask.value.shape[2], nodes)


def _ask(
    network: Network,
    directions: FloatArray,
    offset: FloatArray,
    target: FloatArray,
    tolerance: float,
    budget: Budget,
    together: bool,
    branch: bool,
) -> Ask:
    rows = directions if directions.ndim == 3 else directions[None]
    last = network.layers[1]
    value = np.ascontiguousarray(np.swapaxes(rows @ last.weight, 1, 2))
    none = np.zeros(0)
    return Ask(
        value,
        np.maximum(value, 0.0),
        np.minimum(value, 0.0),
        np.ascontiguousarray(rows @ last.bias),
        none[None],
        none[None],
        offset,
        target,
        float(tolerance),
        together,
        branch,
        int(budget.nodes),
        np.zeros(1, np.uint8),
    )


@dataclass(frozen=True)
class _Layout:
    """A network as the columns of a cell order it; what is made of it is kept for the next chunk or call."""

    name: tuple[str, bytes, tuple[bytes, ...]]
    network: Network = field(compare=False)
    cell: Cell = field(compare=False)

    @classmethod
    def of(cls, network: Network, cell: Cell) -> _Layout:
        columns = tuple(choice.columns.tobytes() for choice in cell.choices)
        return cls((network.hash, cell.numeric.tobytes(), columns), network, cell)


@lru_cache(maxsize=16)
def _net(layout: _Layout) -> tuple[Net, IntArray, FloatArray, FloatArray]:
    """The first layer, its columns in cell order, and the slope and shift of the last layer's rounding term."""
    network, cell = layout.network, layout.cell
    order = np.concatenate([cell.numeric, *(choice.columns for choice in cell.choices)]).astype(np.int64)
    choices = [torch.as_tensor(choice.columns) for choice in cell.choices]
    gauge, first = Gauge.of(tensors(network), torch.as_tensor(cell.numeric), choices), network.layers[0]
    net = Net(
        np.ascontiguousarray(first.weight[:, order].T),
        np.array(first.bias),
        gauge.slope[0].numpy(),
        gauge.shift[0].numpy(),
        gauge.unit,
    )
    return net, order, gauge.slope[1].numpy(), gauge.shift[1].numpy()


def _cells(cell: Cell, order: IntArray) -> Cells:
    allowed = np.concatenate([np.zeros((len(cell.present), 0), np.bool_), *(c.allowed for c in cell.choices)], 1)
    return Cells(
        np.array(cell.lower, order="C"),
        np.array(cell.upper, order="C"),
        allowed.view(np.uint8),
        np.cumsum([0, *(len(choice.columns) for choice in cell.choices)]),
        order,
        np.array(cell.present).view(np.uint8),
    )


def _share(people: int, work: Callable[[int, int], None]) -> None:
    """Let as many threads as torch would use take pieces of the people in turn; the kernel holds no lock."""
    threads = min(torch.get_num_threads(), people)
    step = max(1, -(-people // (PIECES * threads))) if threads > 1 else PIECE
    pieces = count()
    failed: list[BaseException] = []

    def run() -> None:
        try:
            while (begin := next(pieces) * step) < people and not failed:
                work(begin, min(people, begin + step))
        except BaseException as problem:  # handed to the caller below
            failed.append(problem)

    helpers = [threading.Thread(target=run) for _ in range(threads - 1)]
    for helper in helpers:
        helper.start()
    run()
    for helper in helpers:
        helper.join()
    if failed:
        raise failed[0]
