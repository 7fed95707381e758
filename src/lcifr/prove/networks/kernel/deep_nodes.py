"""Nodes of the search through several hidden layers: their bounds, points and splits."""

from __future__ import annotations

import math

import numpy as np

from lcifr.prove.networks.kernel.arrays import (
    Bench,
    FirstLayer,
    Flags,
    Floats,
    HiddenLayers,
    Integers,
    KernelAnswer,
    MovingCell,
    Objectives,
    OpenNodes,
    Record,
    Rows,
    SimplexDictionary,
    WholeColumns,
)
from lcifr.prove.networks.kernel.best_first import (
    empty,
    keep_point,
    make_root,
    make_twin,
    part_choice,
    push,
    with_offset,
)
from lcifr.prove.networks.kernel.cell import CHOICES, COLUMNS, NUMERICS, add
from lcifr.prove.networks.kernel.deep_bounds import largest, step_back, to_input
from lcifr.prove.networks.kernel.deep_program import BOXES, EARLY, LAST, LINES
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.one_layer import CHOICE, RELU, STUCK, pick_choice, vertex_of
from lcifr.prove.networks.kernel.record import NUMERIC, WHOLE, record_split

# Whole numbers: the point of a program rounded to them, and where to split between one and the next.

FEW = 4
"""A column with so few whole numbers left is split before neurons are: then it soon stands still."""


@compiled
def below(wholes: WholeColumns, f: int, x: float) -> int:
    """The place in ``value`` of the largest whole number of column ``f`` up to x; start − 1 if there is none."""
    low, high = wholes.start[f] - 1, wholes.start[f + 1] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if wholes.value[middle] <= x:
            low = middle
        else:
            high = middle - 1
    return int(low)


@compiled
def pick_column(
    wholes: WholeColumns, cell: MovingCell, nodes: OpenNodes, node: int, bench: Bench, few: bool
) -> tuple[int, int]:
    """The column whose point is farthest from a whole number, and the place of the one below; −1 where all are whole.

    With ``few``, only columns of which the node has few numbers left.
    """
    chosen, place, top = -1, 0, 1e-9
    for p in range(cell.size[NUMERICS]):
        f = cell.source[p]
        if wholes.start[f] == wholes.start[f + 1]:
            continue
        x, low, high = bench.point[p], nodes.low[node, p], nodes.high[node, p]
        at = below(wholes, f, x)
        if at < wholes.start[f] or at + 1 >= wholes.start[f + 1]:
            continue
        if few and below(wholes, f, high) - below(wholes, f, low) >= FEW:
            continue
        down, up = wholes.value[at], wholes.value[at + 1]
        if down < low or up > high or up <= down:
            continue
        away = min(x - down, up - x) / (up - down)
        if away > top:
            chosen, place, top = p, at, away
    return chosen, place


@compiled
def round_point(wholes: WholeColumns, cell: MovingCell, nodes: OpenNodes, node: int, bench: Bench) -> None:
    """The bench's point with every whole-number column at the nearest whole number of the node."""
    for p in range(cell.size[NUMERICS]):
        f = cell.source[p]
        if wholes.start[f] == wholes.start[f + 1]:
            continue
        x, low, high = bench.point[p], nodes.low[node, p], nodes.high[node, p]
        at = below(wholes, f, x)
        best, away = (low, x - low) if x - low < high - x else (high, high - x)
        for place in range(max(at, wholes.start[f]), min(at + 2, wholes.start[f + 1])):
            value = wholes.value[place]
            if low <= value <= high and abs(value - x) < away:
                best, away = value, abs(value - x)
        bench.point[p] = best


# Numbers: the column whose interval is worth halving, and where.

SMALLEST = 2.0**-10
"""The share of a column's whole interval down to which it is halved. At a maximum on a kink halves would never make the
neuron stable; its phase ends the branch."""


@compiled
def pick_halving(
    layers: HiddenLayers, wholes: WholeColumns, cell: MovingCell, nodes: OpenNodes, node: int, bench: Bench
) -> int:
    """The column to halve where that gains more than the phase of any neuron; −1 where none does.

    A phase gains what its neuron's relaxation gives away. Halving a column narrows all intervals by half of the
    column's share in them, and what all relaxations give away with them. The shares are those of the first layer.
    """
    total, most = given_away(bench), 0.0
    for u in range(bench.size[EARLY] + bench.size[LAST]):
        most = max(most, bench.gap[u])
    hi, all_widths = nodes.hi[node], 0.0
    chosen, top = -1, 0.0
    for p in range(cell.size[NUMERICS]):
        width = 0.0
        for j in range(layers.width[0]):
            if hi[j] > 0.0:
                width += abs(cell.weight[j, p])
        stretch = cell.high[p] - cell.low[p]
        width *= stretch
        all_widths += width
        large = stretch > SMALLEST * (bench.high[p] - bench.low[p])
        if width > top and large and _has_middle(wholes, cell, p):
            chosen, top = p, width
    for c in range(cell.size[CHOICES]):
        for j in range(layers.width[0]):
            if hi[j] > 0.0:
                all_widths += _reach(cell, nodes.allow[node], c, cell.weight[j])
    return chosen if chosen >= 0 and 0.5 * total * top > most * all_widths else -1


@compiled
def given_away(bench: Bench) -> float:
    """What all relaxations together give away at the program's optimum."""
    total = 0.0
    for u in range(bench.size[EARLY] + bench.size[LAST]):
        total += bench.gap[u]
    return total


@compiled
def _reach(cell: MovingCell, allow: Flags, choice: int, weight: Floats) -> float:
    """How far the allowed categories of a choice can move a neuron of the first layer."""
    least, most, seen = 0.0, 0.0, False
    for p in range(cell.begin[choice], cell.begin[choice + 1]):
        if allow[p]:
            least, most = (min(least, weight[p]), max(most, weight[p])) if seen else (weight[p], weight[p])
            seen = True
    return most - least


@compiled
def middle(cell: MovingCell, p: int) -> float:
    """Half way between the ends of a column."""
    return float(0.5 * cell.low[p] + 0.5 * cell.high[p])


@compiled
def whole_below_middle(wholes: WholeColumns, cell: MovingCell, p: int) -> int:
    """The place of the last whole number of the lower half; −1 for a column of real numbers."""
    f = cell.source[p]
    return below(wholes, f, middle(cell, p)) if wholes.start[f] < wholes.start[f + 1] else -1


@compiled
def _has_middle(wholes: WholeColumns, cell: MovingCell, p: int) -> bool:
    """Whether both halves are smaller than the whole, and neither is empty."""
    f, low, high = cell.source[p], cell.low[p], cell.high[p]
    if wholes.start[f] == wholes.start[f + 1]:
        return bool(low < middle(cell, p) < high)
    at = whole_below_middle(wholes, cell, p)
    if not wholes.start[f] <= at < wholes.start[f + 1] - 1:
        return False
    return bool(low <= wholes.value[at] and wholes.value[at + 1] <= high)


# What a node's bound rests on, recorded: coefficients of free neurons, rates of rows, lines of the ends.


@compiled
def record_end(record: Record, number: int, kind: int, source: Integers, bench: Bench) -> None:
    """The node rests on its own multipliers from here on; ``kind`` says whether it is known to be empty, and how."""
    if not record.wanted[0]:
        return
    record.kind[number], record.by[number] = kind, number
    for u in range(bench.size[EARLY] + bench.size[LAST]):
        record.slope[number, u] = bench.used[u]
    for r in range(bench.size[LINES]):
        record.rate[number, r] = bench.rate[r]
    for place in range(record.source.shape[1]):
        record.source[number, place] = source[place]


@compiled
def record_above(record: Record, number: int, lo: Floats, hi: Floats, bench: Bench) -> None:
    """The lines above neurons that the ends of deeper layers are proved with here; on and off count as 1 and 0."""
    if record.wanted[0]:
        for u in range(bench.size[EARLY]):
            n = bench.free[u]
            record.above[number, u] = 1.0 if not lo[n] < 0.0 else 0.0 if hi[n] <= 0.0 else bench.slope[n]


# Open nodes of a tree: roots planted, nodes split in two.


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


# One node: what its program proposes, its proved bound, points by local search, and where to split it.

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
    """The bound of ``scale`` · direction with the proposed coefficients, however they were found; and its slopes."""
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


# What each relaxation gives away, where a program's own multipliers do not say.
#
# A program may reach its optimum with room to spare: an output above relu(y) that no chord limits has no price,
# although the optimum rests on it. So the difference between the program's value and the network's own at the same x is
# shared out instead. An output of the program is its neuron's true one plus g, what the program adds there, plus the
# difference of the inputs times the slope of the secant of relu between them. Going back through these slopes, the
# difference is exactly the sum of coefficient · g over all neurons.


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
