"""The bound of a part: lists of leaves that are possible, partial sums in steps, what all trees can reach."""

from __future__ import annotations

import math

from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.trees.arrays import (
    ABOUT,
    ATTRIBUTE,
    HIGH,
    LOW,
    PLACE,
    SECOND_CHILD,
    BinPart,
    Ensemble,
    Flags,
    Floats,
    Lists,
    SearchMemory,
    Words,
)

# A person's lists: each tree as the leaves that their cell can reach; trees about one attribute are added up.

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


# Trees about one attribute, added up: a number for each bin or value that a part leaves it.


@compiled
def has_bit(words: Words, row: int, b: int) -> bool:
    """Whether bit ``b`` of a row of words is set."""
    return bool((words[row, b >> 6] >> (b & 63)) & 1)


@compiled
def left(ensemble: Ensemble, part: BinPart, a: int, b: int) -> bool:
    """Whether a part, within its range of bins, leaves a place."""
    numbers = len(ensemble.cut_start) - 1
    return a < numbers or has_bit(part.mask, a - numbers, b)


@compiled
def clear_steps(ensemble: Ensemble, part: BinPart, table: Floats, a: int) -> None:
    """Begin with 0 everywhere."""
    for b in range(ensemble.offset[a] + part.lo[a], ensemble.offset[a] + part.hi[a] + 1):
        table[b] = 0.0


@compiled
def add_steps(ensemble: Ensemble, part: BinPart, table: Floats, a: int, leaf: int, weight: float) -> None:
    """Add a leaf whose condition, in the part, is about one attribute."""
    numbers, offset = len(ensemble.cut_start) - 1, ensemble.offset[a]
    c = condition_on(ensemble, leaf, a)
    if a < numbers:
        low = part.lo[a] if c < 0 else max(part.lo[a], ensemble.condition[c, LOW])
        high = part.hi[a] if c < 0 else min(part.hi[a], ensemble.condition[c, HIGH])
        for b in range(offset + low, offset + high + 1):
            table[b] += weight
    else:
        for b in range(part.hi[a] + 1):
            if c < 0 or has_bit(ensemble.bits, c, b):
                table[offset + b] += weight


@compiled
def condition_on(ensemble: Ensemble, leaf: int, a: int) -> int:
    """Which condition of a leaf is about an attribute; −1 for none."""
    for c in range(ensemble.first[leaf], ensemble.first[leaf + 1]):
        if ensemble.condition[c, ABOUT] == a:
            return int(c)
    return -1


@compiled
def best_place(ensemble: Ensemble, part: BinPart, table: Floats, a: int) -> int:
    """The first bin or value with the largest sum; −1 where a part leaves none."""
    most, at = -math.inf, -1
    for b in range(part.lo[a], part.hi[a] + 1):
        if left(ensemble, part, a, b) and table[ensemble.offset[a] + b] > most:
            most, at = table[ensemble.offset[a] + b], b
    return at


@compiled
def begin_part_steps(ensemble: Ensemble, memory: SearchMemory) -> None:
    """What is known of the whole cell, for the part: more trees may be about one attribute there."""
    steps, part = memory.steps, memory.part
    for a in range(len(steps.cell_used)):
        steps.part_used[a] = steps.cell_used[a]
        if steps.cell_used[a]:
            for b in range(part.lo[a], part.hi[a] + 1):
                steps.part[ensemble.offset[a] + b] = steps.cell[ensemble.offset[a] + b]


@compiled
def fold(ensemble: Ensemble, memory: SearchMemory, a: int, leaf: int, weight: float) -> None:
    """Add a leaf of a list that is about one attribute in the part."""
    steps = memory.steps
    if not steps.part_used[a]:
        steps.part_used[a] = 1
        clear_steps(ensemble, memory.part, steps.part, a)
    add_steps(ensemble, memory.part, steps.part, a, leaf, weight)


@compiled
def sum_of_largest(ensemble: Ensemble, part: BinPart, table: Floats, used: Flags) -> float:
    """Over all attributes, the largest of each; −inf where a part leaves an attribute nothing."""
    total = 0.0
    for a in range(len(used)):
        if used[a]:
            at = best_place(ensemble, part, table, a)
            if at < 0:
                return -math.inf
            total += table[ensemble.offset[a] + at]
    return total


# The bound of a part, and a point in it.


@compiled
def bound_cell(ensemble: Ensemble, memory: SearchMemory) -> float:
    """The bound of the whole cell, from lists in any order."""
    lists, total = memory.lists, memory.room[1]
    for number in range(lists.size[LISTS]):
        largest = -math.inf
        for at in range(lists.start[number], lists.start[number + 1]):
            largest = max(largest, lists.weight[at])
        total += largest
    return float(total + sum_of_largest(ensemble, memory.whole, memory.steps.cell, memory.steps.cell_used))


@compiled
def bound_part(ensemble: Ensemble, memory: SearchMemory, row: int) -> float:
    """Of each list of a row its first leaf; lists that are about one attribute in the part are added up before."""
    lists, cut, steps = memory.lists, memory.cut, memory.steps
    begin_part_steps(ensemble, memory)
    total = cut.fixed[row]
    for number in range(cut.size[row]):
        begin, end = cut.start[row, number], cut.start[row, number + 1]
        if begin == end:
            return -math.inf
        a = _only_attribute(ensemble, memory, row, begin, end)
        steps.folded[number] = a >= 0
        if a < 0:
            total += lists.weight[cut.place[row, begin]]
            continue
        for at in range(begin, end):
            place = cut.place[row, at]
            fold(ensemble, memory, a, lists.leaf[place], lists.weight[place])
    return float(total + sum_of_largest(ensemble, memory.part, steps.part, steps.part_used))


@compiled
def _only_attribute(ensemble: Ensemble, memory: SearchMemory, row: int, begin: int, end: int) -> int:
    """The one attribute that decides in the part between the leaves of a list; SEVERAL where there is not one."""
    about = SINGLE
    for at in range(begin, end):
        leaf = memory.lists.leaf[memory.cut.place[row, at]]
        for c in range(ensemble.first[leaf], ensemble.first[leaf + 1]):
            if ensemble.condition[c, ABOUT] != about and not implied(ensemble, memory.part, c):
                if about != SINGLE:
                    return SEVERAL
                about = ensemble.condition[c, ABOUT]
    return int(about) if about >= 0 else SEVERAL


@compiled
def implied(ensemble: Ensemble, part: BinPart, c: int) -> bool:
    """Whether all people in a part satisfy a condition."""
    a, numbers = ensemble.condition[c, ABOUT], len(ensemble.cut_start) - 1
    if a < numbers:
        return bool(ensemble.condition[c, LOW] <= part.lo[a] and ensemble.condition[c, HIGH] >= part.hi[a])
    outside = False
    for w in range(part.mask.shape[1]):
        outside |= (part.mask[a - numbers, w] & ~ensemble.bits[c, w]) != 0
    return not outside


@compiled
def dive(ensemble: Ensemble, memory: SearchMemory, row: int) -> float:
    """Narrow ``memory.copy``, list by list, to the best leaf that still fits; what all people in the rest have."""
    lists, cut, steps, copy = memory.lists, memory.cut, memory.steps, memory.copy
    total = cut.fixed[row]
    for number in range(cut.size[row]):
        if steps.folded[number]:
            continue
        at, end = cut.start[row, number], cut.start[row, number + 1]
        while at < end and not fits(ensemble, lists.leaf[cut.place[row, at]], copy, ALL):
            at += 1
        if at == end:
            return -math.inf
        total += lists.weight[cut.place[row, at]]
        _narrow_to_leaf(ensemble, copy, lists.leaf[cut.place[row, at]])
    for a in range(len(steps.part_used)):
        if steps.part_used[a]:
            at = best_place(ensemble, copy, steps.part, a)
            if at < 0:
                return -math.inf
            total += steps.part[ensemble.offset[a] + at]
            _narrow_to_place(ensemble, memory, a, at)
    return float(total)


@compiled
def _narrow_to_leaf(ensemble: Ensemble, part: BinPart, leaf: int) -> None:
    numbers = len(ensemble.cut_start) - 1
    for c in range(ensemble.first[leaf], ensemble.first[leaf + 1]):
        a = ensemble.condition[c, ABOUT]
        if a < numbers:
            part.lo[a], part.hi[a] = (
                max(part.lo[a], ensemble.condition[c, LOW]),
                min(part.hi[a], ensemble.condition[c, HIGH]),
            )
        else:
            for w in range(part.mask.shape[1]):
                part.mask[a - numbers, w] &= ensemble.bits[c, w]


@compiled
def _narrow_to_place(ensemble: Ensemble, memory: SearchMemory, a: int, at: int) -> None:
    """Narrow ``memory.copy`` to a bin and the next ones of the same sum, or to one value."""
    copy, table, offset = memory.copy, memory.steps.part, ensemble.offset[a]
    numbers = len(ensemble.cut_start) - 1
    if a < numbers:
        last = at
        while last < copy.hi[a] and table[offset + last + 1] == table[offset + at]:
            last += 1
        copy.lo[a], copy.hi[a] = at, last
        return
    for w in range(copy.mask.shape[1]):
        copy.mask[a - numbers, w] = 0
    copy.mask[a - numbers, at >> 6] = 1 << (at & 63)
