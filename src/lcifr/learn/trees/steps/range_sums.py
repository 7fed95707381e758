"""Sums and maxima per range of bins, as machine code: one pass over all places for an attribute."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcifr.prove.networks.kernel.jit import kept
from lcifr.regions.region import FloatArray

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
    """Categories by how far each would like to move, as far as slopes say; where nobody can choose between several,
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
