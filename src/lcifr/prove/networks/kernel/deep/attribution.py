"""What each relaxation gives away, where a program's own multipliers do not say.

A program may reach its optimum with room to spare: an output above relu(y) that no chord limits has no price, although
the optimum rests on it. So the difference between the program's value and the network's own at the same x is shared
out instead. An output of the program is its neuron's true one plus g, what the program adds there, plus the difference
of the inputs times the slope of the secant of relu between them. Going back through these slopes, the difference is
exactly the sum of coefficient · g over all neurons.
"""

from __future__ import annotations

from lcifr.prove.networks.kernel.deep.backward import step_back
from lcifr.prove.networks.kernel.deep.node import value_at_point
from lcifr.prove.networks.kernel.deep.program import EARLY
from lcifr.prove.networks.kernel.deep.shape import Bench, HiddenLayers, OpenNodes
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.moving_cell import COLUMNS, NUMERICS
from lcifr.prove.networks.kernel.node import RELU, STUCK
from lcifr.prove.networks.kernel.shape import MovingCell, Objectives, SimplexDictionary


@compiled
def share_out(
    layers: HiddenLayers,
    objectives: Objectives,
    cell: MovingCell,
    row: int,
    nodes: OpenNodes,
    node: int,
    lp: SimplexDictionary,
    bench: Bench,
) -> tuple[int, int]:
    """The gaps of all neurons by their share in the difference; and what to split: the neuron with the largest."""
    k, depth = nodes.direction[node], len(layers.width)
    for p in range(cell.size[COLUMNS]):
        numeric = p < cell.size[NUMERICS]
        bench.point[p] = cell.low[p] + lp.share[p] * (cell.high[p] - cell.low[p]) if numeric else lp.share[p]
    value_at_point(layers, objectives, cell, row, k, bench)
    _inputs_of_program(layers, lp, bench)
    v, w, chosen, top = bench.upstream, bench.downstream, -1, 0.0
    for j in range(layers.width[depth - 1]):
        v[j] = objectives.value[row, j, k]
    for layer in range(depth - 1, -1, -1):
        for j in range(layers.width[layer]):
            n = layers.begin[layer] + j
            u = bench.place[n]
            if u >= 0:
                bench.gap[u] = 0.0
                if nodes.lo[node, n] < 0.0 < nodes.hi[node, n] and nodes.phase[node, n] == 0:
                    bench.gap[u] = max(0.0, v[j] * _added(lp, u, n, v[j], bench))
                    if bench.gap[u] > top:
                        chosen, top = n, bench.gap[u]
            v[j] *= _secant(bench.inside[n], bench.value[n])
        if layer > 0:
            step_back(layers, layer, v, w, bench)
            v, w = w, v
    return (RELU, chosen) if chosen >= 0 else (STUCK, 0)


@compiled
def _inputs_of_program(layers: HiddenLayers, lp: SimplexDictionary, bench: Bench) -> None:
    """The inputs of all neurons at the program's optimum, from the outputs that it has there."""
    for j in range(layers.width[0]):
        bench.inside[j] = bench.value[j]
    for layer in range(1, len(layers.width)):
        begin, before = layers.begin[layer], layers.begin[layer - 1]
        for j in range(layers.width[layer]):
            total, weight = layers.bias[begin + j], layers.weight[layer, j]
            for i in range(layers.width[layer - 1]):
                u = bench.place[before + i]
                output = lp.input[3 * u] if u >= 0 else max(bench.inside[before + i], 0.0)
                total += weight[i] * output
            bench.inside[begin + j] = total


@compiled
def _added(lp: SimplexDictionary, u: int, n: int, v: float, bench: Bench) -> float:
    """By how much the program's output of a free neuron exceeds relu of the program's input."""
    y, early = bench.inside[n], bench.size[EARLY]
    if u < early:
        return float(lp.input[3 * u] - max(y, 0.0))
    return float(bench.slope[n] * y + bench.intercept[n] - max(y, 0.0)) if v > 0.0 else 0.0


@compiled
def _secant(one: float, other: float) -> float:
    """The slope of relu between two inputs."""
    if one == other:
        return 1.0 if one > 0.0 else 0.0
    return (max(one, 0.0) - max(other, 0.0)) / (one - other)
