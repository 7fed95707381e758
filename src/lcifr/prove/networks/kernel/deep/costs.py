"""Costs of a node's program: the objective, and penalties for phases, triangles and linear rows."""

from __future__ import annotations

from lcifr.prove.networks.kernel.deep.backward import step_back, to_input
from lcifr.prove.networks.kernel.deep.program import EARLY, LAST, LINES
from lcifr.prove.networks.kernel.deep.shape import Bench, HiddenLayers, OpenNodes
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.moving_cell import COLUMNS, NUMERICS
from lcifr.prove.networks.kernel.shape import MovingCell, Objectives, SimplexDictionary

START = 4.0
"""Strength of the penalties, in units of the largest coefficient that any neuron can have on the way back."""


@compiled
def set_direction(
    lp: SimplexDictionary,
    layers: HiddenLayers,
    objectives: Objectives,
    cell: MovingCell,
    row: int,
    k: int,
    bench: Bench,
) -> None:
    """What is linear on the whole cell in direction ``k``: gains of the columns, costs of early neurons' outputs."""
    v, w, depth = bench.upstream, bench.downstream, len(layers.width)
    top = 0.0
    for j in range(layers.width[depth - 1]):
        c = objectives.value[row, j, k]
        n = layers.begin[depth - 1] + j
        v[j] = abs(c) if bench.hi[n] > 0.0 else 0.0
        top = max(top, v[j])
    for layer in range(depth - 1, 0, -1):
        for i in range(layers.width[layer - 1]):
            w[i] = 0.0
        for j in range(layers.width[layer]):
            if v[j] != 0.0:
                for i in range(layers.width[layer - 1]):
                    w[i] += v[j] * abs(layers.weight[layer, j, i])
        v, w = w, v
        for i in range(layers.width[layer - 1]):
            if bench.hi[layers.begin[layer - 1] + i] <= 0.0:
                v[i] = 0.0
            top = max(top, v[i])
    steepest = 0.0
    for p in range(cell.size[COLUMNS]):
        total = 0.0
        for j in range(layers.width[0]):
            total += v[j] * abs(cell.weight[j, p])
        steepest = max(steepest, total)
    if bench.size[LINES] > 0:
        top = max(top, steepest)
    bench.strength[0] = START * top if top > 0.0 else 1.0
    v, w = bench.upstream, bench.downstream
    for j in range(layers.width[depth - 1]):
        n = layers.begin[depth - 1] + j
        v[j] = objectives.value[row, j, k] if not bench.lo[n] < 0.0 else 0.0
    for layer in range(depth - 1, -1, -1):
        if layer < depth - 1:
            for j in range(layers.width[layer]):
                n = layers.begin[layer] + j
                if bench.lo[n] < 0.0:
                    if bench.place[n] >= 0:
                        bench.linear[bench.place[n]] = v[j]
                    v[j] = 0.0
        if layer > 0:
            step_back(layers, layer, v, w, bench)
            v, w = w, v
    to_input(layers, cell, v, bench.multiplier, bench)


@compiled
def set_costs(
    lp: SimplexDictionary,
    layers: HiddenLayers,
    objectives: Objectives,
    cell: MovingCell,
    row: int,
    nodes: OpenNodes,
    node: int,
    bench: Bench,
    scale: float,
    strength: float,
) -> None:
    """The cost of every column and kink at this node: the objective ``scale`` times, and penalties."""
    k, allow = nodes.direction[node], nodes.allow[node]
    lo, hi, phase = nodes.lo[node], nodes.hi[node], nodes.phase[node]
    early, last, weight = bench.size[EARLY], bench.size[LAST], 1.0
    for u in range(early):
        n = bench.free[u]
        gain, wrong = scale * bench.linear[u], strength
        on, off = not lo[n] < 0.0, hi[n] <= 0.0
        lp.left[3 * u], lp.right[3 * u] = gain + wrong, gain - (wrong if off else 0.0)
        lp.left[3 * u + 1], lp.right[3 * u + 1] = wrong if on else 0.0, -wrong
        lp.left[3 * u + 2], lp.right[3 * u + 2] = 0.0, 0.0 if on or off else -wrong
        weight += wrong * (bench.hi[n] - bench.lo[n])
    begin = layers.begin[len(layers.width) - 1]
    for f in range(last):
        n = bench.free[early + f]
        c, b = scale * objectives.value[row, n - begin, k], 3 * early + f
        left = right = 0.0
        if not lo[n] < 0.0 or (c > 0.0 and phase[n] > 0):
            left = right = c
        elif hi[n] > 0.0 and c < 0.0:
            right = c
        elif hi[n] > 0.0 and c > 0.0 and phase[n] == 0:
            left = right = c * bench.slope[n]
        lp.left[b], lp.right[b] = left, right
        weight += abs(c) * (bench.hi[n] - bench.lo[n])
    for r in range(bench.size[LINES]):
        weight += strength
        lp.left[3 * early + last + r], lp.right[3 * early + last + r] = 0.0, -strength
    for p in range(cell.size[NUMERICS]):
        lp.gain[p] = scale * bench.multiplier[p] * (cell.high[p] - cell.low[p])
        weight += abs(lp.gain[p])
    for p in range(cell.size[NUMERICS], cell.size[COLUMNS]):
        weight += abs(bench.multiplier[p])
    for p in range(cell.size[NUMERICS], cell.size[COLUMNS]):
        lp.gain[p] = scale * bench.multiplier[p] if allow[p] else -4.0 * weight  # so much that it never pays
