"""How far rounding can take it: every bound is widened by what this says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from lcifr.models.network import FLOOR, LARGEST, gamma
from lcifr.prove.answer import FloatArray
from lcifr.regions.region import Cell

if TYPE_CHECKING:
    from torch import Tensor

UNIT_UP = 1.0 + 2.0**-50
"""Enlarges a radius by more than the rounding of the two operations that made it."""
Array = TypeVar("Array", "FloatArray", "Tensor")
"""Of numpy for the compiled search, of torch for bounds on a device."""


@dataclass(frozen=True)
class RoundingBound(Generic[Array]):
    """How large the numbers of a computation can be, and so how far rounding can take it.

    The magnitude of layer i (the sum of the absolute values of all products that make up its neurons, and of the lines
    that replace them) is at most ``slope[i]·X + shift[i]`` where X is the largest |x| of a numeric feature:

        slope₀ = Σ_numeric |W₀| + F,  shift₀ = |b₀| + Σ_choices max |W₀| + F,
        slopeᵢ = 4|Wᵢ|·slopeᵢ₋₁ + F,  shiftᵢ = 4|Wᵢ|·shiftᵢ₋₁ + |bᵢ| + F,   F = FLOOR.

    The factor 4: a ReLU becomes s·y + t with 0 ≤ s ≤ 1 and |t| ≤ max(|lo|, |hi|), each at most the magnitude of the
    layer (and a hair more for outward rounding), and a coefficient that is 0 but for rounding may take either line.
    Every term of the final sum is then a product of factors with at most ``operations`` roundings on its way, in any
    order of summation, fused or not, so that the computed value differs from the exact one by at most
    γ_operations · magnitude (Higham, Accuracy and Stability, ch. 3).

    Underflow: a product also loses an absolute η ≤ 2⁻¹⁰²². In the value of a neuron that goes the way of its bias, and
    is less than the γ·F of its shift; where x is still to be multiplied, less than the γ·F of its slope. In a
    coefficient on the way back it is multiplied by the neurons of that layer, whose magnitudes add up to at most
    LARGEST·(X + 1), because other networks are refused: less than γ·F·(X + 1), the term of :meth:`rounding_error`
    that no direction makes small.
    """

    slope: tuple[Array, ...]
    shift: tuple[Array, ...]
    unit: float

    @classmethod
    def of(cls, layers: Sequence[tuple[Array, Array]], numeric: Any, choices: Sequence[Any]) -> RoundingBound[Array]:
        """The rounding bound of a network whose first layer reads ``numeric`` columns and one-hot ``choices``."""
        first, bias = abs(layers[0][0]), abs(layers[0][1])
        slopes = [first[:, numeric].sum(1) + FLOOR]
        shift = bias + FLOOR
        for columns in choices:
            shift = shift + _largest_of_rows(first[:, columns])
        shifts = [shift]
        for weight, bias in layers[1:]:
            size = 4.0 * abs(weight)
            slopes.append(size @ slopes[-1] + FLOOR)
            shifts.append(size @ shifts[-1] + abs(bias) + FLOOR)
        # the way back sums over the outputs as well, which no layer reads
        lengths = [layers[-1][0].shape[0], *(weight.shape[1] for weight, _ in layers)]
        operations = sum(length + 16 for length in lengths) + len(choices) + 64
        return cls(tuple(slopes), tuple(shifts), gamma(2 * operations))

    def rounding_error(self, layer: int, size: Array, largest: Array) -> Array:
        """Rounding of c·y at ``layer`` for |c| = ``size`` (…, K, width) and X = ``largest`` (n,) -> (n, K)."""
        rise, level = size @ self.slope[layer] + FLOOR, size @ self.shift[layer] + FLOOR
        return self.unit * (rise * largest[:, None] + level)


def largest_numbers(cell: Cell) -> FloatArray:
    """(people,) the largest |x| of a numeric feature; infinite beyond LARGEST."""
    far = np.zeros(len(cell.present))
    for ends in (cell.lower, cell.upper):
        for place in range(ends.shape[1]):
            np.maximum(far, np.abs(ends[:, place]), out=far)
    return np.where(far <= LARGEST, far, np.inf)


def _largest_of_rows(values: Any) -> Any:
    return values.amax(1) if hasattr(values, "amax") else values.max(1)
