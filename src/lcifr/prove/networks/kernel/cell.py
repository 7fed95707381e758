"""One person's cell made small, and linear bounds on it in closed form.

Rounding. Every bound here is a sum of products ``direction · last layer · slope · first layer · x`` (and of biases and
intercepts in place of the later factors), the same products as in ``linear.backward``, in another order. The rounding
bound of the batch counts the roundings of every product for any order of summation, so its term covers the sums here
too. A column's share of the maximum is taken at an end of its interval, by the sign of the computed coefficient: for
every x of the cell the computed linear function at x is at most the computed maximum, and at x it differs from the
exact one by no more than that term.
"""

from __future__ import annotations

import math

import numpy as np

from lcifr.prove.networks.kernel.arrays import Cells, FirstLayer, Flags, Floats, MovingCell, Objectives
from lcifr.prove.networks.kernel.jit import inlined

UNSTABLE, NUMERICS, COLUMNS, CHOICES = 0, 1, 2, 3


@inlined
def look_at(layer: FirstLayer, cells: Cells, i: int, cell: MovingCell) -> None:
    """Fill in everything about person ``i``."""
    if _pattern_changed(cells, i, cell):
        _compact(layer, cells, cell)
    _ends(cells, i, cell)
    _first_layer(layer, cells, i, cell)


@inlined
def _pattern_changed(cells: Cells, i: int, cell: MovingCell) -> bool:
    numerics, choices = cells.lower.shape[1], len(cells.start) - 1
    changed = False
    for f in range(numerics):
        moves = np.uint8(cells.upper[i, f] > cells.lower[i, f])
        changed = changed or moves != cell.pattern[f]
        cell.pattern[f] = moves
    for c in range(choices):
        count = 0
        for v in range(cells.start[c], cells.start[c + 1]):
            count += cells.allowed[i, v]
        free = np.uint8(count != 1)
        changed = changed or free != cell.pattern[numerics + c]
        cell.pattern[numerics + c] = free
    return changed


@inlined
def _compact(layer: FirstLayer, cells: Cells, cell: MovingCell) -> None:
    """The columns that move, next to each other."""
    numerics, choices, q, free = cells.lower.shape[1], len(cells.start) - 1, 0, 0
    for f in range(numerics):
        if cell.pattern[f]:
            cell.source[q] = f
            q += 1
    cell.size[NUMERICS] = q
    for c in range(choices):
        if cell.pattern[numerics + c]:
            cell.choice[free], cell.begin[free] = c, q
            free += 1
            for v in range(cells.start[c], cells.start[c + 1]):
                cell.source[q] = numerics + v
                q += 1
    cell.begin[free] = q
    cell.size[COLUMNS], cell.size[CHOICES] = q, free
    for j in range(layer.weight.shape[1]):
        for p in range(q):
            cell.weight[j, p] = layer.weight[cell.source[p], j]


@inlined
def _ends(cells: Cells, i: int, cell: MovingCell) -> None:
    numerics = cells.lower.shape[1]
    for p in range(cell.size[NUMERICS]):
        cell.low[p], cell.high[p] = cells.lower[i, cell.source[p]], cells.upper[i, cell.source[p]]
        cell.allow[p] = 1
    for p in range(cell.size[NUMERICS], cell.size[COLUMNS]):
        cell.low[p], cell.high[p] = 0.0, 1.0
        cell.allow[p] = cells.allowed[i, cell.source[p] - numerics]


@inlined
def _first_layer(layer: FirstLayer, cells: Cells, i: int, cell: MovingCell) -> None:
    """The first layer at what is fixed, its intervals, and which neurons these leave unstable."""
    numerics, hidden, largest = cells.lower.shape[1], layer.weight.shape[1], 0.0
    for j in range(hidden):
        cell.base[j] = layer.bias[j]
    for f in range(numerics):
        x = cells.lower[i, f]
        largest = max(largest, abs(x), abs(cells.upper[i, f]))
        if not cell.pattern[f]:
            for j in range(hidden):
                cell.base[j] += layer.weight[f, j] * x
    for c in range(len(cells.start) - 1):
        if not cell.pattern[numerics + c]:
            for v in range(cells.start[c], cells.start[c + 1]):
                if cells.allowed[i, v]:
                    for j in range(hidden):
                        cell.base[j] += layer.weight[numerics + v, j]
    cell.largest[0] = largest if largest <= layer.farthest else np.inf
    intervals(layer, cell, cell.allow, cell.lo, cell.hi)
    count = 0
    for j in range(hidden):
        cell.on[j] = not cell.lo[j] < 0.0  # also where overflow left no number: the bounds become infinite
        if cell.lo[j] < 0.0 < cell.hi[j]:
            cell.unstable[count] = j
            count += 1
    cell.size[UNSTABLE] = count


@inlined
def intervals(layer: FirstLayer, cell: MovingCell, allow: Flags, lo: Floats, hi: Floats) -> None:
    """The closed-form intervals (hidden,) of the first layer with these categories allowed, rounded outward."""
    hidden = len(lo)
    for j in range(hidden):
        rounding_error = layer.unit * (cell.largest[0] * layer.slope[j] + layer.shift[j])
        lo[j], hi[j] = cell.base[j] - rounding_error, cell.base[j] + rounding_error
    for p in range(cell.size[NUMERICS]):
        weight, low, high = layer.weight[cell.source[p]], cell.low[p], cell.high[p]
        for j in range(hidden):
            a, b = weight[j] * low, weight[j] * high
            lo[j] += a if a < b else b
            hi[j] += b if a < b else a
    least, most = cell.least, cell.most
    for c in range(cell.size[CHOICES]):
        for j in range(hidden):
            least[j], most[j] = np.inf, -np.inf
        for p in range(cell.begin[c], cell.begin[c + 1]):
            if allow[p]:
                weight = layer.weight[cell.source[p]]
                for j in range(hidden):
                    least[j] = weight[j] if weight[j] < least[j] else least[j]
                    most[j] = weight[j] if weight[j] > most[j] else most[j]
        for j in range(hidden):
            lo[j] += least[j]
            hi[j] += most[j]


@inlined
def add(target: Floats, source: Floats, factor: float) -> None:
    """target += factor · source."""
    for k in range(len(target)):
        target[k] += factor * source[k]


@inlined
def plain_bounds(
    layer: FirstLayer, objectives: Objectives, cell: MovingCell, row: int, slopes: Floats, most: Floats, upper: Floats
) -> None:
    """The bounds (K,) of all directions with chords above and the nearer of 0 and y below, and their slopes (q, K).

    Directions are the inner loops: there are more of them than columns that move.
    """
    directions, q = len(upper), cell.size[COLUMNS]
    for k in range(directions):
        upper[k] = objectives.level[row, k] + layer.unit * (
            objectives.rise[row, k] * cell.largest[0] + objectives.shift[row, k]
        )
    for p in range(q):
        for k in range(directions):
            slopes[p, k] = 0.0
    for j in range(len(cell.on)):
        if cell.on[j]:
            _add_line(cell, j, objectives.value[row, j], 1.0, 0.0, slopes, upper)
        elif cell.hi[j] > 0.0:
            s, t = chord(cell.lo[j], cell.hi[j])
            _add_line(cell, j, objectives.plus[row, j], s, t, slopes, upper)
            if cell.hi[j] > -cell.lo[j]:
                _add_line(cell, j, objectives.minus[row, j], 1.0, 0.0, slopes, upper)
    for p in range(cell.size[NUMERICS]):
        low, high = cell.low[p], cell.high[p]
        for k in range(directions):
            a, b = slopes[p, k] * low, slopes[p, k] * high
            upper[k] += b if a < b else a
    for c in range(cell.size[CHOICES]):
        for k in range(directions):
            most[k] = -np.inf
        for p in range(cell.begin[c], cell.begin[c + 1]):
            if cell.allow[p]:
                for k in range(directions):
                    most[k] = slopes[p, k] if slopes[p, k] > most[k] else most[k]
        add(upper, most, 1.0)
    for k in range(directions):
        if math.isnan(upper[k]):
            upper[k] = np.inf


@inlined
def _add_line(cell: MovingCell, j: int, value: Floats, s: float, t: float, slopes: Floats, upper: Floats) -> None:
    """Add value · (s·y + t) of neuron ``j`` to the linear functions of all directions."""
    add(upper, value, s * cell.base[j] + t)
    for p in range(cell.size[COLUMNS]):
        add(slopes[p], value, s * cell.weight[j, p])


@inlined
def stable_part(objectives: Objectives, cell: MovingCell, row: int, k: int, slopes: Floats) -> float:
    """What the neurons that are on for certain give: slopes (q,), and the constant."""
    q, constant = cell.size[COLUMNS], objectives.level[row, k]
    for p in range(q):
        slopes[p] = 0.0
    for j in range(len(cell.on)):
        if cell.on[j]:
            c = objectives.value[row, j, k]
            constant += c * cell.base[j]
            for p in range(q):
                slopes[p] += c * cell.weight[j, p]
    return float(constant)


@inlined
def chord(lo: float, hi: float) -> tuple[float, float]:
    """Slope and intercept of the line above ReLU at both ends of an interval around 0."""
    s = hi / (hi - lo)
    return s, max(-s * lo, hi - s * hi)


@inlined
def at_most(
    layer: FirstLayer,
    objectives: Objectives,
    cell: MovingCell,
    row: int,
    k: int,
    allow: Flags,
    slopes: Floats,
    constant: float,
) -> float:
    """The maximum of a linear function over the cell with these categories, rounded up; infinite where it overflows."""
    for p in range(cell.size[NUMERICS]):
        a = slopes[p]
        constant += a * cell.high[p] if a > 0.0 else a * cell.low[p]
    for c in range(cell.size[CHOICES]):
        most = -np.inf
        for p in range(cell.begin[c], cell.begin[c + 1]):
            if allow[p]:
                most = max(most, slopes[p])
        constant += most
    bound = constant + layer.unit * (objectives.rise[row, k] * cell.largest[0] + objectives.shift[row, k])
    return np.inf if math.isnan(bound) else float(bound)
