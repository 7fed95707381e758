"""Chords of a program's neurons exchanged in place, so that the dictionary of one node serves the next."""

from __future__ import annotations

import numpy as np

from lcifr.prove.networks.kernel.deep.program import EARLY
from lcifr.prove.networks.kernel.deep.shape import Bench, OpenNodes
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.moving_cell import COLUMNS
from lcifr.prove.networks.kernel.program import PIVOTS, ROWS, TINY, WIDTH
from lcifr.prove.networks.kernel.shape import MovingCell, SimplexDictionary

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
