"""A person's lists: each tree as the leaves that their cell can reach; trees about one attribute are added up."""

from __future__ import annotations

from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.trees.shape import (
    ABOUT,
    ATTRIBUTE,
    HIGH,
    LOW,
    PLACE,
    SECOND_CHILD,
    BinPart,
    Ensemble,
    Floats,
    Lists,
    SearchMemory,
)
from lcifr.prove.trees.steps import add_steps, clear_steps

LISTS, LEAVES = 0, 1
SINGLE, SEVERAL, FULL = -1, -2, -3
"""What a tree is about where it is not one attribute: nothing at all, more than one; FULL: there is no room for it."""
FIRST, SECOND, BOTH = 0, 1, 2
"""The sides of a split that a part has."""
ALL = -1
"""Conditions on all attributes."""
SHORT = 8
"""Where a step leaves so few places, sorting goes on with smaller ones."""


@compiled
def make_lists(ensemble: Ensemble, direction: Floats, memory: SearchMemory) -> bool:
    """Fill in the lists of the cell ``memory.whole``, in no order yet; ``room[1]`` becomes what is the same everywhere.

    False where there is no room for them.
    """
    lists, room = memory.lists, memory.room
    lists.size[LISTS] = lists.size[LEAVES] = 0
    room[0] = room[1] = 0.0
    for o in range(len(direction)):
        room[0] += abs(direction[o]) * (abs(ensemble.base[o]) + ensemble.size[o])
        room[1] += direction[o] * ensemble.base[o]
    _add_alone(ensemble, direction, memory)
    for tree in range(len(ensemble.root)):
        begin = lists.size[LEAVES]
        about = _reach(ensemble, direction, ensemble.root[tree], memory)
        if about == FULL:
            return False
        if lists.size[LEAVES] == begin + 1:
            room[1] += lists.weight[begin]
            lists.size[LEAVES] = begin
        elif about >= 0:
            for at in range(begin, lists.size[LEAVES]):
                _add_to_cell(ensemble, memory, about, lists.leaf[at], lists.weight[at])
            lists.size[LEAVES] = begin
        else:
            lists.size[LISTS] += 1
            lists.start[lists.size[LISTS]] = lists.size[LEAVES]
    return True


@compiled
def _add_alone(ensemble: Ensemble, direction: Floats, memory: SearchMemory) -> None:
    """The sums of trees that are about one attribute whatever the cell, in a direction."""
    whole, table = memory.whole, memory.steps.cell
    for a in range(len(ensemble.alone)):
        memory.steps.cell_used[a] = ensemble.alone[a]
        if not ensemble.alone[a]:
            continue
        for b in range(ensemble.offset[a] + whole.lo[a], ensemble.offset[a] + whole.hi[a] + 1):
            table[b] = 0.0
            for o in range(len(direction)):
                table[b] += direction[o] * ensemble.steps[b, o]


@compiled
def _add_to_cell(ensemble: Ensemble, memory: SearchMemory, a: int, leaf: int, weight: float) -> None:
    steps = memory.steps
    if not steps.cell_used[a]:
        steps.cell_used[a] = 1
        clear_steps(ensemble, memory.whole, steps.cell, a)
    add_steps(ensemble, memory.whole, steps.cell, a, leaf, weight)


@compiled
def _reach(ensemble: Ensemble, direction: Floats, root: int, memory: SearchMemory) -> int:
    """Add the leaves of one tree; the attribute that it is about, or one of SINGLE, SEVERAL, FULL."""
    lists, whole, stack, about = memory.lists, memory.whole, memory.stack, SINGLE
    stack[0], waiting = root, 1
    while waiting:
        waiting -= 1
        node = stack[waiting]
        while ensemble.split[node, ATTRIBUTE] >= 0:
            side = _sides(ensemble, whole, node)
            if side == BOTH:
                if about == SINGLE:
                    about = ensemble.split[node, ATTRIBUTE]
                elif about != ensemble.split[node, ATTRIBUTE]:
                    about = SEVERAL
                stack[waiting] = ensemble.split[node, SECOND_CHILD]
                waiting += 1
            node = ensemble.split[node, SECOND_CHILD] if side == SECOND else node + 1
        if ensemble.split[node, PLACE] and not fits(ensemble, node, whole, ALL):
            continue
        at = lists.size[LEAVES]
        if at + 1 >= len(lists.leaf):
            return FULL
        weight = 0.0
        for o in range(len(direction)):
            weight += direction[o] * ensemble.value[node, o]
        lists.leaf[at], lists.weight[at] = node, weight
        lists.size[LEAVES] = at + 1
    return about


@compiled
def _sides(ensemble: Ensemble, part: BinPart, node: int) -> int:
    """Which sides of a split a part has."""
    a, place, numbers = ensemble.split[node, ATTRIBUTE], ensemble.split[node, PLACE], len(ensemble.cut_start) - 1
    if a < numbers:
        if part.hi[a] <= place:
            return FIRST
        return SECOND if part.lo[a] > place else BOTH
    inside, outside = False, False
    for w in range(part.mask.shape[1]):
        left, chosen = part.mask[a - numbers, w], ensemble.sets[place, w]
        inside |= (left & chosen) != 0
        outside |= (left & ~chosen) != 0
    if inside and outside:
        return BOTH
    return FIRST if inside else SECOND


@compiled
def fits(ensemble: Ensemble, leaf: int, part: BinPart, about: int) -> bool:
    """Whether a part meets the conditions of a leaf on one attribute, or on ALL."""
    numbers = len(ensemble.cut_start) - 1
    for c in range(ensemble.first[leaf], ensemble.first[leaf + 1]):
        a = ensemble.condition[c, ABOUT]
        if about != ALL and about != a:
            continue
        if a < numbers:
            if ensemble.condition[c, LOW] > part.hi[a] or ensemble.condition[c, HIGH] < part.lo[a]:
                return False
        else:
            common = False
            for w in range(part.mask.shape[1]):
                common |= (ensemble.bits[c, w] & part.mask[a - numbers, w]) != 0
            if not common:
                return False
    return True


@compiled
def sort_lists(lists: Lists) -> None:
    """Each list largest first, and the lists by the difference between largest and least, most first."""
    for number in range(lists.size[LISTS]):
        begin, end = lists.start[number], lists.start[number + 1]
        _sort_leaves(lists, begin, end)
        lists.spread[number] = lists.weight[begin] - lists.weight[end - 1] if begin < end else 0.0
        lists.order[number] = number
    _sort_by_spread(lists)


@compiled
def _sort_leaves(lists: Lists, begin: int, end: int) -> None:
    step = 1
    while step < (end - begin) // SHORT:
        step = 3 * step + 1
    while step >= 1:
        for at in range(begin + step, end):
            leaf, weight, place = lists.leaf[at], lists.weight[at], at
            while place - step >= begin and lists.weight[place - step] < weight:
                lists.leaf[place], lists.weight[place] = lists.leaf[place - step], lists.weight[place - step]
                place -= step
            lists.leaf[place], lists.weight[place] = leaf, weight
        step //= 3


@compiled
def _sort_by_spread(lists: Lists) -> None:
    step, end = 1, lists.size[LISTS]
    while step < end // SHORT:
        step = 3 * step + 1
    while step >= 1:
        for at in range(step, end):
            number, place = lists.order[at], at
            while place - step >= 0 and lists.spread[lists.order[place - step]] < lists.spread[number]:
                lists.order[place] = lists.order[place - step]
                place -= step
            lists.order[place] = number
        step //= 3
