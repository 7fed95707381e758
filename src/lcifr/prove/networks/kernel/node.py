"""One node: its costs, its proved bound, the points it points at, and where to split it."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.moving_cell import CHOICES, COLUMNS, NUMERICS, UNSTABLE, at_most, chord, intervals
from lcifr.prove.networks.kernel.shape import (
    FirstLayer,
    Flags,
    Floats,
    MovingCell,
    Objectives,
    Scratch,
    SimplexDictionary,
    Tree,
)

STUCK, RELU, CHOICE = 0, 1, 2


class Place(Protocol):
    """Where points of a cell and halves of its choices are written."""

    @property
    def point(self) -> Floats:
        """(q,) a point."""

    @property
    def slopes(self) -> Floats:
        """(q,) of a linear function."""

    @property
    def half(self) -> Flags:
        """(q,) some categories of a choice."""


WHOLE = 1e-6
"""A category whose share at the relaxed optimum is within this of 1 counts as whole."""


@compiled
def set_costs(
    layer: FirstLayer,
    objectives: Objectives,
    cell: MovingCell,
    row: int,
    tree: Tree,
    node: int,
    lp: SimplexDictionary,
    scratch: Scratch,
) -> None:
    """The cost of every column and neuron at this node.

    For c > 0, max over x of (rest + c·relu(y)) is the larger of the maxima of (rest + c·y) and (rest): a decided phase
    needs no halfspace y ≥ 0 or y ≤ 0.
    """
    k, phase, allow, weight, lows, highs = (
        tree.direction[node],
        tree.phase[node],
        tree.allow[node],
        1.0,
        cell.lo,
        cell.hi,
    )
    if tree.cut[node]:
        intervals(layer, cell, allow, scratch.lo, scratch.hi)
        lows, highs = scratch.lo, scratch.hi
    for u in range(cell.size[UNSTABLE]):
        j = cell.unstable[u]
        c, lo, hi = objectives.value[row, j, k], lows[j], highs[j]
        weight += abs(c) * (cell.hi[j] - cell.lo[j])
        left = right = scratch.intercept[u] = 0.0
        if lo >= 0.0 or (c > 0.0 and phase[u] > 0):
            left = right = c
        elif hi > 0.0 and c < 0.0:
            right = c
        elif hi > 0.0 and c > 0.0 and phase[u] == 0:
            s, t = chord(lo, hi)
            left = right = c * s
            scratch.intercept[u] = c * t
        lp.left[u], lp.right[u] = left, right
    for p in range(cell.size[NUMERICS]):
        lp.gain[p] = scratch.stable[p] * (cell.high[p] - cell.low[p])
        weight += abs(lp.gain[p])
    for p in range(cell.size[NUMERICS], cell.size[COLUMNS]):
        weight += abs(scratch.stable[p])
    for p in range(cell.size[NUMERICS], cell.size[COLUMNS]):
        lp.gain[p] = scratch.stable[p] if allow[p] else -4.0 * weight  # so much that it never pays


@compiled
def proved_bound(
    layer: FirstLayer, objectives: Objectives, cell: MovingCell, row: int, k: int, allow: Flags, scratch: Scratch
) -> float:
    """The bound with the lines in scratch, whoever proposed their slopes; and its slopes (q,)."""
    q, constant = cell.size[COLUMNS], scratch.constant[0]
    for p in range(q):
        scratch.slopes[p] = scratch.stable[p]
    for u in range(cell.size[UNSTABLE]):
        s, j = scratch.slope[u], cell.unstable[u]
        constant += scratch.intercept[u]
        if s != 0.0:
            constant += s * cell.base[j]
            for p in range(q):
                scratch.slopes[p] += s * cell.weight[j, p]
    return at_most(layer, objectives, cell, row, k, allow, scratch.slopes, constant)


@compiled
def take_largest(score: Floats, cell: MovingCell, allow: Flags, scratch: Place) -> None:
    """Of every choice the allowed category with the largest score, for the scratch point."""
    for c in range(cell.size[CHOICES]):
        top = -1
        for p in range(cell.begin[c], cell.begin[c + 1]):
            scratch.point[p] = 0.0
            if allow[p] and (top < 0 or score[p] > score[top]):
                top = p
        scratch.point[top] = 1.0


@compiled
def point_of(lp: SimplexDictionary, cell: MovingCell, allow: Flags, scratch: Place) -> None:
    """The relaxed optimum rounded to a point of the cell."""
    for p in range(cell.size[NUMERICS]):
        x = cell.low[p] + lp.share[p] * (cell.high[p] - cell.low[p])
        x = cell.high[p] if lp.share[p] == 1.0 else x
        scratch.point[p] = min(cell.high[p], max(cell.low[p], x))
    take_largest(lp.share, cell, allow, scratch)


@compiled
def vertex_of(cell: MovingCell, allow: Flags, scratch: Place) -> None:
    """The point of the cell where a linear function with the scratch slopes is largest."""
    for p in range(cell.size[NUMERICS]):
        scratch.point[p] = cell.high[p] if scratch.slopes[p] > 0.0 else cell.low[p]
    take_largest(scratch.slopes, cell, allow, scratch)


@compiled
def value_at_point(objectives: Objectives, cell: MovingCell, row: int, k: int, scratch: Scratch) -> float:
    """Direction · network at the scratch point, in plain floating point; and the gradient there as slopes."""
    q, total = cell.size[COLUMNS], scratch.constant[0]
    for p in range(q):
        scratch.slopes[p] = scratch.stable[p]
        total += scratch.stable[p] * scratch.point[p]
    for u in range(cell.size[UNSTABLE]):
        j = cell.unstable[u]
        y = cell.base[j]
        for p in range(q):
            y += cell.weight[j, p] * scratch.point[p]
        if y > 0.0:
            c = objectives.value[row, j, k]
            total += c * y
            for p in range(q):
                scratch.slopes[p] += c * cell.weight[j, p]
    return float(total)


@compiled
def pick_choice(cell: MovingCell, allow: Flags, lp: SimplexDictionary) -> int:
    """The choice that is farthest from whole at the program's optimum; −1 where all are whole."""
    place, top = -1, WHOLE
    for c in range(cell.size[CHOICES]):
        most, count = 0.0, 0
        for p in range(cell.begin[c], cell.begin[c + 1]):
            if allow[p]:
                most, count = max(most, lp.share[p]), count + 1
        if count > 1 and 1.0 - most > top:
            place, top = c, 1.0 - most
    return place


@compiled
def decide(
    objectives: Objectives, cell: MovingCell, row: int, tree: Tree, node: int, lp: SimplexDictionary, scratch: Scratch
) -> tuple[int, int]:
    """Whether to split a choice or a phase, and which: a choice that is not whole, else the chord with most gap."""
    k, place = tree.direction[node], pick_choice(cell, tree.allow[node], lp)
    if place >= 0:
        return CHOICE, place
    top = 0.0
    for u in range(cell.size[UNSTABLE]):
        if scratch.intercept[u] > 0.0:
            y, c = lp.input[u], objectives.value[row, cell.unstable[u], k]
            gap = scratch.slope[u] * y + scratch.intercept[u] - c * max(y, 0.0) + 1e-6 * scratch.intercept[u]
            if gap > top:
                place, top = u, gap
    return (RELU, place) if place >= 0 else (STUCK, 0)


@compiled
def better_half(cell: MovingCell, allow: Flags, choice: int, scratch: Place) -> None:
    """The better half of the choice's categories by their slope: siblings share what is large."""
    begin, end, count = cell.begin[choice], cell.begin[choice + 1], 0
    for p in range(begin, end):
        count += allow[p]
    for p in range(begin, end):
        rank = 0
        for other in range(begin, end):
            ahead = scratch.slopes[other] > scratch.slopes[p] or (
                scratch.slopes[other] == scratch.slopes[p] and other < p
            )
            if allow[other] and ahead:
                rank += 1
        scratch.half[p] = np.uint8(allow[p] and rank < count // 2)
