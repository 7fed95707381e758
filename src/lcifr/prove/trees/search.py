"""Best-first search over the parts of a person's cell: bounds from above, points from below."""

from __future__ import annotations

import math

from lcifr.prove.networks.kernel.heap import MADE, OPEN, pop, push
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.trees.bound import bound_part, dive
from lcifr.prove.trees.cutting import cut_to_part, keep_row
from lcifr.prove.trees.gains import choose_split, find_gains
from lcifr.prove.trees.parts import copy_part, emptied_by, find_point, nobody, part_of, set_ends
from lcifr.prove.trees.shape import Ensemble, NumberRows, Open, SearchMemory, TreeQuestion

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
    if not value > memory.room[BEST] or nobody(ensemble, copy):
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
