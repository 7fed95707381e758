"""How far rounding can take a bound on a network, and networks balanced so that no layer drowns in tolerances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from lcifr.errors import NetworkError
from lcifr.models.network import Network
from lcifr.models.rounding import FLOOR, LARGEST, gamma
from lcifr.prove.question import FloatArray
from lcifr.regions.region import Cell, LinearRows

if TYPE_CHECKING:
    from torch import Tensor


# How far rounding can take it: every bound is widened by what this says.

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


# Networks balanced by powers of two, so that no layer's values drown in the tolerances of a program.
#
# ReLU passes a positive factor on: a layer may be multiplied by a power of two and the next one divided by it. Nothing
# is rounded, so it is the same function, and bounds on it are bounds on the network that was asked about. Layers of
# ordinary size stay as they are.

SMALL = 2.0**-10
"""Layers whose values are below this for inputs of size 1 are made larger."""


@dataclass(frozen=True, eq=False)
class Balanced:
    """A network that equals the one asked about, and (neurons,) by how much its hidden neurons are larger."""

    network: Network
    factor: FloatArray


@dataclass(frozen=True)
class _Named:
    """A network by its hash."""

    hash: str
    network: Network = field(compare=False)


def balance(network: Network) -> Balanced:
    """The network with layers of tiny values made larger; kept for the next chunk or call."""
    return _balanced(_Named(network.hash, network))


@lru_cache(maxsize=16)
def _balanced(named: _Named) -> Balanced:
    network, hidden = named.network, named.network.layers[:-1]
    factors = _factors(network)
    each = np.concatenate([np.full(len(layer.bias), factor) for layer, factor in zip(hidden, factors, strict=True)])
    before, behind = [1.0, *factors], [*factors, 1.0]
    scaled = [
        (layer.weight * (after / left), layer.bias * after)
        for layer, left, after in zip(network.layers, before, behind, strict=True)
    ]
    same = all(
        np.array_equal(weight / (after / left), layer.weight) and np.array_equal(bias / after, layer.bias)
        for (weight, bias), layer, left, after in zip(scaled, network.layers, before, behind, strict=True)
    )
    as_it_is = Balanced(network, np.ones(len(each)))
    if (each == 1.0).all() or not same:  # where something underflows it would be another function
        return as_it_is
    try:
        return Balanced(Network.from_arrays(scaled), each)
    except NetworkError:  # weights beyond what a network may have
        return as_it_is


def _factors(network: Network) -> list[float]:
    """The power of two for each hidden layer that brings its largest values to about 1; 1 for ordinary layers."""
    size, factors = np.ones(network.inputs), []
    for layer in network.layers[:-1]:
        size = np.abs(layer.weight) @ size + np.abs(layer.bias)
        top = float(size.max())
        factors.append(2.0 ** -np.floor(np.log2(top)) if 2.0**-200 < top < SMALL else 1.0)
    return factors


def to_size(rows: LinearRows) -> LinearRows:
    """The same rows with largest coefficients between 1 and 2: multiplied by powers of two, which rounds nothing."""
    size = np.abs(rows.G).max(1, initial=0.0)
    shift = np.where(size > 0, 1 - np.frexp(np.where(size > 0, size, 1.0))[1], 0)
    matrix, level = np.ldexp(rows.G, shift[:, None]), np.ldexp(rows.g, shift)
    same = (np.ldexp(matrix, -shift[:, None]) == rows.G).all(1) & (np.ldexp(level, -shift) == rows.g).all(0)
    fine = same & (np.abs(level) <= LARGEST).all(0)  # denormals and giants stay as they are
    return LinearRows(np.where(fine[:, None], matrix, rows.G), np.where(fine, level, rows.g))
