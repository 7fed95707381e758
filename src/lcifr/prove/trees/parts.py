"""Parts of a cell: copies, children of a split, the rows that cut them, points in them."""

from __future__ import annotations

import math

from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.trees.shape import BinPart, Ensemble, Floats, NumberRows, Open

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
def nobody(ensemble: Ensemble, part: BinPart) -> bool:
    """Whether a part has a range of bins in which nobody is: between two whole numbers."""
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
