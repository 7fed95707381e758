"""The linear program of a node, by a simplex method for concave piecewise linear costs.

With the phases of some neurons decided, the relaxed problem of a node is to maximise gain·x + Σ f_u(y_u) over the
cell, where y = W x + base are the inputs of the unstable neurons and each f_u is concave with one kink, at 0: c·relu(y)
itself for c < 0, a line (chord, y or 0) for c > 0. All nodes and directions of a person share the constraints and
differ in the costs only: any dictionary is feasible for the next node, and a few pivots away from its optimum.
What comes out is the slope s_u of f_u at the optimum: a proposal, of which :mod:`tree` computes the proved bound.
"""

from __future__ import annotations

import numpy as np

from lcifr.prove.networks.kernel.arrays import Floats, MovingCell, SimplexDictionary
from lcifr.prove.networks.kernel.cell import COLUMNS
from lcifr.prove.networks.kernel.jit import inlined

ROWS, WIDTH, OWNER, PIVOTS = 0, 1, 2, 3
TINY = 1e-10
"""Entries below this are taken for 0 in ratio tests."""


@inlined
def build(lp: SimplexDictionary, cell: MovingCell, slopes: Floats) -> None:
    """Start at the vertex of the cell that these slopes (q,) point at; the neurons' inputs are basic."""
    unstable, numerics, q, choices = cell.size
    rows, width = unstable + choices, 0
    for p in range(numerics):
        lp.other[width], lp.at[width] = p, 1.0 if slopes[p] > 0.0 else 0.0
        lp.reach[p] = 1.0
        stretch = cell.high[p] - cell.low[p]
        for u in range(unstable):
            lp.table[u, width] = cell.weight[cell.unstable[u], p] * stretch
        for c in range(choices):
            lp.table[unstable + c, width] = 0.0
        width += 1
    for u in range(unstable):
        j = cell.unstable[u]
        lp.basis[u], lp.value[u] = q + u, cell.base[j]
        lp.reach[q + u] = cell.hi[j] - cell.lo[j]
        for p in range(numerics):
            lp.value[u] += cell.weight[j, p] * (cell.high[p] if slopes[p] > 0.0 else cell.low[p])
    for c in range(choices):
        first = -1
        for p in range(cell.begin[c], cell.begin[c + 1]):
            if cell.allow[p] and (first < 0 or slopes[p] > slopes[first]):
                first = p
        lp.basis[unstable + c], lp.value[unstable + c] = first, 1.0
        lp.reach[first] = 1.0
        for u in range(unstable):
            lp.value[u] += cell.weight[cell.unstable[u], first]
        for p in range(cell.begin[c], cell.begin[c + 1]):
            if cell.allow[p] and p != first:
                lp.other[width], lp.at[width], lp.reach[p] = p, 0.0, 1.0
                for u in range(unstable):
                    lp.table[u, width] = cell.weight[cell.unstable[u], p] - cell.weight[cell.unstable[u], first]
                for d in range(choices):
                    lp.table[unstable + d, width] = -1.0 if c == d else 0.0
                width += 1
    lp.size[ROWS], lp.size[WIDTH], lp.size[PIVOTS] = rows, width, 0


@inlined
def solve(lp: SimplexDictionary, q: int, accuracy: float, most: int) -> None:
    """Pivot until no variable gains more than its share of ``accuracy``, or ``most`` times."""
    rows, width = lp.size[ROWS], lp.size[WIDTH]
    _price(lp, q)
    least = accuracy / (width + 1)
    for _ in range(most):
        column, sign, rate = _entering(lp, q, least)
        if column < 0:
            return
        _move(lp, q, column, sign, rate, rows, width)


@inlined
def _price(lp: SimplexDictionary, q: int) -> None:
    rows, width = lp.size[ROWS], lp.size[WIDTH]
    for c in range(width):
        lp.rest[c] = 0.0
    for r in range(rows):
        b = lp.basis[r]
        s = lp.gain[b] if b < q else lp.right[b - q] if lp.value[r] > 0.0 else lp.left[b - q]
        lp.slope[r] = s
        if s != 0.0:
            for c in range(width):
                lp.rest[c] += s * lp.table[r, c]


@inlined
def _entering(lp: SimplexDictionary, q: int, least: float) -> tuple[int, float, float]:
    """The variable that gains most over its reach, up (+1) or down (−1), and its rate; −1 at an optimum."""
    column, sign, rate, top = -1, 1.0, 0.0, least
    for c in range(lp.size[WIDTH]):
        b = lp.other[c]
        if b < q:
            gain = lp.gain[b] + lp.rest[c]
            if lp.at[c] > 0.5:
                gain = -gain
            if gain > top:
                top, column, rate = gain, c, gain
                sign = -1.0 if lp.at[c] > 0.5 else 1.0
        else:
            up, down = lp.right[b - q] + lp.rest[c], -lp.left[b - q] - lp.rest[c]
            if up * lp.reach[b] > top:
                top, column, sign, rate = up * lp.reach[b], c, 1.0, up
            if down * lp.reach[b] > top:
                top, column, sign, rate = down * lp.reach[b], c, -1.0, down
    return column, sign, rate


@inlined
def _move(lp: SimplexDictionary, q: int, column: int, sign: float, rate: float, rows: int, width: int) -> None:
    """Move as far as the cost rises: past kinks of neurons, up to the first bound or the kink where it turns."""
    enters = lp.other[column]
    for r in range(rows):
        speed, b = sign * lp.table[r, column], lp.basis[r]
        lp.step[r] = np.inf
        if b < q:
            if speed > TINY:
                lp.step[r] = max(0.0, (1.0 - lp.value[r]) / speed)
            elif speed < -TINY:
                lp.step[r] = max(0.0, lp.value[r] / -speed)
        elif lp.left[b - q] != lp.right[b - q]:
            above = lp.slope[r] == lp.right[b - q]
            if above and speed < -TINY:
                lp.step[r] = max(0.0, lp.value[r] / -speed)
            elif not above and speed > TINY:
                lp.step[r] = max(0.0, -lp.value[r] / speed)
    far = 1.0 if enters < q else np.inf
    leaves, length = -1, far
    while True:
        r = -1
        for other in range(rows):
            if lp.step[other] < length and (r < 0 or lp.step[other] < lp.step[r]):
                r = other
        if r < 0:
            break
        b = lp.basis[r]
        if b >= q:
            turn = lp.left[b - q] - lp.right[b - q]
            rate -= turn * abs(lp.table[r, column])
            if rate > 0.0:  # past this kink it still rises
                old = lp.slope[r]
                lp.slope[r] = lp.left[b - q] if old == lp.right[b - q] else lp.right[b - q]
                for c in range(width):
                    lp.rest[c] += (lp.slope[r] - old) * lp.table[r, c]
                lp.step[r] = np.inf
                continue
        leaves, length = r, lp.step[r]
        break
    if length == np.inf:  # only rounding can do this: nothing that counts moves
        length = 0.0
    for r in range(rows):
        lp.value[r] += sign * length * lp.table[r, column]
    lp.at[column] += sign * length
    if leaves < 0:
        lp.at[column] = 1.0 if sign > 0 else 0.0
    else:
        _pivot(lp, q, leaves, column, sign, rows, width)


@inlined
def _pivot(lp: SimplexDictionary, q: int, row: int, column: int, sign: float, rows: int, width: int) -> None:
    """Exchange a basic variable that has reached a bound or kink with the one that moved it there."""
    enters, leaves, old = lp.other[column], lp.basis[row], lp.slope[row]
    new = lp.gain[enters] if enters < q else lp.right[enters - q] if sign > 0 else lp.left[enters - q]
    for c in range(width):
        lp.rest[c] -= old * lp.table[row, c]
    inverse = 1.0 / lp.table[row, column]
    for c in range(width):
        lp.table[row, c] *= -inverse
    lp.table[row, column] = inverse
    for r in range(rows):
        if r != row:
            factor = lp.table[r, column]
            lp.table[r, column] = 0.0
            if factor != 0.0:
                for c in range(width):
                    lp.table[r, c] += factor * lp.table[row, c]
    factor = lp.rest[column] + new
    lp.rest[column] = 0.0
    for c in range(width):
        lp.rest[c] += factor * lp.table[row, c]
    at = lp.at[column]
    lp.basis[row], lp.other[column] = enters, leaves
    if leaves < q:
        lp.at[column] = 1.0 if lp.value[row] > 0.5 else 0.0
    else:
        lp.at[column] = 0.0
    lp.value[row], lp.slope[row] = at, new
    lp.size[PIVOTS] += 1


@inlined
def read(lp: SimplexDictionary, cell: MovingCell, slope: Floats) -> None:
    """The slopes (unstable,) at the optimum; the shares of all columns and the neurons' inputs in the dictionary."""
    q = cell.size[COLUMNS]
    for p in range(q):
        lp.share[p] = 0.0
    for r in range(lp.size[ROWS]):
        b = lp.basis[r]
        if b < q:
            lp.share[b] = min(1.0, max(0.0, lp.value[r]))
        else:
            slope[b - q], lp.input[b - q] = lp.slope[r], lp.value[r]
    for c in range(lp.size[WIDTH]):
        b = lp.other[c]
        if b < q:
            lp.share[b] = lp.at[c]
        else:
            slope[b - q] = min(lp.left[b - q], max(lp.right[b - q], -lp.rest[c]))
            lp.input[b - q] = 0.0
