"""Best-first branch-and-bound for one answer of a person, over all its directions at once."""

from __future__ import annotations

import numpy as np

from lcifr.prove.networks.kernel.heap import OPEN, empty, forget, full, make, pop, push
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.moving_cell import COLUMNS, UNSTABLE, stable_part
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
from lcifr.prove.networks.kernel.program import OWNER, PIVOTS, build, read, solve
from lcifr.prove.networks.kernel.recording.record import Record, no_room, plant, record_slopes, record_split
from lcifr.prove.networks.kernel.shape import (
    FirstLayer,
    KernelAnswer,
    MovingCell,
    Objectives,
    Scratch,
    SimplexDictionary,
    Tree,
)

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
    layer: FirstLayer,
    objectives: Objectives,
    found: KernelAnswer,
    cell: MovingCell,
    i: int,
    row: int,
    k: int,
    answer: int,
    jumps: int,
    scratch: Scratch,
) -> bool:
    """Jump from the scratch point along the gradient, and keep what is better. Whether the target is surely passed."""
    last, q = -np.inf, cell.size[COLUMNS]
    rounding_error = layer.unit * (objectives.rise[row, k] * cell.largest[0] + objectives.shift[row, k])
    for _ in range(jumps + 1):
        value = value_at_point(objectives, cell, row, k, scratch)
        if value + objectives.offset[i, k] > found.best[i, answer]:
            found.best[i, answer] = value + objectives.offset[i, k]
            for p in range(q):
                scratch.best[p] = scratch.point[p]
            scratch.hit[0] = 1
            if found.best[i, answer] - 2.0 * rounding_error > objectives.target[i, answer] > -np.inf:
                return True
        if not value > last:
            break
        last = value
        vertex_of(cell, cell.allow, scratch)
    return False


@compiled
def search(
    layer: FirstLayer,
    objectives: Objectives,
    found: KernelAnswer,
    cell: MovingCell,
    i: int,
    row: int,
    answer: int,
    first: int,
    last: int,
    tree: Tree,
    lp: SimplexDictionary,
    scratch: Scratch,
    record: Record,
) -> bool:
    """Raise the answer's best value and lower the bounds of directions first … last−1 until the two meet.

    False where the tree has no room left: the caller makes some and asks again.
    """
    target = objectives.target[i, answer]
    limit = enough(found.best[i, answer], target, objectives.tolerance)
    top = -1
    for k in range(first, last):
        key = with_offset(scratch.upper[k], objectives.offset[i, k])
        if key > limit and (top < 0 or key > with_offset(scratch.upper[top], objectives.offset[i, top])):
            top = k
    if top < 0:
        return True
    scratch.hit[0] = 0
    _turn_to(objectives, cell, row, top, lp, scratch, False)
    settled = climb(layer, objectives, found, cell, i, row, top, answer, JUMPS, scratch)
    limit = enough(found.best[i, answer], target, objectives.tolerance)
    if not settled and objectives.branch:
        _plant(objectives, found, cell, i, first, last, limit, tree, scratch, record)
        while tree.size[OPEN] > 0 and not settled:
            if full(tree) or no_room(record):
                return False
            node = pop(tree)
            k = tree.direction[node]
            if tree.key[node] <= enough(found.best[i, answer], target, objectives.tolerance) or objectives.stop[0]:
                _close(tree, node, scratch)
                found.exhausted[i, k] |= objectives.stop[0]
                break
            if scratch.spent[k] >= objectives.nodes:
                found.exhausted[i, k] = 1
                _close(tree, node, scratch)
                forget(tree, node)
                continue
            settled = _work(layer, objectives, found, cell, i, row, answer, node, tree, lp, scratch, record)
        for place in range(tree.size[OPEN]):
            _close(tree, tree.heap[place], scratch)
            if objectives.stop[0]:
                found.exhausted[i, tree.direction[tree.heap[place]]] = 1
        for k in range(first, last):
            if scratch.output[k] > -np.inf:
                scratch.upper[k] = min(scratch.upper[k], scratch.output[k])
    return True


@compiled
def _turn_to(
    objectives: Objectives, cell: MovingCell, row: int, k: int, lp: SimplexDictionary, scratch: Scratch, program: bool
) -> None:
    """Make direction ``k`` the one that scratch arrays and program are about, at the vertex of its plain bound."""
    for p in range(cell.size[COLUMNS]):
        scratch.slopes[p] = scratch.plain[p, k]
    vertex_of(cell, cell.allow, scratch)
    if program:
        build(lp, cell, scratch.slopes)
        lp.size[OWNER] = k
    scratch.constant[0] = stable_part(objectives, cell, row, k, scratch.stable)


@compiled
def _plant(
    objectives: Objectives,
    found: KernelAnswer,
    cell: MovingCell,
    i: int,
    first: int,
    last: int,
    limit: float,
    tree: Tree,
    scratch: Scratch,
    record: Record,
) -> None:
    """One root for every direction that still matters."""
    empty(tree)
    unstable, q = cell.size[UNSTABLE], cell.size[COLUMNS]
    for k in range(first, last):
        scratch.output[k] = -np.inf
        key = with_offset(scratch.upper[k], objectives.offset[i, k])
        if key > limit:
            node = make(tree)
            tree.key[node], tree.bound[node], tree.direction[node], tree.cut[node] = key, scratch.upper[k], k, 0
            for u in range(unstable):
                tree.phase[node, u] = 0
            for p in range(q):
                tree.allow[node, p] = cell.allow[p]
            tree.record[node] = plant(record, i, k)
            push(tree, node)
            found.branched[i, k] = 1


@compiled
def _close(tree: Tree, node: int, scratch: Scratch) -> None:
    k = tree.direction[node]
    scratch.output[k] = max(scratch.output[k], tree.bound[node])


@compiled
def _work(
    layer: FirstLayer,
    objectives: Objectives,
    found: KernelAnswer,
    cell: MovingCell,
    i: int,
    row: int,
    answer: int,
    node: int,
    tree: Tree,
    lp: SimplexDictionary,
    scratch: Scratch,
    record: Record,
) -> bool:
    """Bound a node, look at the point it points at, and close or split it. Whether the target is surely passed."""
    k, q = tree.direction[node], cell.size[COLUMNS]
    scratch.spent[k] += 1
    if lp.size[OWNER] != k or lp.size[PIVOTS] > STALE:
        _turn_to(objectives, cell, row, k, lp, scratch, True)
    set_costs(layer, objectives, cell, row, tree, node, lp, scratch)
    solve(lp, q, 0.1 * objectives.tolerance * (1.0 + abs(found.best[i, answer])), 50 + 4 * len(lp.basis))
    read(lp, cell, scratch.slope)
    bound = proved_bound(layer, objectives, cell, row, k, tree.allow[node], scratch)
    if bound < tree.bound[node]:
        tree.bound[node] = bound
        record_slopes(record, tree.record[node], scratch.slope, cell.size[UNSTABLE])
    tree.key[node] = with_offset(tree.bound[node], objectives.offset[i, k])
    kind, place = decide(objectives, cell, row, tree, node, lp, scratch)
    if kind == CHOICE:
        better_half(cell, tree.allow[node], place, scratch)
    point_of(lp, cell, tree.allow[node], scratch)
    settled = climb(layer, objectives, found, cell, i, row, k, answer, 1, scratch)
    closed = tree.key[node] <= enough(found.best[i, answer], objectives.target[i, answer], objectives.tolerance)
    if closed or settled or kind == STUCK:
        _close(tree, node, scratch)
        forget(tree, node)
    else:
        _split(cell, node, kind, place, tree, scratch, record)
    return settled


@compiled
def _split(cell: MovingCell, node: int, kind: int, place: int, tree: Tree, scratch: Scratch, record: Record) -> None:
    """Two nodes in place of one: the phase off and on, or the better half of a choice and the others."""
    second, unstable, q = make(tree), cell.size[UNSTABLE], cell.size[COLUMNS]
    tree.key[second], tree.bound[second] = tree.key[node], tree.bound[node]
    tree.direction[second], tree.cut[second] = tree.direction[node], tree.cut[node]
    for u in range(unstable):
        tree.phase[second, u] = tree.phase[node, u]
    for p in range(q):
        tree.allow[second, p] = tree.allow[node, p]
    where = cell.unstable[place] if kind == RELU else place
    names = record_split(record, tree.record[node], kind, where, scratch.half, cell)
    tree.record[node], tree.record[second] = names
    if kind == RELU:
        tree.phase[node, place], tree.phase[second, place] = -1, 1
    else:
        tree.cut[node] = tree.cut[second] = 1
        for p in range(cell.begin[place], cell.begin[place + 1]):
            tree.allow[second, p] &= 1 - scratch.half[p]
            tree.allow[node, p] = scratch.half[p]
    push(tree, node)
    push(tree, second)
