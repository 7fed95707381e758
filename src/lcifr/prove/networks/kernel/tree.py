"""Branch-and-bound for one answer of a person through one hidden layer, over all its directions at once."""

from __future__ import annotations

import numpy as np

from lcifr.prove.networks.kernel.best_first import (
    JUMPS,
    STALE,
    close,
    enough,
    finish,
    keep_point,
    make_root,
    make_twin,
    most_promising,
    next_node,
    part_choice,
    with_offset,
)
from lcifr.prove.networks.kernel.heap import empty, forget, full, push
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
from lcifr.prove.networks.kernel.recording.record import no_room, record_slopes, record_split
from lcifr.prove.networks.kernel.shape import (
    FirstLayer,
    KernelAnswer,
    MovingCell,
    Objectives,
    Record,
    Scratch,
    SimplexDictionary,
    Tree,
)


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
    last = -np.inf
    rounding_error = layer.unit * (objectives.rise[row, k] * cell.largest[0] + objectives.shift[row, k])
    for _ in range(jumps + 1):
        value = value_at_point(objectives, cell, row, k, scratch)
        if value + objectives.offset[i, k] > found.best[i, answer]:
            settled = keep_point(objectives, found, cell, i, k, answer, value, rounding_error, scratch)
            if settled:
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
    top = most_promising(objectives, found, i, answer, first, last, scratch)
    if top < 0:
        return True
    scratch.hit[0] = 0
    _turn_to(objectives, cell, row, top, lp, scratch, False)
    settled = climb(layer, objectives, found, cell, i, row, top, answer, JUMPS, scratch)
    if settled or not objectives.branch:
        return True
    limit = enough(objectives, found, i, answer)
    _plant(objectives, found, cell, i, first, last, limit, tree, scratch, record)
    while not settled:
        if full(tree) or no_room(record):
            return False
        node = next_node(objectives, found, i, answer, tree, scratch)
        if node < 0:
            break
        settled = _work(layer, objectives, found, cell, i, row, answer, node, tree, lp, scratch, record)
    finish(objectives, found, i, first, last, tree, scratch)
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
    for k in range(first, last):
        scratch.output[k] = -np.inf
        key = with_offset(scratch.upper[k], objectives.offset[i, k])
        if key > limit:
            node = make_root(found, cell, i, k, key, tree, scratch, record)
            tree.cut[node] = 0
            for u in range(cell.size[UNSTABLE]):
                tree.phase[node, u] = 0


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
    if settled or kind == STUCK or tree.key[node] <= enough(objectives, found, i, answer):
        close(tree, node, scratch)
        forget(tree, node)
    else:
        _split(cell, node, kind, place, tree, scratch, record)
    return settled


@compiled
def _split(cell: MovingCell, node: int, kind: int, place: int, tree: Tree, scratch: Scratch, record: Record) -> None:
    """Two nodes in place of one: the phase off and on, or the better half of a choice and the others."""
    second = make_twin(cell, node, tree)
    tree.cut[second] = tree.cut[node]
    for u in range(cell.size[UNSTABLE]):
        tree.phase[second, u] = tree.phase[node, u]
    where = cell.unstable[place] if kind == RELU else place
    names = record_split(record, tree.record[node], kind, where, scratch.half, cell)
    tree.record[node], tree.record[second] = names
    if kind == RELU:
        tree.phase[node, place], tree.phase[second, place] = -1, 1
    else:
        tree.cut[node] = tree.cut[second] = 1
        part_choice(cell, node, second, place, tree, scratch)
    push(tree, node)
    push(tree, second)
