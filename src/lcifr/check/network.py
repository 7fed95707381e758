"""Networks in integers: linear functions of what goes in, exactly; what comes out, and how far a machine is off."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from operator import mul
from typing import Any

from lcifr.check.exact import WEIGHTS, Vector, at_most, ensure, exact, numbers, spend, up

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


Network = tuple[IntegerLayer, ...]
# Of each format the roundoff u and the smallest normal number N. From 2 / N on a number may overflow.
FORMATS = {"float64": (Fraction(1, 2**53), Fraction(1, 2**1022)), "float32": (Fraction(1, 2**24), Fraction(1, 2**126))}
Inputs = list[list[tuple[int, float, Fraction]]]  # of each corner of a group a column, its value, and how far it is off


def read_layer(rows: Sequence[Sequence[float]], width: int) -> IntegerLayer:
    """From the rows of [W b], each of so many numbers."""
    flat = exact([value for row in [*rows, [*[0.0] * (width - 1), 1.0]] for value in numbers(row, width)])
    return IntegerLayer([flat.values[i : i + width] for i in range(0, len(flat.values), width)], flat.shift)


def read_network(layers: Any) -> Network:
    """Read the rows of [W b] of every layer; layers whose sizes do not fit are rejected."""
    widths = [len(layers[0][0]), *(len(rows) + 1 for rows in layers)]
    network = tuple(read_layer(rows, width) for rows, width in zip(layers, widths, strict=False))
    at_most(WEIGHTS, sum(layer.bits * len(layer.rows) * len(layer.columns) for layer in network), "bits of weights")
    return network


class Corners:
    """Groups of columns, each at or between its corners; all other columns are 0, and the last is 1."""

    def __init__(self, groups: Iterable[Group]) -> None:
        apart = [[*dict.fromkeys(group)] for group in groups]
        moving, still = [group for group in apart if len(group) > 1], [group[0] for group in apart if len(group) == 1]
        corners = [corner for group in [*moving, still, [(-1, 1.0)]] for corner in group]
        self.sizes, self.columns = [len(group) for group in moving], [column for column, _ in corners]
        self.values = exact([value for _, value in corners])

    def of(self, layer: IntegerLayer) -> IntegerLayer:
        """A layer with a column for each corner of the groups that move; what stands still is in the constant."""
        spend(len(layer.rows) * len(self.columns) * (2 + (layer.bits >> 9)))
        pairs = zip(self.columns, self.values.values, strict=True)
        columns = [[value * weight for weight in layer.columns[column]] for column, value in pairs]
        moving = sum(self.sizes)
        still = [sum(weights) for weights in zip(*columns[moving:], strict=True)]
        return IntegerLayer([*zip(*columns[:moving], still, strict=True)], layer.shift + self.values.shift)

    def top(self, over: Vector) -> Fraction:
        """The maximum of a linear function of such a layer: of each group the best corner."""
        spend(200 + 10 * len(over.values) + (over.bits**2 >> 16))
        values = iter(over.values)
        best = sum(max(islice(values, size)) for size in self.sizes) + over.values[-1]
        return Fraction(best, 1 << over.shift)


class FactorChain:
    """Networks in turn: as one for proofs, exactly, and as a machine computes them, each part in its arithmetic.

    Where two networks touch both layers are affine, so they are one. Flushing may do so much to what comes in.
    """

    def __init__(self, parts: list[list[Network]], width: int, flushed: float = 0.0) -> None:
        self.network, self.parts, self.width, self.flushed = tuple[IntegerLayer, ...](), parts, width, flushed
        for first, *others in (network for part in parts for network in part):
            takes = len(first.columns) - 1
            ensure(takes == width, f"{width} numbers come in, the network takes {takes}")
            if self.network:
                rows = [self.network[-1].before(Vector([*row], first.shift)).values for row in first.rows]
                first = IntegerLayer(rows, first.shift + self.network[-1].shift)
            self.network = (*self.network[:-1], first, *others)
            width = len(self.network[-1].rows) - 1
        self.outputs = width

    def at(self, point: Groups) -> list[Fraction]:
        """The exact outputs at a point; it has one corner in each group."""
        known = dict(corner for group in point.values() for corner in group)
        ensure(all(float(v) == v for v in known.values()), "the trees of an encoder give numbers that no float64 is")
        width = len(self.network[0].columns) - 1  # the identity has no layer: nothing is claimed of it alone
        value = exact([*(known.get(column, 0.0) for column in range(width)), 1.0])
        for layer in self.network:
            reached = value.values if layer is self.network[0] else [max(v, 0) for v in value.values]  # ReLU
            value = layer.before(Vector(reached, value.shift), forward=True)
        spend(len(value.values) * (value.bits**2 >> 16))
        return [Fraction(output, 1 << value.shift) for output in value.values[:-1]]

    def rounding(self, groups: Groups, arithmetic: list[str], before: Sequence[Fraction] = ()) -> list[Fraction]:
        """How far a machine's outputs are from exact ones at most, on a cell, where each part has its arithmetic.

        What comes in may be off by so much before. This is the bound of docs/design/arithmetic.md. Whatever goes from
        layer to layer is rounded outward to a float64, so that numbers do not grow.
        """
        ensure(self.flushed < math.inf, "a step of an encoding may lose its number where it is flushed")
        inputs: Inputs = [[(column, value, Fraction(0)) for column, value in group] for group in groups.values()]
        flushed = Fraction(self.flushed) + max(before, default=0)
        for network, name in ((one, name) for part, name in zip(self.parts, arithmetic, strict=True) for one in part):
            unit, normal = FORMATS[name]
            cast, lost, flushed = unit if name == "float32" else 0, 32 * normal + 2 * flushed, Fraction(0)
            inputs = [[(k, v, e + cast * (abs(Fraction(v)) + e) + lost) for k, v, e in group] for group in inputs]
            for layer in network:
                least = 0.0 if layer is not network[-1] else -math.inf  # ReLU
                outputs = enumerate(_through(layer, inputs, name))
                inputs = [[(k, max(low, least), e), (k, max(high, least), e)] for k, (low, high, e) in outputs]
        return [group[0][2] for group in inputs]


def errors(function: Any, groups: Groups, arithmetic: list[str]) -> list[Fraction]:
    """How far a machine's outputs are from exact ones at most, on a cell of these groups."""
    return [Fraction(0)] * function.outputs if arithmetic[-1] == "exact" else function.rounding(groups, arithmetic)


def numeric(ends: Iterable[Any]) -> Groups:
    """Numbers at or between these ends, as groups of a cell."""
    return {("numeric", j): [(j, end) for end in each] for j, each in enumerate(ends)}


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
    weights = IntegerLayer([[*map(abs, row[:-1]), 0] for row in layer.rows], layer.shift)
    sums, errors = values.of(layer), wrong.of(weights)
    for neuron, row in enumerate(layer.rows[:-1]):
        weight, bias = (Fraction(max(map(abs, part), default=0), 1 << layer.shift) for part in (row[:-1], row[-1:]))
        error = Fraction(up(wrong.top(errors.row(neuron, 1)) + share * bias + lost))
        ensure(max(weight, bias, 2 * error / share, largest) * normal < 2, f"a number may be too large for {name}")
        yield -up(values.top(sums.row(neuron, -1))), up(values.top(sums.row(neuron, 1))), error
