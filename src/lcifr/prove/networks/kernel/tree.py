"""Best-first branch-and-bound for one answer of a person, over all its directions at once."""

from __future__ import annotations

import numpy as np

from lcifr.prove.networks.kernel.heap import OPEN, empty, forget, full, make, pop, push
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.node import (
    CHOICE,
    RELU,
    STUCK,
    better_half,
    decide,
    point_of,
    proved_bound,
    set_costs,
    value_at_point,
    vertex_of,
)
from lcifr.prove.networks.kernel.person import COLUMNS, UNSTABLE, stable_part
from lcifr.prove.networks.kernel.program import OWNER, PIVOTS, build, read, solve
from lcifr.prove.networks.kernel.shape import Ask, Desk, Dictionary, Found, Net, Person, Tree

JUMPS = 4
"""A piecewise linear function on a box settles on a vertex after a few jumps, or cycles; the best point is kept."""
STALE = 200
"""Pivots after which a dictionary is built afresh, so that rounding does not pile up."""


@compiled
def with_offset(bound: float, offset: float) -> float:
    """bound + offset, a little more than rounding could take away, here and where the caller adds them again."""
    total = bound + offset
    return total + 5e-16 * abs(total)


@compiled
def enough(best: float, target: float, tolerance: float) -> float:
    """A branch at or below this cannot change the answer."""
    limit = best
    if best > -np.inf:
        limit = best + 0.5 * tolerance * (1.0 + abs(best))  # half: rounding of best itself takes the rest
    return max(limit, float(np.nextafter(target, -np.inf)))


@compiled
def climb(
    net: Net, ask: Ask, found: Found, who: Person, i: int, row: int, k: int, answer: int, jumps: int, desk: Desk
) -> bool:
    """Jump from the desk's point along the gradient, and keep what is better. Whether the target is surely passed."""
    last, q = -np.inf, who.size[COLUMNS]
    rounding_error = net.unit * (ask.rise[row, k] * who.largest[0] + ask.shift[row, k])
    for _ in range(jumps + 1):
        value = value_at_point(ask, who, row, k, desk)
        if value + ask.offset[i, k] > found.best[i, answer]:
            found.best[i, answer] = value + ask.offset[i, k]
            for p in range(q):
                desk.best[p] = desk.point[p]
            desk.hit[0] = 1
            if found.best[i, answer] - 2.0 * rounding_error > ask.target[i, answer] > -np.inf:
                return True
        if not value > last:
            break
        last = value
        vertex_of(who, who.allow, desk)
    return False


@compiled
def search(
    net: Net,
    ask: Ask,
    found: Found,
    who: Person,
    i: int,
    row: int,
    answer: int,
    first: int,
    last: int,
    tree: Tree,
    lp: Dictionary,
    desk: Desk,
) -> bool:
    """Raise the answer's best value and lower the bounds of directions first … last−1 until the two meet.

    False where the tree has no room left: the caller makes some and asks again.
    """
    target = ask.target[i, answer]
    limit = enough(found.best[i, answer], target, ask.tolerance)
    top = -1
    for k in range(first, last):
        key = with_offset(desk.upper[k], ask.offset[i, k])
        if key > limit and (top < 0 or key > with_offset(desk.upper[top], ask.offset[i, top])):
            top = k
    if top < 0:
        return True
    desk.hit[0] = 0
    _turn_to(ask, who, row, top, lp, desk, False)
    settled = climb(net, ask, found, who, i, row, top, answer, JUMPS, desk)
    limit = enough(found.best[i, answer], target, ask.tolerance)
    if not settled and ask.branch:
        _plant(ask, found, who, i, first, last, limit, tree, desk)
        while tree.size[OPEN] > 0 and not settled:
            if full(tree):
                return False
            node = pop(tree)
            k = tree.direction[node]
            if tree.key[node] <= enough(found.best[i, answer], target, ask.tolerance) or ask.stop[0]:
                _close(tree, node, desk)
                found.exhausted[i, k] |= ask.stop[0]
                break
            if desk.spent[k] >= ask.nodes:
                found.exhausted[i, k] = 1
                _close(tree, node, desk)
                forget(tree, node)
                continue
            settled = _work(net, ask, found, who, i, row, answer, node, tree, lp, desk)
        for place in range(tree.size[OPEN]):
            _close(tree, tree.heap[place], desk)
            if ask.stop[0]:
                found.exhausted[i, tree.direction[tree.heap[place]]] = 1
        for k in range(first, last):
            if desk.output[k] > -np.inf:
                desk.upper[k] = min(desk.upper[k], desk.output[k])
    return True


@compiled
def _turn_to(ask: Ask, who: Person, row: int, k: int, lp: Dictionary, desk: Desk, program: bool) -> None:
    """Make direction ``k`` the one that desk and program are about, at the vertex of its plain bound."""
    for p in range(who.size[COLUMNS]):
        desk.slopes[p] = desk.plain[p, k]
    vertex_of(who, who.allow, desk)
    if program:
        build(lp, who, desk.slopes)
        lp.size[OWNER] = k
    desk.constant[0] = stable_part(ask, who, row, k, desk.stable)


@compiled
def _plant(
    ask: Ask,
    found: Found,
    who: Person,
    i: int,
    first: int,
    last: int,
    limit: float,
    tree: Tree,
    desk: Desk,
) -> None:
    """One root for every direction that still matters."""
    empty(tree)
    unstable, q = who.size[UNSTABLE], who.size[COLUMNS]
    for k in range(first, last):
        desk.output[k] = -np.inf
        key = with_offset(desk.upper[k], ask.offset[i, k])
        if key > limit:
            node = make(tree)
            tree.key[node], tree.bound[node], tree.direction[node], tree.cut[node] = key, desk.upper[k], k, 0
            for u in range(unstable):
                tree.phase[node, u] = 0
            for p in range(q):
                tree.allow[node, p] = who.allow[p]
            push(tree, node)
            found.branched[i, k] = 1


@compiled
def _close(tree: Tree, node: int, desk: Desk) -> None:
    k = tree.direction[node]
    desk.output[k] = max(desk.output[k], tree.bound[node])


@compiled
def _work(
    net: Net,
    ask: Ask,
    found: Found,
    who: Person,
    i: int,
    row: int,
    answer: int,
    node: int,
    tree: Tree,
    lp: Dictionary,
    desk: Desk,
) -> bool:
    """Bound a node, look at the point it points at, and close or split it. Whether the target is surely passed."""
    k, q = tree.direction[node], who.size[COLUMNS]
    desk.spent[k] += 1
    if lp.size[OWNER] != k or lp.size[PIVOTS] > STALE:
        _turn_to(ask, who, row, k, lp, desk, True)
    set_costs(net, ask, who, row, tree, node, lp, desk)
    solve(lp, q, 0.1 * ask.tolerance * (1.0 + abs(found.best[i, answer])), 50 + 4 * len(lp.basis))
    read(lp, who, desk.slope)
    bound = proved_bound(net, ask, who, row, k, tree.allow[node], desk)
    tree.bound[node] = min(tree.bound[node], bound)
    tree.key[node] = with_offset(tree.bound[node], ask.offset[i, k])
    kind, place = decide(ask, who, row, tree, node, lp, desk)
    if kind == CHOICE:
        better_half(who, tree.allow[node], place, desk)
    point_of(lp, who, tree.allow[node], desk)
    settled = climb(net, ask, found, who, i, row, k, answer, 1, desk)
    closed = tree.key[node] <= enough(found.best[i, answer], ask.target[i, answer], ask.tolerance)
    if closed or settled or kind == STUCK:
        _close(tree, node, desk)
        forget(tree, node)
    else:
        _split(who, node, kind, place, tree, desk)
    return settled


@compiled
def _split(who: Person, node: int, kind: int, place: int, tree: Tree, desk: Desk) -> None:
    """Two nodes in place of one: the phase off and on, or the better half of a choice and the others."""
    second, unstable, q = make(tree), who.size[UNSTABLE], who.size[COLUMNS]
    tree.key[second], tree.bound[second] = tree.key[node], tree.bound[node]
    tree.direction[second], tree.cut[second] = tree.direction[node], tree.cut[node]
    for u in range(unstable):
        tree.phase[second, u] = tree.phase[node, u]
    for p in range(q):
        tree.allow[second, p] = tree.allow[node, p]
    if kind == RELU:
        tree.phase[node, place], tree.phase[second, place] = -1, 1
    else:
        tree.cut[node] = tree.cut[second] = 1
        for p in range(who.begin[place], who.begin[place + 1]):
            tree.allow[second, p] &= 1 - desk.half[p]
            tree.allow[node, p] = desk.half[p]
    push(tree, node)
    push(tree, second)
