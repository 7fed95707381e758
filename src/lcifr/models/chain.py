"""Chain: networks applied in turn, affine where they touch, each kept as it is stored, and merged for proofs.

The product of two stored matrices is a third one that nobody stored: proofs work on the product (:func:`merge`),
certificates speak about the factors, and what lies between is bounded (:func:`merging_error`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from lcifr.errors import LcifrError, NetworkError
from lcifr.models.arithmetic import Arithmetic, choose_arithmetic
from lcifr.models.function import FloatArray, Function
from lcifr.models.network import FLOOR, Network, as_network, compose, gamma
from lcifr.regions.region import Region


@dataclass(frozen=True)
class Chain(Function):
    """Networks applied in turn; build it with :func:`chain_of`.

    Parameters
    ----------
    factors : from the inputs to the outputs, at least two.
    """

    factors: tuple[Network, ...]

    def __post_init__(self) -> None:
        if len(self.factors) < 2:
            raise NetworkError(f"a chain has at least two factors, found {len(self.factors)}")
        for place, (left, right) in enumerate(pairwise(self.factors)):
            if left.outputs != right.inputs:
                raise NetworkError(
                    f"factor {place + 1} takes {right.inputs} values, factor {place} gives {left.outputs}"
                )

    @property
    def inputs(self) -> int:
        """How many columns go in."""
        return self.factors[0].inputs

    @property
    def outputs(self) -> int:
        """How many values come out."""
        return self.factors[-1].outputs

    @property
    def native(self) -> Arithmetic:
        """The coarsest of its factors'."""
        return choose_arithmetic(None, *(factor.native for factor in self.factors))

    @property
    def divides(self) -> str:
        """The first step of a factor that does."""
        return next((factor.divides for factor in self.factors if factor.divides), "")

    def __call__(self, points: ArrayLike) -> FloatArray:
        """The outputs at ``points`` (…, inputs) -> (…, outputs), factor after factor in float64."""
        return evaluate(self.factors, points).values

    def error(self, points: ArrayLike) -> FloatArray:
        """How far ``self(points)`` can be from exact arithmetic, (…, inputs) -> (…, outputs)."""
        return evaluate(self.factors, points).error

    def exactly(self, point: Sequence[float]) -> tuple[Fraction, ...]:
        """The outputs at one point (inputs,), without any rounding: the checker's own evaluation."""
        from lcifr.check.network import FactorChain, read_network

        chain = FactorChain([[read_network(factor.rows()) for factor in self.factors]], self.inputs)
        return tuple(chain.at({("numeric", 0): [*enumerate(map(float, point))]}))

    def to_bytes(self) -> bytes:
        """The numbers and nothing else, as an exact checker reads them."""
        content = {"kind": "network", "factors": [factor.rows() for factor in self.factors]}
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode()


def chain_of(networks: Iterable[Network]) -> Network | Chain:
    """One network, or several as a chain."""
    factors = tuple(networks)
    return factors[0] if len(factors) == 1 else Chain(factors)


def factors_of(function: Function) -> tuple[Network, ...]:
    """The factors of a chain; a network is its own only one. Anything else is an error that names it."""
    return function.factors if isinstance(function, Chain) else (as_network(function),)


def is_affine(factors: Sequence[Network]) -> bool:
    """Whether there is no ReLU in them."""
    return all(factor.depth == 0 for factor in factors)


@dataclass(frozen=True)
class Evaluation:
    """values : (…, outputs) computed in float64. error : (…, outputs) how far they can be from exact arithmetic."""

    values: FloatArray
    error: FloatArray


def evaluate(factors: Sequence[Network], points: ArrayLike) -> Evaluation:
    """A plain forward pass through networks in turn."""
    values = np.asarray(points, dtype=np.float64)
    # An error is the largest input of a factor times what only its weights say: that part is passed on, not each error.
    parts: list[tuple[FloatArray, FloatArray]] = []
    for factor in factors:
        slope, shift = factor.error_rate
        parts = [(largest, passed_on(factor, rate)) for largest, rate in parts]
        parts += [(np.abs(values).max(-1, keepdims=True), slope), (np.ones(1), shift)]
        values = factor(values)
    return Evaluation(values, np.asarray(sum(largest * rate for largest, rate in parts) * (1.0 + 1e-12)))


def passed_on(network: Network, error: FloatArray) -> FloatArray:
    """(…, outputs) what a network makes of an error (…, inputs) of its inputs, at most: ReLU does not enlarge it."""
    for layer in network.layers:
        error = error @ np.abs(layer.weight).T * (1.0 + gamma(layer.weight.shape[1] + 8))
    return error


def choose_for(asked: str | None, factors: Iterable[Function]) -> Arithmetic:
    """The arithmetic that was asked for, else that of the runtime that the factors come from.

    Raises
    ------
    LcifrError
        For exact arithmetic where a factor's weights are not the library's own numbers.
    """
    known = tuple(factors)
    chosen = choose_arithmetic(asked, *(factor.native for factor in known))
    divides = next((factor.divides for factor in known if factor.divides), "")
    if chosen is Arithmetic.EXACT and divides:
        native = next((f.native for f in known if f.native is Arithmetic.FLOAT32), Arithmetic.FLOAT64)
        raise LcifrError(
            f"{divides} divides by numbers whose inverses are not float64 numbers, so nothing can be proved about this "
            "model in exact arithmetic",
            fix=f'use arithmetic="{native}", in which it is computed',
        )
    return chosen


def merge(*factors: Network) -> Network:
    """Networks in turn as one; see :func:`merging_error` for what the rounding of its weights can do."""
    for before, behind in pairwise(factors):
        if before.outputs != behind.inputs:
            raise NetworkError(
                f"the encoder gives {before.outputs} numbers, the model takes {behind.inputs}",
                fix="audit a model that was trained on this encoder's latents",
            )
    return reduce(_compose_once, factors)


def _compose_once(before: Network, behind: Network) -> Network:
    return _composed(_Pair((before.hash, behind.hash), before, behind))


@dataclass(frozen=True)
class _Pair:
    """Two networks by their names: every audit of a chunk of people merges the same two."""

    names: tuple[str, str]
    before: Network = field(compare=False)
    behind: Network = field(compare=False)


@lru_cache(maxsize=8)
def _composed(pair: _Pair) -> Network:
    return compose(pair.before, pair.behind)


def merging_error(factors: Sequence[Network], region: Region) -> FloatArray:
    """(people, outputs) how far merged and unmerged networks can differ at any point of a person's region.

    Factors are merged one after the other. What the last merger rounds is added to what the factor makes of the
    difference before it.
    """
    merged, *others = factors
    if not others:
        return np.zeros((region.people, merged.outputs))
    size = largest_sizes(region)
    error = np.zeros((1, merged.outputs))
    for factor in others:
        error = passed_on(factor, error) + _rounded_in(merged, factor, size)
        merged = _compose_once(merged, factor)
    return np.asarray(error * (1.0 + 1e-9))


def _rounded_in(merged: Network, factor: Network, size: FloatArray) -> FloatArray:
    """(people, outputs) what rounding does in one merger, at inputs of absolute values (people, features).

    The merged layer's weights and biases are rounded sums of products, each off by at most γ·|W₂||W₁| and by what
    underflows, less than γ·FLOOR. That is multiplied by how large the hidden values before it can be (by absolute
    values alone: crude, and still a millionth of any margin), and passes through the rest of the factor. The sums here
    underflow too, which is what FLOOR is for at every layer.
    """
    for layer in merged.layers[:-1]:
        size = (size @ np.abs(layer.weight).T + np.abs(layer.bias) + FLOOR) * (1.0 + 1e-12)
    last, first = merged.layers[-1], factor.layers[0]
    reach = (size @ np.abs(last.weight).T + np.abs(last.bias) + FLOOR) @ np.abs(first.weight).T + np.abs(first.bias)
    unit = 2 * gamma(merged.outputs + 4)
    error = unit * (reach + FLOOR * (1.0 + size.sum(1, keepdims=True)))
    for layer in factor.layers[1:]:
        error = (error @ np.abs(layer.weight).T + unit * FLOOR) * (1.0 + 1e-12)
    return np.asarray(error)


def largest_sizes(region: Region) -> FloatArray:
    """(people, features) the largest absolute value of every feature in the region."""
    size = np.zeros((region.people, region.features))
    for cell in region.cells:
        far = np.where(cell.present[:, None], np.maximum(np.abs(cell.lower), np.abs(cell.upper)), 0.0)
        size[:, cell.numeric] = np.maximum(size[:, cell.numeric], far)
        for choice in cell.choices:
            size[:, choice.columns] = 1.0
    return size
