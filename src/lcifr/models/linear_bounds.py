"""Bounds of affine chains as linear functions of how large the numbers are: one small product for each person.

Without a ReLU the recursions of merging and of deployed arithmetic are sums of absolute values all the way. With the
sizes of the numbers left open they need to be gone through once for a model, instead of once for every person. Where
the recursion has an interval, here stands the sum of absolute values, so the bound is never below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcifr.data.encoding import FeatureColumns
from lcifr.models.arithmetic import FORMATS, Arithmetic
from lcifr.models.layer_rounding import LOST, ROUND_UP, TINIEST, rounding_share
from lcifr.models.network import FLOOR, Layer, Network, compose, gamma

FloatArray = NDArray[np.float64]

LARGEST_SIZE = 1e50
"""Of a number: products of weights add up to 1e100 at most, so nothing is near the end of float64."""
KIND = FORMATS[Arithmetic.FLOAT64]


@dataclass(frozen=True)
class LinearBound:
    """(outputs, numbers + 1) coefficients of the sizes of the numbers, and the constant."""

    coefficients: FloatArray

    def at(self, sizes: FloatArray) -> FloatArray:
        """(people, outputs) the bound for people whose numbers are at most this large, (people, numbers)."""
        return np.asarray((sizes @ self.coefficients[:, :-1].T + self.coefficients[:, -1]) * ROUND_UP)


def linear_rounding(factors: Sequence[Network], columns: FeatureColumns, flushing_error: float) -> LinearBound:
    """What a machine rounds in float64: the recursion of docs/design/arithmetic.md over the factors in turn."""
    first, *others = (factor.layers[0] for factor in factors)
    numbers, groups = len(columns.numeric_columns), len(columns.schema.names)
    share, flushed = rounding_share(KIND, groups), 2.0 * (LOST * KIND.smallest + flushing_error)
    size = _largest(first.weight, columns)
    error = share * size
    error[:, -1] += (flushed * (1.0 + share) + LOST * KIND.smallest) * np.abs(first.weight).sum(1)
    inputs = np.ones(numbers + 1)  # Σ s: the numbers' sizes, and 1 for each category
    inputs[-1] = groups - numbers + groups * flushed
    error = _with_bias(error, first, share, groups, inputs)
    size[:, -1] += np.abs(first.bias)
    for layer in others:
        terms = layer.weight.shape[1]
        share = rounding_share(KIND, terms)
        error[:, -1] += 2.0 * LOST * KIND.smallest
        largest, weight = size + error, np.abs(layer.weight)
        lost = error + share * largest
        lost[:, -1] += LOST * KIND.smallest
        error = _with_bias(weight @ lost, layer, share, terms, largest.sum(0))
        size = weight @ size
        size[:, -1] += np.abs(layer.bias)
    return LinearBound(error)


def _largest(weight: FloatArray, columns: FeatureColumns) -> FloatArray:
    """(neurons, numbers + 1) the size of Σ w·x: by those of the numbers, and a constant for the categories."""
    size = np.abs(weight)
    of_categories = (size[:, columns.columns(name)].max(1) for name in columns.schema.names_categorical)
    return np.column_stack([size[:, columns.numeric_columns], sum(of_categories, np.zeros(len(size)))])


def _with_bias(error: FloatArray, layer: Layer, share: float, terms: int, inputs: FloatArray) -> FloatArray:
    found = error + LOST * KIND.smallest * inputs
    found[:, -1] += share * np.abs(layer.bias) + LOST * KIND.smallest * (terms + 1)
    found = found * ROUND_UP
    found[:, -1] += TINIEST
    return found


def linear_merging(factors: Sequence[Network], columns: FeatureColumns) -> LinearBound:
    """What merging rounds: :func:`lcifr.models.chain.merging_error`, with the sizes of the numbers left open."""
    merged, *others = factors
    numbers = len(columns.numeric_columns)
    error = np.zeros((merged.outputs, numbers + 1))
    inputs = np.ones(numbers + 1)
    inputs[-1] = 1.0 + len(columns.schema.names_categorical)
    for factor in others:
        last, first = merged.layers[0], factor.layers[0]
        size = _largest(last.weight, columns)
        size[:, -1] += np.abs(last.bias) + FLOOR
        reach = np.abs(first.weight) @ size + FLOOR * inputs
        reach[:, -1] += np.abs(first.bias)
        rounded = 2 * gamma(merged.outputs + 4) * reach
        error = (np.abs(first.weight) @ error + rounded) * (1.0 + 1e-9)
        merged = compose(merged, factor)
    return LinearBound(error)
