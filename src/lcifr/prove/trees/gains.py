"""What the bound would be on both sides of every split at once, and the split that is best."""

from __future__ import annotations

import math

from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.trees.shape import ABOUT, HIGH, LOW, BinPart, Ensemble, Gains, SearchMemory
from lcifr.prove.trees.steps import condition_on, has_bit

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
