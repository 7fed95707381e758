"""Steps of a pair of attributes: the best two cuts, in memory that is kept."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lcifr.prove.networks.kernel.jit import compiled, kept
from lcifr.regions.region import FloatArray

# Arrays that the search for steps of a pair reads and works in.

Offsets = NDArray[np.int64]
Numbers = NDArray[np.int32]


class GridRanges(NamedTuple):
    """The ranges of a pair, by the places that bins have in the order that cuts divide.

    Parameters
    ----------
    low, high : (2, ranges) where each begins and ends along both axes.
    start, member : its grid cells; people : (ranges,) own points in it.
    place : (2, longer axis) the place of each bin. size : bins of the second axis.
    """

    low: Numbers
    high: Numbers
    start: Offsets
    member: Numbers
    people: Offsets
    place: Numbers
    size: int


class PairRoom(NamedTuple):
    """Arrays to work in.

    Parameters
    ----------
    fixed, moving : (first, second, 4, 3). change : (first, second). leaves : (first, second, 4).
    tops : (4, first + 1, second + 1). best : (7,), see :func:`find_pair_step`.
    """

    fixed: FloatArray
    moving: FloatArray
    change: FloatArray
    leaves: FloatArray
    tops: FloatArray
    best: FloatArray

    @classmethod
    def of(cls, first: int, second: int) -> PairRoom:
        """For axes with so many bins."""
        grid = (first, second)
        return cls(
            np.empty((*grid, 4, 3)),
            np.empty((*grid, 4, 3)),
            np.empty(grid),
            np.zeros((*grid, 4)),
            np.empty((4, first + 1, second + 1)),
            np.empty(7),
        )


# Search for the best step of a pair of attributes under a second-order model of the robust loss, as machine code.
#
# A step cuts both attributes once and adds a number of its own to each of the four quarters. A person who can be in one
# quarter only moves by σ times its number (σ is the output's sign in the direction). One who can be in several has a
# worst value T_q in each of them and moves by max_q(T_q + σ v_q) − max_q T_q. That is exact, and the same for all
# people with the same range of cells.

SLOPE, CURVE, PEOPLE = 0, 1, 2  # columns of sums
LOW_LOW, LOW_HIGH, HIGH_LOW, HIGH_HIGH = 0, 1, 2, 3  # quarters: first attribute, second attribute
GAIN, FIRST_CUT, SECOND_CUT, LEAVES = 0, 1, 2, 3  # of the result; four leaves
TURNS = 3
"""How often those who can be in several quarters are divided among them: each time they count where the numbers so far
send them, and the numbers are computed anew; the last time, what is counted is how the loss changes."""

POOLED = 4
"""How often quarters that break a monotone constraint are pooled; cuts that break it even then are left out."""


@kept
def find_pair_step(
    grid: GridRanges,
    values: FloatArray,
    signs: FloatArray,
    sums: FloatArray,
    rate: float,
    penalty: float,
    least: int,
    monotone: Numbers,
    room: PairRoom,
) -> None:
    """The best pair of cuts for one output.

    Parameters
    ----------
    values : (cells, directions) now. signs : (directions,) σ of the output. sums : (ranges, directions, 2).
    rate, penalty, least : learning rate; ridge penalty; people in a quarter at least, else it gets 0.
    monotone : (2,) 1 or −1 where the numbers must rise or fall along an axis.
    room : ``best`` holds the model's gain (0 for no step), both cuts (the last place of the lower half), and the four
        quarters' numbers.
    """
    _sum_fixed(grid, signs, sums, room.fixed)
    _copy(room.fixed, room.moving)
    _solve(room.moving, rate, penalty, least, monotone, room.leaves)
    for turn in range(TURNS):
        _copy(room.fixed, room.moving)
        room.change[:] = 0.0
        for r in range(len(grid.people)):
            if grid.low[0, r] < grid.high[0, r] or grid.low[1, r] < grid.high[1, r]:
                _divide(grid, r, values, signs, sums, room)
        if turn + 1 < TURNS:
            _solve(room.moving, rate, penalty, least, monotone, room.leaves)
    _choose(room, monotone)


@compiled
def _sum_fixed(grid: GridRanges, signs: FloatArray, sums: FloatArray, fixed: FloatArray) -> None:
    """For every pair of cuts and every quarter the sums of those who can be in no other quarter."""
    fixed[:] = 0.0
    for r in range(len(grid.people)):
        for q in range(4):
            a = grid.high[0, r] if q < HIGH_LOW else grid.low[0, r] - 1
            b = grid.high[1, r] if q % 2 == 0 else grid.low[1, r] - 1
            if a < 0 or b < 0:
                continue
            for d in range(len(signs)):
                if signs[d] != 0.0:
                    fixed[a, b, q, SLOPE] += signs[d] * sums[r, d, SLOPE]
                    fixed[a, b, q, CURVE] += sums[r, d, CURVE]
            fixed[a, b, q, PEOPLE] += grid.people[r]
    for column in range(3):
        for q in range(4):
            _accumulate(fixed, q, column)


@compiled
def _accumulate(fixed: FloatArray, q: int, column: int) -> None:
    """Sums over all places up to the cut, or from the cut on, along both axes."""
    firsts, seconds = fixed.shape[0], fixed.shape[1]
    for i in range(1, firsts):
        a, before = (i, i - 1) if q < HIGH_LOW else (firsts - 1 - i, firsts - i)
        for b in range(seconds):
            fixed[a, b, q, column] += fixed[before, b, q, column]
    for i in range(1, seconds):
        b, before = (i, i - 1) if q % 2 == 0 else (seconds - 1 - i, seconds - i)
        for a in range(firsts):
            fixed[a, b, q, column] += fixed[a, before, q, column]


@compiled
def _copy(source: FloatArray, target: FloatArray) -> None:
    for a in range(source.shape[0]):
        for b in range(source.shape[1]):
            for q in range(4):
                for column in range(3):
                    target[a, b, q, column] = source[a, b, q, column]


@compiled
def _solve(moving: FloatArray, rate: float, penalty: float, least: int, monotone: Numbers, leaves: FloatArray) -> None:
    """A Newton step for each quarter, of the people it moves, times the learning rate."""
    for a in range(leaves.shape[0] - 1):
        for b in range(leaves.shape[1] - 1):
            for q in range(4):
                curve = moving[a, b, q, CURVE] + penalty
                enough = moving[a, b, q, PEOPLE] >= least and curve > 0.0
                leaves[a, b, q] = -rate * moving[a, b, q, SLOPE] / curve if enough else 0.0
            for _ in range(POOLED):
                _pool(leaves[a, b], monotone[0], LOW_LOW, HIGH_LOW)
                _pool(leaves[a, b], monotone[0], LOW_HIGH, HIGH_HIGH)
                _pool(leaves[a, b], monotone[1], LOW_LOW, LOW_HIGH)
                _pool(leaves[a, b], monotone[1], HIGH_LOW, HIGH_HIGH)


@compiled
def _pool(leaves: FloatArray, way: int, low: int, high: int) -> None:
    """Two neighbours that go the wrong way meet in the middle."""
    if way * (leaves[high] - leaves[low]) < 0.0:
        leaves[low] = leaves[high] = 0.5 * (leaves[low] + leaves[high])


@compiled
def _find_tops(grid: GridRanges, r: int, d: int, values: FloatArray, tops: FloatArray) -> None:
    """tops[q, i, j]: a range's worst value in a quarter, if the cut is i places into it and j along the second axis."""
    wide, high = grid.high[0, r] - grid.low[0, r] + 1, grid.high[1, r] - grid.low[1, r] + 1
    tops[:, : wide + 1, : high + 1] = -math.inf
    for m in range(grid.start[r], grid.start[r + 1]):
        cell = grid.member[m]
        i = grid.place[0, cell // grid.size] - grid.low[0, r]
        j = grid.place[1, cell % grid.size] - grid.low[1, r]
        tops[LOW_LOW, i + 1, j + 1] = values[cell, d]
        tops[LOW_HIGH, i + 1, j] = values[cell, d]
        tops[HIGH_LOW, i, j + 1] = values[cell, d]
        tops[HIGH_HIGH, i, j] = values[cell, d]
    for step in range(1, wide + 1):
        for j in range(high + 1):
            i, k = step, wide - step
            tops[LOW_LOW, i, j] = max(tops[LOW_LOW, i, j], tops[LOW_LOW, i - 1, j])
            tops[LOW_HIGH, i, j] = max(tops[LOW_HIGH, i, j], tops[LOW_HIGH, i - 1, j])
            tops[HIGH_LOW, k, j] = max(tops[HIGH_LOW, k, j], tops[HIGH_LOW, k + 1, j])
            tops[HIGH_HIGH, k, j] = max(tops[HIGH_HIGH, k, j], tops[HIGH_HIGH, k + 1, j])
    for step in range(1, high + 1):
        for i in range(wide + 1):
            j, k = step, high - step
            tops[LOW_LOW, i, j] = max(tops[LOW_LOW, i, j], tops[LOW_LOW, i, j - 1])
            tops[HIGH_LOW, i, j] = max(tops[HIGH_LOW, i, j], tops[HIGH_LOW, i, j - 1])
            tops[LOW_HIGH, i, k] = max(tops[LOW_HIGH, i, k], tops[LOW_HIGH, i, k + 1])
            tops[HIGH_HIGH, i, k] = max(tops[HIGH_HIGH, i, k], tops[HIGH_HIGH, i, k + 1])


@compiled
def _worst_quarter(
    tops: FloatArray, i: int, j: int, leaves: FloatArray, a: int, b: int, sign: float
) -> tuple[int, float]:
    """The quarter that is worst after a step, and by how much the worst value moves."""
    before, after, where = -math.inf, -math.inf, 0
    for q in range(4):
        top = tops[q, i, j]
        if top > -math.inf:
            before = max(before, top)
            if top + sign * leaves[a, b, q] > after:
                after, where = top + sign * leaves[a, b, q], q
    return where, after - before


@compiled
def _divide(grid: GridRanges, r: int, values: FloatArray, signs: FloatArray, sums: FloatArray, room: PairRoom) -> None:
    """Count a range, wherever cuts divide it, in the quarter where it is worst after the step, and what that costs."""
    low_a, high_a, low_b, high_b = grid.low[0, r], grid.high[0, r], grid.low[1, r], grid.high[1, r]
    for d in range(len(signs)):
        slope, curve = sums[r, d, SLOPE], sums[r, d, CURVE]
        if signs[d] == 0.0 or (slope == 0.0 and curve == 0.0):
            continue
        _find_tops(grid, r, d, values, room.tops)
        for a in range(room.change.shape[0] - 1):
            inside = low_a <= a < high_a
            i = min(max(a - low_a + 1, 0), high_a - low_a + 1)
            for b in range(0 if inside else low_b, room.change.shape[1] - 1 if inside else high_b):
                j = min(max(b - low_b + 1, 0), high_b - low_b + 1)
                q, moved = _worst_quarter(room.tops, i, j, room.leaves, a, b, signs[d])
                room.moving[a, b, q, SLOPE] += signs[d] * slope
                room.moving[a, b, q, CURVE] += curve
                room.change[a, b] += (slope + 0.5 * moved * curve) * moved


@compiled
def _choose(room: PairRoom, monotone: Numbers) -> None:
    """The pair of cuts by which the loss falls most, as the model has it."""
    fixed, best = room.fixed, room.best
    best[:] = 0.0
    for a in range(room.change.shape[0] - 1):
        for b in range(room.change.shape[1] - 1):
            v = room.leaves[a, b]
            along = min(monotone[0] * (v[HIGH_LOW] - v[LOW_LOW]), monotone[0] * (v[HIGH_HIGH] - v[LOW_HIGH]))
            across = min(monotone[1] * (v[LOW_HIGH] - v[LOW_LOW]), monotone[1] * (v[HIGH_HIGH] - v[HIGH_LOW]))
            if min(along, across) < 0.0:
                continue
            change = room.change[a, b]
            for q in range(4):
                change += (fixed[a, b, q, SLOPE] + 0.5 * v[q] * fixed[a, b, q, CURVE]) * v[q]
            if -change > best[GAIN]:
                best[GAIN], best[FIRST_CUT], best[SECOND_CUT] = -change, a, b
                for q in range(4):
                    best[LEAVES + q] = v[q]
