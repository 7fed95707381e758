"""Networks in integers: linear functions of what goes in, exactly; what comes out, and how far a machine is off."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from operator import mul
from typing import Any

from lcifr.check.exact import WEIGHTS, Vector, at_most, ensure, exact, items, numbers, reading, spend, up

Group = Sequence[tuple[int, float]]  # corners: a column and its value there, where all others of the group are 0
Groups = Mapping[tuple[str, int], Group]  # "numeric", column; or "choice", first column


class IntegerLayer:
    """W x + b as one matrix in integers over ``2**shift``: the rows of [W b], and below them 0 … 0 1.

    So x and y both end with a 1, whose coefficient is the constant of a linear function.
    """

    def __init__(self, rows: Sequence[Sequence[int]], shift: int) -> None:
        self.rows, self.columns, self.shift = rows, [*zip(*rows, strict=True)], shift
        self.bits = max(Vector([*row], 0).bits for row in rows)

    def row(self, neuron: int, sign: int) -> Vector:
        """A neuron's y, or −y, as a linear function of x."""
        return Vector([sign * value for value in self.rows[neuron]], self.shift)

    def before(self, over: Vector, forward: bool = False) -> Vector:
        """A linear function of W x + b as one of x; or, forward, W x + b itself of a point x."""
        spend(len(self.rows) * len(self.columns) * (1 + (self.bits * over.bits >> 16)))
        matrix = self.rows if forward else self.columns
        return Vector([sum(map(mul, over.values, values)) for values in matrix], over.shift + self.shift)

    def at(self, fixed: Mapping[int, float], moving: Iterable[int]) -> "IntegerLayer":
        """The same as a layer of the moving columns alone: fixed ones become constant, and all others are 0."""
        spend(len(self.rows) * len(self.columns) * (2 + (self.bits >> 9)))
        known, places = exact([*fixed.values(), 1.0]), [*fixed, -1]
        parts = (([row[c] << known.shift for c in moving], [row[c] for c in places]) for row in self.rows)
        rows = [[*free, sum(map(mul, known.values, rest))] for free, rest in parts]
        return IntegerLayer(rows, self.shift + known.shift)


Network = tuple[IntegerLayer, ...]


def read_layer(rows: Sequence[Sequence[float]], width: int) -> IntegerLayer:
    """From the rows of [W b], each of so many numbers."""
    flat = exact([value for row in [*rows, [*[0.0] * (width - 1), 1.0]] for value in numbers(row, width)])
    return IntegerLayer([flat.values[i : i + width] for i in range(0, len(flat.values), width)], flat.shift)


def read_network(layers: Any) -> Network:
    """Read the rows of [W b] of every layer; layers whose sizes do not fit are rejected."""
    with reading("a network"):
        widths = [len(layers[0][0]), *(len(rows) + 1 for rows in layers)]
        network = tuple(read_layer(rows, width) for rows, width in zip(layers, widths, strict=False))
        at_most(WEIGHTS, sum(layer.bits * len(layer.rows) * len(layer.columns) for layer in network), "bits of weights")
        return network


def read_factors(found: Any) -> list[Network]:
    """A network, or the factors of one, which touch without a ReLU."""
    with reading("a function"):
        ensure(isinstance(found, list) or found["kind"] == "network", "a function is neither a network nor trees")
        return [read_network(layers) for layers in ([found] if isinstance(found, list) else items(found["factors"]))]


def compose(networks: Iterable[Network], width: int) -> Network:
    """Networks in turn as one, exactly: where two touch both layers are affine, so they are one. It takes ``width``."""
    whole: Network = ()
    for first, *others in networks:
        ensure(len(first.columns) - 1 == width, f"{width} numbers come in, the network takes {len(first.columns) - 1}")
        if whole:
            rows = [whole[-1].before(Vector([*row], first.shift)).values for row in first.rows]
            first = IntegerLayer(rows, first.shift + whole[-1].shift)
        whole = (*whole[:-1], first, *others)
        width = len(whole[-1].rows) - 1
    return whole


class Corners:
    """Groups of columns, each at or between its corners; all other columns are 0, and the last is 1."""

    def __init__(self, groups: Iterable[Group]) -> None:
        groups = [*groups, [(-1, 1.0)]]
        self.values = exact([value for group in groups for _, value in group])
        values = iter(self.values.values)
        self.groups = [[(column, next(values)) for column, _ in group] for group in groups]

    def top(self, over: Vector) -> Fraction:
        """The maximum of a linear function: of each group the best corner."""
        (values, shift), long = self.values, over.bits
        spend(200 + len(values) * (10 + (self.values.bits * long >> 16)) + (long * long >> 16))
        best = sum(max([over.values[column] * value for column, value in group]) for group in self.groups)
        return Fraction(best, 1 << over.shift + shift)


def forward(network: Network, groups: Iterable[Group]) -> list[Fraction]:
    """The outputs at a point, exactly; it has one corner in each group."""
    point = dict(corner for group in groups for corner in group)
    value = exact([*(point.get(column, 0.0) for column in range(len(network[0].columns) - 1)), 1.0])
    for place, layer in enumerate(network):
        value = layer.before(Vector([max(v, 0) for v in value.values], value.shift) if place else value, forward=True)
    spend(len(value.values) * (value.bits**2 >> 16))
    return [Fraction(output, 1 << value.shift) for output in value.values[:-1]]


# Roundoff u and smallest normal number N. From 2 / N on a number may overflow.
FORMATS = {"float64": (Fraction(1, 2**53), Fraction(1, 2**1022)), "float32": (Fraction(1, 2**24), Fraction(1, 2**126))}
Inputs = list[list[tuple[int, float, Fraction]]]  # of each corner of a group a column, its value, and how far it is off


def rounding(chain: Iterable[tuple[Network, str]], groups: Iterable[Group], flushed: Fraction) -> list[Fraction]:
    """How far the outputs of networks in turn, each in the format of that name, are off at most on a cell.

    This is the bound of docs/design/arithmetic.md; flushing may do so much to the features. Whatever goes from layer to
    layer is rounded outward to a float64, so that numbers do not grow.
    """
    inputs: Inputs = [[(column, value, Fraction(0)) for column, value in group] for group in groups]
    for network, name in chain:
        unit, normal = FORMATS[name]
        cast, lost, flushed = unit if name == "float32" else 0, 32 * normal + 2 * flushed, Fraction(0)
        inputs = [[(k, v, e + cast * (abs(Fraction(v)) + e) + lost) for k, v, e in group] for group in inputs]
        for layer in network:
            least = 0.0 if layer is not network[-1] else -math.inf  # ReLU
            outputs = enumerate(_through(layer, inputs, name))
            inputs = [[(k, max(low, least), e), (k, max(high, least), e)] for k, (low, high, e) in outputs]
    return [group[0][2] for group in inputs]


def _through(layer: IntegerLayer, inputs: Inputs, name: str) -> Iterator[tuple[float, float, Fraction]]:
    """Of every neuron the least and the largest exact value, and how far it is off at most."""
    spend(300 * sum(map(len, inputs)))
    unit, normal = FORMATS[name]
    rounded, floor = (len(inputs) + 3) * unit, 16 * normal
    ensure(2 * rounded <= 1, "a layer has so many inputs that nothing is known of their sum")
    share = rounded / (1 - rounded)
    sizes = [max(abs(Fraction(v)) + e for _, v, e in group) for group in inputs]
    off = [[(k, up(e + share * (abs(Fraction(v)) + e) + floor)) for k, v, e in group] for group in inputs]
    values, wrong = Corners([[(k, v) for k, v, _ in group] for group in inputs]), Corners(off)
    lost, largest = floor * (len(inputs) + 1 + sum(sizes)), max(sizes, default=Fraction(0))
    for neuron, row in enumerate(layer.rows[:-1]):
        size, bias = Vector([*map(abs, row[:-1]), 0], layer.shift), Fraction(abs(row[-1]), 1 << layer.shift)
        error = Fraction(up(wrong.top(size) + share * bias + lost))
        weight = Fraction(max(size.values), 1 << layer.shift)
        ensure(max(weight, bias, 2 * error / share, largest) * normal < 2, f"a number may be too large for {name}")
        yield -up(values.top(layer.row(neuron, -1))), up(values.top(layer.row(neuron, 1))), error
