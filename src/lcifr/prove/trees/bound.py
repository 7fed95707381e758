"""The bound of a part, and what it would be on both sides of every split at once."""

from __future__ import annotations

import math

from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.trees.lists import LISTS
from lcifr.prove.trees.shape import BinPart, Ensemble, Gains, Lists

LITTLE = 1e-3
"""Share of the gap that a side counts as gaining where it gains nothing: one good side is better than none."""


@compiled
def fits(lists: Lists, leaf: int, part: BinPart, numbers: int) -> bool:
    """Whether a leaf can be reached in a part."""
    for c in range(lists.first[leaf], lists.first[leaf + 1]):
        a = lists.about[c]
        if a < numbers:
            if lists.low[c] > part.hi[a] or lists.high[c] < part.lo[a]:
                return False
        else:
            common = False
            for w in range(part.mask.shape[1]):
                common |= (lists.bits[c, w] & part.mask[a - numbers, w]) != 0
            if not common:
                return False
    return True


@compiled
def condition_on(lists: Lists, leaf: int, a: int) -> int:
    """Which condition of a leaf is about an attribute; −1 for none."""
    for c in range(lists.first[leaf], lists.first[leaf + 1]):
        if lists.about[c] == a:
            return int(c)
    return -1


@compiled
def first_fit(lists: Lists, number: int, part: BinPart, numbers: int) -> int:
    """The place of the first leaf of a list that fits; −1 for none: the part is empty."""
    for at in range(lists.start[number], lists.start[number + 1]):
        if fits(lists, lists.rank[at], part, numbers):
            return at
    return -1


@compiled
def bound_and_gains(ensemble: Ensemble, lists: Lists, part: BinPart, gains: Gains, start: float) -> float:
    """``start`` and of each list its first leaf that fits; ``gains`` become what both children of every split lose."""
    numbers, total = len(ensemble.cut_start) - 1, start
    for a in range(len(gains.touched)):
        gains.touched[a] = 0
    for number in range(lists.size[LISTS]):
        at, end = first_fit(lists, number, part, numbers), lists.start[number + 1]
        if at < 0:
            return -math.inf
        leaf = lists.rank[at]
        total += lists.weight[leaf]
        for c in range(lists.first[leaf], lists.first[leaf + 1]):
            a = lists.about[c]
            if a < numbers:
                if lists.low[c] > part.lo[a]:
                    _lost_below(lists, part, gains, numbers, at, end, c)
                if lists.high[c] < part.hi[a]:
                    _lost_above(lists, part, gains, numbers, at, end, c)
            else:
                _lost_by_sets(ensemble, lists, part, gains, at, end, c)
    return total


@compiled
def _touch(gains: Gains, part: BinPart, a: int) -> None:
    if not gains.touched[a]:
        gains.touched[a] = 1
        for b in range(gains.offset[a] + part.lo[a], gains.offset[a] + part.hi[a] + 2):
            gains.first[b] = gains.second[b] = 0.0


@compiled
def _lost_below(lists: Lists, part: BinPart, gains: Gains, numbers: int, at: int, end: int, c: int) -> None:
    """What the first child (bins ≤ t) loses of a list whose first leaf begins above t."""
    a, edge, weight = lists.about[c], lists.low[c], lists.weight[lists.rank[at]]
    _touch(gains, part, a)
    for q in range(at + 1, end):
        leaf = lists.rank[q]
        other = condition_on(lists, leaf, a)
        low = part.lo[a] if other < 0 else max(lists.low[other], part.lo[a])
        if low < edge and fits(lists, leaf, part, numbers):
            lost = weight - lists.weight[leaf]
            gains.first[gains.offset[a] + low] += lost
            gains.first[gains.offset[a] + edge] -= lost
            edge = low
            if low <= part.lo[a]:
                return


@compiled
def _lost_above(lists: Lists, part: BinPart, gains: Gains, numbers: int, at: int, end: int, c: int) -> None:
    """What the second child (bins > t) loses of a list whose first leaf ends at or below t."""
    a, edge, weight = lists.about[c], lists.high[c], lists.weight[lists.rank[at]]
    _touch(gains, part, a)
    for q in range(at + 1, end):
        leaf = lists.rank[q]
        other = condition_on(lists, leaf, a)
        high = part.hi[a] if other < 0 else min(lists.high[other], part.hi[a])
        if high > edge and fits(lists, leaf, part, numbers):
            lost = weight - lists.weight[leaf]
            gains.second[gains.offset[a] + edge] += lost
            gains.second[gains.offset[a] + high] -= lost
            edge = high
            if high >= part.hi[a]:
                return


@compiled
def _lost_by_sets(ensemble: Ensemble, lists: Lists, part: BinPart, gains: Gains, at: int, end: int, c: int) -> None:
    """What the first child (in the set) and the second one (outside) lose, for every set of a category."""
    numbers, a, first_leaf = len(ensemble.cut_start) - 1, lists.about[c], lists.rank[at]
    choice, words, offset = a - numbers, part.mask.shape[1], gains.offset[a]
    begin, stop = ensemble.set_start[choice], ensemble.set_start[choice + 1]
    if not gains.touched[a]:
        gains.touched[a] = 1
        for s in range(stop - begin):
            gains.first[offset + s] = gains.second[offset + s] = 0.0
    for s in range(begin, stop):
        inside, outside, some_in, some_out = False, False, False, False
        for w in range(words):
            left, chosen = part.mask[choice, w], ensemble.sets[s, w]
            inside |= (left & chosen & lists.bits[c, w]) != 0
            outside |= (left & ~chosen & lists.bits[c, w]) != 0
            some_in |= (left & chosen) != 0
            some_out |= (left & ~chosen) != 0
        if not (some_in and some_out) or (inside and outside):
            continue
        for q in range(at + 1, end):
            leaf = lists.rank[q]
            other, meets = condition_on(lists, leaf, a), False
            for w in range(words):
                side = part.mask[choice, w] & (ensemble.sets[s, w] if outside else ~ensemble.sets[s, w])
                meets |= (side if other < 0 else side & lists.bits[other, w]) != 0
            if meets and fits(lists, leaf, part, numbers):
                lost = lists.weight[first_leaf] - lists.weight[leaf]
                if outside:  # the first leaf is outside the set: the first child loses
                    gains.first[offset + s - begin] += lost
                else:
                    gains.second[offset + s - begin] += lost
                break


@compiled
def choose_split(ensemble: Ensemble, part: BinPart, gains: Gains, gap: float) -> bool:
    """The split with the best product of both gains, each at most ``gap``: into ``gains.split`` and ``gains.lost``.

    False where there is none: then every first leaf holds the whole part.
    """
    numbers, best, least = len(ensemble.cut_start) - 1, -1.0, LITTLE * gap
    for a in range(len(gains.touched)):
        if not gains.touched[a]:
            continue
        offset = gains.offset[a]
        first, second = 0.0, 0.0
        begin, stop = (part.lo[a], part.hi[a]) if a < numbers else (0, _sets_of(ensemble, a - numbers))
        for t in range(begin, stop):
            if a < numbers:
                first += gains.first[offset + t]
                second += gains.second[offset + t]
            else:
                first, second = gains.first[offset + t], gains.second[offset + t]
                if first == 0.0 and second == 0.0 and not _divides(ensemble, part, a - numbers, t):
                    continue
            score = (min(max(first, 0.0), gap) + least) * (min(max(second, 0.0), gap) + least)
            if score > best:
                best = score
                gains.split[0], gains.split[1] = a, t
                gains.lost[0], gains.lost[1] = first, second
    return best >= 0.0


@compiled
def _sets_of(ensemble: Ensemble, choice: int) -> int:
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
