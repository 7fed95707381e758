"""Chain: networks applied in turn, affine where they touch, each kept as it is stored.

The product of two stored matrices is a third one that nobody stored: proofs work on the product, certificates speak
about the factors, and what lies between is bounded (:mod:`lcifr.models.merging`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from lcifr.errors import LcifrError, NetworkError
from lcifr.models.arithmetic import Arithmetic, choose_arithmetic
from lcifr.models.function import FloatArray, Function
from lcifr.models.network import Network, as_network, gamma
from lcifr.models.trees.trees import Trees


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

    def __call__(self, points: ArrayLike) -> FloatArray:
        """The outputs at ``points`` (…, inputs) -> (…, outputs), factor after factor in float64."""
        return evaluate(self.factors, points).values

    def error(self, points: ArrayLike) -> FloatArray:
        """How far ``self(points)`` can be from exact arithmetic, (…, inputs) -> (…, outputs)."""
        return evaluate(self.factors, points).error

    def exactly(self, point: Sequence[float]) -> tuple[Fraction, ...]:
        """The outputs at one point (inputs,), without any rounding: the checker's own evaluation."""
        from lcifr.check.network import compose, forward, read_network

        product = compose([read_network(factor.rows()) for factor in self.factors], self.inputs)
        return tuple(forward(product, [[*enumerate(map(float, point))]]))

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


def choose_for(asked: str | None, factors: Iterable[Network | Trees]) -> Arithmetic:
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
            f"{divides} divides by numbers whose inverses no float64 holds, so of this model nothing can be said in "
            "exact arithmetic",
            fix=f'say arithmetic="{native}", in which it is computed',
        )
    return chosen
