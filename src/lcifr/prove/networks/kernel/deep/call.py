"""The kernel for any depth called from Python: a network, its rounding and a cell as the arrays that it reads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np

from lcifr.models.network import FLOOR, LARGEST
from lcifr.prove.answer import FloatArray, IntArray
from lcifr.prove.networks.balance import balance, to_size
from lcifr.prove.networks.kernel.deep.kernel import make_deep_kernel
from lcifr.prove.networks.kernel.deep.shape import HiddenLayers, Rows, WholeColumns
from lcifr.prove.networks.kernel.pieces import Layout, Pieces, RecordShape, answer_pieces, cells_of
from lcifr.prove.networks.kernel.recording.proofs import RecordedCell
from lcifr.prove.networks.kernel.shape import FirstLayer, KernelAnswer, Objectives, Record, Room
from lcifr.prove.networks.kernel.workspace import make_deep_workspace
from lcifr.prove.networks.request import Request
from lcifr.regions.region import Cell, WholeColumn

kernel = cache(make_deep_kernel)


def answer_cell(
    request: Request,
    cell: Cell,
    number: int,
    objectives: Objectives,
    found: KernelAnswer,
    written: list[RecordedCell],
    stop: Callable[[], None],
) -> None:
    """One cell of everybody."""
    balanced = balance(request.network)
    first, layers, order, slope, shift = _layers(Layout.of(balanced.network, cell))
    directions = request.directions
    size = np.abs(directions if directions.ndim == 3 else directions[None])
    layers = layers._replace(size=size)
    last = balanced.factor[layers.begin[-2] :, None]
    asked = objectives._replace(
        value=objectives.value / last, rise=size @ slope + FLOOR, shift=size @ shift + FLOOR
    )  # value is exact: a power of two
    rows, cells, neurons = _rows(cell, order), cells_of(cell, order), int(layers.begin[-1])
    wholes = _whole_columns(request.region.whole, tuple(cell.numeric.tolist()))
    early = neurons - int(layers.width[-1])
    shape = RecordShape(request.proof, asked.value.shape[2], neurons, early, len(rows.slope), len(order))

    names = {one.column: one.attribute for one in request.region.whole}
    about = RecordedCell(balanced.network, cell, number, order, names, balanced.factor)

    def ask(room: Room, record: Record) -> Callable[[int, int], int]:
        work = make_deep_workspace(first, layers, rows, cells, shape.directions, room, record)
        return lambda begin, end: kernel()(first, layers, rows, wholes, cells, asked, found, work, begin, end)

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
