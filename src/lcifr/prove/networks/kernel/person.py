"""One person's cell made small, and linear bounds on it in closed form.

Rounding. Every bound here is a sum of products ``direction · last layer · slope · first layer · x`` (and of biases and
intercepts in place of the later factors), the same products as in ``linear.backward``, in another
order. The gauge of the scene counts the roundings of every product for any order of summation, so its term covers the
sums here too. A column's share of the maximum is taken at an end of its interval, by the sign of the computed
coefficient: for every x of the cell the computed linear function at x is at most the computed maximum, and at x it
differs from the exact one by no more than that term.
"""

from __future__ import annotations

import math

import numpy as np

from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.shape import Ask, Cells, Flags, Floats, Net, Person

UNSTABLE, NUMERICS, COLUMNS, CHOICES = 0, 1, 2, 3


@compiled
def look_at(net: Net, cells: Cells, i: int, who: Person) -> None:
    """Fill in everything about person ``i``."""
    if _pattern_changed(cells, i, who):
        _compact(net, cells, who)
    _ends(cells, i, who)
    _first_layer(net, cells, i, who)


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
def _first_layer(net: Net, cells: Cells, i: int, who: Person) -> None:
    """The first layer at what is fixed, its intervals, and which neurons these leave unstable."""
    numerics, hidden, largest = cells.lower.shape[1], net.weight.shape[1], 0.0
    for j in range(hidden):
        who.base[j] = net.bias[j]
    for f in range(numerics):
        x = cells.lower[i, f]
        largest = max(largest, abs(x), abs(cells.upper[i, f]))
        if not who.pattern[f]:
            for j in range(hidden):
                who.base[j] += net.weight[f, j] * x
    for c in range(len(cells.start) - 1):
        if not who.pattern[numerics + c]:
            for v in range(cells.start[c], cells.start[c + 1]):
                if cells.allowed[i, v]:
                    for j in range(hidden):
                        who.base[j] += net.weight[numerics + v, j]
    who.largest[0] = largest if largest <= net.farthest else np.inf
    intervals(net, who, who.allow, who.lo, who.hi)
    count = 0
    for j in range(hidden):
        who.on[j] = not who.lo[j] < 0.0  # also where overflow left no number: the bounds become infinite
        if who.lo[j] < 0.0 < who.hi[j]:
            who.unstable[count] = j
            count += 1
    who.size[UNSTABLE] = count


@compiled
def intervals(net: Net, who: Person, allow: Flags, lo: Floats, hi: Floats) -> None:
    """The closed-form intervals (hidden,) of the first layer with these categories allowed, rounded outward."""
    hidden = len(lo)
    for j in range(hidden):
        rounding_error = net.unit * (who.largest[0] * net.slope[j] + net.shift[j])
        lo[j], hi[j] = who.base[j] - rounding_error, who.base[j] + rounding_error
    for p in range(who.size[NUMERICS]):
        weight, low, high = net.weight[who.source[p]], who.low[p], who.high[p]
        for j in range(hidden):
            a, b = weight[j] * low, weight[j] * high
            lo[j] += a if a < b else b
            hi[j] += b if a < b else a
    least, most = who.least, who.most
    for c in range(who.size[CHOICES]):
        for j in range(hidden):
            least[j], most[j] = np.inf, -np.inf
        for p in range(who.begin[c], who.begin[c + 1]):
            if allow[p]:
                weight = net.weight[who.source[p]]
                for j in range(hidden):
                    least[j] = weight[j] if weight[j] < least[j] else least[j]
                    most[j] = weight[j] if weight[j] > most[j] else most[j]
        for j in range(hidden):
            lo[j] += least[j]
            hi[j] += most[j]


@compiled
def add(target: Floats, source: Floats, factor: float) -> None:
    """target += factor · source."""
    for k in range(len(target)):
        target[k] += factor * source[k]


@compiled
def plain_bounds(net: Net, ask: Ask, who: Person, row: int, slopes: Floats, most: Floats, upper: Floats) -> None:
    """The bounds (K,) of all directions with chords above and the nearer of 0 and y below, and their slopes (q, K).

    Directions are the inner loops: there are more of them than columns that move.
    """
    directions, q = len(upper), who.size[COLUMNS]
    for k in range(directions):
        upper[k] = ask.level[row, k] + net.unit * (ask.rise[row, k] * who.largest[0] + ask.shift[row, k])
    for p in range(q):
        for k in range(directions):
            slopes[p, k] = 0.0
    for j in range(len(who.on)):
        if who.on[j]:
            _add_line(who, j, ask.value[row, j], 1.0, 0.0, slopes, upper)
        elif who.hi[j] > 0.0:
            s, t = chord(who.lo[j], who.hi[j])
            _add_line(who, j, ask.plus[row, j], s, t, slopes, upper)
            if who.hi[j] > -who.lo[j]:
                _add_line(who, j, ask.minus[row, j], 1.0, 0.0, slopes, upper)
    for p in range(who.size[NUMERICS]):
        low, high = who.low[p], who.high[p]
        for k in range(directions):
            a, b = slopes[p, k] * low, slopes[p, k] * high
            upper[k] += b if a < b else a
    for c in range(who.size[CHOICES]):
        for k in range(directions):
            most[k] = -np.inf
        for p in range(who.begin[c], who.begin[c + 1]):
            if who.allow[p]:
                for k in range(directions):
                    most[k] = slopes[p, k] if slopes[p, k] > most[k] else most[k]
        add(upper, most, 1.0)
    for k in range(directions):
        if math.isnan(upper[k]):
            upper[k] = np.inf


@compiled
def _add_line(who: Person, j: int, value: Floats, s: float, t: float, slopes: Floats, upper: Floats) -> None:
    """Add value · (s·y + t) of neuron ``j`` to the linear functions of all directions."""
    add(upper, value, s * who.base[j] + t)
    for p in range(who.size[COLUMNS]):
        add(slopes[p], value, s * who.weight[j, p])


@compiled
def stable_part(ask: Ask, who: Person, row: int, k: int, slopes: Floats) -> float:
    """What the neurons that are on for certain give: slopes (q,), and the constant."""
    q, constant = who.size[COLUMNS], ask.level[row, k]
    for p in range(q):
        slopes[p] = 0.0
    for j in range(len(who.on)):
        if who.on[j]:
            c = ask.value[row, j, k]
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
def at_most(net: Net, ask: Ask, who: Person, row: int, k: int, allow: Flags, slopes: Floats, constant: float) -> float:
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
