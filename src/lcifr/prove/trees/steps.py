"""Trees about one attribute, added up: a number for each bin or value that a part leaves it."""

from __future__ import annotations

import math

from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.trees.shape import ABOUT, HIGH, LOW, BinPart, Ensemble, Flags, Floats, SearchMemory, Words


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
