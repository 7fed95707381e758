"""Branch-and-bound for one answer of a person through all hidden layers, over all its directions at once."""

from __future__ import annotations

import numpy as np

from lcifr.prove.networks.kernel.best_first import (
    JUMPS,
    STALE,
    close,
    enough,
    finish,
    most_promising,
    next_node,
    with_offset,
)
from lcifr.prove.networks.kernel.deep.attribution import share_out
from lcifr.prove.networks.kernel.deep.backward import refresh
from lcifr.prove.networks.kernel.deep.chords import update_chords
from lcifr.prove.networks.kernel.deep.costs import set_costs, set_direction
from lcifr.prove.networks.kernel.deep.halving import given_away, middle, pick_halving, whole_below_middle
from lcifr.prove.networks.kernel.deep.node import climb, decide, proved_bound, read_multipliers
from lcifr.prove.networks.kernel.deep.open_nodes import plant_roots, split, split_number, split_whole
from lcifr.prove.networks.kernel.deep.program import BOX, LINES, build
from lcifr.prove.networks.kernel.deep.shape import DeepWorkspace, HiddenLayers, Rows, WholeColumns
from lcifr.prove.networks.kernel.deep.whole import pick_column, round_point
from lcifr.prove.networks.kernel.heap import forget, full
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.moving_cell import COLUMNS, NUMERICS
from lcifr.prove.networks.kernel.node import CHOICE, RELU, STUCK, better_half, point_of, vertex_of
from lcifr.prove.networks.kernel.program import OWNER, PIVOTS, read, solve
from lcifr.prove.networks.kernel.recording.ending import record_above, record_end
from lcifr.prove.networks.kernel.recording.record import (
    LEAF,
    NO_INTERVAL,
    NO_POINT,
    NUMERIC,
    WHOLE,
    no_room,
)
from lcifr.prove.networks.kernel.shape import FirstLayer, KernelAnswer, Objectives

GROWTH, ROUNDS = 64.0, 5
"""How penalties grow where nothing is left to split and a program still pays them."""


@compiled
def search(
    first: FirstLayer,
    layers: HiddenLayers,
    rows: Rows,
    wholes: WholeColumns,
    objectives: Objectives,
    found: KernelAnswer,
    i: int,
    row: int,
    answer: int,
    begin: int,
    end: int,
    work: DeepWorkspace,
) -> bool:
    """Raise the answer's best value and lower the bounds of directions begin … end−1 until the two meet.

    False where the tree has no room left: the caller makes some and asks again.
    """
    cell, nodes, bench = work.cell, work.nodes, work.bench
    top = most_promising(objectives, found, i, answer, begin, end, bench)
    if top < 0:
        return True
    for p in range(cell.size[COLUMNS]):
        bench.slopes[p] = bench.plain[top, p]
    vertex_of(cell, cell.allow, bench)
    settled = climb(layers, rows, objectives, found, cell, i, row, top, answer, JUMPS, bench)
    if settled or not objectives.branch:
        return True
    limit = enough(objectives, found, i, answer)
    plant_roots(layers, objectives, found, cell, i, begin, end, limit, nodes, bench, work.record)
    while not settled:
        if full(nodes) or no_room(work.record):
            return False
        node = next_node(objectives, found, i, answer, nodes, bench)
        if node < 0:
            break
        settled = _work(first, layers, rows, wholes, objectives, found, i, row, answer, node, work)
    finish(objectives, found, i, begin, end, nodes, bench)
    for p in range(cell.size[NUMERICS]):
        cell.low[p], cell.high[p] = bench.low[p], bench.high[p]
    return True


@compiled
def _propose(
    layers: HiddenLayers,
    objectives: Objectives,
    row: int,
    node: int,
    accuracy: float,
    scale: float,
    strength: float,
    work: DeepWorkspace,
) -> None:
    """Solve the node's program, from the dictionary of the node before where that is possible."""
    cell, lp, nodes, bench = work.cell, work.lp, work.nodes, work.bench
    k = nodes.direction[node]
    fresh = lp.size[OWNER] < 0 or lp.size[PIVOTS] > STALE or bench.size[BOX] != nodes.boxed[node]
    if not fresh:
        fresh = not update_chords(lp, cell, nodes, node, bench)
    if lp.size[OWNER] != k:
        set_direction(lp, layers, objectives, cell, row, k, bench)
    if fresh:
        for p in range(cell.size[COLUMNS]):
            bench.slopes[p] = bench.plain[k, p]
        build(lp, layers, cell, cell.allow, bench)
        bench.size[BOX] = nodes.boxed[node]
        update_chords(lp, cell, nodes, node, bench)
    lp.size[OWNER] = k
    penalty = strength * (bench.strength[0] if scale > 0.0 else 1.0)
    set_costs(lp, layers, objectives, cell, row, nodes, node, bench, scale, penalty)
    solve(lp, cell.size[COLUMNS], accuracy, 50 + 4 * len(lp.basis))
    read(lp, cell, bench.kink)
    read_multipliers(bench)


@compiled
def _work(
    first: FirstLayer,
    layers: HiddenLayers,
    rows: Rows,
    wholes: WholeColumns,
    objectives: Objectives,
    found: KernelAnswer,
    i: int,
    row: int,
    answer: int,
    node: int,
    work: DeepWorkspace,
) -> bool:
    """Bound a node, look at the point it points at, and close or split it. Whether the target is surely passed."""
    cell, nodes, bench = work.cell, work.nodes, work.bench
    k = nodes.direction[node]
    for p in range(cell.size[NUMERICS]):
        cell.low[p], cell.high[p] = nodes.low[node, p], nodes.high[node, p]
    there = refresh(first, layers, cell, nodes, node, bench)
    record_above(work.record, nodes.record[node], nodes.lo[node], nodes.hi[node], bench)
    if not there:
        nodes.bound[node] = -np.inf
        record_end(work.record, nodes.record[node], NO_INTERVAL, nodes.source[node], bench)
        forget(nodes, node)
        return False
    known = found.best[i, answer] > -np.inf
    accuracy = 0.1 * objectives.tolerance * (1.0 + (abs(found.best[i, answer]) if known else 0.0))
    kind, place, at, closed, settled = STUCK, 0, 0, False, False
    for power in range(ROUNDS):
        _propose(layers, objectives, row, node, accuracy, 1.0, GROWTH**power, work)
        bound = proved_bound(first, layers, rows, objectives, cell, row, nodes, node, bench, 1.0)
        if bound < nodes.bound[node]:
            nodes.bound[node] = bound
            record_end(work.record, nodes.record[node], LEAF, nodes.source[node], bench)
        nodes.key[node] = with_offset(nodes.bound[node], objectives.offset[i, k])
        excess = nodes.key[node] - enough(objectives, found, i, answer)
        kind, place, at = _choose_split(layers, wholes, objectives, row, node, excess, work)
        settled = climb(layers, rows, objectives, found, cell, i, row, k, answer, 1, bench)
        closed = settled or nodes.key[node] <= enough(objectives, found, i, answer)
        if kind != STUCK or closed:
            break
    if found.best[i, answer] == -np.inf and _is_empty(first, layers, rows, objectives, row, node, work):
        record_end(work.record, nodes.record[node], NO_POINT, nodes.source[node], bench)
        forget(nodes, node)
    elif kind == STUCK or closed:
        close(nodes, node, bench)
        forget(nodes, node)
    elif kind == WHOLE:
        split_whole(layers, wholes, cell, node, place, at, nodes, bench, work.record)
    elif kind == NUMERIC:
        split_number(layers, cell, node, place, middle(cell, place), nodes, bench, work.record)
    else:
        split(layers, cell, node, kind, place, nodes, bench, work.record)
    return settled


@compiled
def _choose_split(
    layers: HiddenLayers,
    wholes: WholeColumns,
    objectives: Objectives,
    row: int,
    node: int,
    excess: float,
    work: DeepWorkspace,
) -> tuple[int, int, int]:
    """What to split, by the program's optimum: kind, place, and the place of a whole number. The optimum, rounded to a
    point of the cell, goes to the bench.

    The bound is too large by ``excess``. Where the relaxations do not give away half of it even by their shares in the
    difference, the optimum is too good because its numbers are not whole, and these are split first.
    """
    cell, lp, nodes, bench = work.cell, work.lp, work.nodes, work.bench
    at, relaxed = 0, True
    kind, place = decide(layers, objectives, cell, row, nodes, node, lp, bench)
    if kind != CHOICE and given_away(bench) < 0.5 * excess:
        kind, place = share_out(layers, objectives, cell, row, nodes, node, lp, bench)
        relaxed = given_away(bench) >= 0.5 * excess
    if kind == CHOICE:
        better_half(cell, nodes.allow[node], place, bench)
    point_of(lp, cell, nodes.allow[node], bench)
    if len(wholes.value) > 0:
        column, at = pick_column(wholes, cell, nodes, node, bench, kind != STUCK and relaxed)
        if column >= 0 and kind != CHOICE:
            kind, place = WHOLE, column
        round_point(wholes, cell, nodes, node, bench)
    if kind == RELU:
        column = pick_halving(layers, wholes, cell, nodes, node, bench)
        if column >= 0:
            at, place = whole_below_middle(wholes, cell, column), column
            kind = NUMERIC if at < 0 else WHOLE
    return kind, place, at


@compiled
def _is_empty(
    first: FirstLayer,
    layers: HiddenLayers,
    rows: Rows,
    objectives: Objectives,
    row: int,
    node: int,
    work: DeepWorkspace,
) -> bool:
    """Whether linear rows and phases leave no point of the node: then the zero function is bounded by less than 0."""
    if work.bench.size[LINES] == 0:
        return False
    _propose(layers, objectives, row, node, 1e-9, 0.0, 1.0, work)
    return proved_bound(first, layers, rows, objectives, work.cell, row, work.nodes, node, work.bench, 0.0) < 0.0
