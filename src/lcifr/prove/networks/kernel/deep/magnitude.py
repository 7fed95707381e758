"""How large the numbers behind a person's bounds can be, layer by layer, and so how far rounding can take them.

:class:`~lcifr.prove.networks.rounding.RoundingBound` says it for every x with |x| ≤ X, before any interval is known:
each layer counts four times, for the lines that may replace its ReLUs. Here the intervals of the person's whole cell
are known. A neuron that is off adds nothing to any bound, one that is on is its input, and only a free one may be
replaced by lines. Through five hidden layers of which most neurons are stable that is a thousandth.

Only bounds may use it: a plain forward pass computes inputs of neurons that are off, and rounding may turn them on.
"""

from __future__ import annotations

import numpy as np

from lcifr.prove.networks.kernel.deep.shape import Bench, HiddenLayers
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.shape import Cells, FirstLayer, Floats, MovingCell

ON, FREE = 1.001, 4.0
"""By how much the output of a neuron may exceed the magnitude of its input: outward rounding of its interval, and the
two lines of a ReLU, either of which a coefficient that is 0 but for rounding may take."""
NOT_YET = -1.0


@compiled
def first_magnitudes(
    first: FirstLayer, layers: HiddenLayers, cells: Cells, i: int, cell: MovingCell, bench: Bench
) -> None:
    """Of the first layer Σ |w|·|x| + |b|, number by number; of the others that they are not known yet."""
    numerics, hidden = cells.lower.shape[1], layers.width[0]
    bench.floor[0] = layers.floor * (cell.largest[0] + 1.0)
    forget_magnitudes(layers, 0, bench)
    for j in range(hidden):
        bench.magnitude[j] = abs(first.bias[j]) + bench.floor[0]
    for f in range(numerics):
        x = max(abs(cells.lower[i, f]), abs(cells.upper[i, f]))
        for j in range(hidden):
            bench.magnitude[j] += abs(first.weight[f, j]) * x
    for c in range(len(cells.start) - 1):
        for j in range(hidden):
            bench.magnitude[j] += layers.category_size[c, j]


@compiled
def next_magnitudes(layers: HiddenLayers, layer: int, lo: Floats, hi: Floats, bench: Bench) -> None:
    """Of a later layer, from the intervals of the layer before on the whole cell; once for each person."""
    begin, before = layers.begin[layer], layers.begin[layer - 1]
    if bench.magnitude[begin] != NOT_YET:
        return
    total, count = bench.magnitude[begin : begin + layers.width[layer]], layers.width[layer]
    for j in range(count):
        total[j] = abs(layers.bias[begin + j]) + bench.floor[0]
    for i in range(layers.width[layer - 1]):
        size = _output(lo[before + i], hi[before + i], bench.magnitude[before + i])
        if size != 0.0:
            weight = layers.across[layer, i]
            for j in range(count):
                total[j] += abs(weight[j]) * size


@compiled
def forget_magnitudes(layers: HiddenLayers, layer: int, bench: Bench) -> None:
    """Those of a layer and of all behind it are to be computed again, from better intervals."""
    for n in range(layers.begin[layer], layers.begin[len(layers.width)]):
        bench.magnitude[n] = NOT_YET


@compiled
def direction_errors(layers: HiddenLayers, row: int, lo: Floats, hi: Floats, bench: Bench) -> None:
    """How far rounding can take the bound of each direction on the person's cell, given its intervals."""
    last = len(layers.width) - 1
    begin, directions = layers.begin[last], layers.size.shape[1]
    for k in range(directions):
        bench.error[k] = bench.floor[0]
    for o in range(len(layers.head_bias)):
        total = layers.head_bias[o] + bench.floor[0]
        for j in range(layers.width[last]):
            n = begin + j
            total += layers.head[o, j] * _output(lo[n], hi[n], bench.magnitude[n])
        for k in range(directions):
            bench.error[k] += layers.size[row, k, o] * total


@compiled
def _output(lo: float, hi: float, magnitude: float) -> float:
    if not lo < 0.0:  # as everywhere: also where overflow left no number
        return ON * magnitude
    return 0.0 if hi <= 0.0 else FREE * magnitude if magnitude < np.inf else np.inf
