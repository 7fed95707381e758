"""One network on one cell: what a split tree with multipliers proves there. docs/design/proofs.md has the mathematics.

No number of a proof can make a bound false, so none is judged: what does not fit is not used, or raises, which rejects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from lcifr.check.exact import Rejected, Vector, dot, exact, number, numbers, position, reading, up
from lcifr.check.limits import UNCOUNTED, StepCounter

Direction = tuple[tuple[int, float], ...]  # (output, coefficient) in ascending order, without zeros
Bounds = dict[Direction, Fraction]  # what a direction does not exceed; below 0 for none at all: there is no point
# Of each corner of a group a column and its value there; all other columns of the group are 0.
Groups = Mapping[tuple[str, int], Sequence[tuple[int, float]]]
Ends = list[float]  # what y and −y of each neuron of a layer do not exceed, one after the other; rounded up


@dataclass(frozen=True)
class IntegerLayer:
    """W x + b as one matrix in integers over ``2**shift``: the rows of [W b], and below them 0 … 0 1.

    So x and y both end with a 1, whose coefficient is the constant of a linear function.
    """

    rows: Sequence[Sequence[int]]
    shift: int

    @cached_property
    def columns(self) -> list[tuple[int, ...]]:
        """A column of zeros is empty, and costs nothing."""
        return [column if any(column) else () for column in zip(*self.rows, strict=True)]

    @cached_property
    def bits(self) -> int:
        """How long the longest integer is."""
        return max(Vector(list(row), 0).bits for row in self.rows)

    @cached_property
    def size(self) -> int:
        """How many numbers count."""
        return sum(map(len, self.columns))

    def cost(self, bits: int) -> int:
        """Steps of work for the product with a vector of such long integers."""
        return self.size * (1 + (self.bits * bits >> 16))

    def before(self, over: Vector) -> Vector:
        """A linear function of W x + b as one of x."""
        values = [dot(over.values, column) if column else 0 for column in self.columns]
        return Vector(values, over.shift + self.shift)

    def at(self, fixed: Mapping[int, float], moving: Iterable[int]) -> IntegerLayer:
        """The same where the other columns are 0: what fixed ones contribute becomes constant."""
        known, places = exact([*fixed.values(), 1.0]), [*fixed, len(self.rows[0]) - 1]
        rows = [[value << known.shift if c in moving else 0 for c, value in enumerate(row)] for row in self.rows]
        for row, new in zip(self.rows, rows, strict=True):
            new[-1] = dot(known.values, (row[c] for c in places))
        return IntegerLayer(rows, self.shift + known.shift)


Network = tuple[IntegerLayer, ...]


def _layer(rows: Sequence[Sequence[float]], width: int) -> IntegerLayer:
    flat = exact([value for row in [*rows, [*[0.0] * (width - 1), 1.0]] for value in numbers(row, width)])
    return IntegerLayer([flat.values[i : i + width] for i in range(0, len(flat.values), width)], flat.shift)


def read_network(layers: Sequence[Sequence[Sequence[float]]]) -> Network:
    """Read the rows of [W b] of every layer; layers whose sizes do not fit are rejected."""
    with reading("a network"):
        widths = [len(layers[0][0]), *(len(rows) + 1 for rows in layers)]
        return tuple(_layer(rows, width) for rows, width in zip(layers, widths, strict=False))


class RationalCell(NamedTuple):
    """Where the features are: every group of columns at or between its corners, and G x − g ≤ 0 for each row [G −g].

    A number is a group ``"numeric", column`` with the corners (column, low) and (column, high). A category is a group
    ``"choice", first column`` with a corner (column, 1) for each category that is allowed. ``wholes`` are the names of
    numbers that are whole in the table, with the column of each and how a number of the table becomes its value there.
    """

    groups: Groups
    rows: Sequence[Sequence[float]] = ()
    wholes: Mapping[str, tuple[int, Callable[[float], float]]] = {}


class Part:
    """A part of a cell with its moving columns, and which ends (layer, place) of hidden neurons are at most 0 in it."""

    def __init__(self, moving: Container[int], groups: Groups, decided: frozenset[tuple[int, int]]) -> None:
        self.groups, self.decided = groups, decided
        self.empty = not all(group and group[0][1] <= group[-1][1] for group in groups.values())
        self.moving = moving

    @cached_property
    def corners(self) -> tuple[list[list[tuple[int, int]]], Vector]:
        """The groups that move, in integers, and the 1; and all these integers together."""
        shown = [group for group in self.groups.values() if all(column in self.moving for column, _ in group)]
        values = exact([*(value for group in shown for _, value in group), 1.0])
        rest = iter(values.values)
        corners = [[(column, next(rest)) for column, _ in group] for group in shown]
        return [*corners, [(-1, next(rest))]], values

    def top(self, over: Vector, work: StepCounter) -> Fraction:
        """The maximum of a linear function: of each group the best corner."""
        (corners, (values, shift)), long = self.corners, over.bits
        work.spend(90 + len(values) * (5 + (self.corners[1].bits * long >> 16)) + (long * long >> 16))
        best = sum(max([over.values[column] * value for column, value in group]) for group in corners)
        return Fraction(best, 1 << over.shift + shift)


class Problem:
    """A network on a cell; all work on it is counted."""

    def __init__(self, network: Network, cell: RationalCell, work: StepCounter = UNCOUNTED) -> None:
        self.work, self.wholes = work, cell.wholes
        size = len(network[0].rows) * (2 + (network[0].bits >> 9)) + 20 * len(cell.rows)
        self.work.spend(len(network[0].rows[0]) * (20 + size))
        fixed = dict(corner for group in cell.groups.values() if len(set(group)) == 1 for corner in group)
        self.moving = {column for group in cell.groups.values() for column, _ in group if column not in fixed}
        self.layers = (network[0].at(fixed, self.moving), *network[1:])
        self.cuts = _layer(cell.rows, len(network[0].rows[0])).at(fixed, self.moving)
        self.root = Part(self.moving, cell.groups, frozenset())

    def bounds(self, part: Part, hidden: Sequence[Ends], starts: Iterable[Vector], by: Any) -> list[Fraction]:
        """For each start a number that it does not exceed: start · [relu(y) 1] of the last of these hidden layers."""
        self.work.spend(30 * (5 + len(by[0]) + len(by[1])))
        lines = {(layer, k): numbers(line, 3) for layer, k, *line in by[0]}
        for layer, ends in reversed(list(enumerate(hidden))):
            given = [value for k in range(len(ends) // 2) for value in lines.get((layer, k), (0.0, 0.0, 0.0))]
            self.work.spend(20 * len(ends))
            slopes, sides = exact(given), exact(ends)
            relus = [*zip(*(slopes.values[i::3] for i in range(3)), sides.values[::2], sides.values[1::2], strict=True)]
            starts = [self._back(layer, over, relus, slopes, sides) for over in starts]
        if by[1]:  # λ·(g − G x) is not negative anywhere in the cell; a negative λ is none
            self.work.spend(self.cuts.cost(3_000))
            rates = {row: min(-number(rate), 0.0) for row, rate in by[1]}
            cut = self.cuts.before(exact([*(rates.get(row, 0.0) for row in range(len(self.cuts.rows) - 1)), 0.0]))
            starts = [over.plus(cut) for over in starts]
        return [part.top(over, self.work) for over in starts]

    def _back(self, depth: int, over: Vector, relus: Sequence[Any], slopes: Vector, sides: Vector) -> Vector:
        """From a linear function of relu(y) of a layer to one of what goes into the layer."""
        layer, long = self.layers[depth], over.bits + slopes.bits + sides.bits
        self.work.spend(len(relus) * (20 + (long * long >> 18)) + layer.cost(long))
        return layer.before(_relaxed(over, relus, slopes.shift, sides.shift))

    def intervals(self, part: Part, passes: Any) -> list[Ends]:
        """Where the neurons of every hidden layer are: by what is decided, interval arithmetic and given passes."""
        hidden: list[Ends] = []
        for depth, layer in enumerate(self.layers[:-1]):
            self.work.spend(100 + len(passes) + 5 * len(layer.rows) * len(layer.rows[0]) * (1 + (layer.bits >> 10)))
            rows = [[sign * value for value in row] for row in layer.rows[:-1] for sign in (1, -1)]
            ends = [0.0 if (depth, place) in part.decided else math.inf for place in range(len(rows))]
            for _, places, *by in [(depth, range(len(rows)), (), ()), *(one for one in passes if one[0] == depth)]:
                starts = [Vector(rows[position(k, len(rows))], layer.shift) for k in places]
                for k, bound in zip(places, self.bounds(part, hidden, starts, by), strict=True):
                    ends[k] = min(ends[k], up(bound))
            hidden.append(ends)
        return hidden

    def leaf(self, part: Part, ends: Any, passes: Any) -> Bounds | None:
        """What the passes of a leaf show; None if there is no point."""
        found, outputs = Bounds(), range(len(self.layers[-1].rows) - 1)
        hidden = [] if part.empty else self.intervals(part, ends)
        if part.empty or any(y < -minus for ends in hidden for y, minus in zip(ends[::2], ends[1::2], strict=True)):
            return None
        for direction, *by in passes:
            self.work.spend(30 * (len(outputs) + len(direction)) + self.layers[-1].cost(3_000))
            entries = {position(output, len(outputs)): number(value) for output, value in direction}
            start = exact([*(entries.get(output, 0.0) for output in outputs), 0.0])
            (bound,) = self.bounds(part, hidden, [self.layers[-1].before(start)], by)
            key = tuple(entries.items())
            found[key] = min(bound, found.get(key, bound))
        return None if found.get((), 0) < 0 else found

    def halves(self, part: Part, kind: str, name: Any, border: Any) -> list[Part]:
        """The two parts of a part. They share their border, or no whole number is between k and k + 1."""
        self.work.spend(15 * (20 + len(part.groups) + len(part.decided)))
        if kind == "relu":
            layer = position(name, len(self.layers) - 1)
            k = position(border, len(self.layers[layer].rows) - 1)
            return [Part(self.moving, part.groups, part.decided | {(layer, place)}) for place in (2 * k, 2 * k + 1)]
        if kind == "whole" and name in self.wholes and type(border) is int:
            (name, encode), kind = self.wholes[name], "numeric"
            first, second = number(encode(border)), number(encode(border + 1))  # of the floats nearest to k and k + 1
        elif kind == "numeric":
            first = second = number(border)
        if (group := part.groups.get((kind, name))) is None:
            raise Rejected("a split is of no kind, or about what the cell does not have")
        if kind == "numeric":
            (column, low), (_, high) = group
            halves = [[(column, low), (column, min(high, first))], [(column, max(low, second)), (column, high)]]
        else:
            self.work.spend(len(group) * (5 + len(border)))
            halves = [[corner for corner in group if (corner[0] in border) == first] for first in (True, False)]
        return [Part(self.moving, {**part.groups, (kind, name): half}, part.decided) for half in halves]


def _relaxed(over: Vector, relus: Any, coarse: int, fine: int) -> Vector:
    """From a linear function of relu(y) to one of y that is nowhere smaller, whatever slopes and β are.

    v·relu(y) ≤ c·y + t for any c, with t the largest v·relu(y) − c·y: at an end of the interval, or at 0.
    """
    result, constant = [], over.values[-1] << coarse + fine
    for v, (above, below, beta, high, minus) in zip(over.values, relus, strict=False):
        c = v * (above if v > 0 else below) + (beta << over.shift)
        on = (v << coarse) - c
        constant += max([on * y if y > 0 else -c * y for y in (-minus, high, 0 if -minus < 0 < high else high)])
        result.append(c << fine)
    return Vector([*result, constant], over.shift + coarse + fine)


def examine(problem: Problem, nodes: Any) -> Bounds:
    """For each direction of a proof the number that direction · network(x′) does not exceed in the cell.

    The nodes are a tree in preorder; rejected unless they are exactly one.
    """
    with reading("the proof"):
        waiting, found = [problem.root], None
        for count, (kind, *inside) in enumerate(nodes):
            if not waiting:
                raise Rejected(f"node {count} has no place in the tree")
            problem.work.spend(100)
            part = waiting.pop()
            if kind != "leaf":
                waiting += reversed(problem.halves(part, kind, *inside))
            elif (here := problem.leaf(part, *inside)) is not None:
                bounds = here if found is None else found
                found = {key: max(bound, bounds[key]) for key, bound in here.items() if key in bounds}
        if waiting:
            raise Rejected(f"the tree lacks {len(waiting)} of its branches")
        return {(): Fraction(-1)} if found is None else found


def follows(found: Bounds, direction: Direction, limit: Fraction | float, strict: bool = False) -> bool:
    """Whether the direction stays within (strictly: below) the limit; in a cell without a point every one does."""
    bound = found.get(direction, math.inf)
    return found.get((), 0) < 0 or bound < limit or (bound == limit and not strict)
