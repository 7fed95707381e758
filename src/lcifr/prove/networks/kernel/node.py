"""One node: its costs, its proved bound, the points it points at, and where to split it."""

from __future__ import annotations

import numpy as np

from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.person import CHOICES, COLUMNS, NUMERICS, UNSTABLE, at_most, chord, intervals
from lcifr.prove.networks.kernel.shape import Ask, Desk, Dictionary, Flags, Floats, Net, Person, Tree

STUCK, RELU, CHOICE = 0, 1, 2
WHOLE = 1e-6
"""A category whose share at the relaxed optimum is within this of 1 counts as whole."""


@compiled
def set_costs(net: Net, ask: Ask, who: Person, row: int, tree: Tree, node: int, lp: Dictionary, desk: Desk) -> None:
    """The cost of every column and neuron at this node.

    For c > 0, max over x of (rest + c·relu(y)) is the larger of the maxima of (rest + c·y) and (rest): a decided phase
    needs no halfspace y ≥ 0 or y ≤ 0.
    """
    k, phase, allow, weight, lows, highs = tree.direction[node], tree.phase[node], tree.allow[node], 1.0, who.lo, who.hi
    if tree.cut[node]:
        intervals(net, who, allow, desk.lo, desk.hi)
        lows, highs = desk.lo, desk.hi
    for u in range(who.size[UNSTABLE]):
        j = who.unstable[u]
        c, lo, hi = ask.value[row, j, k], lows[j], highs[j]
        weight += abs(c) * (who.hi[j] - who.lo[j])
        left = right = desk.intercept[u] = 0.0
        if lo >= 0.0 or (c > 0.0 and phase[u] > 0):
            left = right = c
        elif hi > 0.0 and c < 0.0:
            right = c
        elif hi > 0.0 and c > 0.0 and phase[u] == 0:
            s, t = chord(lo, hi)
            left = right = c * s
            desk.intercept[u] = c * t
        lp.left[u], lp.right[u] = left, right
    for p in range(who.size[NUMERICS]):
        lp.gain[p] = desk.stable[p] * (who.high[p] - who.low[p])
        weight += abs(lp.gain[p])
    for p in range(who.size[NUMERICS], who.size[COLUMNS]):
        weight += abs(desk.stable[p])
    for p in range(who.size[NUMERICS], who.size[COLUMNS]):
        lp.gain[p] = desk.stable[p] if allow[p] else -4.0 * weight  # so much that it never pays


@compiled
def proved_bound(net: Net, ask: Ask, who: Person, row: int, k: int, allow: Flags, desk: Desk) -> float:
    """The bound with the lines on the desk, whoever proposed their slopes; and its slopes (q,)."""
    q, constant = who.size[COLUMNS], desk.constant[0]
    for p in range(q):
        desk.slopes[p] = desk.stable[p]
    for u in range(who.size[UNSTABLE]):
        s, j = desk.slope[u], who.unstable[u]
        constant += desk.intercept[u]
        if s != 0.0:
            constant += s * who.base[j]
            for p in range(q):
                desk.slopes[p] += s * who.weight[j, p]
    return at_most(net, ask, who, row, k, allow, desk.slopes, constant)


@compiled
def take_largest(score: Floats, who: Person, allow: Flags, desk: Desk) -> None:
    """Of every choice the allowed category with the largest score, for the desk's point."""
    for c in range(who.size[CHOICES]):
        top = -1
        for p in range(who.begin[c], who.begin[c + 1]):
            desk.point[p] = 0.0
            if allow[p] and (top < 0 or score[p] > score[top]):
                top = p
        desk.point[top] = 1.0


@compiled
def point_of(lp: Dictionary, who: Person, allow: Flags, desk: Desk) -> None:
    """The relaxed optimum rounded to a point of the cell."""
    for p in range(who.size[NUMERICS]):
        x = who.low[p] + lp.share[p] * (who.high[p] - who.low[p])
        x = who.high[p] if lp.share[p] == 1.0 else x
        desk.point[p] = min(who.high[p], max(who.low[p], x))
    take_largest(lp.share, who, allow, desk)


@compiled
def vertex_of(who: Person, allow: Flags, desk: Desk) -> None:
    """The point of the cell where a linear function with the desk's slopes is largest."""
    for p in range(who.size[NUMERICS]):
        desk.point[p] = who.high[p] if desk.slopes[p] > 0.0 else who.low[p]
    take_largest(desk.slopes, who, allow, desk)


@compiled
def value_at_point(ask: Ask, who: Person, row: int, k: int, desk: Desk) -> float:
    """Direction · network at the desk's point, in plain floating point; and the gradient there as slopes."""
    q, total = who.size[COLUMNS], desk.constant[0]
    for p in range(q):
        desk.slopes[p] = desk.stable[p]
        total += desk.stable[p] * desk.point[p]
    for u in range(who.size[UNSTABLE]):
        j = who.unstable[u]
        y = who.base[j]
        for p in range(q):
            y += who.weight[j, p] * desk.point[p]
        if y > 0.0:
            c = ask.value[row, j, k]
            total += c * y
            for p in range(q):
                desk.slopes[p] += c * who.weight[j, p]
    return float(total)


@compiled
def decide(ask: Ask, who: Person, row: int, tree: Tree, node: int, lp: Dictionary, desk: Desk) -> tuple[int, int]:
    """Whether to split a choice or a phase, and which: a choice that is not whole, else the chord with most gap."""
    k, allow = tree.direction[node], tree.allow[node]
    place, top = -1, WHOLE
    for c in range(who.size[CHOICES]):
        most, count = 0.0, 0
        for p in range(who.begin[c], who.begin[c + 1]):
            if allow[p]:
                most, count = max(most, lp.share[p]), count + 1
        if count > 1 and 1.0 - most > top:
            place, top = c, 1.0 - most
    if place >= 0:
        return CHOICE, place
    top = 0.0
    for u in range(who.size[UNSTABLE]):
        if desk.intercept[u] > 0.0:
            y, c = lp.input[u], ask.value[row, who.unstable[u], k]
            gap = desk.slope[u] * y + desk.intercept[u] - c * max(y, 0.0) + 1e-6 * desk.intercept[u]
            if gap > top:
                place, top = u, gap
    return (RELU, place) if place >= 0 else (STUCK, 0)


@compiled
def better_half(who: Person, allow: Flags, choice: int, desk: Desk) -> None:
    """The better half of the choice's categories by their slope: siblings share what is large."""
    begin, end, count = who.begin[choice], who.begin[choice + 1], 0
    for p in range(begin, end):
        count += allow[p]
    for p in range(begin, end):
        rank = 0
        for other in range(begin, end):
            ahead = desk.slopes[other] > desk.slopes[p] or (desk.slopes[other] == desk.slopes[p] and other < p)
            if allow[other] and ahead:
                rank += 1
        desk.half[p] = np.uint8(allow[p] and rank < count // 2)
