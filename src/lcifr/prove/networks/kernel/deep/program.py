"""The linear program of a node, for the simplex method of :mod:`lcifr.prove.networks.kernel.program`.

Maximise the objective over x in the cell and the outputs a of the early free neurons, each in its triangle: a ≥ 0,
a ≥ y and a ≤ s·y + t with y the neuron's input. The three conditions are variables with a kink at 0, each charged a
penalty on its wrong side: a itself, the *fall* y − a and the *rise* a − s·y − t. Free neurons of the last layer are
kinks of their input, as with one hidden layer; linear rows G x − g are kinks as well. So a decided phase is a matter of
costs alone, any dictionary is feasible for any node, and the next node is a few pivots away. Only chords change the
matrix, where intervals did: :mod:`chords` exchanges them.

What comes out are coefficients c of the neurons' inputs and λ of the rows: a proposal, whose bound is then proved.
"""

from __future__ import annotations

from lcifr.prove.networks.kernel.deep.shape import Bench, HiddenLayers
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.moving_cell import CHOICES, COLUMNS, NUMERICS, chord
from lcifr.prove.networks.kernel.program import PIVOTS, ROWS, WIDTH
from lcifr.prove.networks.kernel.shape import Flags, Floats, MovingCell, SimplexDictionary

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
