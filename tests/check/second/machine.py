"""The second checker's machines: how far float64 and float32 may be off, as ``docs/design/arithmetic.md`` has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.check.second.similar import Group, Refused

Layers = list[list[list[Fraction]]]


@dataclass(frozen=True)
class Machine:
    """u, N, Ω and c of the page's table."""

    u: Fraction
    normal: Fraction
    top: Fraction
    cast: Fraction


def power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


MACHINES = {
    "float64": Machine(power(-53), power(-1022), power(1023), Fraction(0)),
    "float32": Machine(power(-24), power(-126), power(127), power(-24)),
}


@dataclass(frozen=True)
class Value:
    """An exact value between two ends, and what a machine's is away from it at most."""

    low: Fraction
    high: Fraction
    error: Fraction

    @property
    def size(self) -> Fraction:
        return max(abs(self.low), abs(self.high)) + self.error


Inputs = list[dict[int, list[Value]]]  # for each group the columns that may be other than 0, with what they may be


def inputs_of(groups: Sequence[Group]) -> Inputs:
    """("number", column, low, high) is one column between two ends, ("choice", first, columns) one of several at 1."""
    found: Inputs = []
    for kind, column, *rest in groups:
        if kind == "number":
            found.append({column: [_at(Fraction(end)) for end in rest]})
        else:
            found.append({one: [_at(Fraction(1))] for one in rest[0]})
    return found


def _at(value: Fraction) -> Value:
    return Value(value, value, Fraction(0))


def errors(networks: Sequence[tuple[Layers, str]], groups: Sequence[Group], flushed: Any) -> list[Fraction]:
    """E of every output of the last network."""
    inputs = inputs_of(groups)
    for layers, name in networks:
        if name not in MACHINES:
            raise Refused("no such arithmetic")
        machine = MACHINES[name]
        nu = 32 * machine.normal + 2 * Fraction(flushed)
        inputs = [{k: [_cast(v, machine, nu) for v in values] for k, values in group.items()} for group in inputs]
        for depth, rows in enumerate(layers):
            outputs = [_neuron(row, inputs, machine) for row in rows]
            if depth < len(layers) - 1:
                outputs = [Value(max(v.low, Fraction(0)), max(v.high, Fraction(0)), v.error) for v in outputs]
            inputs = [{k: [value]} for k, value in enumerate(outputs)]
        flushed = 0
    return [value.error for value in outputs]


def _cast(value: Value, machine: Machine, nu: Fraction) -> Value:
    return Value(value.low, value.high, value.error + machine.cast * value.size + nu)


def _neuron(row: Sequence[Fraction], inputs: Inputs, machine: Machine) -> Value:
    *weights, bias = row
    k = len(inputs) + 3
    if k * machine.u > Fraction(1, 2):
        raise Refused("too many inputs")
    gamma = k * machine.u / (1 - k * machine.u)
    low = high = bias
    error = gamma * abs(bias) + 16 * machine.normal * (len(inputs) + 1)
    for group in inputs:
        pairs = [(weights[column], value) for column, values in group.items() for value in values]
        low += min(min(w * v.low, w * v.high) for w, v in pairs)
        high += max(max(w * v.low, w * v.high) for w, v in pairs)
        error += max(abs(w) * (v.error + gamma * v.size + 16 * machine.normal) for w, v in pairs)
        error += 16 * machine.normal * max(v.size for _, v in pairs)
        if any(v.size >= machine.top for _, v in pairs):
            raise Refused("an input may overflow")
    if max(map(abs, row)) >= machine.top or 2 * error >= gamma * machine.top:
        raise Refused("a sum may overflow")
    return Value(low, high, error)
