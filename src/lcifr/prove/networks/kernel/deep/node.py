"""One node: what its program proposes, its proved bound, points by local search, and where to split it."""

from __future__ import annotations

import math

import numpy as np

from lcifr.prove.networks.kernel.best_first import keep_point
from lcifr.prove.networks.kernel.deep.backward import largest, step_back, to_input
from lcifr.prove.networks.kernel.deep.program import EARLY, LAST, LINES
from lcifr.prove.networks.kernel.deep.shape import Bench, HiddenLayers, OpenNodes, Rows
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.moving_cell import COLUMNS, add
from lcifr.prove.networks.kernel.node import CHOICE, RELU, STUCK, pick_choice, vertex_of
from lcifr.prove.networks.kernel.shape import FirstLayer, KernelAnswer, MovingCell, Objectives, SimplexDictionary

ROW_SLACK = 1e-10
"""A point that leaves a linear row by this share of its level still counts: it is pulled inside afterwards."""


@compiled
def read_multipliers(bench: Bench) -> None:
    """The coefficients of free neurons' inputs, and the rates of rows, from the slopes of a program's kinks."""
    early, last, found = bench.size[EARLY], bench.size[LAST], bench.kink
    for u in range(early):
        bench.proposed[u] = found[3 * u + 1] - bench.hinge[u] * found[3 * u + 2]
    for f in range(last):
        bench.proposed[early + f] = found[3 * early + f]
    for r in range(bench.size[LINES]):
        bench.rate[r] = max(0.0, -found[3 * early + last + r])


@compiled
def proved_bound(
    first: FirstLayer,
    layers: HiddenLayers,
    rows: Rows,
    objectives: Objectives,
    cell: MovingCell,
    row: int,
    nodes: OpenNodes,
    node: int,
    bench: Bench,
    scale: float,
) -> float:
    """The bound of ``scale`` · direction with the proposed coefficients, whoever proposed them; and its slopes."""
    k, lo, hi = nodes.direction[node], nodes.lo[node], nodes.hi[node]
    v, w, depth = bench.upstream, bench.downstream, len(layers.width)
    constant, extra = scale * objectives.level[row, k], 0.0
    for j in range(layers.width[depth - 1]):
        v[j] = scale * objectives.value[row, j, k]
    for layer in range(depth - 1, -1, -1):
        begin = layers.begin[layer]
        for j in range(layers.width[layer]):
            n = begin + j
            u = bench.place[n]
            if u < 0:
                if bench.hi[n] <= 0.0:
                    v[j] = 0.0
                continue
            c, value = bench.proposed[u], v[j]
            inside = min(max(c, min(value, 0.0)), max(value, 0.0))
            if lo[n] < 0.0 < hi[n]:
                c = inside
            elif nodes.phase[node, n] == 0:  # stable without a decision
                c = inside = value if hi[n] > 0.0 else 0.0
            else:
                extra += abs(c - inside) * bench.magnitude[n]
            constant += _gap(value, c, lo[n], hi[n])
            v[j] = bench.used[u] = c
        if layer > 0:
            constant += step_back(layers, layer, v, w, bench)
            v, w = w, v
    constant += to_input(layers, cell, v, bench.slopes, bench)
    for r in range(bench.size[LINES]):
        rate = bench.rate[r]
        if rate > 0.0:
            constant -= rate * bench.row_base[r]
            extra += rate * (rows.slope[r] * cell.largest[0] + rows.shift[r])
            for p in range(cell.size[COLUMNS]):
                bench.slopes[p] -= rate * bench.row[r, p]
    bound = largest(cell, nodes.allow[node], bench.slopes, constant)
    bound += first.unit * (bench.error[k] + 2.0 * extra)
    return np.inf if math.isnan(bound) else bound


@compiled
def _gap(value: float, c: float, lo: float, hi: float) -> float:
    """The largest value·relu(y) − c·y for y between lo and hi."""
    low = value * max(lo, 0.0) - c * lo
    high = value * max(hi, 0.0) - c * hi
    most = low if low > high else high
    return max(most, 0.0) if lo < 0.0 < hi else most


@compiled
def value_at_point(
    layers: HiddenLayers, objectives: Objectives, cell: MovingCell, row: int, k: int, bench: Bench
) -> float:
    """Direction · network at the bench's point, in plain floating point; and the gradient there as slopes."""
    depth, q, y = len(layers.width), cell.size[COLUMNS], bench.value
    for j in range(layers.width[0]):
        total = cell.base[j]
        for p in range(q):
            total += cell.weight[j, p] * bench.point[p]
        y[j] = total
    for layer in range(1, depth):
        begin, before = layers.begin[layer], layers.begin[layer - 1]
        for j in range(layers.width[layer]):
            y[begin + j] = layers.bias[begin + j]
        for i in range(layers.width[layer - 1]):
            if not y[before + i] <= 0.0:
                add(y[begin : begin + layers.width[layer]], layers.across[layer, i], y[before + i])
    v, w, begin = bench.upstream, bench.downstream, layers.begin[depth - 1]
    result = objectives.level[row, k]
    for j in range(layers.width[depth - 1]):
        v[j] = objectives.value[row, j, k] if y[begin + j] > 0.0 else 0.0
        result += v[j] * y[begin + j]
    for layer in range(depth - 1, 0, -1):
        step_back(layers, layer, v, w, bench)
        v, w = w, v
        for i in range(layers.width[layer - 1]):
            if y[layers.begin[layer - 1] + i] <= 0.0:
                v[i] = 0.0
    to_input(layers, cell, v, bench.slopes, bench)
    return float(result)


@compiled
def keeps_rows(cell: MovingCell, rows: Rows, bench: Bench) -> bool:
    """Whether the bench's point satisfies the linear rows, nearly."""
    for r in range(bench.size[LINES]):
        total = bench.row_base[r]
        for p in range(cell.size[COLUMNS]):
            total += bench.row[r, p] * bench.point[p]
        if total > ROW_SLACK * (1.0 + rows.slope[r] * cell.largest[0] + rows.shift[r]):
            return False
    return True


@compiled
def climb(
    layers: HiddenLayers,
    rows: Rows,
    objectives: Objectives,
    found: KernelAnswer,
    cell: MovingCell,
    i: int,
    row: int,
    k: int,
    answer: int,
    jumps: int,
    bench: Bench,
) -> bool:
    """Jump from the bench's point along the gradient, and keep what is better. Whether the target is surely passed."""
    last = -np.inf
    rounding_error = layers.unit * (objectives.rise[row, k] * cell.largest[0] + objectives.shift[row, k])
    for _ in range(jumps + 1):
        value = value_at_point(layers, objectives, cell, row, k, bench)
        if value + objectives.offset[i, k] > found.best[i, answer] and keeps_rows(cell, rows, bench):
            settled = keep_point(objectives, found, cell, i, k, answer, value, rounding_error, bench)
            if settled:
                return True
        if not value > last:
            break
        last = value
        vertex_of(cell, cell.allow, bench)
    return False


@compiled
def decide(
    layers: HiddenLayers,
    objectives: Objectives,
    cell: MovingCell,
    row: int,
    nodes: OpenNodes,
    node: int,
    lp: SimplexDictionary,
    bench: Bench,
) -> tuple[int, int]:
    """What to split: a choice that is not whole, else the free neuron whose relaxation gives away most."""
    k, place = nodes.direction[node], pick_choice(cell, nodes.allow[node], lp)
    if place >= 0:
        return CHOICE, place
    lo, hi, phase = nodes.lo[node], nodes.hi[node], nodes.phase[node]
    early, begin, top = bench.size[EARLY], layers.begin[len(layers.width) - 1], 0.0
    for u in range(early + bench.size[LAST]):
        n = bench.free[u]
        bench.gap[u] = 0.0
        if lo[n] < 0.0 < hi[n] and phase[n] == 0:
            if u < early:
                output, fall = lp.input[3 * u], lp.input[3 * u + 1]
                gap = -bench.kink[3 * u + 2] * max(0.0, min(output, -fall))
                gap += 1e-9 * bench.strength[0] * bench.intercept[n]
            else:
                y, c = lp.input[3 * early + u - early], objectives.value[row, n - begin, k]
                gap = 0.0
                if c > 0.0:
                    gap = c * (bench.slope[n] * y + bench.intercept[n] - max(y, 0.0) + 1e-6 * bench.intercept[n])
            bench.gap[u] = gap
            if gap > top:
                place, top = n, gap
    return (RELU, place) if place >= 0 else (STUCK, 0)
