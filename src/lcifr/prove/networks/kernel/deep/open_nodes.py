"""Open nodes of a tree: roots planted, nodes split in two."""

from __future__ import annotations

import numpy as np

from lcifr.prove.networks.kernel.deep.shape import Bench, HiddenLayers, OpenNodes
from lcifr.prove.networks.kernel.heap import empty, make, push
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.moving_cell import COLUMNS
from lcifr.prove.networks.kernel.node import RELU
from lcifr.prove.networks.kernel.recording.record import Record, plant, record_split
from lcifr.prove.networks.kernel.shape import KernelAnswer, MovingCell, Objectives
from lcifr.prove.networks.kernel.tree import with_offset


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
            node = make(nodes)
            nodes.key[node], nodes.bound[node], nodes.direction[node] = key, bench.upper[k], k
            nodes.stale[node], nodes.boxed[node] = len(layers.width), 0
            for n in range(layers.begin[len(layers.width)]):
                nodes.phase[node, n] = 0
                nodes.lo[node, n], nodes.hi[node, n] = bench.lo[n], bench.hi[n]
                nodes.source[node, 2 * n] = nodes.source[node, 2 * n + 1] = -1
            for p in range(cell.size[COLUMNS]):
                nodes.allow[node, p] = cell.allow[p]
                nodes.low[node, p], nodes.high[node, p] = cell.low[p], cell.high[p]
            nodes.record[node] = plant(record, i, k)
            push(nodes, node)
            found.branched[i, k] = 1


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
    second, q = make(nodes), cell.size[COLUMNS]
    nodes.key[second], nodes.bound[second] = nodes.key[node], nodes.bound[node]
    nodes.direction[second], nodes.boxed[second] = nodes.direction[node], nodes.boxed[node]
    for n in range(layers.begin[len(layers.width)]):
        nodes.phase[second, n] = nodes.phase[node, n]
        nodes.lo[second, n], nodes.hi[second, n] = nodes.lo[node, n], nodes.hi[node, n]
        nodes.source[second, 2 * n] = nodes.source[node, 2 * n]
        nodes.source[second, 2 * n + 1] = nodes.source[node, 2 * n + 1]
    for p in range(q):
        nodes.allow[second, p] = nodes.allow[node, p]
        nodes.low[second, p], nodes.high[second, p] = nodes.low[node, p], nodes.high[node, p]
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
        for p in range(cell.begin[place], cell.begin[place + 1]):
            nodes.allow[second, p] &= 1 - bench.half[p]
            nodes.allow[node, p] = bench.half[p]
    push(nodes, node)
    push(nodes, second)
