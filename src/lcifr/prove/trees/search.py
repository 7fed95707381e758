"""Best-first search over the parts of a person's cell, and the kernel that answers a piece of the people."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from lcifr.prove.networks.kernel.arrays import MADE, OPEN, Cells
from lcifr.prove.networks.kernel.best_first import pop, push
from lcifr.prove.networks.kernel.jit import compiled, digest, kept
from lcifr.prove.trees.arrays import BinPart, Ensemble, Floats, Found, NumberRows, Open, SearchMemory, TreeQuestion
from lcifr.prove.trees.bounds import LEAVES, bound_cell, bound_part, dive, has_bit, make_lists, sort_lists
from lcifr.prove.trees.splits import (
    begin_rows,
    bin_of,
    choose_split,
    copy_part,
    cut_to_part,
    emptied_by,
    find_gains,
    find_point,
    is_empty,
    keep_row,
    lower_end,
    part_of,
    set_ends,
    upper_end,
)

# Best-first search over the parts of a person's cell: bounds from above, points from below.

NO_ROOM, DONE, SPENT = 0, 1, 2
"""How a search ended."""
UPPER, BEST = 2, 3
"""Where ``room`` holds what is proved and what is reached; 0 and 1 are the size of all leaves and the constant."""
EVERY = 4
"""After the first nodes a point is looked for in one of so many."""


@compiled
def search(
    ensemble: Ensemble, rows: NumberRows, asked: TreeQuestion, i: int, target: float, memory: SearchMemory
) -> int:
    """Split until the answer is known: ``room[UPPER]`` is proved, ``room[BEST]`` reached at ``memory.best``."""
    tree, room = memory.open, memory.room
    spent, closed = 0, -math.inf
    push(tree, 0)
    while tree.size[OPEN]:
        node = pop(tree)
        above = tree.key[node]
        if settled(above, target, room[BEST], asked.tolerance) or room[BEST] > target > -math.inf:
            room[UPPER] = max(closed, above)
            return DONE
        if spent >= asked.nodes or asked.stop[0]:
            room[UPPER] = max(closed, above)
            return SPENT
        if tree.size[MADE] + 2 > len(tree.parent):
            return NO_ROOM
        spent += 1
        memory.spent[0] = spent
        bound = look_at_node(ensemble, rows, asked, i, target, memory, node)
        if bound == -math.inf:
            continue
        if tree.child[node] <= 0:
            closed = max(closed, tree.key[node])
            continue
        for side in range(2):
            child = tree.child[node] + side
            tree.key[child] = min(tree.key[node], bound - memory.gains.lost[side] + memory.error[1])
            if settled(tree.key[child], target, room[BEST], asked.tolerance):
                closed = max(closed, tree.key[child])
            else:
                push(tree, child)
    room[UPPER] = closed
    return DONE


@compiled
def begin_tree(tree: Open, bound: float) -> None:
    """One node: the whole cell."""
    tree.size[MADE], tree.size[OPEN] = 1, 0
    tree.parent[0], tree.child[0], tree.key[0] = -1, 0, bound


@compiled
def look_at_node(
    ensemble: Ensemble, rows: NumberRows, asked: TreeQuestion, i: int, target: float, memory: SearchMemory, node: int
) -> float:
    """The bound of a node, which is then split where that can change anything; −inf for an empty part."""
    tree, room, error = memory.open, memory.room, memory.error
    part_of(ensemble, tree, node, memory.whole, memory.part)
    if len(rows.matrix):
        set_ends(ensemble, memory.part)
        empty = emptied_by(rows, i, memory.part)
        if empty != -1:
            tree.child[node] = -1 - empty if empty >= 0 else 0
            return -math.inf
    row = cut_to_part(ensemble, memory, node)
    bound = float(bound_part(ensemble, memory, row) + error[0])
    if bound == -math.inf:
        return bound
    tree.key[node] = min(bound, tree.key[node])
    if tree.key[node] < target:  # no point here is of interest
        return bound
    if memory.spent[0] <= EVERY or memory.spent[0] % EVERY == 0:
        look_for_point(ensemble, rows, i, memory, row)
    if settled(tree.key[node], target, room[BEST], asked.tolerance):
        return bound
    find_gains(ensemble, memory, row)
    best = max(target, room[BEST])
    if split(ensemble, rows, memory, node, bound - best if best > -math.inf else 1.0):
        keep_row(memory.cut, row, node)
    else:
        look_for_point(ensemble, rows, i, memory, row)
    return bound


@compiled
def settled(bound: float, target: float, best: float, tolerance: float) -> bool:
    """Whether a part with this bound can change nothing."""
    return bound < target or (best > -math.inf and bound - best <= tolerance * (1.0 + abs(best)))


@compiled
def look_for_point(ensemble: Ensemble, rows: NumberRows, i: int, memory: SearchMemory, row: int) -> None:
    """A point in ``memory.part``, kept if it is the best so far."""
    copy = memory.copy
    copy_part(memory.part, copy)
    value = dive(ensemble, memory, row) - memory.error[0]
    if not value > memory.room[BEST] or is_empty(ensemble, copy):
        return
    if len(rows.matrix):
        set_ends(ensemble, copy)
        if not (settle_rows(ensemble, rows, i, memory, False) or settle_rows(ensemble, rows, i, memory, True)):
            return
    memory.room[BEST] = value
    memory.hit[0] = 1
    copy_part(copy, memory.best)


@compiled
def settle_rows(ensemble: Ensemble, rows: NumberRows, i: int, memory: SearchMemory, high: bool) -> bool:
    """Close ``memory.copy`` at one of its points that satisfies the rows; whole numbers at their lower or upper end."""
    copy, numbers = memory.copy, len(memory.own)
    for a in range(numbers):
        memory.point[a] = memory.own[a]
        memory.kept[a] = copy.lower[a]
        if ensemble.whole[a]:
            memory.point[a] = copy.upper[a] if high else copy.lower[a]
    for a in range(numbers):
        memory.kept[numbers + a] = copy.upper[a]
        if ensemble.whole[a]:
            copy.lower[a] = copy.upper[a] = memory.point[a]
    if find_point(rows, i, copy, memory.point):
        for a in range(numbers):  # the point, and nothing around it, satisfies the rows
            copy.lower[a] = copy.upper[a] = memory.point[a]
        return True
    for a in range(numbers):
        copy.lower[a], copy.upper[a] = memory.kept[a], memory.kept[numbers + a]
    return False


@compiled
def split(ensemble: Ensemble, rows: NumberRows, memory: SearchMemory, node: int, gap: float) -> bool:
    """Two children of a node; False where none could change anything."""
    tree, gains, part = memory.open, memory.gains, memory.part
    first = tree.size[MADE]
    tree.place[node], tree.level[node] = -1, 0.0
    if choose_split(ensemble, memory, gap):
        tree.attribute[node], tree.place[node] = gains.split[0], gains.split[1]
    elif len(rows.matrix):
        widest, most = -1, 0.0
        for a in range(len(part.lower)):
            width = part.upper[a] - part.lower[a]
            weight = 0.0
            for r in range(len(rows.matrix)):
                weight = max(weight, abs(rows.matrix[r, a]))
            if weight * width > most:
                widest, most = a, weight * width
        if widest < 0:
            return False
        middle = 0.5 * part.lower[widest] + 0.5 * part.upper[widest]
        if not part.lower[widest] <= middle < part.upper[widest]:
            return False
        tree.attribute[node], tree.level[node] = widest, middle
        gains.lost[0] = gains.lost[1] = 0.0
    else:
        return False
    tree.size[MADE] += 2
    tree.child[node] = first
    for side in range(2):
        tree.parent[first + side], tree.side[first + side], tree.child[first + side] = node, side, 0
    return True


# The kernel for trees: answers a range of people, one at a time.

UNIT = 2.3e-16
"""Twice the roundoff of float64, and a little."""


@compiled
def look_at(ensemble: Ensemble, cells: Cells, i: int, memory: SearchMemory) -> None:
    """The cell of person ``i`` in bins and bits."""
    whole, numbers = memory.whole, cells.lower.shape[1]
    for a in range(numbers):
        whole.lower[a], whole.upper[a] = cells.lower[i, a], cells.upper[i, a]
        whole.lo[a] = bin_of(ensemble, a, cells.lower[i, a])
        whole.hi[a] = bin_of(ensemble, a, cells.upper[i, a])
        memory.own[a] = 0.5 * cells.lower[i, a] + 0.5 * cells.upper[i, a]
    for c in range(len(cells.start) - 1):
        whole.hi[numbers + c] = cells.start[c + 1] - cells.start[c] - 1
        for w in range(whole.mask.shape[1]):
            whole.mask[c, w] = 0
        for v in range(cells.start[c + 1] - cells.start[c]):
            if cells.allowed[i, cells.start[c] + v]:
                whole.mask[c, v >> 6] |= 1 << (v & 63)


@compiled
def answer_all(
    ensemble: Ensemble,
    cells: Cells,
    rows: NumberRows,
    asked: TreeQuestion,
    found: Found,
    memory: SearchMemory,
    begin: int,
    end: int,
) -> int:
    """Fill in the answers of people begin … end−1 on this cell; returns the first person that found no room."""
    for i in range(begin, end):
        if not cells.present[i]:
            continue
        look_at(ensemble, cells, i, memory)
        row = i if len(asked.direction) > 1 else 0
        mark = memory.record.size[0]
        for k in range(asked.direction.shape[1]):
            if not _answer(ensemble, cells, rows, asked, found, memory, i, row, k):
                memory.record.size[0] = mark
                return i
        for k in range(asked.direction.shape[1]):
            found.upper[i, k] = max(found.upper[i, k], found.proved[i, k])
    return end


@compiled
def _answer(
    ensemble: Ensemble,
    cells: Cells,
    rows: NumberRows,
    asked: TreeQuestion,
    found: Found,
    memory: SearchMemory,
    i: int,
    row: int,
    k: int,
) -> bool:
    """One direction of one person; False where there is no room."""
    direction, room, target = asked.direction[row, k], memory.room, asked.target[i, k]
    if not make_lists(ensemble, direction, memory):
        return False
    # Each term passes through a dot product, a product with the scale, and the sums of trees and attributes.
    memory.error[0] = (2 * ensemble.trees[0] + 2 * len(direction) + 32) * UNIT * room[0] + 1e-300
    updates = 4 * memory.lists.size[LEAVES] + len(memory.gains.first)
    memory.error[1] = memory.error[0] + updates * 4.0 * UNIT * room[0]
    room[BEST], memory.hit[0], memory.spent[0] = found.best[i, k], 0, 1
    room[UPPER], end = bound_cell(ensemble, memory) + memory.error[0], DONE
    begin_tree(memory.open, room[UPPER])
    if not room[UPPER] < target:
        memory.spent[0] = 0
        sort_lists(memory.lists)
        begin_rows(memory)
        end = search(ensemble, rows, asked, i, target, memory)
    if memory.hit[0]:
        found.best[i, k] = room[BEST]
        write_point(ensemble, cells, i, memory.best, memory, found.witness[i, k], len(rows.matrix) > 0)
    if end == NO_ROOM:
        return False
    if not record_tree(memory, i, k):
        return False
    found.proved[i, k] = room[UPPER]
    found.nodes[i, k] += memory.spent[0]
    found.exhausted[i, k] |= end == SPENT
    found.branched[i, k] |= memory.spent[0] > 1
    return True


@compiled
def record_tree(memory: SearchMemory, i: int, k: int) -> bool:
    """Keep the split tree of an answer; False where there is no room."""
    record, tree = memory.record, memory.open
    if not record.wanted[0]:
        return True
    count, first = tree.size[MADE], record.size[0]
    if first + count > len(record.child):
        record.size[2] = 1
        return False
    for n in range(count):
        record.attribute[first + n], record.place[first + n] = tree.attribute[n], tree.place[n]
        record.level[first + n] = tree.level[n]
        record.child[first + n] = tree.child[n]
    record.root[i - record.size[1], k] = first
    record.size[0] = first + count
    return True


@compiled
def write_point(
    ensemble: Ensemble, cells: Cells, i: int, part: BinPart, memory: SearchMemory, witness: Floats, exact: bool
) -> None:
    """A point of a part as a whole individual: near the middle of the cell, and away from cuts."""
    numbers = cells.lower.shape[1]
    for f in range(len(witness)):
        witness[f] = 0.0
    for a in range(numbers):
        low = lower_end(ensemble, part, a, part.lower[a])
        high = upper_end(ensemble, part, a, part.upper[a])
        value = low if exact else memory.own[a]
        if not exact and ensemble.whole[a]:
            value = high if memory.own[a] > high else low
        elif not exact:
            inset = 0.25 * (high - low)
            value = min(max(memory.own[a], low + inset), high - inset)
            value = min(max(value, low), high)
        witness[cells.column[a]] = value
    for c in range(len(cells.start) - 1):
        for v in range(cells.start[c + 1] - cells.start[c]):
            if has_bit(part.mask, c, v):
                witness[cells.column[numbers + cells.start[c] + v]] = 1.0
                break


def make_kernel() -> Callable[[Ensemble, Cells, NumberRows, TreeQuestion, Found, SearchMemory, int, int], int]:
    """:func:`answer_all`, kept on disk under a name that changes with any source of this folder."""
    sources = digest(Path(__file__).parent)

    def kernel(
        ensemble: Ensemble,
        cells: Cells,
        rows: NumberRows,
        asked: TreeQuestion,
        found: Found,
        memory: SearchMemory,
        begin: int,
        end: int,
    ) -> int:
        assert len(sources) > 0
        return answer_all(ensemble, cells, rows, asked, found, memory, begin, end)

    return kept(kernel, sources)
