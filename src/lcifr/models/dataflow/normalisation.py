"""Batch normalisation behind training, as affine maps that bound every way in which runtimes compute it.

scale · (x − mean) / √(variance + ε) + shift is computed as x·a + c with a = scale / √(variance + ε) and
c = shift − mean·a, or as it stands, or a is multiplied into the weights before it. Two affine maps, x − mean and
a·(…) + shift, with terms to spare for the roundings of a, bound all of these (docs/design/models.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np

from lcifr.errors import NetworkError
from lcifr.models.dataflow.vectors import FloatArray, FlowVector, scaled

ROUNDINGS = 8
"""Of a, and of the weights that a runtime multiplies it into, at most."""
EXTREME = 2.0**100
"""A normalisation that stretches or shrinks by more is refused."""


@dataclass(frozen=True)
class Normalisation:
    """What a batch normalisation has learned: a number of each for every input."""

    scale: FloatArray
    shift: FloatArray
    mean: FloatArray
    variance: FloatArray
    epsilon: float

    def of(self, vector: FlowVector, where: str) -> FlowVector:
        """The normalised vector.

        Raises
        ------
        NetworkError
            If the numbers do not fit the vector, or are too extreme for the bound.
        """
        for numbers in (self.scale, self.shift, self.mean, self.variance):
            if numbers.shape != (vector.width,) or not np.isfinite(numbers).all():
                raise NetworkError(f"{where}: {numbers.shape} numbers for {vector.width} inputs, or NaN and infinity")
        pairs = zip(self.scale.tolist(), self.variance.tolist(), strict=True)
        factors = np.array([self._factor(scale, variance, where) for scale, variance in pairs])
        return scaled(scaled(vector, 1.0, -self.mean, spare=ROUNDINGS), factors, self.shift, spare=ROUNDINGS)

    def _factor(self, scale: float, variance: float, where: str) -> float:
        """scale / √(variance + ε), to the nearest float64."""
        with localcontext() as context:
            context.prec = 60
            total = Decimal(variance) + Decimal(self.epsilon)
            if total <= 0:
                raise NetworkError(f"{where}: a variance that is not positive")
            found = float(Decimal(scale) / total.sqrt())
        if found and not 1 / EXTREME < abs(found) < EXTREME:
            raise NetworkError(f"{where} stretches numbers by {found:.0e}")
        return found
