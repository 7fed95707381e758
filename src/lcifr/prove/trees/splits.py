"""Parts of a person's cell, which cut gains most, and cutting."""

from __future__ import annotations

import math

from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.trees.arrays import (
    ABOUT,
    HIGH,
    LOW,
    BinPart,
    CutLists,
    Ensemble,
    Floats,
    Gains,
    NumberRows,
    Open,
    SearchMemory,
)
from lcifr.prove.trees.bounds import ALL, LISTS, condition_on, fits, has_bit

# Parts of a cell: copies, children of a split, the rows that cut them, points in them.

ROUNDS = 60
"""Projections onto violated rows before a part is split instead."""


@compiled
def copy_part(source: BinPart, target: BinPart) -> None:
    for a in range(len(source.lo)):
        target.lo[a], target.hi[a] = source.lo[a], source.hi[a]
    for c in range(source.mask.shape[0]):
        for w in range(source.mask.shape[1]):
            target.mask[c, w] = source.mask[c, w]
    for a in range(len(source.lower)):
        target.lower[a], target.upper[a] = source.lower[a], source.upper[a]


@compiled
def narrow(ensemble: Ensemble, part: BinPart, a: int, place: int, level: float, side: int) -> None:
    """One child of a split."""
    numbers = len(ensemble.cut_start) - 1
    if a >= numbers:
        choice = a - numbers
        for w in range(part.mask.shape[1]):
            chosen = ensemble.sets[ensemble.set_start[choice] + place, w]
            part.mask[choice, w] &= chosen if side == 0 else ~chosen
        return
    if place < 0:  # at a number between two cuts
        if side == 0:
            end = last_whole(ensemble, a, level, 0) if ensemble.whole[a] else level
            part.hi[a], part.upper[a] = min(part.hi[a], bin_of(ensemble, a, end)), min(part.upper[a], end)
        else:
            end = last_whole(ensemble, a, level, 1) if ensemble.whole[a] else math.nextafter(level, math.inf)
            part.lo[a], part.lower[a] = max(part.lo[a], bin_of(ensemble, a, end)), max(part.lower[a], end)
    elif side == 0:
        part.hi[a] = min(part.hi[a], ensemble.upto_bin[ensemble.cut_start[a] + place])
    else:
        part.lo[a] = max(part.lo[a], ensemble.after_bin[ensemble.cut_start[a] + place])


@compiled
def bin_of(ensemble: Ensemble, a: int, value: float) -> int:
    """How many cuts of a number are below a value."""
    begin, end = ensemble.cut_start[a], ensemble.cut_start[a + 1]
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if ensemble.cuts[middle] < value:
            low = middle + 1
        else:
            high = middle
    return int(low - begin)


@compiled
def last_whole(ensemble: Ensemble, a: int, value: float, further: int) -> float:
    """The last whole number up to a value, or ``further`` ones beyond it; the value itself where that is not known."""
    begin, end = ensemble.level_start[a], ensemble.level_start[a + 1]
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if ensemble.levels[middle] <= value:
            low = middle + 1
        else:
            high = middle
    at = low - 1
    if at < begin or at + 1 >= end:
        return value if further == 0 else math.nextafter(value, math.inf)
    return float(ensemble.levels[at + further])


@compiled
def part_of(ensemble: Ensemble, tree: Open, node: int, whole: BinPart, part: BinPart) -> None:
    """The part that a node stands for, from the splits above it."""
    copy_part(whole, part)
    while node > 0:
        above = tree.parent[node]
        narrow(ensemble, part, tree.attribute[above], tree.place[above], tree.level[above], tree.side[node])
        node = above


@compiled
def lower_end(ensemble: Ensemble, part: BinPart, a: int, cell_end: float) -> float:
    """The least encoded number of a part."""
    at = part.lo[a]
    return float(max(cell_end, ensemble.after[ensemble.cut_start[a] + at - 1])) if at else cell_end


@compiled
def upper_end(ensemble: Ensemble, part: BinPart, a: int, cell_end: float) -> float:
    """The largest encoded number of a part."""
    at = ensemble.cut_start[a] + part.hi[a]
    return float(min(cell_end, ensemble.upto[at])) if at < ensemble.cut_start[a + 1] else cell_end


@compiled
def set_ends(ensemble: Ensemble, part: BinPart) -> None:
    """Move the ends of numbers to those of the bins that are left."""
    for a in range(len(part.lower)):
        part.lower[a] = lower_end(ensemble, part, a, part.lower[a])
        part.upper[a] = upper_end(ensemble, part, a, part.upper[a])


@compiled
def is_empty(ensemble: Ensemble, part: BinPart) -> bool:
    """Whether a part has a range of bins without people: between two whole numbers."""
    for a in range(len(part.lower)):
        low, high = lower_end(ensemble, part, a, part.lower[a]), upper_end(ensemble, part, a, part.upper[a])
        if ensemble.whole[a] and low > high:
            return True
    return False


@compiled
def emptied_by(rows: NumberRows, i: int, part: BinPart) -> int:
    """A row that nothing in the box of a part satisfies, whatever is rounded; −1 for none, −2 for a box that is empty.

    A dot product of n terms errs by at most (n + 2)·u·Σ|terms|; doubled.
    """
    count = len(part.lower)
    for a in range(count):
        if part.lower[a] > part.upper[a]:
            return -2
    for r in range(len(rows.matrix)):
        least, size = -rows.limit[i, r], abs(rows.limit[i, r])
        for a in range(count):
            factor = rows.matrix[r, a]
            term = factor * (part.lower[a] if factor > 0.0 else part.upper[a])
            least += term
            size += abs(term)
        if least > (2 * count + 8) * 2.3e-16 * size:
            return r
    return -1


@compiled
def find_point(rows: NumberRows, i: int, part: BinPart, point: Floats) -> bool:
    """A point of the box that satisfies the rows, by projections onto one violated row after the other."""
    count = len(part.lower)  # whole numbers are those at which the box was closed before
    for a in range(count):
        point[a] = min(max(point[a], part.lower[a]), part.upper[a])
    for _ in range(ROUNDS):
        worst, by = -1, 0.0
        for r in range(len(rows.matrix)):
            over = -rows.limit[i, r]
            for a in range(count):
                over += rows.matrix[r, a] * point[a]
            if over > by:
                worst, by = r, over
        if worst < 0:
            return True
        room = 0.0
        for a in range(count):
            factor = rows.matrix[worst, a]
            end = part.lower[a] if factor > 0.0 else part.upper[a]
            room += factor * (point[a] - end)
        if not room > 0.0:
            return False
        share = min(1.0, by / room * (1.0 + 1e-9))
        for a in range(count):
            factor = rows.matrix[worst, a]
            end = part.lower[a] if factor > 0.0 else part.upper[a]
            if factor != 0.0:
                point[a] = end if share == 1.0 else point[a] + share * (end - point[a])
    return False


# What the bound would be on both sides of every split at once, and the split that is best.

LITTLE = 1e-3
"""Share of the gap that a side counts as gaining where it gains nothing: one good side is better than none."""


@compiled
def find_gains(ensemble: Ensemble, memory: SearchMemory, row: int) -> None:
    """``gains`` become what both children of every split lose, but for what is added up in steps."""
    lists, cut, gains, part = memory.lists, memory.cut, memory.gains, memory.part
    numbers = len(ensemble.cut_start) - 1
    for a in range(len(gains.touched)):
        gains.touched[a] = 0
    for number in range(cut.size[row]):
        if memory.steps.folded[number]:
            continue
        at, end = cut.start[row, number], cut.start[row, number + 1]
        leaf = lists.leaf[cut.place[row, at]]
        for c in range(ensemble.first[leaf], ensemble.first[leaf + 1]):
            a = ensemble.condition[c, ABOUT]
            if a >= numbers:
                _lost_by_sets(ensemble, memory, row, at, end, c)
                continue
            if ensemble.condition[c, LOW] > part.lo[a]:
                _lost_below(ensemble, memory, row, at, end, c)
            if ensemble.condition[c, HIGH] < part.hi[a]:
                _lost_above(ensemble, memory, row, at, end, c)


@compiled
def _touch(ensemble: Ensemble, memory: SearchMemory, a: int) -> None:
    gains, part = memory.gains, memory.part
    if gains.touched[a]:
        return
    gains.touched[a] = 1
    low, high = part.lo[a], part.hi[a] + 1
    if a >= len(ensemble.cut_start) - 1:
        low, high = 0, _sets_of(ensemble, a) - 1
    for b in range(ensemble.offset[a] + low, ensemble.offset[a] + high + 1):
        gains.first[b] = gains.second[b] = 0.0


@compiled
def _lost_below(ensemble: Ensemble, memory: SearchMemory, row: int, at: int, end: int, c: int) -> None:
    """What the first child (bins ≤ t) loses of a list whose first leaf begins above t."""
    lists, cut, gains, part = memory.lists, memory.cut, memory.gains, memory.part
    a, edge, weight = ensemble.condition[c, ABOUT], ensemble.condition[c, LOW], lists.weight[cut.place[row, at]]
    _touch(ensemble, memory, a)
    for q in range(at + 1, end):
        place = cut.place[row, q]
        other = condition_on(ensemble, lists.leaf[place], a)
        low = part.lo[a] if other < 0 else max(ensemble.condition[other, LOW], part.lo[a])
        if low < edge:
            lost = weight - lists.weight[place]
            gains.first[ensemble.offset[a] + low] += lost
            gains.first[ensemble.offset[a] + edge] -= lost
            edge = low
            if low <= part.lo[a]:
                return


@compiled
def _lost_above(ensemble: Ensemble, memory: SearchMemory, row: int, at: int, end: int, c: int) -> None:
    """What the second child (bins > t) loses of a list whose first leaf ends at or below t."""
    lists, cut, gains, part = memory.lists, memory.cut, memory.gains, memory.part
    a, edge, weight = ensemble.condition[c, ABOUT], ensemble.condition[c, HIGH], lists.weight[cut.place[row, at]]
    _touch(ensemble, memory, a)
    for q in range(at + 1, end):
        place = cut.place[row, q]
        other = condition_on(ensemble, lists.leaf[place], a)
        high = part.hi[a] if other < 0 else min(ensemble.condition[other, HIGH], part.hi[a])
        if high > edge:
            lost = weight - lists.weight[place]
            gains.second[ensemble.offset[a] + edge] += lost
            gains.second[ensemble.offset[a] + high] -= lost
            edge = high
            if high >= part.hi[a]:
                return


@compiled
def _lost_by_sets(ensemble: Ensemble, memory: SearchMemory, row: int, at: int, end: int, c: int) -> None:
    """What the first child (in the set) and the second one (outside) lose, for every set of a category."""
    part, gains, a = memory.part, memory.gains, ensemble.condition[c, ABOUT]
    choice, offset = a - len(ensemble.cut_start) + 1, ensemble.offset[a]
    begin = ensemble.set_start[choice]
    _touch(ensemble, memory, a)
    for s in range(_sets_of(ensemble, a)):
        inside, outside = False, False
        for w in range(part.mask.shape[1]):
            here, chosen = part.mask[choice, w] & ensemble.bits[c, w], ensemble.sets[begin + s, w]
            inside |= (here & chosen) != 0
            outside |= (here & ~chosen) != 0
        if inside == outside or not _divides(ensemble, part, choice, s):
            continue
        lost = _lost_on_side(ensemble, memory, row, at, end, a, begin + s, outside)
        if outside:  # the first leaf is outside the set: the first child loses
            gains.first[offset + s] += lost
        else:
            gains.second[offset + s] += lost


@compiled
def _lost_on_side(
    ensemble: Ensemble, memory: SearchMemory, row: int, at: int, end: int, a: int, s: int, inside: bool
) -> float:
    """What a list loses where only values inside a set, or only those outside it, are left."""
    lists, cut, mask, choice = memory.lists, memory.cut, memory.part.mask, a - len(ensemble.cut_start) + 1
    for q in range(at + 1, end):
        other, meets = condition_on(ensemble, lists.leaf[cut.place[row, q]], a), False
        for w in range(mask.shape[1]):
            side = mask[choice, w] & (ensemble.sets[s, w] if inside else ~ensemble.sets[s, w])
            meets |= (side if other < 0 else side & ensemble.bits[other, w]) != 0
        if meets:
            return float(lists.weight[cut.place[row, at]] - lists.weight[cut.place[row, q]])
    return 0.0


@compiled
def choose_split(ensemble: Ensemble, memory: SearchMemory, gap: float) -> bool:
    """The split with the best product of both gains, each at most ``gap``: into ``gains.split`` and ``gains.lost``.

    False where there is none: then every first leaf holds the whole part.
    """
    numbers, best = len(ensemble.cut_start) - 1, -1.0
    for a in range(len(memory.gains.touched)):
        if memory.gains.touched[a] or memory.steps.part_used[a]:
            if a < numbers:
                best = _best_cut(ensemble, memory, a, gap, best)
            else:
                best = _best_set(ensemble, memory, a, gap, best)
    return best >= 0.0


@compiled
def _best_cut(ensemble: Ensemble, memory: SearchMemory, a: int, gap: float, best: float) -> float:
    """The best score so far, or that of the best cut of a number, which is then kept."""
    gains, steps, part, offset = memory.gains, memory.steps, memory.part, ensemble.offset[a]
    first, second, before, top = 0.0, 0.0, -math.inf, 0.0
    if steps.part_used[a]:
        top = -math.inf
        for t in range(offset + part.hi[a], offset + part.lo[a] - 1, -1):
            top = max(top, steps.part[t])
            steps.rest[t] = top
    for t in range(part.lo[a], part.hi[a]):
        if gains.touched[a]:
            first += gains.first[offset + t]
            second += gains.second[offset + t]
        if steps.part_used[a]:
            before = max(before, steps.part[offset + t])
            best = _keep_better(gains, a, t, first + top - before, second + top - steps.rest[offset + t + 1], gap, best)
        else:
            best = _keep_better(gains, a, t, first, second, gap, best)
    return best


@compiled
def _best_set(ensemble: Ensemble, memory: SearchMemory, a: int, gap: float, best: float) -> float:
    """The same for the sets of a category."""
    gains, steps, part, offset = memory.gains, memory.steps, memory.part, ensemble.offset[a]
    choice = a - len(ensemble.cut_start) + 1
    for s in range(_sets_of(ensemble, a)):
        if not _divides(ensemble, part, choice, s):
            continue
        first, second = 0.0, 0.0
        if gains.touched[a]:
            first, second = gains.first[offset + s], gains.second[offset + s]
        if steps.part_used[a]:
            inside, outside = -math.inf, -math.inf
            for v in range(part.hi[a] + 1):
                if has_bit(part.mask, choice, v):
                    if has_bit(ensemble.sets, ensemble.set_start[choice] + s, v):
                        inside = max(inside, steps.part[offset + v])
                    else:
                        outside = max(outside, steps.part[offset + v])
            first += max(inside, outside) - inside
            second += max(inside, outside) - outside
        best = _keep_better(gains, a, s, first, second, gap, best)
    return best


@compiled
def _keep_better(gains: Gains, a: int, place: int, first: float, second: float, gap: float, best: float) -> float:
    least = LITTLE * gap
    score = (min(max(first, 0.0), gap) + least) * (min(max(second, 0.0), gap) + least)
    if score > best:
        gains.split[0], gains.split[1] = a, place
        gains.lost[0], gains.lost[1] = first, second
        return score
    return best


@compiled
def _sets_of(ensemble: Ensemble, a: int) -> int:
    choice = a - len(ensemble.cut_start) + 1
    return int(ensemble.set_start[choice + 1] - ensemble.set_start[choice])


@compiled
def _divides(ensemble: Ensemble, part: BinPart, choice: int, place: int) -> bool:
    """Whether some of the values that are left are in the set, and some are not."""
    inside, outside = False, False
    for w in range(part.mask.shape[1]):
        left, chosen = part.mask[choice, w], ensemble.sets[ensemble.set_start[choice] + place, w]
        inside |= (left & chosen) != 0
        outside |= (left & ~chosen) != 0
    return inside and outside


# Lists cut to a part: a child's from its parent's, by the one attribute that was split.


@compiled
def begin_rows(memory: SearchMemory) -> None:
    """Row 0 holds the lists of the whole cell, those that can gain most first; the other rows hold nothing."""
    lists, cut = memory.lists, memory.cut
    for row in range(len(cut.owner)):
        cut.owner[row] = -1
    cut.owner[0], cut.row[0], cut.turn[0] = 0, 0, 1
    cut.fixed[0], cut.size[0], used = memory.room[1], lists.size[LISTS], 0
    for number in range(lists.size[LISTS]):
        which = lists.order[number]
        for place in range(lists.start[which], lists.start[which + 1]):
            cut.place[0, used] = place
            used += 1
        cut.start[0, number + 1] = used


@compiled
def cut_to_part(ensemble: Ensemble, memory: SearchMemory, node: int) -> int:
    """The row with what ``memory.part``, that of a node, leaves of the lists."""
    if node == 0:
        return 0
    lists, cut, tree, part = memory.lists, memory.cut, memory.open, memory.part
    above = tree.parent[node]
    source, about = cut.row[above], tree.attribute[above]
    if cut.owner[source] != above:  # written over since
        source, about = 0, ALL
    row = cut.turn[0] if cut.turn[0] != source else _after(cut, source)
    number, used, fixed = 0, 0, cut.fixed[source]
    for of in range(cut.size[source]):
        begin = used
        for at in range(cut.start[source, of], cut.start[source, of + 1]):
            place = cut.place[source, at]
            if fits(ensemble, lists.leaf[place], part, about):
                cut.place[row, used] = place
                used += 1
        if used == begin + 1:
            fixed += lists.weight[cut.place[row, begin]]
            used = begin
        else:
            number += 1
            cut.start[row, number] = used
    cut.size[row], cut.fixed[row], cut.owner[row] = number, fixed, -1
    return int(row)


@compiled
def keep_row(cut: CutLists, row: int, node: int) -> None:
    """Keep a row for the children of its node."""
    cut.row[node] = row
    if row > 0:
        cut.owner[row], cut.turn[0] = node, _after(cut, row)


@compiled
def _after(cut: CutLists, row: int) -> int:
    return int(row + 1 if row + 1 < len(cut.owner) else 1)
