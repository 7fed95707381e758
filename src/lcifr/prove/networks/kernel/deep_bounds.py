"""Bounds through several hidden layers: how large numbers become, and backward passes that tighten intervals."""

from __future__ import annotations

import math

import numpy as np

from lcifr.prove.networks.kernel.arrays import (
    Bench,
    Cells,
    FirstLayer,
    Flags,
    Floats,
    HiddenLayers,
    Integers,
    MovingCell,
    OpenNodes,
)
from lcifr.prove.networks.kernel.cell import CHOICES, COLUMNS, NUMERICS, chord, intervals
from lcifr.prove.networks.kernel.jit import compiled

# How large the numbers behind a person's bounds can be, layer by layer, and so how far rounding can take them.
#
# :class:`~lcifr.prove.networks.rounding.RoundingBound` holds for every x with |x| ≤ X, before any interval is known:
# each layer counts four times, for the lines that may replace its ReLUs. Here the intervals of the person's whole cell
# are known. A neuron that is off adds nothing to any bound, one that is on is its input, and only a free one may be
# replaced by lines. Through five hidden layers of which most neurons are stable that is a thousandth.
#
# Only bounds may use it: a plain forward pass computes inputs of neurons that are off, and rounding may turn them on.

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


# Linear bounds backward through all layers, and intervals of hidden neurons by them.
#
# Every bound is the sum that :mod:`lcifr.prove.networks.rounding` counts the roundings of, with the lines
# of a neuron written as c·y + t: for any number c, v·relu(y) ≤ c·y + t where t is the largest value of v·relu(y) − c·y
# at the ends of the neuron's interval and at 0.


@compiled
def set_lines(layers: HiddenLayers, layer: int, lo: Floats, hi: Floats, bench: Bench) -> None:
    """The chord above every unstable neuron of the layer, and below whichever of 0 and y encloses the smaller area.

    The slope below is chosen once, at the root, so that nodes differ only where they have to.
    """
    for n in range(layers.begin[layer], layers.begin[layer + 1]):
        if lo[n] < 0.0 < hi[n]:
            bench.slope[n], bench.intercept[n] = chord(lo[n], hi[n])
            if bench.below[n] < 0.0:
                bench.below[n] = 1.0 if hi[n] > -lo[n] else 0.0


@compiled
def pull(
    layers: HiddenLayers, cell: MovingCell, top: int, lo: Floats, hi: Floats, constant: float, bench: Bench
) -> float:
    """The linear function Σ upstream·relu(y) of layer ``top`` bounded by one of x: its constant, and its slopes."""
    v, w = bench.upstream, bench.downstream
    for layer in range(top, -1, -1):
        begin, width = layers.begin[layer], layers.width[layer]
        for j in range(width):
            c, n = v[j], begin + j
            if c != 0.0 and lo[n] < 0.0:
                if hi[n] <= 0.0:
                    v[j] = 0.0
                elif c > 0.0:
                    constant += c * bench.intercept[n]
                    v[j] = c * bench.slope[n]
                else:
                    v[j] = c * bench.below[n]
        if layer > 0:
            constant += step_back(layers, layer, v, w, bench)
            v, w = w, v
    return constant + to_input(layers, cell, v, bench.slopes, bench)


@compiled
def step_back(layers: HiddenLayers, layer: int, v: Floats, w: Floats, bench: Bench) -> float:
    """Coefficients v of the inputs of a layer as coefficients w of the outputs of the layer before; the constant."""
    begin, constant = layers.begin[layer], 0.0
    for j in range(layers.width[layer]):
        constant += v[j] * layers.bias[begin + j]
    _combine_rows(v, layers.width[layer], layers.weight[layer], layers.width[layer - 1], w, bench)
    return constant


@compiled
def to_input(layers: HiddenLayers, cell: MovingCell, v: Floats, slopes: Floats, bench: Bench) -> float:
    """Coefficients of the inputs of the first layer as slopes of the columns that move; the constant."""
    constant = 0.0
    for j in range(layers.width[0]):
        if v[j] != 0.0:  # the base may be infinite
            constant += v[j] * cell.base[j]
    _combine_rows(v, layers.width[0], cell.weight, cell.size[COLUMNS], slopes, bench)
    return constant


@compiled
def _combine_rows(v: Floats, rows: int, weight: Floats, columns: int, total: Floats, bench: Bench) -> None:
    """total = Σ v[j]·weight[j], term after term, four at a time so that a sum is fetched and stored less often."""
    used, share, count = bench.used_row, bench.used_share, 0
    for j in range(rows):  # without a branch: which coefficients are 0 cannot be foreseen
        used[count], share[count] = j, v[j]
        count += v[j] != 0.0
    for place in range(count, count + 3):
        used[place], share[place] = 0, 0.0
    for column in range(columns):
        total[column] = 0.0
    for place in range(0, count, 4):
        a, b, c, d = share[place], share[place + 1], share[place + 2], share[place + 3]
        one, two = weight[used[place]], weight[used[place + 1]]
        three, four = weight[used[place + 2]], weight[used[place + 3]]
        for column in range(columns):
            sum_of_two = total[column] + a * one[column] + b * two[column]
            total[column] = sum_of_two + c * three[column] + d * four[column]


@compiled
def largest(cell: MovingCell, allow: Flags, slopes: Floats, constant: float) -> float:
    """The maximum of a linear function over the cell with these categories, as computed; infinite if no number."""
    for p in range(cell.size[NUMERICS]):
        a = slopes[p]
        constant += a * cell.high[p] if a > 0.0 else a * cell.low[p]
    for c in range(cell.size[CHOICES]):
        most = -np.inf
        for p in range(cell.begin[c], cell.begin[c + 1]):
            if allow[p]:
                most = max(most, slopes[p])
        constant += most
    return np.inf if math.isnan(constant) else constant


@compiled
def refresh(
    first: FirstLayer, layers: HiddenLayers, cell: MovingCell, nodes: OpenNodes, node: int, bench: Bench
) -> bool:
    """Intervals of all neurons at the node, from the first layer that its split touched; False where one is empty."""
    lo, hi, phase, there = nodes.lo[node], nodes.hi[node], nodes.phase[node], True
    for layer in range(len(layers.width)):
        if layer >= nodes.stale[node]:
            enclose(first, layers, cell, nodes, node, layer, True, bench)
        for n in range(layers.begin[layer], layers.begin[layer + 1]):
            if phase[n] > 0:
                lo[n] = max(lo[n], 0.0)
            elif phase[n] < 0:
                hi[n] = min(hi[n], 0.0)
            there = there and not lo[n] > hi[n]
        if not there:
            return False
        set_lines(layers, layer, lo, hi, bench)
    nodes.stale[node] = len(layers.width)
    return True


@compiled
def enclose(
    first: FirstLayer,
    layers: HiddenLayers,
    cell: MovingCell,
    nodes: OpenNodes,
    node: int,
    layer: int,
    backward: bool,
    bench: Bench,
) -> None:
    """Intervals of one layer's neurons from those of the layers before: by interval arithmetic, and where ``backward``
    also by linear bounds."""
    lo, hi, allow = nodes.lo[node], nodes.hi[node], nodes.allow[node]
    if layer == 0:
        _first(first, layers, cell, allow, lo, hi)
        return
    next_magnitudes(layers, layer, lo, hi, bench)
    _sum_intervals(layers, layer, lo, hi, bench)
    if backward:
        _pull_back(layers, cell, allow, layer, lo, hi, nodes.source[node], nodes.record[node], bench)


@compiled
def _first(first: FirstLayer, layers: HiddenLayers, cell: MovingCell, allow: Flags, lo: Floats, hi: Floats) -> None:
    intervals(first, cell, allow, cell.lo, cell.hi)
    for j in range(layers.width[0]):
        lo[j], hi[j] = max(lo[j], cell.lo[j]), min(hi[j], cell.hi[j])


@compiled
def _pull_back(
    layers: HiddenLayers,
    cell: MovingCell,
    allow: Flags,
    layer: int,
    lo: Floats,
    hi: Floats,
    source: Integers,
    number: int,
    bench: Bench,
) -> None:
    """A backward pass for each end of a neuron that interval arithmetic leaves unstable."""
    begin, count = layers.begin[layer], layers.width[layer - 1]
    for j in range(layers.width[layer]):
        n = begin + j
        if not lo[n] < 0.0 < hi[n]:
            continue
        weight = layers.weight[layer, j]
        error = layers.unit * bench.magnitude[n]
        if lo[n] < 0.0 < hi[n]:
            for i in range(count):
                bench.upstream[i] = weight[i]
            high = largest(cell, allow, bench.slopes, pull(layers, cell, layer - 1, lo, hi, layers.bias[n], bench))
            if high + error < hi[n]:
                hi[n], source[2 * n] = high + error, number
        if lo[n] < 0.0 < hi[n]:
            for i in range(count):
                bench.upstream[i] = -weight[i]
            low = largest(cell, allow, bench.slopes, pull(layers, cell, layer - 1, lo, hi, -layers.bias[n], bench))
            if -low - error > lo[n]:
                lo[n], source[2 * n + 1] = -low - error, number


@compiled
def _sum_intervals(layers: HiddenLayers, layer: int, lo: Floats, hi: Floats, bench: Bench) -> None:
    """Interval arithmetic for all neurons of a layer side by side; what is off in the layer before adds nothing."""
    begin, before, width = layers.begin[layer], layers.begin[layer - 1], layers.width[layer]
    least, most = bench.least, bench.most
    for j in range(width):
        least[j] = most[j] = layers.bias[begin + j]
    for i in range(layers.width[layer - 1]):
        if not hi[before + i] <= 0.0:
            low, high, weight = max(lo[before + i], 0.0), max(hi[before + i], 0.0), layers.across[layer, i]
            for j in range(width):
                a, b = weight[j] * low, weight[j] * high
                least[j] += b if b < a else a
                most[j] += b if b > a else a
    for j in range(width):
        n = begin + j
        if lo[n] < 0.0 < hi[n]:
            error = layers.unit * bench.magnitude[n]
            lo[n], hi[n] = _larger(lo[n], least[j] - error), -_larger(-hi[n], -most[j] - error)


@compiled
def _larger(known: float, found: float) -> float:
    """The larger of a known end and a found one, which may be no number."""
    return found if found > known else known
