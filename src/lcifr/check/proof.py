"""One network on one cell: what a split tree with multipliers proves there. docs/design/proofs.md has the mathematics.

No number of a proof can make a bound false, so none is judged: what does not fit is not used, or raises, which rejects.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from lcifr.check.exact import Rejected, Vector, dot, exact, joint, number, numbers, position, reading

Neuron = tuple[int, ...]  # hidden layer, neuron
Direction = tuple[tuple[int, float], ...]  # (output, coefficient) in ascending order, without zeros
Bounds = dict[Direction, Fraction | float]  # what a direction does not exceed; −inf where there is no point
Interval = tuple[Vector, Vector]  # over one power of two


@dataclass(frozen=True)
class Layer:
    """W x + b: W in integers over ``2**shift`` by the columns of x, in their order, and by rows."""

    columns: Mapping[int, list[int]]
    shift: int
    bias: Vector

    @cached_property
    def rows(self) -> list[Vector]:
        rows = range(len(self.bias.values))
        return [Vector([column[row] for column in self.columns.values()], self.shift) for row in rows]

    def before(self, over: Vector) -> tuple[Vector, Vector]:
        """From coefficients of W x + b to those of x, and a constant."""
        result = Vector([dot(over.values, column) for column in self.columns.values()], over.shift + self.shift)
        return result, Vector([dot(over.values, self.bias.values)], over.shift + self.bias.shift)

    def at(self, fixed: Mapping[int, float], moving: Iterable[int]) -> Layer:
        """The same as a function of the moving columns: what the fixed ones contribute is in the bias."""
        values, height = exact(fixed.values()), len(self.bias.values)
        sums = [dot(values.values, (self.columns[c][row] for c in fixed)) for row in range(height)]
        bias = self.bias + Vector(sums, self.shift + values.shift)
        return Layer({c: self.columns[c] for c in moving}, self.shift, bias)


Network = tuple[Layer, ...]


def _layer(weight: Sequence[Sequence[float]], bias: Sequence[float], inputs: int) -> Layer:
    """W as rows (outputs × inputs)."""
    flat = exact(value for row in weight for value in numbers(row, inputs))
    columns = {c: flat.values[c::inputs] for c in range(inputs)}
    return Layer(columns, flat.shift, exact(numbers(bias, len(weight))))


def read_network(layers: Sequence[tuple[Sequence[Sequence[float]], Sequence[float]]]) -> Network:
    """Read (W, b) per layer; layers whose sizes do not fit are rejected."""
    with reading("a network"):
        widths = [len(layers[0][0][0]), *(len(weight) for weight, _ in layers)]
        return tuple(_layer(weight, bias, width) for (weight, bias), width in zip(layers, widths, strict=False))


@dataclass(frozen=True)
class Cell:
    """One cell of one person in plain lists: a box × one allowed category per choice, cut by rows G x ≤ g.

    Parameters
    ----------
    numeric : feature columns of the box; ``lower`` and ``upper`` are its ends.
    choices : the columns of each one-hot group; ``allowed`` says for each of them whether it may be the 1.
    G, g : linear rows over all features, and their right-hand sides.
    """

    numeric: Sequence[int]
    lower: Sequence[float]
    upper: Sequence[float]
    choices: Sequence[Sequence[int]] = ()
    allowed: Sequence[Sequence[bool]] = ()
    G: Sequence[Sequence[float]] = ()
    g: Sequence[float] = ()


@dataclass(frozen=True)
class Place:
    """A node of a tree: its part of the cell, the interval of every hidden layer there, the shared slopes.

    ``stale`` is the first hidden layer of which the closed form may have become better.
    """

    box: Mapping[int, tuple[float, float]]
    allowed: Mapping[int, frozenset[int]]
    hidden: tuple[Interval, ...] = ()
    above: Mapping[Neuron, float] = field(default_factory=dict)
    below: Mapping[Neuron, float] = field(default_factory=dict)
    stale: int = 0

    @cached_property
    def ends(self) -> tuple[list[int], list[int], int]:
        """Both ends of the box as integers over one power of two, and that power."""
        both = exact(end for ends in zip(*self.box.values(), strict=True) for end in ends)
        return both.values[: len(self.box)], both.values[len(self.box) :], both.shift

    @cached_property
    def empty(self) -> bool:
        """Surely no point is here: an empty box, choice or interval."""
        pairs = [*self.box.values()]
        for low, high in self.hidden:
            pairs += zip(low.values, high.values, strict=True)
        return not all(self.allowed.values()) or any(low > high for low, high in pairs)

    def learn(self, layer: int, low: Vector, high: Vector) -> Place:
        """Intersect the intervals of a layer with these."""
        if layer < len(self.hidden):
            old_low, old_high = self.hidden[layer]
            low, high = _pairwise(max, old_low, low), _pairwise(min, old_high, high)
        shift = max(low.shift, high.shift)
        both = Vector(low.lift(shift), shift), Vector(high.lift(shift), shift)
        stale = min(self.stale, layer + 1)
        return replace(self, hidden=(*self.hidden[:layer], both, *self.hidden[layer + 1 :]), stale=stale)


def _pairwise(pick: Any, one: Vector, other: Vector) -> Vector:
    shift = max(one.shift, other.shift)
    return Vector(list(map(pick, one.lift(shift), other.lift(shift))), shift)


def _largest(coefficients: Iterable[int], low: Iterable[int], high: Iterable[int]) -> int:
    """The maximum of a linear function on a box: an end of each column by sign."""
    return sum(c * (b if c > 0 else a) for c, a, b in zip(coefficients, low, high, strict=False))


@dataclass(frozen=True)
class Multipliers:
    """Numbers of a backward pass: slopes and β by neuron, λ by row."""

    slopes: Mapping[Neuron, float]
    beta: Mapping[Neuron, float]
    rows: Mapping[Neuron, float]

    @classmethod
    def read(cls, found: Any) -> Multipliers:
        result = cls(*({tuple(at): number(v) for *at, v in found.get(key, ())} for key in ("slopes", "beta", "rows")))
        if any(rate < 0 for rate in result.rows.values()):
            raise Rejected("the multiplier of a row is negative")
        return result


@dataclass(frozen=True)
class Lines:
    """What stands for the ReLUs of a layer: a line above each, with its intercept, one below each, and β."""

    above: list[int]
    below: list[int]
    shift: int
    beta: Vector | None
    rest: Vector
    spent: Vector

    def before(self, over: Vector) -> tuple[Vector, Vector]:
        """From coefficients of relu(y) to those of y, and a constant: never smaller, whatever y in its interval."""
        sides = zip(over.values, self.above, self.below, strict=True)
        result = Vector([v * (up if v > 0 else down) for v, up, down in sides], over.shift + self.shift)
        rest = sum(v * t for v, t in zip(over.values, self.rest.values, strict=True) if v > 0)
        return result + self.beta if self.beta else result, Vector([rest], over.shift + self.rest.shift) + self.spent


class Problem:
    """A network on a cell, over the columns that can move: first those of the box, then those of choices."""

    def __init__(self, network: Network, cell: Cell) -> None:
        columns = [*cell.numeric, *(column for choice in cell.choices for column in choice)]
        if sorted(columns) != list(network[0].columns):
            raise Rejected("the cell does not hold every feature column exactly once")
        ends = {c: (number(a), number(b)) for c, a, b in zip(cell.numeric, cell.lower, cell.upper, strict=True)}
        pairs = zip(cell.choices, cell.allowed, strict=True)
        allowed = [frozenset(c for c, may in zip(*pair, strict=True) if may) for pair in pairs]
        fixed = {c: low for c, (low, high) in ends.items() if low == high}
        for choice, may in zip(cell.choices, allowed, strict=True):
            fixed |= {c: float(c in may) for c in choice if len(may) == 1}
        self.order = {c: place for place, c in enumerate(c for c in columns if c not in fixed)}
        self.layers = (network[0].at(fixed, self.order), *network[1:])
        self.cuts = _layer(cell.G, [-limit for limit in cell.g], len(columns)).at(fixed, self.order)
        self.choices = cell.choices
        self.root = Place(
            {c: pair for c, pair in ends.items() if c not in fixed},
            {choice: may for choice, may in enumerate(allowed) if len(may) != 1},
        )

    def settle(self, place: Place, bounds: Any) -> Place:
        """Bring a node's intervals up to date: layer by layer the closed form, what is inherited, what is proved."""
        if place.empty:
            return place
        above, below = ({tuple(at): number(s) for *at, s in bounds.get(key, ())} for key in ("upper", "lower"))
        place = replace(place, above={**place.above, **above}, below={**place.below, **below})
        proofs = [(*item[:3], Multipliers.read(item[3])) for item in bounds.get("neurons", ())]
        for depth, layer in enumerate(self.layers[:-1]):
            if depth >= place.stale:
                high = self._closed(place, depth, layer.rows) + layer.bias
                low = self._closed(place, depth, [row.times(-1) for row in layer.rows]).times(-1) + layer.bias
                place = place.learn(depth, low, high)
            for at, side, neurons, by in proofs:
                if at == depth:
                    place = self._proved(place, depth, 1 if side == "upper" else -1, neurons, by)
        return replace(place, stale=len(self.layers))

    def _closed(self, place: Place, depth: int, rows: Iterable[Vector]) -> Vector:
        """The maximum of each row over box × choices, or over the interval of the layer before, after ReLU."""
        if depth == 0:
            return joint([self._top(place, row) for row in rows])
        low, high = place.hidden[depth - 1]
        ends = [[max(end, 0) for end in side.values] for side in (low, high)]
        return joint([Vector([_largest(row.values, *ends)], row.shift + low.shift) for row in rows])

    def _proved(self, place: Place, depth: int, sign: int, neurons: Sequence[int], by: Multipliers) -> Place:
        """Ends of neurons by backward passes that start at ± each of them."""
        layer, side = self.layers[depth], sign > 0
        own = Vector([layer.bias.values[k] for k in neurons], layer.bias.shift)
        found = self.passes(place, depth, [layer.rows[k].times(sign) for k in neurons], by).times(sign) + own
        known = place.hidden[depth][side]
        shift = max(found.shift, known.shift)
        ends = [*known.lift(shift)]
        for k, end in zip(neurons, found.lift(shift), strict=True):
            ends[k] = end
        low, high = place.hidden[depth]
        return place.learn(depth, *((low, Vector(ends, shift)) if side else (Vector(ends, shift), high)))

    def passes(self, place: Place, depth: int, starts: Iterable[Vector], by: Multipliers) -> Vector:
        """For each start a number that start · relu(y) of layer depth − 1, or start · x, does not exceed."""
        steps: list[Lines | Layer] = []
        for layer in reversed(range(depth)):
            steps += self._lines(place, layer, by), self.layers[layer]
        cut, spent, found = None, Vector([0], 0), []
        if by.rows:  # λ·(g − G x), which is not negative at any point of the cell
            rows = range(len(self.cuts.bias.values))
            cut, spent = self.cuts.before(exact(-by.rows.get((row,), 0.0) for row in rows))
        for over in starts:
            total = spent
            for step in steps:
                over, constant = step.before(over)
                total += constant
            found.append(total + self._top(place, over + cut if cut else over))
        return joint(found)

    def _lines(self, place: Place, layer: int, by: Multipliers) -> Lines:
        """The slope is the pass's own; else 0 or 1 where the neuron is stable; else the shared one; else 0."""
        low, high = place.hidden[layer]
        ends = list(zip(low.values, high.values, strict=True))
        above, below = [], []
        for k, (a, b) in enumerate(ends):
            own = by.slopes.get((layer, k), None if a < 0 < b else float(b > 0))
            above.append(place.above.get((layer, k), 0.0) if own is None else own)
            below.append(min(max(place.below.get((layer, k), 0.0) if own is None else own, 0.0), 1.0))
        slopes = exact(above + below)
        up, down, shift = slopes.values[: len(ends)], slopes.values[len(ends) :], slopes.shift
        # ReLU is convex: a line that lies above it at both ends of an interval lies above it between them.
        rest = [max((max(end, 0) << shift) - s * end for end in pair) for s, pair in zip(up, ends, strict=True)]
        beta = exact(by.beta.get((layer, k), 0.0) for k in range(len(ends)))
        spent = -sum(r * (a if r > 0 else b) for r, (a, b) in zip(beta.values, ends, strict=True))
        constants = Vector(rest, shift + low.shift), Vector([spent], beta.shift + low.shift)
        return Lines(up, down, shift, beta if by.beta else None, *constants)

    def _top(self, place: Place, coefficients: Vector) -> Vector:
        """The maximum of a linear function on box × choices."""
        low, high, shift = place.ends
        best = _largest(coefficients.values, low, high)
        for columns in place.allowed.values():
            best += max(coefficients.values[self.order[column]] for column in columns) << shift
        return Vector([best], coefficients.shift + shift)

    def leaf(self, place: Place, start: Vector, by: Any) -> Fraction:
        """A number that start · output does not exceed: by a backward pass, or by the last interval alone."""
        depth, (over, constant) = len(self.layers) - 1, self.layers[-1].before(start)
        if by is None:
            return (self._closed(place, depth, [over]) + constant).fractions()[0]
        return (self.passes(place, depth, [over], Multipliers.read(by)) + constant).fractions()[0]

    def halves(self, place: Place, kind: str, one: Any, other: Any) -> tuple[Place, Place]:
        """The two parts of a node; they share their border, so that nothing falls between."""
        first = second = place  # both are everything, where there is nothing or where nothing moves
        if kind == "relu" and not place.empty:
            low, high = place.hidden[position(one, len(place.hidden))]
            below, above = (
                Vector([0 if k == other else v for k, v in enumerate(e.values)], e.shift) for e in (high, low)
            )
            first, second = place.learn(one, low, below), place.learn(one, above, high)
        elif kind == "choice" and one in place.allowed:
            values = frozenset(self.choices[one][value] for value in other)
            sides = place.allowed[one] & values, place.allowed[one] - values
            first, second = (replace(place, allowed={**place.allowed, one: side}, stale=0) for side in sides)
        elif kind == "numeric" and one in place.box:
            (left, right), t = place.box[one], number(other)
            ends = (left, min(right, t)), (max(left, t), right)
            first, second = (replace(place, box={**place.box, one: end}, stale=0) for end in ends)
        elif kind not in ("relu", "choice", "numeric"):
            raise Rejected(f"there is no node {kind}")
        return first, second

    def tree(self, root: Place, start: Vector, nodes: Any) -> Fraction | float:
        """The largest bound of the leaves; −inf if no point is there. Rejected unless this is exactly one tree."""
        waiting, nothing = [root], start.times(0)
        largest: Fraction | float = -math.inf
        for count, node in enumerate(nodes):
            if not waiting:
                raise Rejected(f"node {count} has no place in the tree")
            ((kind, inside),) = ((key, value) for key, value in node.items() if key != "bounds")
            place, bounds, ends = waiting.pop(), node.get("bounds", {}), kind in ("leaf", "empty")
            place = self.settle(place, bounds) if bounds or ends else place
            if not ends:
                waiting += reversed(self.halves(place, kind, *inside))
            elif kind == "leaf" and not place.empty:
                largest = max(largest, self.leaf(place, start, inside))
            elif not place.empty and not self.leaf(place, nothing, inside) < 0:
                raise Rejected(f"node {count} does not show that no point is left")
        if waiting:
            raise Rejected(f"the tree lacks {len(waiting)} of its branches")
        return largest


def examine(problem: Problem, proof: Any) -> Bounds:
    """For each direction of a proof the number that direction · network(x′) does not exceed in the cell.

    Where it shows that the cell has no point, the bound of the empty direction is −inf.
    """
    with reading("the proof"):
        outputs, found = len(problem.layers[-1].bias.values), Bounds()
        root = problem.settle(problem.root, proof.get("bounds", {}))
        for claim in proof["claims"]:
            entries = {position(output, outputs): number(value) for output, value in claim["direction"]}
            start = exact(entries.get(output, 0.0) for output in range(outputs))
            direction = tuple(sorted((output, value) for output, value in entries.items() if value))
            bound = problem.tree(root, start, claim["nodes"])
            direction = () if bound == -math.inf else direction
            found[direction] = min(found.get(direction, math.inf), bound)
        return found


def follows(found: Bounds, direction: Direction, limit: Fraction | float, strict: bool = False) -> bool:
    """Whether the direction stays within (strictly: below) the limit; in a cell without a point every one does."""
    bound = found.get(direction, math.inf)
    return found.get(()) == -math.inf or bound < limit or (bound == limit and not strict)
