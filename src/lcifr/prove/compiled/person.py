"""What is the exact answer? One person's cell made small, and linear bounds on it in closed form.

Rounding. Every bound here is a sum of products ``direction · last layer · slope · first layer · x`` (and of biases and
intercepts in place of the later factors), the same products as in :func:`lcifr.bounds.linear.backward`, in another
order. The gauge of the scene counts the roundings of every product for any order of summation, so its term covers the
sums here too. A column's share of the maximum is taken at an end of its interval, by the sign of the computed
coefficient: for every x of the cell the computed linear function at x is at most the computed maximum, and at x it
differs from the exact one by no more than that term.
"""

from __future__ import annotations

import math

import numpy as np

from lcifr.prove.compiled.jit import compiled
from lcifr.prove.compiled.shape import Ask, Cells, Floats, Net, Person

UNSTABLE, NUMERICS, COLUMNS, CHOICES = 0, 1, 2, 3


@compiled
def look_at(net: Net, cells: Cells, i: int, who: Person) -> None:
    """Fill in everything about person ``i``."""
    if _pattern_changed(cells, i, who):
        _compact(net, cells, who)
    _ends(cells, i, who)
    _intervals(net, cells, i, who)


@compiled
def _pattern_changed(cells: Cells, i: int, who: Person) -> bool:
    numerics, choices = cells.lower.shape[1], len(cells.start) - 1
    changed = False
    for f in range(numerics):
        moves = np.uint8(cells.upper[i, f] > cells.lower[i, f])
        changed = changed or moves != who.pattern[f]
        who.pattern[f] = moves
    for c in range(choices):
        count = 0
        for v in range(cells.start[c], cells.start[c + 1]):
            count += cells.allowed[i, v]
        free = np.uint8(count != 1)
        changed = changed or free != who.pattern[numerics + c]
        who.pattern[numerics + c] = free
    return changed


@compiled
def _compact(net: Net, cells: Cells, who: Person) -> None:
    """The columns that move, next to each other."""
    numerics, choices, q, free = cells.lower.shape[1], len(cells.start) - 1, 0, 0
    for f in range(numerics):
        if who.pattern[f]:
            who.source[q] = f
            q += 1
    who.size[NUMERICS] = q
    for c in range(choices):
        if who.pattern[numerics + c]:
            who.choice[free], who.begin[free] = c, q
            free += 1
            for v in range(cells.start[c], cells.start[c + 1]):
                who.source[q] = numerics + v
                q += 1
    who.begin[free] = q
    who.size[COLUMNS], who.size[CHOICES] = q, free
    for j in range(net.weight.shape[1]):
        for p in range(q):
            who.weight[j, p] = net.weight[who.source[p], j]


@compiled
def _ends(cells: Cells, i: int, who: Person) -> None:
    numerics = cells.lower.shape[1]
    for p in range(who.size[NUMERICS]):
        who.low[p], who.high[p] = cells.lower[i, who.source[p]], cells.upper[i, who.source[p]]
        who.allow[p] = 1
    for p in range(who.size[NUMERICS], who.size[COLUMNS]):
        who.low[p], who.high[p] = 0.0, 1.0
        who.allow[p] = cells.allowed[i, who.source[p] - numerics]


@compiled
def _intervals(net: Net, cells: Cells, i: int, who: Person) -> None:
    """base: the first layer at what is fixed. lo, hi: its proved interval. And which neurons that leaves unstable."""
    numerics, hidden, largest = cells.lower.shape[1], net.weight.shape[1], 0.0
    base = who.base
    for j in range(hidden):
        base[j] = net.bias[j]
    for f in range(numerics):
        x = cells.lower[i, f]
        largest = max(largest, abs(x), abs(cells.upper[i, f]))
        if not who.pattern[f]:
            for j in range(hidden):
                base[j] += net.weight[f, j] * x
    for c in range(len(cells.start) - 1):
        if not who.pattern[numerics + c]:
            for v in range(cells.start[c], cells.start[c + 1]):
                if cells.allowed[i, v]:
                    for j in range(hidden):
                        base[j] += net.weight[numerics + v, j]
    who.largest[0] = largest
    count = 0
    for j in range(hidden):
        who.lo[j], who.hi[j] = interval(net, who, who.allow, j)
        who.on[j] = who.lo[j] >= 0.0
        if who.lo[j] < 0.0 < who.hi[j]:
            who.unstable[count] = j
            count += 1
        elif math.isnan(who.lo[j]) or math.isnan(who.hi[j]):  # overflow: bounds become infinite, see `plain_bound`
            who.on[j] = 1
    who.size[UNSTABLE] = count


@compiled
def interval(net: Net, who: Person, allow: np.ndarray, j: int) -> tuple[float, float]:
    """The closed-form interval of neuron ``j`` with these categories allowed, rounded outward."""
    low = high = who.base[j]
    for p in range(who.size[NUMERICS]):
        a, b = who.weight[j, p] * who.low[p], who.weight[j, p] * who.high[p]
        low += a if a < b else b
        high += b if a < b else a
    for c in range(who.size[CHOICES]):
        least, most = np.inf, -np.inf
        for p in range(who.begin[c], who.begin[c + 1]):
            if allow[p]:
                least, most = min(least, who.weight[j, p]), max(most, who.weight[j, p])
        low, high = low + least, high + most
    doubt = net.unit * (who.largest[0] * net.slope[j] + net.shift[j])
    return low - doubt, high + doubt


@compiled
def plain_bound(net: Net, ask: Ask, who: Person, row: int, k: int, slopes: Floats) -> float:
    """The bound of direction ``k`` with chords above and the nearer of 0 and y below; and its slopes (q,)."""
    value, q = ask.value[row, k], who.size[COLUMNS]
    constant = stable_part(ask, who, row, k, slopes)
    for u in range(who.size[UNSTABLE]):
        j = who.unstable[u]
        c, lo, hi = value[j], who.lo[j], who.hi[j]
        if c > 0.0:
            s, t = chord(lo, hi)
            constant += c * t
            s *= c
        elif hi > -lo:
            s = c
        else:
            continue
        constant += s * who.base[j]
        for p in range(q):
            slopes[p] += s * who.weight[j, p]
    return at_most(net, ask, who, row, k, who.allow, slopes, constant)


@compiled
def stable_part(ask: Ask, who: Person, row: int, k: int, slopes: Floats) -> float:
    """What the neurons that are on for certain give: slopes (q,), and the constant."""
    value, q, constant = ask.value[row, k], who.size[COLUMNS], ask.level[row, k]
    for p in range(q):
        slopes[p] = 0.0
    for j in range(len(value)):
        if who.on[j]:
            c = value[j]
            constant += c * who.base[j]
            for p in range(q):
                slopes[p] += c * who.weight[j, p]
    return float(constant)


@compiled
def chord(lo: float, hi: float) -> tuple[float, float]:
    """Slope and intercept of the line above ReLU at both ends of an interval around 0."""
    s = hi / (hi - lo)
    return s, max(-s * lo, hi - s * hi)


@compiled
def at_most(
    net: Net, ask: Ask, who: Person, row: int, k: int, allow: np.ndarray, slopes: Floats, constant: float
) -> float:
    """The maximum of a linear function over the cell with these categories, rounded up; infinite where it overflows."""
    for p in range(who.size[NUMERICS]):
        a = slopes[p]
        constant += a * who.high[p] if a > 0.0 else a * who.low[p]
    for c in range(who.size[CHOICES]):
        most = -np.inf
        for p in range(who.begin[c], who.begin[c + 1]):
            if allow[p]:
                most = max(most, slopes[p])
        constant += most
    bound = constant + net.unit * (ask.rise[row, k] * who.largest[0] + ask.shift[row, k])
    return np.inf if math.isnan(bound) else float(bound)
