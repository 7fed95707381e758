"""The linear program of a node, for the simplex method of :mod:`lcifr.prove.networks.kernel.simplex`.

Maximise the objective over x in the cell and the outputs a of the early free neurons, each in its triangle: a ≥ 0,
a ≥ y and a ≤ s·y + t with y the neuron's input. The three conditions are variables with a kink at 0, each charged a
penalty on its wrong side: a itself, the *fall* y − a and the *rise* a − s·y − t. Free neurons of the last layer are
kinks of their input, as with one hidden layer; linear rows G x − g are kinks as well. So a decided phase is a matter of
costs alone, any dictionary is feasible for any node, and the next node is a few pivots away. Only chords change the
matrix, where intervals did: :mod:`chords` exchanges them.

What comes out are coefficients c of the neurons' inputs and λ of the rows: a proposal, whose bound is then proved.
"""

from __future__ import annotations

import numpy as np

from lcifr.prove.networks.kernel.arrays import (
    Bench,
    Flags,
    Floats,
    HiddenLayers,
    MovingCell,
    Objectives,
    OpenNodes,
    SimplexDictionary,
)
from lcifr.prove.networks.kernel.cell import CHOICES, COLUMNS, NUMERICS, chord
from lcifr.prove.networks.kernel.deep_bounds import step_back, to_input
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.simplex import PIVOTS, ROWS, TINY, WIDTH

EARLY, LAST, LINES, BOXES, BOX = 0, 1, 2, 3, 4


@compiled
def build(lp: SimplexDictionary, layers: HiddenLayers, cell: MovingCell, allow: Flags, bench: Bench) -> None:
    """Start at the vertex of the cell that the bench's slopes point at, every free neuron at its true output."""
    q, early, last = cell.size[COLUMNS], bench.size[EARLY], bench.size[LAST]
    width = _columns(lp, layers, cell, allow, bench)
    for e in range(early):
        lp.other[width + e], lp.at[width + e] = -1, 0.0
    wide, row = width + early, 0
    depth = len(layers.width)
    for layer in range(depth):
        begin = layers.begin[layer]
        for j in range(layers.width[layer]):
            n = begin + j
            if bench.hi[n] <= 0.0:
                continue
            if layer > 0:
                _compose(layers, layer, j, wide, bench)
            u = bench.place[n]
            if u >= early:  # a kink of its own
                lp.basis[row], lp.value[row], lp.reach[q + 3 * early + u - early] = (
                    q + 3 * early + u - early,
                    bench.at[n],
                    bench.hi[n] - bench.lo[n],
                )
                for c in range(wide):
                    lp.table[row, c] = bench.form[n, c]
                row += 1
            elif u >= 0:
                _free(lp, q, wide, row, width + u, u, n, bench)
                row += 2
    for r in range(bench.size[LINES]):
        lp.basis[row], lp.reach[q + 3 * early + last + r] = q + 3 * early + last + r, 1.0
        lp.value[row] = _linear_row(lp, cell, allow, bench.row[r], bench.row_base[r], row, wide, bench)
        row += 1
    for c in range(cell.size[CHOICES]):
        for column in range(wide):
            b = lp.other[column]
            lp.table[row, column] = -1.0 if 0 <= b < q and cell.begin[c] <= b < cell.begin[c + 1] else 0.0
        lp.basis[row], lp.value[row] = _first_allowed(cell, allow, c, bench.slopes), 1.0
        lp.reach[lp.basis[row]] = 1.0
        row += 1
    lp.size[ROWS], lp.size[WIDTH], lp.size[PIVOTS] = row, wide, 0


@compiled
def _first_allowed(cell: MovingCell, allow: Flags, choice: int, slopes: Floats) -> int:
    first = -1
    for p in range(cell.begin[choice], cell.begin[choice + 1]):
        if allow[p] and (first < 0 or slopes[p] > slopes[first]):
            first = p
    return first


@compiled
def _columns(lp: SimplexDictionary, layers: HiddenLayers, cell: MovingCell, allow: Flags, bench: Bench) -> int:
    """The columns of x that are not basic, and the first layer as a function of them; how many there are."""
    width = 0
    for j in range(layers.width[0]):
        bench.at[j] = cell.base[j]
    for p in range(cell.size[NUMERICS]):
        stretch, end = cell.high[p] - cell.low[p], 1.0 if bench.slopes[p] > 0.0 else 0.0
        lp.other[width], lp.at[width], lp.reach[p] = p, end, 1.0
        x = cell.high[p] if end > 0.5 else cell.low[p]
        for j in range(layers.width[0]):
            bench.form[j, width] = cell.weight[j, p] * stretch
            bench.at[j] += cell.weight[j, p] * x
        width += 1
    for c in range(cell.size[CHOICES]):
        first = _first_allowed(cell, allow, c, bench.slopes)
        for j in range(layers.width[0]):
            bench.at[j] += cell.weight[j, first]
        for p in range(cell.begin[c], cell.begin[c + 1]):
            if allow[p] and p != first:
                lp.other[width], lp.at[width], lp.reach[p] = p, 0.0, 1.0
                for j in range(layers.width[0]):
                    bench.form[j, width] = cell.weight[j, p] - cell.weight[j, first]
                width += 1
    for j in range(layers.width[0]):
        for e in range(bench.size[EARLY]):
            bench.form[j, width + e] = 0.0
    return width


@compiled
def _linear_row(
    lp: SimplexDictionary,
    cell: MovingCell,
    allow: Flags,
    weight: Floats,
    value: float,
    row: int,
    wide: int,
    bench: Bench,
) -> float:
    """G x − g as a row of the dictionary, and its value at the start."""
    for c in range(wide):
        lp.table[row, c] = 0.0
    for p in range(cell.size[NUMERICS]):
        lp.table[row, p] = weight[p] * (cell.high[p] - cell.low[p])
        value += weight[p] * (cell.high[p] if bench.slopes[p] > 0.0 else cell.low[p])
    column = cell.size[NUMERICS]
    for c in range(cell.size[CHOICES]):
        first = _first_allowed(cell, allow, c, bench.slopes)
        value += weight[first]
        for p in range(cell.begin[c], cell.begin[c + 1]):
            if allow[p] and p != first:
                lp.table[row, column] = weight[p] - weight[first]
                column += 1
    return value


@compiled
def _compose(layers: HiddenLayers, layer: int, j: int, wide: int, bench: Bench) -> None:
    """The input of neuron j of a later layer as a function of the variables, from the outputs of the layer before."""
    n, before = layers.begin[layer] + j, layers.begin[layer - 1]
    form = bench.form[n]
    for c in range(wide):
        form[c] = 0.0
    bench.at[n] = layers.bias[n]
    for i in range(layers.width[layer - 1]):
        w = layers.weight[layer, j, i]
        if w != 0.0 and bench.hi[before + i] > 0.0:
            below = bench.form[before + i]
            bench.at[n] += w * bench.at[before + i]
            for c in range(wide):
                form[c] += w * below[c]


@compiled
def _free(lp: SimplexDictionary, q: int, wide: int, row: int, column: int, u: int, n: int, bench: Bench) -> None:
    """Two rows for an early free neuron: output or fall, whichever is not 0, and the rise above its chord.

    Then ``form`` and ``at`` become those of its output, which later layers read.
    """
    y, form = bench.at[n], bench.form[n]
    s, t = chord(bench.lo[n], bench.hi[n])
    bench.hinge[u], bench.cut[u] = s, t
    on = y > 0.0
    lp.other[column] = q + 3 * u + (1 if on else 0)  # the fall is 0 where the neuron is on, else the output
    lp.basis[row], lp.basis[row + 1] = q + 3 * u + (0 if on else 1), q + 3 * u + 2
    for kind in range(3):
        lp.reach[q + 3 * u + kind] = bench.hi[n] - bench.lo[n]
    lp.value[row], lp.value[row + 1] = y, (y if on else 0.0) - s * y - t
    for c in range(wide):
        lp.table[row, c] = form[c]
        lp.table[row + 1, c] = ((1.0 if on else 0.0) - s) * form[c]
    lp.table[row, column] -= 1.0
    lp.table[row + 1, column] += -1.0 if on else 1.0
    for c in range(wide):
        form[c] = lp.table[row, c] if on else 0.0
    if not on:
        form[column] = 1.0
        bench.at[n] = 0.0


# Chords of a program's neurons exchanged in place, so that the dictionary of one node serves the next.

SMALLEST = 1e-6
"""A pivot below this would make the dictionary worthless: it is built afresh instead."""


@compiled
def update_chords(lp: SimplexDictionary, cell: MovingCell, nodes: OpenNodes, node: int, bench: Bench) -> bool:
    """Give the program the chords of the node's intervals; False where that takes a new dictionary."""
    q = cell.size[COLUMNS]
    lo, hi = nodes.lo[node], nodes.hi[node]
    for u in range(bench.size[EARLY]):
        n = bench.free[u]
        if lo[n] < 0.0 < hi[n]:
            s, t = bench.slope[n], bench.intercept[n]
            if s != bench.hinge[u] or t != bench.cut[u]:
                if not _exchange_chord(lp, q, u, s, t, bench):
                    return False
                bench.hinge[u], bench.cut[u] = s, t
    return True


@compiled
def _exchange_chord(lp: SimplexDictionary, q: int, u: int, s: float, t: float, bench: Bench) -> bool:
    """The rise a − s·y − t with new s and t, where y = output + fall."""
    rows, width, first = lp.size[ROWS], lp.size[WIDTH], q + 3 * u
    for c in range(width):
        lp.rest[c] = 0.0
    output = y = 0.0
    row = column = -1
    for r in range(rows):
        b = lp.basis[r] - first
        if b == 0 or b == 1:
            y += lp.value[r]
            output += lp.value[r] if b == 0 else 0.0
            for c in range(width):
                lp.rest[c] += lp.table[r, c]
        elif b == 2:
            row = r
    for c in range(width):
        b = lp.other[c] - first
        if b == 0 or b == 1:
            lp.rest[c] += 1.0  # at its kink, so it adds nothing to y
        elif b == 2:
            column = c
    if column >= 0:
        return _in_column(lp, q, column, bench.hinge[u] - s, bench.cut[u] - t, y)
    turn = bench.hinge[u] - s
    lp.value[row] = output - s * y - t
    for c in range(width):
        lp.table[row, c] += turn * lp.rest[c]
    return True


@compiled
def _in_column(lp: SimplexDictionary, q: int, column: int, turn: float, lift: float, y: float) -> bool:
    """The same for a chord that holds with equality: new = old + turn·y + lift, and the new one moves to 0."""
    rows, width = lp.size[ROWS], lp.size[WIDTH]
    scale = 1.0 + turn * lp.rest[column]
    if not abs(scale) > SMALLEST:
        return False
    for r in range(rows):
        factor = lp.table[r, column] / scale
        if factor != 0.0:
            for c in range(width):
                lp.table[r, c] -= factor * turn * lp.rest[c]
        lp.table[r, column] = factor
    return _to_kink(lp, q, column, turn * y + lift)


@compiled
def _to_kink(lp: SimplexDictionary, q: int, column: int, away: float) -> bool:
    """Move a variable from ``away`` to 0, or as far as the columns of x allow."""
    rows, width = lp.size[ROWS], lp.size[WIDTH]
    sign, length, leaves = (-1.0 if away > 0.0 else 1.0), abs(away), -1
    for r in range(rows):
        if lp.basis[r] < q:
            speed, step = sign * lp.table[r, column], np.inf
            if speed > TINY:
                step = max(0.0, (1.0 - lp.value[r]) / speed)
            elif speed < -TINY:
                step = max(0.0, lp.value[r] / -speed)
            if step < length:
                length, leaves = step, r
    for r in range(rows):
        lp.value[r] += sign * length * lp.table[r, column]
    if leaves < 0:
        lp.at[column] = 0.0
        return True
    if not abs(lp.table[leaves, column]) > SMALLEST:
        return False
    inverse = 1.0 / lp.table[leaves, column]
    for c in range(width):
        lp.table[leaves, c] *= -inverse
    lp.table[leaves, column] = inverse
    for r in range(rows):
        if r != leaves:
            factor = lp.table[r, column]
            lp.table[r, column] = 0.0
            if factor != 0.0:
                for c in range(width):
                    lp.table[r, c] += factor * lp.table[leaves, c]
    at_end = 1.0 if lp.value[leaves] > 0.5 else 0.0
    lp.basis[leaves], lp.other[column] = lp.other[column], lp.basis[leaves]
    lp.value[leaves], lp.at[column] = away + sign * length, at_end
    lp.size[PIVOTS] += 1
    return True


# Costs of a node's program: the objective, and penalties for phases, triangles and linear rows.

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
