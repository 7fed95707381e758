"""Rounding: the error of float64 sums, and of one affine layer in any format, with every bound on the safe side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcifr.models.arithmetic import FloatFormat

LARGEST = 1e100
"""What products of weights along paths may add up to (:attr:`lcifr.models.network.Network.sizes`); a
network beyond is refused."""
UNIT = 2.0**-53
"""Half the gap between 1 and the next float64: the relative error of one rounded operation."""
FLOOR = 1e-180
"""Added to magnitudes in error bounds, so that underflow is covered by the same relative term as rounding: a product
loses at most 2^-1022 (where denormals are flushed; far less where not), other layers make at most LARGEST times as much
of that, and 2^-1022 · LARGEST is a trillionth of 2^-53 · FLOOR. See "Underflow" in docs/design/decisions.md."""


def gamma(operations: int) -> float:
    """γ_n = n·u / (1 − n·u), itself rounded up: the relative error of n chained float64 operations."""
    share = operations * UNIT
    return share / (1.0 - share) * (1.0 + 1e-12)


# Layers in floating point: how far from exact arithmetic their values can be, given those of their inputs.
#
# One step of the recursion of docs/design/arithmetic.md, with every rounding error of its own on the safe side.

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

LOST = 16.0
"""Smallest normal numbers that underflow and flushing can lose at an operand or a result, at most."""
ROUND_UP = 1.0 + 1e-9
"""The sums below have fewer than 10⁶ terms, so float64 computes them within a relative 10⁻⁹ …"""
TINIEST = 1e-290
"""… and loses less than this to underflow."""


@dataclass(frozen=True)
class ValueBounds:
    """What the values of a layer can be, in exact arithmetic and on a machine.

    Parameters
    ----------
    lower, upper : (people, width) hold the exact values anywhere in a cell.
    error : (people, width) how far a machine's values can be from them; infinite where overflow is possible.
    """

    lower: FloatArray
    upper: FloatArray
    error: FloatArray


@dataclass(frozen=True)
class ProductSums:
    """Sums of products before the bias: their ends, Σ |w|·(e + γ·s + 16·N) (people, neurons), and Σ s (people, 1)."""

    lower: FloatArray
    upper: FloatArray
    lost: FloatArray
    size: FloatArray


def cast_inputs(values: ValueBounds, kind: FloatFormat) -> ValueBounds:
    """The outputs of one network as the inputs of the next."""
    size = np.maximum(np.abs(values.lower), np.abs(values.upper)) + values.error
    error = values.error + kind.cast * size + 2 * LOST * kind.smallest
    return ValueBounds(values.lower, values.upper, error * ROUND_UP)


def rounding_share(kind: FloatFormat, terms: int) -> float:
    """γ of a sum of so many products: the roundings of a weight, its product, every sum, and the end of a wider sum."""
    share = (terms + 3) * kind.unit
    return np.inf if share > 0.5 else share / (1.0 - share) * ROUND_UP


def through_layer(weight: FloatArray, bias: FloatArray, values: ValueBounds, kind: FloatFormat) -> ValueBounds:
    terms = values.lower.shape[1]
    share = rounding_share(kind, terms)
    lower, upper, far = bound_products(weight, values.lower, values.upper)
    size = far + values.error
    lost = (values.error + share * size + LOST * kind.smallest) @ np.abs(weight).T
    return bound_neurons(bias, ProductSums(lower, upper, lost, size.sum(1, keepdims=True)), share, terms, kind)


def bound_products(
    weight: FloatArray, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The ends of Σ w·a (people, neurons) for a between ends (people, width), and the largest |a|."""
    if lower is upper:
        middle = lower @ weight.T
        return middle, middle, np.abs(lower)
    middle = 0.5 * lower + 0.5 * upper
    reach = (np.maximum(upper - middle, middle - lower) * ROUND_UP) @ np.abs(weight).T * ROUND_UP
    middle = middle @ weight.T
    return middle - reach, middle + reach, np.maximum(np.abs(lower), np.abs(upper))


def bound_neurons(bias: FloatArray, sums: ProductSums, share: float, terms: int, kind: FloatFormat) -> ValueBounds:
    """Intervals and errors of neurons; where error / γ, which no partial sum exceeds, is too large, it is infinite.

    What float64 rounds in the intervals here is less than what the format, which is no finer, may round there.
    """
    absolute = LOST * kind.smallest * (terms + 1 + sums.size)
    error = (sums.lost + share * np.abs(bias) + absolute) * ROUND_UP + TINIEST
    error = np.where(2.0 * error < share * kind.largest, error, np.inf)
    return ValueBounds(sums.lower + bias - 2.0 * error, sums.upper + bias + 2.0 * error, error)


def allowed_extremes(weight: FloatArray, allowed: BoolArray) -> tuple[FloatArray, FloatArray]:
    """(people, neurons) the least and the largest of the allowed weights (values, neurons); 0 where none is."""
    if (np.count_nonzero(allowed, axis=1) == 1).all():
        only = weight[allowed.argmax(1)]
        return only, only
    patterns, which = _patterns(allowed)
    some = patterns[:, :, None] & np.ones(weight.shape, np.bool_)
    low = np.where(some, weight, np.inf).min(1)
    high = np.where(some, weight, -np.inf).max(1)
    none = ~patterns.any(1)
    low[none] = high[none] = 0.0
    return low[which], high[which]


def _patterns(allowed: BoolArray) -> tuple[BoolArray, NDArray[np.intp]]:
    """The different rows, and for each person which of them is theirs."""
    if (allowed == allowed[0]).all():
        return allowed[:1], np.zeros(len(allowed), np.intp)
    packed = np.ascontiguousarray(np.packbits(allowed, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return allowed[first], which
