"""The kernel for any depth called from Python: a network, its rounding and a cell as the arrays that it reads."""

from __future__ import annotations

from functools import cache, lru_cache, partial

import numpy as np
import torch

from lcifr.models.network import FLOOR, LARGEST, Network
from lcifr.prove.answer import FloatArray, IntArray
from lcifr.prove.networks.kernel.deep.kernel import make_deep_kernel
from lcifr.prove.networks.kernel.deep.shape import HiddenLayers, Rows
from lcifr.prove.networks.kernel.deep.workspace import make_deep_workspace
from lcifr.prove.networks.kernel.layout import Layout, cells_of, share
from lcifr.prove.networks.kernel.shape import Cells, FirstLayer, KernelAnswer, Objectives
from lcifr.prove.networks.linear_bounds.cell_batch import tensors
from lcifr.prove.networks.linear_bounds.rounding import RoundingBound
from lcifr.regions.region import Cell

NODES = 64
"""Open nodes that a tree has room for at first."""

kernel = cache(make_deep_kernel)


def answer_cell(
    network: Network, cell: Cell, directions: FloatArray, objectives: Objectives, found: KernelAnswer
) -> None:
    """One cell of everybody."""
    first, layers, order, slope, shift = _layers(Layout.of(network, cell))
    size = np.abs(directions if directions.ndim == 3 else directions[None])
    asked = objectives._replace(rise=size @ slope + FLOOR, shift=size @ shift + FLOOR)
    rows, cells = _rows(cell, order), cells_of(cell, order)
    share(len(cell.present), partial(_answer_piece, first, layers, rows, cells, asked, found))


def _answer_piece(
    first: FirstLayer,
    layers: HiddenLayers,
    rows: Rows,
    cells: Cells,
    objectives: Objectives,
    found: KernelAnswer,
    begin: int,
    end: int,
) -> None:
    """People begin … end−1; whoever needs a larger tree gets it and starts again, with what was found."""
    nodes, directions = NODES, objectives.value.shape[2]
    work = make_deep_workspace(first, layers, rows, cells, directions, nodes)
    while (begin := kernel()(first, layers, rows, cells, objectives, found, work, begin, end)) < end:
        nodes *= 4
        work = make_deep_workspace(first, layers, rows, cells, directions, nodes)


@lru_cache(maxsize=16)
def _layers(layout: Layout) -> tuple[FirstLayer, HiddenLayers, IntArray, FloatArray, FloatArray]:
    """The layers, the columns in cell order, and the slope and shift of the last layer's rounding term."""
    network, cell = layout.network, layout.cell
    order = layout.order
    choices = [torch.as_tensor(choice.columns) for choice in cell.choices]
    rounding, head = RoundingBound.of(tensors(network), torch.as_tensor(cell.numeric), choices), network.layers[0]
    slopes, shifts = [part.numpy() for part in rounding.slope], [part.numpy() for part in rounding.shift]
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
        np.concatenate([layer.bias for layer in hidden]),
        np.concatenate(slopes[:-1]) + FLOOR,  # the term that no direction makes small
        np.concatenate(shifts[:-1]) + FLOOR,
        rounding.unit,
    )
    return first, layers, order, slopes[-1], shifts[-1]


def _rows(cell: Cell, order: IntArray) -> Rows:
    if cell.rows is None:
        none = np.zeros(0)
        return Rows(np.zeros((0, len(order))), np.zeros((len(cell.present), 0)), none, none)
    size = np.abs(cell.rows.G)
    shift = FLOOR + np.abs(cell.rows.g[cell.present]).max(0, initial=0.0)
    for choice in cell.choices:
        shift = shift + size[:, choice.columns].max(1)
    return Rows(
        np.ascontiguousarray(cell.rows.G[:, order]),
        np.array(cell.rows.g, order="C"),
        size[:, cell.numeric].sum(1) + FLOOR,
        shift,
    )
