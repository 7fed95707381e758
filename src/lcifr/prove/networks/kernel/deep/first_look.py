"""A first look at a person: intervals of all layers on the whole cell, and whether that settles the verdict already.

Most of the time of an easy person is spent on linear bounds backward from every neuron that may be on or off. So where
a target is given, bounds get better layer by layer, and whoever is settled is done: by a bound below the target, or by
a point beyond it. The layers that were not yet bounded backward have intervals by interval arithmetic. Rounding terms
are computed from the very intervals that a bound rests on, so that each of these bounds is proved like any other.
"""

from __future__ import annotations

import math

import numpy as np

from lcifr.prove.networks.kernel.best_first import JUMPS, most_promising
from lcifr.prove.networks.kernel.deep.backward import enclose, largest, pull, set_lines
from lcifr.prove.networks.kernel.deep.magnitude import direction_errors, forget_magnitudes
from lcifr.prove.networks.kernel.deep.node import climb
from lcifr.prove.networks.kernel.deep.shape import Bench, DeepWorkspace, HiddenLayers, OpenNodes, Rows
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.kernel import write_point
from lcifr.prove.networks.kernel.moving_cell import COLUMNS
from lcifr.prove.networks.kernel.node import vertex_of
from lcifr.prove.networks.kernel.shape import Cells, FirstLayer, Floats, KernelAnswer, MovingCell, Objectives


@compiled
def look_deeper(
    first: FirstLayer,
    layers: HiddenLayers,
    rows: Rows,
    cells: Cells,
    objectives: Objectives,
    found: KernelAnswer,
    i: int,
    row: int,
    work: DeepWorkspace,
) -> bool:
    """Intervals of all layers, in node 0; False where all answers are settled on the way, with bounds on the bench."""
    cell, bench, nodes, depth = work.cell, work.bench, work.nodes, len(layers.width)
    hasty = not (work.record.wanted[0] or objectives.together)
    for answer in range(found.best.shape[1]):
        hasty = hasty and objectives.target[i, answer] > -np.inf
    for p in range(cell.size[COLUMNS]):
        nodes.allow[0, p] = cell.allow[p]
        bench.low[p], bench.high[p] = cell.low[p], cell.high[p]
    for layer in range(depth):
        _forget(layers, layer, work)
        enclose(first, layers, cell, nodes, 0, layer, True, bench)
        if not _is_possible(layers, layer, nodes):
            return True
        set_lines(layers, layer, nodes.lo[0], nodes.hi[0], bench)
        if hasty and layer < depth - 1:
            for behind in range(layer + 1, depth):
                enclose(first, layers, cell, nodes, 0, behind, False, bench)
                set_lines(layers, behind, nodes.lo[0], nodes.hi[0], bench)
            if _settles(first, layers, rows, cells, objectives, found, i, row, layer == 0, work):
                return False
    return True


@compiled
def _forget(layers: HiddenLayers, layer: int, work: DeepWorkspace) -> None:
    """Nothing is known any more about a layer and all behind it."""
    nodes, bench = work.nodes, work.bench
    if layer > 0:
        forget_magnitudes(layers, layer, bench)
    for n in range(layers.begin[layer], layers.begin[len(layers.width)]):
        nodes.lo[0, n], nodes.hi[0, n] = -np.inf, np.inf
        bench.below[n] = -1.0  # not chosen yet


@compiled
def _is_possible(layers: HiddenLayers, layer: int, nodes: OpenNodes) -> bool:
    """Whether no interval of the layer is empty."""
    there = True
    for n in range(layers.begin[layer], layers.begin[layer + 1]):
        there = there and not nodes.lo[0, n] > nodes.hi[0, n]
    return there


@compiled
def _settles(
    first: FirstLayer,
    layers: HiddenLayers,
    rows: Rows,
    cells: Cells,
    objectives: Objectives,
    found: KernelAnswer,
    i: int,
    row: int,
    jump: bool,
    work: DeepWorkspace,
) -> bool:
    """Whether every answer lies on one side of its target: by its bound, or where ``jump`` by a point that is found."""
    cell, bench, lo, hi = work.cell, work.bench, work.nodes.lo[0], work.nodes.hi[0]
    direction_errors(layers, row, lo, hi, bench)
    for k in range(found.best.shape[1]):
        bench.upper[k] = plain_bound(first, layers, objectives, cell, row, k, lo, hi, bench)
    for k in range(found.best.shape[1]):
        if most_promising(objectives, found, i, k, k, k + 1, bench) < 0:
            continue
        if not jump:
            return False
        bench.hit[0] = 0
        for p in range(cell.size[COLUMNS]):
            bench.slopes[p] = bench.plain[k, p]
        vertex_of(cell, cell.allow, bench)
        settled = climb(layers, rows, objectives, found, cell, i, row, k, k, JUMPS, bench)
        if bench.hit[0]:
            write_point(cells, found, cell, i, k, bench.best)
        if not settled:
            return False
    return True


@compiled
def plain_bound(
    first: FirstLayer,
    layers: HiddenLayers,
    objectives: Objectives,
    cell: MovingCell,
    row: int,
    k: int,
    lo: Floats,
    hi: Floats,
    bench: Bench,
) -> float:
    """The bound of a direction on the whole cell with the lines that these intervals gave; its slopes are kept."""
    depth = len(layers.width)
    for j in range(layers.width[depth - 1]):
        bench.upstream[j] = objectives.value[row, j, k]
    constant = pull(layers, cell, depth - 1, lo, hi, objectives.level[row, k], bench)
    for p in range(cell.size[COLUMNS]):
        bench.plain[k, p] = bench.slopes[p]
    bound = largest(cell, cell.allow, bench.slopes, constant)
    bound += first.unit * bench.error[k]
    return np.inf if math.isnan(bound) else bound
