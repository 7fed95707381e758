"""The kernel called from Python: arrays brought into its shapes, people shared by threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np

from lcifr.models.network import FLOOR, LARGEST, Network
from lcifr.prove.answer import FloatArray, IntArray
from lcifr.prove.networks.kernel.deep import call as deep
from lcifr.prove.networks.kernel.kernel import make_kernel
from lcifr.prove.networks.kernel.penalty import answer_by_penalty, strength_of, with_penalties
from lcifr.prove.networks.kernel.pieces import (
    Interruption,
    Layout,
    Pieces,
    RecordShape,
    answer_pieces,
    cells_of,
    stopped_at,
)
from lcifr.prove.networks.kernel.recording.proofs import RecordedCell, gather
from lcifr.prove.networks.kernel.shape import FirstLayer, KernelAnswer, Objectives, Record, Room
from lcifr.prove.networks.kernel.workspace import make_workspace
from lcifr.prove.networks.request import Findings, Request
from lcifr.regions.region import Cell, LinearRows, Region

kernel = cache(make_kernel)


def covers(network: Network, region: Region) -> bool:
    """Whether the kernel can answer: hidden layers, and no giants in linear rows."""
    rows = [cell.rows for cell in region.cells if cell.rows is not None]
    return network.depth >= 1 and all(_fit(network, part) for part in rows)


def _fit(network: Network, rows: LinearRows) -> bool:
    """Whether the network with these rows as further neurons (:mod:`penalty`) is one that is not refused."""
    small = np.abs(rows.G).sum() + len(rows.G) <= LARGEST / 128 and network.sizes.max() <= LARGEST / 2
    return bool(small and (np.abs(rows.g) <= LARGEST).all())


def answer_people(request: Request) -> Findings:
    """What :func:`answer_chunk` finds; some people whose region has linear rows may be left unanswered."""
    stopped = Interruption()
    if _goes_deep(request) or all(cell.rows is None for cell in request.region.cells):
        written: list[RecordedCell] = []
        found = answer_chunk(request, None, written, stopped)
        proofs = gather(request, found.upper, written) if request.proof else []
        return replace(_findings(found, np.zeros(0, np.int64)), proofs=proofs, interrupted=stopped.happened)
    first = strength_of(request.network, request.directions)

    def ask(who: IntArray, times: float) -> KernelAnswer:
        return answer_chunk(request.take(who), times * (first if first.ndim == 1 else first[who]), [], stopped)

    return replace(_findings(*answer_by_penalty(ask, request.region)), interrupted=stopped.happened)


def _goes_deep(request: Request) -> bool:
    """Whether the search through any number of layers answers.

    One layer has a kernel of its own, several times as fast, but for whole numbers and proofs about linear rows.
    """
    rows = any(cell.rows is not None for cell in request.region.cells)
    return request.network.depth > 1 or bool(request.region.whole) or (request.proof and rows)


def _findings(found: KernelAnswer, unanswered: IntArray) -> Findings:
    flags = found.exhausted.view(np.bool_), found.branched.view(np.bool_)
    return Findings(found.upper, found.nodes, *flags, found.witness, unanswered=unanswered)


def answer_chunk(
    request: Request, strength: FloatArray | None, written: list[RecordedCell], stopped: Interruption
) -> KernelAnswer:
    """What the kernel finds. It is given arrays of its own, writable and in order: one kind, one kernel.

    ``strength`` : (K,) or (n, K) of the penalties in place of linear rows (see :mod:`penalty`), if there are any. Best
    values and witnesses then pay the penalty, and are to be looked at.
    """
    region, offset, best = request.region, request.offset, request.reached
    people, answers = best.shape
    most = max((len(cell.rows.G) for cell in region.cells if cell.rows is not None), default=0)
    found = KernelAnswer(
        upper=np.full(offset.shape, -np.inf),
        nodes=np.zeros(offset.shape, np.int64),
        exhausted=np.zeros(offset.shape, np.uint8),
        branched=np.zeros(offset.shape, np.uint8),
        best=best,
        witness=np.full((people, answers, region.features + most), np.nan),
    )
    objectives = _objectives(request)
    objectives.stop.fill(stopped.happened)

    def stop() -> None:
        stopped.happened = True
        objectives.stop.fill(1)

    with stopped_at(request.deadline, objectives.stop.fill):
        for number, cell in enumerate(region.cells):
            if not cell.present.any():
                continue
            if _goes_deep(request):
                deep.answer_cell(request, cell, number, objectives, found, written, stop)
            else:
                _answer_cell(request, cell, number, strength, objectives, found, written, stop)
    return found._replace(witness=found.witness[:, :, : region.features])


def _answer_cell(
    request: Request,
    cell: Cell,
    number: int,
    strength: FloatArray | None,
    objectives: Objectives,
    found: KernelAnswer,
    written: list[RecordedCell],
    stop: Callable[[], None],
) -> None:
    """One cell of everybody, its linear rows as penalties."""
    network, directions = request.network, request.directions
    if cell.rows is not None and strength is not None:
        network, cell = with_penalties(network, cell)
        directions = np.concatenate([directions, strength[..., None]], -1)
        objectives = _towards(objectives, network, directions)
    layer, order, slope, shift = _first_layer(Layout.of(network, cell))
    size = np.abs(directions if directions.ndim == 3 else directions[None])
    asked = objectives._replace(
        rise=size @ slope + FLOOR, shift=size @ shift + FLOOR
    )  # as RoundingBound.rounding_error
    cells, (columns, hidden) = cells_of(cell, order), layer.weight.shape
    shape = RecordShape(request.proof, asked.value.shape[2], hidden, 0, 0, columns)

    def ask(room: Room, record: Record) -> Callable[[int, int], int]:
        workspace = make_workspace(layer, cells, shape.directions, room, record)
        return lambda begin, end: kernel()(layer, cells, asked, found, workspace, begin, end)

    answer_pieces(len(cell.present), Pieces(ask, shape, RecordedCell(network, cell, number, order), written), stop)


def _objectives(request: Request) -> Objectives:
    none, target = np.zeros(0), request.target
    blank = Objectives(
        none[None, None],
        none[None, None],
        none[None, None],
        none[None],
        none[None],
        none[None],
        np.ascontiguousarray(request.offset),
        np.full(request.reached.shape, -np.inf) if target is None else np.array(target, order="C"),
        float(request.tolerance),
        request.together,
        request.branch,
        int(request.nodes),
        np.zeros(1, np.uint8),
    )
    return _towards(blank, request.network, request.directions)


def _towards(objectives: Objectives, network: Network, directions: FloatArray) -> Objectives:
    """The same question in these directions (·, outputs) of this network."""
    rows, last = directions if directions.ndim == 3 else directions[None], network.layers[-1]
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
