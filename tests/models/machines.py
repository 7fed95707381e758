"""Machines that compute networks in floating point as unluckily as docs/design/arithmetic.md allows, in fractions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lcifr.data.program import Operation, ProgramStep
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.network import Network

PRECISION = {Arithmetic.FLOAT32: 24, Arithmetic.FLOAT64: 53}
LOWEST = {Arithmetic.FLOAT32: -126, Arithmetic.FLOAT64: -1022}
WIDER = 64  # bits of an accumulator that is wider than both
OPERATIONS: dict[Operation, Callable[..., Fraction]] = {
    Operation.CAST: lambda value: value,
    Operation.ADD: operator.add,
    Operation.SUBTRACT: operator.sub,
    Operation.MULTIPLY: operator.mul,
    Operation.DIVIDE: operator.truediv,
    Operation.CLIP: lambda value, lower, upper: min(max(value, lower), upper),
}


def rounded(value: Fraction, precision: int, lowest: int) -> Fraction:
    """To nearest, ties to even, with gradual underflow; the exponent has no upper end."""
    if value == 0:
        return value
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
    if abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    quantum = Fraction(2) ** (max(exponent, lowest) - precision + 1)
    return round(value / quantum) * quantum


@dataclass(frozen=True)
class Product:
    """One that is not rounded yet: FMA may never do so."""

    weight: Fraction
    value: Fraction


@dataclass
class Machine:
    """One way to compute: which format, who flushes, how sums are made."""

    arithmetic: Arithmetic
    rng: np.random.Generator
    flushing: float = 0.0  # how often a number below the smallest normal one is lost
    fma: bool = False
    wide: bool = False
    sequential: bool = False

    @classmethod
    def drawn(cls, arithmetic: Arithmetic, rng: np.random.Generator) -> Machine:
        flushing = float(rng.choice([0.0, 0.5, 1.0]))
        fma, wide, sequential = (bool(rng.integers(2)) for _ in range(3))
        return cls(arithmetic, rng, flushing, fma, wide, sequential)

    def round(self, value: Fraction, *, wide: bool = False) -> Fraction:
        precision = WIDER if wide else PRECISION[self.arithmetic]
        return self.read(rounded(value, precision, LOWEST[self.arithmetic]))

    def read(self, value: Fraction, lowest: int | None = None) -> Fraction:
        smallest = Fraction(2) ** (LOWEST[self.arithmetic] if lowest is None else lowest)
        return Fraction(0) if 0 < abs(value) < smallest and self.rng.random() < self.flushing else value

    def encode(self, value: float, steps: Iterable[ProgramStep]) -> Fraction:
        """A number behind the steps of a program, each in its own format, whatever comes after it."""
        found = self.read(Fraction(value), LOWEST[Arithmetic.FLOAT64])
        for step in steps:
            kind = Arithmetic(step.format.value)
            found = self._in(kind, found)
            constants = [self.read(Fraction(constant), LOWEST[kind]) for constant in step.constants]
            found = self._in(kind, OPERATIONS[step.operation](found, *constants))
        return found

    def _in(self, kind: Arithmetic, result: Fraction) -> Fraction:
        return self.read(rounded(result, PRECISION[kind], LOWEST[kind]), LOWEST[kind])

    def outputs(self, network: Network, point: Sequence[Fraction]) -> list[Fraction]:
        """The network at a point, which is cast first."""
        values = [self.round(value) for value in point]
        for index, layer in enumerate(network.layers):
            weights = zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
            values = [self.neuron(row, bias, values) for row, bias in weights]
            if index < network.depth:
                values = [max(value, Fraction(0)) for value in values]
        return [self.read(value) for value in values]

    def neuron(self, row: list[float], bias: float, values: list[Fraction]) -> Fraction:
        pairs = zip(row, values, strict=True)
        parts: list[Product | Fraction] = [Product(self.round(Fraction(w)), self.read(v)) for w, v in pairs]
        parts.append(self.round(Fraction(bias)))
        self.rng.shuffle(parts)  # type: ignore[arg-type]
        while len(parts) > 1:
            left = parts.pop(0 if self.sequential else int(self.rng.integers(len(parts))))
            right = parts.pop(0 if self.sequential else int(self.rng.integers(len(parts))))
            parts.insert(0, self.add(left, right))
        return self.round(self.value(parts[0]))

    def add(self, left: Product | Fraction, right: Product | Fraction) -> Fraction:
        if self.fma and isinstance(left, Product):
            exact = self.read(left.weight) * self.read(left.value)
            return self.round(exact + self.read(self.value(right)), wide=self.wide)
        return self.round(self.read(self.value(left)) + self.read(self.value(right)), wide=self.wide)

    def value(self, part: Product | Fraction) -> Fraction:
        if isinstance(part, Product):
            return self.round(self.read(part.weight) * self.read(part.value), wide=self.wide)
        return part
