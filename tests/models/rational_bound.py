"""The bound of docs/design/arithmetic.md in rational numbers, written from that page and sharing no code with lcifr."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

UNIT = {"float64": Fraction(1, 2**53), "float32": Fraction(1, 2**24)}
SMALLEST = {"float64": Fraction(1, 2**1022), "float32": Fraction(1, 2**126)}
LIMIT = {"float64": Fraction(2**1023), "float32": Fraction(2**127)}
CAST = {"float64": Fraction(0), "float32": Fraction(1, 2**24)}

Rows = list[list[list[float]]]  # of [W b], layer by layer
Group = list[tuple[int, float]]  # corners: column and value


class Overflow(Exception):
    """The bound is infinite."""


class Value(NamedTuple):
    lo: Fraction
    hi: Fraction
    e: Fraction

    @property
    def s(self) -> Fraction:
        return max(abs(self.lo), abs(self.hi)) + self.e


def flushing(program: Sequence[Sequence[Any]]) -> Fraction:
    """F of one column, its steps as files hold them: [operation, format, constant, …]."""
    error, held = SMALLEST["float64"], "float64"
    for operation, name, *constants in program:
        u, tiny = UNIT[name], SMALLEST[name]
        if (held, name) == ("float64", "float32"):
            error = 2**31 * error + 4 * tiny
        held = name
        if operation in ("add", "subtract"):
            error = 8 * error / u
        elif operation in ("multiply", "divide"):
            c = abs(Fraction(constants[0]))
            if c < tiny:
                raise Overflow
            error = 4 * error * (c if operation == "multiply" else 1 / c)
        error += 4 * tiny
        if error > 1:
            raise Overflow
    return error


def bound(stages: Sequence[tuple[Rows, str]], groups: Sequence[Group], flushed: Fraction | int = 0) -> list[Fraction]:
    """E of a chain of networks over one cell; ``flushed`` is F."""
    values: list[Value] = []
    for place, (network, arithmetic) in enumerate(stages):
        c, nu = CAST[arithmetic], 32 * SMALLEST[arithmetic] + (0 if place else 2 * flushed)
        if not place:
            inputs = [[(j, _corner(Fraction(v), c, nu)) for j, v in group] for group in groups]
        else:
            carried = [v._replace(e=v.e + c * v.s + nu) for v in values]
            inputs = [[(j, v)] for j, v in enumerate(carried)]
        for depth, layer in enumerate(network):
            if depth:
                inputs = [[(j, Value(max(v.lo, 0), max(v.hi, 0), v.e))] for j, v in enumerate(values)]
            values = [_neuron(row, inputs, arithmetic) for row in layer]
    return [v.e for v in values]


def _corner(v: Fraction, c: Fraction, nu: Fraction) -> Value:
    return Value(v, v, c * abs(v) + nu)


def _neuron(row: list[float], inputs: list[list[tuple[int, Value]]], arithmetic: str) -> Value:
    *w, b = map(Fraction, row)
    u, tiny, limit = UNIT[arithmetic], SMALLEST[arithmetic], LIMIT[arithmetic]
    k = len(inputs) + 3
    gamma = k * u / (1 - k * u)
    corners = [[(w[j], v) for j, v in group] for group in inputs]
    lo = b + sum(min(min(wj * v.lo, wj * v.hi) for wj, v in group) for group in corners)
    hi = b + sum(max(max(wj * v.lo, wj * v.hi) for wj, v in group) for group in corners)
    sizes = sum((max(v.s for _, v in group) for group in corners), Fraction(0))
    e = sum((max(abs(wj) * (v.e + gamma * v.s + 16 * tiny) for wj, v in group) for group in corners), Fraction(0))
    e += gamma * abs(b) + 16 * tiny * (len(inputs) + 1 + sizes)
    if 2 * e >= gamma * limit or max([abs(b), *map(abs, w), *(v.s for group in corners for _, v in group)]) >= limit:
        raise Overflow
    return Value(lo, hi, e)
