"""What holds at a node: intervals of the hidden neurons, and one backward pass from a linear function to a number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from lcifr.check.exact import Number, Rejected, Vector, dot, exact
from lcifr.check.problem import Layer, Problem
from lcifr.check.read import Bounds, Multipliers, Neuron


@dataclass(frozen=True)
class Interval:
    """Ends of a layer's neurons before ReLU, over ``2**shift``."""

    lower: list[int]
    upper: list[int]
    shift: int

    def cut(self, other: Interval) -> Interval:
        """The intersection."""
        shift = max(self.shift, other.shift)
        low, high, low2, high2 = (
            Vector(ends, of.shift).lift(shift) for of in (self, other) for ends in (of.lower, of.upper)
        )
        return Interval(list(map(max, low, low2)), list(map(min, high, high2)), shift)

    def cut_one(self, neuron: int, sign: int, end: Number) -> Interval:
        """The neuron's value times sign is at most ``end``."""
        shift = max(self.shift, end.shift)
        lower, upper = (Vector(ends, self.shift).lift(shift) for ends in (self.lower, self.upper))
        found = sign * end.value << shift - end.shift
        if sign > 0:
            upper[neuron] = min(upper[neuron], found)
        else:
            lower[neuron] = max(lower[neuron], found)
        return Interval(lower, upper, shift)


@dataclass(frozen=True)
class Place:
    """A node on the way down: its part of the cell, the intervals of every hidden layer there, the shared slopes.

    ``stale`` is the first hidden layer that what was learned since may improve.
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    allowed: dict[int, frozenset[int]]
    intervals: tuple[Interval, ...] = ()
    above: dict[Neuron, float] | None = None
    below: dict[Neuron, float] | None = None
    stale: int = 0

    @cached_property
    def box(self) -> tuple[list[int], list[int], int]:
        """Both ends of the box as integers over one power of two, and that power."""
        ends, half = exact((*self.lower, *self.upper)), len(self.lower)
        return ends.values[:half], ends.values[half:], ends.shift

    def without_points(self) -> bool:
        """Surely no point is here: an empty box, choice or interval."""
        ends = [(self.lower, self.upper), *((known.lower, known.upper) for known in self.intervals)]
        return not all(self.allowed.values()) or any(a > b for pair in ends for a, b in zip(*pair, strict=True))


def settle(problem: Problem, place: Place, bounds: Bounds) -> Place:
    """Bring a node's intervals up to date: layer by layer the closed form, what is inherited, what is proved here."""
    place = replace(place, above=(place.above or {}) | bounds.upper, below=(place.below or {}) | bounds.lower)
    stale = place.stale
    for depth, layer in enumerate(problem.layers[:-1]):
        known = place.intervals[depth : depth + 1]
        if depth >= stale:
            fresh = _first(layer, place) if depth == 0 else _ends(layer, *_after_relu(place.intervals[depth - 1]))
            known = (known[0].cut(fresh) if known else fresh,)
        for neuron, sign, by in bounds.neurons.get(depth, ()):
            start = Vector([sign * (other == neuron) for other in range(len(layer.bias.values))], 0)
            known = (known[0].cut_one(neuron, sign, backward(problem, place, depth, start, by)),)
            stale = min(stale, depth + 1)
        place = replace(place, intervals=(*place.intervals[:depth], *known, *place.intervals[depth + 1 :]))
    return replace(place, stale=len(problem.layers))


def _after_relu(known: Interval) -> tuple[list[int], list[int], int]:
    return [max(end, 0) for end in known.lower], [max(end, 0) for end in known.upper], known.shift


def _ends(layer: Layer, low: list[int], high: list[int], shift: int) -> Interval:
    """W x + b for low ≤ x ≤ high; the columns of choices, which come after those of the box, are left out."""
    shift += layer.shift
    signs = list(zip(layer.positive, layer.negative, strict=True))
    lower = Vector([dot(plus, low) + dot(minus, high) for plus, minus in signs], shift) + layer.bias
    upper = Vector([dot(plus, high) + dot(minus, low) for plus, minus in signs], shift) + layer.bias
    return Interval(lower.values, upper.values, lower.shift)


def _first(layer: Layer, place: Place) -> Interval:
    """The closed form of the first layer on box × choices: an end of each column by sign, an extreme category."""
    ends = _ends(layer, *place.box)
    for columns in place.allowed.values():
        for neuron, options in enumerate(zip(*(layer.columns[column] for column in columns), strict=True)):
            ends.lower[neuron] += min(options) << ends.shift - layer.shift
            ends.upper[neuron] += max(options) << ends.shift - layer.shift
    return ends


def backward(problem: Problem, place: Place, depth: int, start: Vector, by: Multipliers) -> Number:
    """A number that ``start · y`` of layer ``depth`` does not exceed at any point of the node."""
    coefficients, total = start, Number(0, 0)
    for below in range(depth, -1, -1):
        coefficients, constant = _through_affine(coefficients, problem.layers[below])
        total += constant
        if below:
            coefficients, constant = _through_relu(coefficients, place, below - 1, by)
            total += constant
    if by.rows:  # plus λ·(g − G x), which is not negative at any point of the cell
        rows = [row for (row,) in by.rows]
        rates = exact(-rate for rate in by.rows.values())
        cut = [dot(rates.values, (column[row] for row in rows)) for column in problem.rows]
        coefficients += Vector(cut, rates.shift + problem.rows_shift)
        spent = -dot(rates.values, (problem.limits.values[row] for row in rows))
        total += Number(spent, rates.shift + problem.limits.shift)
    return total + _maximum(coefficients, place)


def by_intervals(problem: Problem, place: Place, start: Vector) -> Number:
    """A number that ``start · output`` does not exceed, from the interval of the last hidden layer alone."""
    coefficients, total = _through_affine(start, problem.layers[-1])
    if not place.intervals:
        return total + _maximum(coefficients, place)
    low, high, shift = _after_relu(place.intervals[-1])
    best = sum(v * (b if v > 0 else a) for v, a, b in zip(coefficients.values, low, high, strict=True))
    return total + Number(best, coefficients.shift + shift)


def _maximum(coefficients: Vector, place: Place) -> Number:
    """The largest value of a linear function on box × choices: an end of each column by sign, the best category."""
    low, high, shift = place.box
    best = sum(c * (b if c > 0 else a) for c, a, b in zip(coefficients.values, low, high, strict=False))
    best += sum(max(coefficients.values[column] for column in columns) for columns in place.allowed.values()) << shift
    return Number(best, coefficients.shift + shift)


def _through_affine(over: Vector, layer: Layer) -> tuple[Vector, Number]:
    """From coefficients of W x + b to those of x, and a constant."""
    result = Vector([dot(over.values, column) for column in layer.columns], over.shift + layer.shift)
    return result, Number(dot(over.values, layer.bias.values), over.shift + layer.bias.shift)


def _through_relu(over: Vector, place: Place, depth: int, by: Multipliers) -> tuple[Vector, Number]:
    """From coefficients of relu(y) to those of y, and a constant: never smaller, whatever y in its interval."""
    known = place.intervals[depth]
    ends = list(zip(over.values, known.lower, known.upper, strict=True))
    slopes = exact(_slope((depth, neuron), *end, place, by) for neuron, end in enumerate(ends))
    rest = 0
    for (v, low, high), slope in zip(ends, slopes.values, strict=True):
        if v > 0:  # the least intercept with which the line clears ReLU, which is convex, at both ends
            rest += v * max((max(end, 0) << slopes.shift) - slope * end for end in (low, high))
    result = Vector([v * slope for v, slope in zip(over.values, slopes.values, strict=True)], over.shift + slopes.shift)
    total = Number(rest, result.shift + known.shift)
    beta = {neuron: value for (layer, neuron), value in by.beta.items() if layer == depth}
    if beta:
        rates = exact(beta.get(neuron, 0.0) for neuron in range(len(ends)))
        pairs = zip(rates.values, known.lower, known.upper, strict=True)
        total += Number(
            -sum(rate * (low if rate > 0 else high) for rate, low, high in pairs), rates.shift + known.shift
        )
        result += rates
    return result, total


def _slope(neuron: Neuron, v: int, low: int, high: int, place: Place, by: Multipliers) -> float:
    """The slope that stands for ReLU: the pass's own; else 0 or 1 where the neuron is stable; else the shared one."""
    slope = by.slopes.get(neuron)
    if slope is None:
        if high <= 0 or low >= 0:
            return float(high > 0)
        slope = ((place.above if v > 0 else place.below) or {}).get(neuron, 0.0)
    if v < 0 and not 0 <= slope <= 1:
        raise Rejected(f"the line below ReLU at neuron {neuron} has a slope outside 0 … 1")
    return slope
