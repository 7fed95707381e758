"""Losses of terms at their worst places, with slopes and curvatures, as machine code."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lcifr.prove.networks.kernel.jit import compiled, kept
from lcifr.regions.region import FloatArray

SIGN, NUMBER, CLASS = 0, 1, 2  # as in directions.KINDS
SHARPNESS = 20.0
"""Cells whose value is within about 1 / SHARPNESS of the worst share its slope: a step that helps only one of two cells
that are equally bad helps nobody. Losses themselves are those of the worst cell alone."""


@kept
def evaluate(
    kind: int,
    value: FloatArray,
    start: NDArray[np.int64],
    label: FloatArray,
    weight: FloatArray,
    slope: FloatArray,
    curve: FloatArray,
) -> float:
    """The sum of all terms' weighted losses.

    Parameters
    ----------
    value : (places, slots) of the directions. start : (terms + 1,). label, weight : (terms,).
    slope, curve : (places, slots) filled with first and second derivatives of the sum.
    """
    total = 0.0
    slots = value.shape[1]
    for term in range(len(label)):
        first, last = start[term], start[term + 1]
        if kind == SIGN and slots == 1 and last == first + 1:  # nearly always: nothing to choose from
            loss, one, two = _softplus(value[first, 0])
            total += weight[term] * loss
            slope[first, 0], curve[first, 0] = weight[term] * one, weight[term] * two
            continue
        if kind == CLASS:
            total += weight[term] * _several(value, first, last, int(label[term]), weight[term], slope, curve)
            continue
        place, slot, worst = _worst(kind, value, first, last, label[term])
        if kind == SIGN:
            loss, one, two = _softplus(worst)
        else:
            loss, one, two = 0.5 * worst * worst, worst, 1.0
        total += weight[term] * loss
        for p in range(first, last):
            for s in range(slots):
                slope[p, s], curve[p, s] = 0.0, 0.0
        _share(value, first, last, slot, value[place, slot], weight[term] * one, weight[term] * two, slope, curve)
    return total


@compiled
def _worst(kind: int, value: FloatArray, first: int, last: int, label: float) -> tuple[int, int, float]:
    """The worst place and slot of a term, and how bad it is."""
    place, slot, worst = first, 0, -math.inf
    for p in range(first, last):
        for s in range(value.shape[1]):
            bad = value[p, s]
            if kind == NUMBER:
                bad += label if s == 1 else -label
            if bad > worst:
                place, slot, worst = p, s, bad
    return place, slot, worst


@compiled
def _softplus(v: float) -> tuple[float, float, float]:
    """log(1 + exp v) and its first two derivatives."""
    small = math.exp(-abs(v))
    share = 1.0 / (1.0 + small) if v >= 0.0 else small / (1.0 + small)
    return max(v, 0.0) + math.log1p(small), share, share * (1.0 - share)


@compiled
def _several(
    value: FloatArray, first: int, last: int, label: int, weight: float, slope: FloatArray, curve: FloatArray
) -> float:
    """log(1 + Σ exp v) over the slots but the label's own, with derivatives of the sum and of each slot alone."""
    slots = value.shape[1]
    highest = 0.0
    for p in range(first, last):
        for s in range(slots):
            slope[p, s], curve[p, s] = 0.0, 0.0
            if s != label:
                highest = max(highest, value[p, s])
    total = math.exp(-highest)
    for s in range(slots):
        if s != label:
            total += math.exp(_top(value, first, last, s) - highest)
    for s in range(slots):
        if s != label:
            top = _top(value, first, last, s)
            share = math.exp(top - highest) / total
            _share(value, first, last, s, top, weight * share, weight * share * (1.0 - share), slope, curve)
    return highest + math.log(total)


@compiled
def _top(value: FloatArray, first: int, last: int, slot: int) -> float:
    top = -math.inf
    for p in range(first, last):
        top = max(top, value[p, slot])
    return top


@compiled
def _share(
    value: FloatArray,
    first: int,
    last: int,
    slot: int,
    top: float,
    one: float,
    two: float,
    slope: FloatArray,
    curve: FloatArray,
) -> None:
    """Divide the derivatives of a term among its places, nearly all to those that are nearly as bad as the worst."""
    if last == first + 1:
        slope[first, slot], curve[first, slot] = one, two
        return
    total = 0.0
    for p in range(first, last):
        total += math.exp(SHARPNESS * (value[p, slot] - top))
    for p in range(first, last):
        part = math.exp(SHARPNESS * (value[p, slot] - top)) / total
        slope[p, slot], curve[p, slot] = one * part, two * part
