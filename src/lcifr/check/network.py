"""Networks in integers: linear functions of what goes in, exactly; what comes out, and how far a machine is off."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from lcifr.check.exact import Vector, dot, ensure, exact, items, numbers, reading, up
from lcifr.check.limits import LAYERS, WEIGHTS, at_most, spend


@dataclass(frozen=True)
class IntegerLayer:
    """W x + b as one matrix in integers over ``2**shift``: the rows of [W b], and below them 0 … 0 1.

    So x and y both end with a 1, whose coefficient is the constant of a linear function.
    """

    rows: Sequence[Sequence[int]]
    shift: int

    @cached_property
    def columns(self) -> list[tuple[int, ...]]:
        """The columns of [W b]."""
        return [*zip(*self.rows, strict=True)]

    @cached_property
    def bits(self) -> int:
        """How long the longest integer is."""
        return max(Vector([*row], 0).bits for row in self.rows)

    def row(self, neuron: int, sign: int) -> Vector:
        """A neuron's y, or −y, as a linear function of x."""
        spend(100 + len(self.columns) * (5 + (self.bits >> 10)))
        return Vector([sign * value for value in self.rows[neuron]], self.shift)

    def before(self, over: Vector) -> Vector:
        """A linear function of W x + b as one of x."""
        spend(len(self.rows) * len(self.columns) * (1 + (self.bits * over.bits >> 16)))
        return Vector([dot(over.values, column) for column in self.columns], over.shift + self.shift)

    def at(self, fixed: Mapping[int, float], moving: Iterable[int]) -> IntegerLayer:
        """The same as a layer of the moving columns alone: fixed ones become constant, and all others are 0."""
        spend(len(self.rows) * len(self.columns) * (2 + (self.bits >> 9)))
        known, places = exact([*fixed.values(), 1.0]), [*fixed, -1]
        parts = (([row[c] << known.shift for c in moving], [row[c] for c in places]) for row in self.rows)
        return IntegerLayer([[*free, dot(known.values, rest)] for free, rest in parts], self.shift + known.shift)


Network = tuple[IntegerLayer, ...]


def read_layer(rows: Sequence[Sequence[float]], width: int) -> IntegerLayer:
    """From the rows of [W b], each of so many numbers."""
    flat = exact([value for row in [*rows, [*[0.0] * (width - 1), 1.0]] for value in numbers(row, width)])
    return IntegerLayer([flat.values[i : i + width] for i in range(0, len(flat.values), width)], flat.shift)


def read_network(layers: Any) -> Network:
    """Read the rows of [W b] of every layer; layers whose sizes do not fit are rejected."""
    with reading("a network"):
        at_most(LAYERS, len(items(layers)), "layers of a network")
        widths = [len(layers[0][0]), *(len(rows) + 1 for rows in layers)]
        network = tuple(read_layer(rows, width) for rows, width in zip(layers, widths, strict=False))
        at_most(WEIGHTS, sum(layer.bits * len(layer.rows) * len(layer.columns) for layer in network), "bits of weights")
        return network


def compose(encoder: Network, model: Network) -> Network:
    """model ∘ encoder, exactly: the last layer of the one and the first of the other are affine, so they are one."""
    last, first = encoder[-1], model[0]
    given, taken = len(last.rows) - 1, len(first.columns) - 1
    ensure(given == taken, f"the encoder gives {given} numbers, the model takes {taken}")
    rows = [last.before(Vector([*row], first.shift)).values for row in first.rows]
    return (*encoder[:-1], IntegerLayer(rows, first.shift + last.shift), *model[1:])


class Corners:
    """Groups of columns, each at or between its corners (column, value); all other columns are 0, and the last is 1."""

    def __init__(self, groups: Iterable[Sequence[tuple[int, float]]]) -> None:
        groups = [*groups, [(-1, 1.0)]]
        self.values = exact([value for group in groups for _, value in group])
        values = iter(self.values.values)
        self.groups = [[(column, next(values)) for column, _ in group] for group in groups]

    def top(self, over: Vector) -> Fraction:
        """The maximum of a linear function: of each group the best corner."""
        (values, shift), long = self.values, over.bits
        spend(90 + len(values) * (5 + (self.values.bits * long >> 16)) + (long * long >> 16))
        best = sum(max([over.values[column] * value for column, value in group]) for group in self.groups)
        return Fraction(best, 1 << over.shift + shift)


def forward(network: Network, groups: Iterable[Sequence[tuple[int, float]]]) -> list[Fraction]:
    """The outputs at a point, exactly; it has one corner in each group."""
    point = dict(corner for group in groups for corner in group)
    value = exact([*(point.get(column, 0.0) for column in range(len(network[0].columns) - 1)), 1.0])
    for place, layer in enumerate(network):
        spend(len(layer.rows) * (len(layer.columns) * (1 + (layer.bits * value.bits >> 16)) + (value.bits**2 >> 16)))
        values = [max(v, 0) for v in value.values] if place else value.values
        value = Vector([dot(row, values) for row in layer.rows], layer.shift + value.shift)
    return [Fraction(output, 1 << value.shift) for output in value.values[:-1]]


# Roundoff, smallest normal number, from where on a number may overflow, roundoff of a cast from float64.
FORMATS = {
    "float64": (Fraction(1, 2**53), Fraction(1, 2**1022), 2**1023, Fraction(0)),
    "float32": (Fraction(1, 2**24), Fraction(1, 2**126), 2**127, Fraction(1, 2**24)),
}
Inputs = list[list[tuple[int, float, Fraction]]]  # of each corner of a group a column, its value, and how far it is off


def rounding(
    chain: Iterable[tuple[Network, str]], groups: Iterable[Sequence[tuple[int, float]]], sd: float
) -> list[Fraction]:
    """How far the outputs of networks in turn, each in the format of that name, are off at most on a cell.

    This is the bound of docs/design/arithmetic.md. People are encoded with no smaller ``sd``. Whatever goes from layer
    to layer is rounded outward to a float64, so that numbers do not grow.
    """
    inputs: Inputs = [[(column, value, Fraction(0)) for column, value in group] for group in groups]
    for network, name in chain:
        _, normal, _, cast = FORMATS[name]
        ensure(sd >= normal, f"a standard deviation is so small that {name} may read it as 0")
        flushed, sd = 16 * normal * (1 + 1 / Fraction(sd)), 1.0
        inputs = [[(k, v, e + cast * (abs(Fraction(v)) + e) + flushed) for k, v, e in group] for group in inputs]
        for layer in network:
            least = 0.0 if layer is not network[-1] else -math.inf  # ReLU
            outputs = enumerate(_through(layer, inputs, name))
            inputs = [[(k, max(low, least), e), (k, max(high, least), e)] for k, (low, high, e) in outputs]
    return [group[0][2] for group in inputs]


def _through(layer: IntegerLayer, inputs: Inputs, name: str) -> Iterator[tuple[float, float, Fraction]]:
    """Of every neuron the least and the largest exact value, and how far it is off at most."""
    spend(300 * sum(map(len, inputs)))
    unit, normal, limit, _ = FORMATS[name]
    rounded, floor = (len(inputs) + 3) * unit, 16 * normal
    ensure(2 * rounded <= 1, "a layer has so many inputs that nothing is known of their sum")
    share = rounded / (1 - rounded)
    sizes = [[(k, up(abs(Fraction(v)) + e)) for k, v, e in group] for group in inputs]
    off = [[(k, up(e + share * (abs(Fraction(v)) + e) + floor)) for k, v, e in group] for group in inputs]
    most = [Fraction(max(size for _, size in group)) for group in sizes]
    values, large, wrong = Corners([[(k, v) for k, v, _ in group] for group in inputs]), Corners(sizes), Corners(off)
    for neuron, row in enumerate(layer.rows[:-1]):
        size, bias = Vector([*map(abs, row[:-1]), 0], layer.shift), Fraction(abs(row[-1]), 1 << layer.shift)
        error = Fraction(up(wrong.top(size) + share * bias + floor * (len(inputs) + 1 + sum(most))))
        weight = Fraction(max(size.values), 1 << layer.shift)
        ensure(max(weight, *most, large.top(size) + bias + error) < limit, f"a number may be too large for {name}")
        yield -up(values.top(layer.row(neuron, -1))), up(values.top(layer.row(neuron, 1))), error
