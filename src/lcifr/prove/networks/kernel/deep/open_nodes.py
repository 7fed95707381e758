"""Open nodes of a tree: roots planted, nodes split in two."""

from __future__ import annotations

import numpy as np

from lcifr.prove.networks.kernel.best_first import make_root, make_twin, part_choice, with_offset
from lcifr.prove.networks.kernel.deep.program import BOXES
from lcifr.prove.networks.kernel.deep.shape import Bench, HiddenLayers, OpenNodes, WholeColumns
from lcifr.prove.networks.kernel.heap import empty, push
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.moving_cell import COLUMNS
from lcifr.prove.networks.kernel.node import RELU
from lcifr.prove.networks.kernel.recording.record import NUMERIC, WHOLE, record_split
from lcifr.prove.networks.kernel.shape import KernelAnswer, MovingCell, Objectives, Record


@compiled
def plant_roots(
    layers: HiddenLayers,
    objectives: Objectives,
    found: KernelAnswer,
    cell: MovingCell,
    i: int,
    begin: int,
    end: int,
    limit: float,
    nodes: OpenNodes,
    bench: Bench,
    record: Record,
) -> None:
    """One root for every direction that still matters."""
    empty(nodes)
    for k in range(begin, end):
        bench.output[k] = -np.inf
        key = with_offset(bench.upper[k], objectives.offset[i, k])
        if key > limit:
            node = make_root(found, cell, i, k, key, nodes, bench, record)
            nodes.stale[node], nodes.boxed[node] = len(layers.width), 0
            for n in range(layers.begin[len(layers.width)]):
                nodes.phase[node, n] = 0
                nodes.lo[node, n], nodes.hi[node, n] = bench.lo[n], bench.hi[n]
                nodes.source[node, 2 * n] = nodes.source[node, 2 * n + 1] = -1
            for p in range(cell.size[COLUMNS]):
                nodes.low[node, p], nodes.high[node, p] = cell.low[p], cell.high[p]


@compiled
def _twin(layers: HiddenLayers, cell: MovingCell, node: int, nodes: OpenNodes) -> int:
    """A copy of a node."""
    second = make_twin(cell, node, nodes)
    nodes.boxed[second] = nodes.boxed[node]
    for n in range(layers.begin[len(layers.width)]):
        nodes.phase[second, n] = nodes.phase[node, n]
        nodes.lo[second, n], nodes.hi[second, n] = nodes.lo[node, n], nodes.hi[node, n]
        nodes.source[second, 2 * n] = nodes.source[node, 2 * n]
        nodes.source[second, 2 * n + 1] = nodes.source[node, 2 * n + 1]
    for p in range(cell.size[COLUMNS]):
        nodes.low[second, p], nodes.high[second, p] = nodes.low[node, p], nodes.high[node, p]
    return second


@compiled
def split(
    layers: HiddenLayers,
    cell: MovingCell,
    node: int,
    kind: int,
    place: int,
    nodes: OpenNodes,
    bench: Bench,
    record: Record,
) -> None:
    """Two nodes in place of one: the phase off and on, or the better half of a choice and the others."""
    second = _twin(layers, cell, node, nodes)
    names = record_split(record, nodes.record[node], kind, place, bench.half, cell)
    nodes.record[node], nodes.record[second] = names
    if kind == RELU:
        nodes.phase[node, place], nodes.phase[second, place] = -1, 1
        layer = 0
        while layers.begin[layer + 1] <= place:
            layer += 1
        nodes.stale[node] = nodes.stale[second] = layer + 1
    else:
        nodes.stale[node] = nodes.stale[second] = 0
        part_choice(cell, node, second, place, nodes, bench)
    push(nodes, node)
    push(nodes, second)


@compiled
def split_number(
    layers: HiddenLayers,
    cell: MovingCell,
    node: int,
    p: int,
    threshold: float,
    nodes: OpenNodes,
    bench: Bench,
    record: Record,
) -> None:
    """Two nodes: column ``p`` up to the threshold, and from there on."""
    second, number = _two_boxes(layers, cell, node, p, threshold, threshold, nodes, bench), nodes.record[node]
    names = record_split(record, number, NUMERIC, cell.source[p], bench.half, cell)
    if record.wanted[0]:
        record.threshold[number] = threshold
    nodes.record[node], nodes.record[second] = names
    push(nodes, node)
    push(nodes, second)


@compiled
def _two_boxes(
    layers: HiddenLayers, cell: MovingCell, node: int, p: int, end: float, begin: float, nodes: OpenNodes, bench: Bench
) -> int:
    """The second of two nodes: column ``p`` up to ``end`` in the first, from ``begin`` on in the second."""
    second = _twin(layers, cell, node, nodes)
    nodes.high[node, p], nodes.low[second, p] = end, begin
    nodes.stale[node] = nodes.stale[second] = 0
    bench.size[BOXES] += 2
    nodes.boxed[node], nodes.boxed[second] = bench.size[BOXES] - 1, bench.size[BOXES]
    return second


@compiled
def split_whole(
    layers: HiddenLayers,
    wholes: WholeColumns,
    cell: MovingCell,
    node: int,
    p: int,
    at: int,
    nodes: OpenNodes,
    bench: Bench,
    record: Record,
) -> None:
    """Two nodes: column ``p`` up to the whole number at place ``at``, and from the next one on."""
    second, f = _two_boxes(layers, cell, node, p, wholes.value[at], wholes.value[at + 1], nodes, bench), cell.source[p]
    number = nodes.record[node]
    names = record_split(record, number, WHOLE, f, bench.half, cell)
    rising = wholes.step[f] > 0
    if record.wanted[0]:
        record.level[number] = wholes.first[f] + wholes.step[f] * (at - wholes.start[f] + (0 if rising else 1))
    nodes.record[node], nodes.record[second] = names if rising else (names[1], names[0])
    push(nodes, node)
    push(nodes, second)
