"""The bound of a part, and a point in it."""

from __future__ import annotations

import math

from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.trees.lists import ALL, LISTS, SEVERAL, SINGLE, fits
from lcifr.prove.trees.shape import ABOUT, HIGH, LOW, BinPart, Ensemble, SearchMemory
from lcifr.prove.trees.steps import begin_part_steps, best_place, fold, sum_of_largest


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
    """Whether everybody in a part satisfies a condition."""
    a, numbers = ensemble.condition[c, ABOUT], len(ensemble.cut_start) - 1
    if a < numbers:
        return bool(ensemble.condition[c, LOW] <= part.lo[a] and ensemble.condition[c, HIGH] >= part.hi[a])
    outside = False
    for w in range(part.mask.shape[1]):
        outside |= (part.mask[a - numbers, w] & ~ensemble.bits[c, w]) != 0
    return not outside


@compiled
def dive(ensemble: Ensemble, memory: SearchMemory, row: int) -> float:
    """Narrow ``memory.copy``, list by list, to the best leaf that still fits; what everybody in the rest has."""
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
