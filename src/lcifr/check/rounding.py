"""How far a machine that rounds can be from exact arithmetic on a cell: the bound of docs/design/arithmetic.md.

Whatever goes from one layer to the next is rounded outward to a float64, so that numbers do not grow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from lcifr.check.exact import Rejected, Vector, up
from lcifr.check.limits import StepCounter
from lcifr.check.proof import IntegerLayer, Network, Part

Inputs = list[list[tuple[int, float, Fraction]]]  # of each corner of a group a column, its value, and how far it is off


class FloatParameters(NamedTuple):
    """Of floats: the roundoff, the smallest normal number, from where on they may overflow, the roundoff of a cast."""

    unit: Fraction
    normal: Fraction
    limit: int
    cast: Fraction


FORMATS = {
    "float64": FloatParameters(Fraction(1, 2**53), Fraction(1, 2**1022), 2**1023, Fraction(0)),
    "float32": FloatParameters(Fraction(1, 2**24), Fraction(1, 2**126), 2**127, Fraction(1, 2**24)),
}


def rounding(
    chain: Iterable[tuple[Network, str]], groups: Iterable[Sequence[tuple[int, float]]], sd: float, work: StepCounter
) -> list[Fraction]:
    """How far the outputs of networks, one after the other and each in the format of that name, are off at most.

    The inputs of the first one are in these groups of corners; people are encoded with no smaller ``sd``.
    """
    inputs: Inputs = [[(column, value, Fraction(0)) for column, value in group] for group in groups]
    for network, name in chain:
        about = FORMATS[name]
        if sd < about.normal:
            raise Rejected(f"a standard deviation is so small that {name} may read it as 0")
        flushed, sd = 16 * about.normal * (1 + 1 / Fraction(sd)), 1.0
        inputs = [[(k, v, e + about.cast * (abs(Fraction(v)) + e) + flushed) for k, v, e in one] for one in inputs]
        for layer in network:
            least = -float("inf") if layer is network[-1] else 0.0  # ReLU
            found = enumerate(_through(layer, inputs, about, work))
            inputs = [[(k, max(end, least), error) for end in ends] for k, (*ends, error) in found]
    return [group[0][2] for group in inputs]


def _through(layer: IntegerLayer, inputs: Inputs, about: FloatParameters, work: StepCounter) -> Iterator[Any]:
    """Of every neuron the least and the largest exact value, and how far it is off at most."""
    work.spend(300 * sum(map(len, inputs)))
    rounded, floor = (len(inputs) + 3) * about.unit, 16 * about.normal
    if 2 * rounded > 1:
        raise Rejected("a layer has so many inputs that nothing is known of their sum")
    share = rounded / (1 - rounded)
    sizes = [[(k, up(abs(Fraction(v)) + e)) for k, v, e in group] for group in inputs]
    off = [[(k, up(e + share * (abs(Fraction(v)) + e) + floor)) for k, v, e in group] for group in inputs]
    always = floor * (len(inputs) + 1 + sum(Fraction(max(size for _, size in group)) for group in sizes))
    exact, large, wrong = (
        Part(range(len(layer.columns)), {("numeric", place): one for place, one in enumerate(groups)}, frozenset())
        for groups in ([[(k, v) for k, v, _ in group] for group in inputs], sizes, off)
    )
    largest = max(size for group in sizes for _, size in group)
    for row in layer.rows[:-1]:
        over, size = Vector([*row], layer.shift), Vector([*map(abs, row[:-1]), 0], layer.shift)
        bias = Fraction(abs(row[-1]), 1 << layer.shift)
        error = Fraction(up(wrong.top(size, work) + share * bias + always))
        weight = Fraction(max(size.values), 1 << layer.shift)
        if max(weight, Fraction(largest), large.top(size, work) + bias + error) >= about.limit:
            raise Rejected("a number may be too large for the arithmetic that is claimed")
        yield -up(exact.top(over.times(-1), work)), up(exact.top(over, work)), error
