"""Steps of one attribute's shape function: sums over ranges of bins, and the best cut."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lcifr.prove.networks.kernel.jit import compiled, kept
from lcifr.regions.region import FloatArray

# Sums and maxima per range of bins, as machine code: one pass over all places for an attribute.

Offsets = NDArray[np.int64]
Numbers = NDArray[np.int32]


@kept
def sum_slopes(number: Numbers, slots: Numbers, slope: FloatArray, curve: FloatArray, sums: FloatArray) -> None:
    """Sums of slope and curvature (ranges, directions, 2) over the places (places,) with a range and a direction."""
    sums[:] = 0.0
    if slots.shape[1] == 1:  # nearly always, and then without a loop inside the loop, in less than half of the time
        for p in range(len(number)):
            r, d = number[p], slots[p, 0]
            sums[r, d, 0] += slope[p, 0]
            sums[r, d, 1] += curve[p, 0]
        return
    for p in range(len(number)):
        for s in range(slots.shape[1]):
            sums[number[p], slots[p, s], 0] += slope[p, s]
            sums[number[p], slots[p, s], 1] += curve[p, s]


@kept
def sum_among(
    number: Numbers,
    among: Offsets,
    own: int,
    slots: Numbers,
    slope: FloatArray,
    curve: FloatArray,
    sums: FloatArray,
    people: Offsets,
) -> None:
    """The same over some places alone, and how many own points of theirs each range has.

    Parameters
    ----------
    number : (places,) of all places. among : (n,) those that count. own : places below this are own points.
    slots, slope, curve : (n, slots). sums : (ranges, directions, 2), people : (ranges,), filled.
    """
    sums[:] = 0.0
    people[:] = 0
    for p in range(len(among)):
        r = number[among[p]]
        people[r] += 1 if among[p] < own else 0
        for s in range(slots.shape[1]):
            sums[r, slots[p, s], 0] += slope[p, s]
            sums[r, slots[p, s], 1] += curve[p, s]


@kept
def find_tops(start: Offsets, member: Numbers, values: FloatArray, tops: FloatArray) -> None:
    """The largest of values (bins, directions) within each range: (ranges, directions)."""
    for r in range(len(start) - 1):
        for d in range(values.shape[1]):
            top = values[member[start[r]], d]
            for j in range(start[r] + 1, start[r + 1]):
                top = max(top, values[member[j], d])
            tops[r, d] = top


@kept
def move(number: Numbers, slots: Numbers, change: FloatArray, value: FloatArray) -> None:
    """Add to value (places, slots) by how much the tops of one attribute have changed (ranges, directions)."""
    if slots.shape[1] == 1:
        for p in range(len(number)):
            value[p, 0] += change[number[p], slots[p, 0]]
        return
    for p in range(len(number)):
        for s in range(slots.shape[1]):
            value[p, s] += change[number[p], slots[p, s]]


@kept
def spread_slopes(start: Offsets, member: Numbers, signs: FloatArray, sums: FloatArray, spread: FloatArray) -> None:
    """Slopes and curvatures (bins, 2 or more) of one output, those of each range divided equally among its bins.

    Parameters
    ----------
    signs : (directions,) of the output. sums : of :func:`sum_slopes`.
    """
    spread[:] = 0.0
    for r in range(len(start) - 1):
        size = start[r + 1] - start[r]
        for j in range(start[r], start[r + 1]):
            for d in range(len(signs)):
                spread[member[j], 0] += signs[d] * sums[r, d, 0] / size
                spread[member[j], 1] += abs(signs[d]) * sums[r, d, 1] / size


@kept
def order_categories(
    start: Offsets, member: Numbers, signs: FloatArray, sums: FloatArray, scratch: FloatArray, order: Numbers
) -> None:
    """Categories by how far each would like to move, as far as slopes say; where no person can choose between several,
    the best set of categories is the first few of this order.

    Parameters
    ----------
    signs : (directions,) of the output. sums : of :func:`sum_slopes`. scratch : (bins, 3) room to work in.
    order : (bins,) filled.
    """
    spread_slopes(start, member, signs, sums, scratch)
    for b in range(len(order)):
        wish = -scratch[b, 0] / (scratch[b, 1] + 1e-9)
        scratch[b, 2] = wish
        place = b
        while place > 0 and scratch[order[place - 1], 2] > wish:
            order[place] = order[place - 1]
            place -= 1
        order[place] = b


# Search for the best step of one attribute under a second-order model of the robust loss, as machine code.
#
# A step adds a to the scores of the bins on one side of a cut and b on the other. For people who can be on one side
# only, the worst value of a direction moves by σa or σb (σ is the output's sign in the direction). People who can be on
# both have a worst value L on the first side and R on the second, and move by max(L + σa, R + σb) − max(L, R). That is
# exact, and the same for all people with the same range of bins: slopes and curvatures summed by range are all that is
# needed.

SLOPE, CURVE, PEOPLE = 0, 1, 2  # columns of both sides' sums
GAP, SIGN = 2, 3  # columns of entries, after SLOPE and CURVE
PLACE, INSIDE, REST = 0, 1, 2  # columns of scratch
GAIN, CUT, FIRST, SECOND = 0, 1, 2, 3  # of the result
PASSES = 3
"""How often a and b are computed: each time, those who can be on both sides count where the last a and b send them."""
TIE = 1e-12
"""A smaller difference between both sides' worst values is none: then the step itself decides which is worse."""


@kept
def find_step(
    start: Offsets,
    member: Numbers,
    people: Offsets,
    order: Numbers,
    values: FloatArray,
    signs: FloatArray,
    sums: FloatArray,
    rate: float,
    penalty: float,
    least: int,
    monotone: int,
    sides: FloatArray,
    begin: Offsets,
    entries: FloatArray,
    scratch: FloatArray,
    best: FloatArray,
) -> None:
    """The best cut of one attribute for one output.

    Parameters
    ----------
    start, member, people : the ranges. order : (bins,) the bins in the order that cuts divide.
    values : (bins, directions) now. signs : (directions,) σ of the output. sums : (ranges, directions, 2).
    rate, penalty, least, monotone : learning rate; ridge penalty; people on either side at least; 1 or −1 where b must
        be above or below a.
    sides : (2, bins, 3), begin : (2, bins + 1), entries : (most, 4), scratch : (bins, 3): room to work in.
    best : (4,) the model's gain (0 for no step), cut, a and b; bins up to ``order[cut]`` get a.
    """
    for place in range(len(order)):
        scratch[order[place], PLACE] = place
        scratch[order[place], INSIDE] = -1.0
    _sum_sides(start, member, people, signs, sums, sides, begin, scratch)
    for r in range(len(start) - 1):
        if start[r + 1] - start[r] > 1:
            _enter(start, member, r, order, values, signs, sums, begin, entries, scratch)
    best[:] = 0.0
    for cut in range(len(order) - 1):
        if sides[0, cut, PEOPLE] < least or sides[1, cut, PEOPLE] < least:
            continue
        for sign in (1, -1):
            if monotone * sign >= 0:
                a, b = _leaves(sides, entries, cut, begin[0, cut], begin[0, cut + 1], sign, rate, penalty)
                if sign * (b - a) > 0.0:
                    gain = _gain(sides, entries, cut, begin[0, cut], begin[0, cut + 1], a, b)
                    if gain > best[GAIN]:
                        best[GAIN], best[CUT], best[FIRST], best[SECOND] = gain, cut, a, b


@compiled
def _sum_sides(
    start: Offsets,
    member: Numbers,
    people: Offsets,
    signs: FloatArray,
    sums: FloatArray,
    sides: FloatArray,
    begin: Offsets,
    scratch: FloatArray,
) -> None:
    """For each cut the sums of those on one side only, and where the entries of those on both begin."""
    bins, active = sides.shape[1], 0
    sides[:] = 0.0
    begin[:] = 0
    for d in range(len(signs)):
        active += 1 if signs[d] != 0.0 else 0
    for r in range(len(start) - 1):
        low = high = int(scratch[member[start[r]], PLACE])
        for j in range(start[r] + 1, start[r + 1]):
            place = int(scratch[member[j], PLACE])
            low, high = min(low, place), max(high, place)
        for d in range(len(signs)):
            if signs[d] != 0.0:
                _count(sides, low, high, SLOPE, signs[d] * sums[r, d, SLOPE])
                _count(sides, low, high, CURVE, sums[r, d, CURVE])
        _count(sides, low, high, PEOPLE, people[r])
        for cut in range(low, high):
            begin[0, cut + 1] += active
    for cut in range(1, bins):
        for column in range(3):
            sides[0, cut, column] += sides[0, cut - 1, column]
            sides[1, bins - 1 - cut, column] += sides[1, bins - cut, column]
    for cut in range(bins):
        begin[0, cut + 1] += begin[0, cut]
        begin[1, cut] = begin[0, cut]


@compiled
def _count(sides: FloatArray, low: int, high: int, column: int, amount: float) -> None:
    """People between two places of the order are on the first side from the upper one on."""
    sides[0, high, column] += amount
    if low > 0:
        sides[1, low - 1, column] += amount


@compiled
def _enter(
    start: Offsets,
    member: Numbers,
    r: int,
    order: Numbers,
    values: FloatArray,
    signs: FloatArray,
    sums: FloatArray,
    begin: Offsets,
    entries: FloatArray,
    scratch: FloatArray,
) -> None:
    """An entry for each cut through a range and each direction: its sums, and the gap R − L."""
    low, high = len(order), 0
    for j in range(start[r], start[r + 1]):
        scratch[member[j], INSIDE] = r
        place = int(scratch[member[j], PLACE])
        low, high = min(low, place), max(high, place)
    for d in range(len(signs)):
        if signs[d] == 0.0:
            continue
        rest = -math.inf
        for place in range(high, low, -1):
            if scratch[order[place], INSIDE] == r:
                rest = max(rest, values[order[place], d])
            scratch[place, REST] = rest
        so_far = -math.inf
        for cut in range(low, high):
            if scratch[order[cut], INSIDE] == r:
                so_far = max(so_far, values[order[cut], d])
            e = begin[1, cut]
            begin[1, cut] += 1
            entries[e, SLOPE], entries[e, CURVE] = sums[r, d, SLOPE], sums[r, d, CURVE]
            entries[e, GAP], entries[e, SIGN] = scratch[cut + 1, REST] - so_far, signs[d]


@compiled
def _leaves(
    sides: FloatArray, entries: FloatArray, cut: int, first: int, last: int, sign: int, rate: float, penalty: float
) -> tuple[float, float]:
    """a and b: a Newton step for each side, of the people it moves, times the learning rate."""
    a = b = 0.0
    for _ in range(PASSES):
        slope_a, curve_a = sides[0, cut, SLOPE], sides[0, cut, CURVE] + penalty
        slope_b, curve_b = sides[1, cut, SLOPE], sides[1, cut, CURVE] + penalty
        for e in range(first, last):
            sigma = entries[e, SIGN]
            ahead = sigma * (b - a) + entries[e, GAP]
            if ahead > TIE or (ahead >= -TIE and sigma * sign > 0):
                slope_b += sigma * entries[e, SLOPE]
                curve_b += entries[e, CURVE]
            else:
                slope_a += sigma * entries[e, SLOPE]
                curve_a += entries[e, CURVE]
        a = -rate * slope_a / curve_a if curve_a > 0.0 else 0.0
        b = -rate * slope_b / curve_b if curve_b > 0.0 else 0.0
        if first == last:
            break
    return a, b


@compiled
def _gain(sides: FloatArray, entries: FloatArray, cut: int, first: int, last: int, a: float, b: float) -> float:
    """By how much the model says that the loss falls."""
    change = (sides[0, cut, SLOPE] + 0.5 * a * sides[0, cut, CURVE]) * a
    change += (sides[1, cut, SLOPE] + 0.5 * b * sides[1, cut, CURVE]) * b
    for e in range(first, last):
        gap = entries[e, GAP]
        moved = max(entries[e, SIGN] * a - max(gap, 0.0), entries[e, SIGN] * b + min(gap, 0.0))
        change += (entries[e, SLOPE] + 0.5 * moved * entries[e, CURVE]) * moved
    return float(-change)
