"""One network on one cell: what a split tree with multipliers proves there. docs/design/proofs.md has the mathematics.

No number of a proof can make a bound false, so none is judged: what does not fit is not used, or raises, which rejects.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from lcifr.check.exact import Rejected, Vector, dot, exact, number, numbers, position, reading, up

Neuron = tuple[int, int]  # hidden layer, neuron
Direction = tuple[tuple[int, float], ...]  # (output, coefficient) in ascending order, without zeros
Bounds = dict[Direction, Fraction]  # what a direction does not exceed; below 0 for none at all: there is no point
Corner = tuple[int, float]  # a column and its value there; all other columns of the group are 0
Groups = Mapping[tuple[str, int], Sequence[Corner]]
SIDES = {"lower": -1, "upper": 1}
Interval = dict[str, list[float]]  # what −y and y of the neurons of a layer do not exceed, rounded up


@dataclass(frozen=True)
class Layer:
    """W x + b as one matrix in integers over ``2**shift``: the rows of [W b], and below them 0 … 0 1.

    So x and y both end with a 1, whose coefficient is the constant of a linear function.
    """

    rows: Sequence[Sequence[int]]
    shift: int

    @cached_property
    def columns(self) -> list[tuple[int, ...]]:
        return list(zip(*self.rows, strict=True))

    def before(self, over: Vector) -> Vector:
        """A linear function of W x + b as one of x."""
        return Vector([dot(over.values, column) for column in self.columns], over.shift + self.shift)

    def at(self, fixed: Mapping[int, float], moving: Iterable[int]) -> Layer:
        """The same as a function of the moving columns: what the fixed ones contribute is constant."""
        known = exact([*fixed.values(), 1.0])
        places = [*fixed, len(self.rows[0]) - 1]
        rows = [
            [*(row[c] << known.shift for c in moving), dot(known.values, (row[c] for c in places))] for row in self.rows
        ]
        return Layer(rows, self.shift + known.shift)


Network = tuple[Layer, ...]


def _layer(weight: Sequence[Sequence[float]], bias: Sequence[float], inputs: int) -> Layer:
    rows = [[*numbers(row, inputs), number(b)] for row, b in zip(weight, bias, strict=True)]
    flat = exact([*(value for row in rows for value in row), *[0.0] * inputs, 1.0])
    return Layer([flat.values[i : i + inputs + 1] for i in range(0, len(flat.values), inputs + 1)], flat.shift)


def read_network(layers: Sequence[tuple[Sequence[Sequence[float]], Sequence[float]]]) -> Network:
    """Read (W by rows, b) per layer; layers whose sizes do not fit are rejected."""
    with reading("a network"):
        widths = [len(layers[0][0][0]), *(len(weight) for weight, _ in layers)]
        return tuple(_layer(weight, bias, width) for (weight, bias), width in zip(layers, widths, strict=False))


@dataclass(frozen=True)
class Cell:
    """Where the features are: every group of columns at or between its corners, cut by rows G x ≤ g.

    A number is a group ``"numeric", column`` with the corners (column, low) and (column, high). A category is a group
    ``"choice", first column`` with a corner (column, 1) for each category that is allowed.
    """

    groups: Groups
    G: Sequence[Sequence[float]] = ()
    g: Sequence[float] = ()


class Part:
    """A part of a cell, and the ReLUs that are decided in it; ``order`` has the places of the columns that can move."""

    def __init__(self, order: Mapping[int, int], groups: Groups, decided: Mapping[Neuron, str]) -> None:
        self.groups, self.decided = groups, decided
        self.empty = not all(group and group[0][1] <= group[-1][1] for group in groups.values())
        moving = [group for group in groups.values() if all(column in order for column, _ in group)]
        values = exact([*(value for group in moving for _, value in group), 1.0])
        rest, self.shift = iter(values.values), values.shift
        self.corners = [[(order[column], next(rest)) for column, _ in group] for group in moving]
        self.corners.append([(len(order), next(rest))])  # the 1

    def top(self, over: Vector) -> Fraction:
        """The maximum of a linear function: of each group the best corner."""
        best = sum(max([over.values[column] * value for column, value in group]) for group in self.corners)
        return Fraction(best, 1 << over.shift + self.shift)


class Problem:
    """A network on a cell."""

    def __init__(self, network: Network, cell: Cell) -> None:
        columns = [column for group in cell.groups.values() for column in {column for column, _ in group}]
        inputs = len(network[0].rows[0]) - 1
        if len(set(columns)) < len(columns) or not set(columns) <= set(range(inputs)):
            raise Rejected("the cell does not hold each of its columns exactly once, or they are not the network's")
        fixed = dict(corner for group in cell.groups.values() if len(set(group)) == 1 for corner in group)
        self.order = {c: place for place, c in enumerate(c for c in columns if c not in fixed)}
        self.layers = (network[0].at(fixed, self.order), *network[1:])
        self.cuts = _layer(cell.G, [-limit for limit in cell.g], inputs).at(fixed, self.order)
        self.root = Part(self.order, cell.groups, {})

    def bounds(self, part: Part, hidden: Sequence[Interval], starts: Iterable[Vector], by: Any) -> list[Fraction]:
        """For each start a number that it does not exceed: start · [relu(y) 1] of the last of these hidden layers."""
        lines = {(layer, k): numbers(line, 3) for layer, k, *line in by[0]}
        rates = {row: -number(rate) for row, rate in by[1]}
        if any(rate > 0 for rate in rates.values()):
            raise Rejected("the multiplier of a row is negative")
        for layer, ends in reversed(list(enumerate(hidden))):
            given = [value for k in range(len(ends["upper"])) for value in lines.get((layer, k), (0.0, 0.0, 0.0))]
            relus = _relus(exact(given), exact([*ends["lower"], *ends["upper"]]))
            starts = [self.layers[layer].before(_relaxed(over, *relus)) for over in starts]
        if rates:  # λ·(g − G x) is not negative anywhere in the cell
            cut = self.cuts.before(exact([*(rates.get(row, 0.0) for row in range(len(self.cuts.rows) - 1)), 0.0]))
            starts = [over + cut for over in starts]
        return [part.top(over) for over in starts]

    def intervals(self, part: Part, ends: Any) -> list[Interval]:
        """Where the neurons of every hidden layer are: by interval arithmetic, given passes, and what is decided."""
        hidden: list[Interval] = []
        for depth, layer in enumerate(self.layers[:-1]):
            every = range(len(layer.rows) - 1)
            found = {side: [math.inf for _ in every] for side in SIDES}
            plain = [(depth, side, every, (), ()) for side in SIDES]
            for at, side, neurons, *by in [*plain, *ends]:
                if at == depth:
                    for k, end in zip(neurons, self._ends(part, hidden, side, neurons, by), strict=True):
                        found[side][k] = min(found[side][k], end)
            for (at, k), side in part.decided.items():
                if at == depth:
                    found[side][k] = min(found[side][k], 0.0)
            hidden.append(found)
        return hidden

    def _ends(self, part: Part, hidden: Sequence[Interval], side: str, neurons: Sequence[int], by: Any) -> list[float]:
        """What ±y of these neurons of the next layer does not exceed, rounded up."""
        layer, sign = self.layers[len(hidden)], SIDES[side]
        rows = [layer.rows[position(k, len(layer.rows) - 1)] for k in neurons]
        starts = [Vector([sign * value for value in row], layer.shift) for row in rows]
        return [up(bound) for bound in self.bounds(part, hidden, starts, by)]

    def leaf(self, part: Part, ends: Any, passes: Any) -> Bounds | None:
        """What the passes of a leaf show; None if there is no point."""
        found, outputs = Bounds(), range(len(self.layers[-1].rows) - 1)
        hidden = [] if part.empty else self.intervals(part, ends)
        if part.empty or any(-low > high for ends in hidden for low, high in zip(*ends.values(), strict=True)):
            return None
        for direction, *by in passes:
            entries = {position(output, len(outputs)): number(value) for output, value in direction}
            start = exact([*(entries.get(output, 0.0) for output in outputs), 0.0])
            (bound,) = self.bounds(part, hidden, [self.layers[-1].before(start)], by)
            key = tuple(sorted((output, value) for output, value in entries.items() if value))
            found[key] = min(bound, found.get(key, bound))
        return None if found.get((), 0) < 0 else found

    def halves(self, part: Part, kind: str, name: Any, border: Any) -> list[Part]:
        """The two parts of a part; they share their border, so that nothing falls between."""
        if kind == "relu":
            layer = position(name, len(self.layers) - 1)
            at = layer, position(border, len(self.layers[layer].rows) - 1)
            return [Part(self.order, part.groups, {**part.decided, at: side}) for side in ("upper", "lower")]
        if kind not in ("numeric", "choice"):
            raise Rejected(f"there is no node {kind}")
        if (group := part.groups.get((kind, name))) is None:  # it is not there: both are everything
            return [part, part]
        if kind == "numeric":
            ((column, low), (_, high)), t = group, number(border)
            halves = [[(column, low), (column, min(high, t))], [(column, max(low, t)), (column, high)]]
        else:
            halves = [[corner for corner in group if (corner[0] in border) == first] for first in (True, False)]
        return [Part(self.order, {**part.groups, (kind, name): half}, part.decided) for half in halves]


def _relus(given: Vector, ends: Vector) -> tuple[list[Any], int, int]:
    """For each neuron its slopes, β and where v·relu(y) − c·y can be largest: y with relu(y) at both ends and at 0."""
    found = []
    for k, (low, high) in enumerate(zip(ends.values, ends.values[len(ends.values) // 2 :], strict=False)):
        points = {(y, max(y, 0) << given.shift) for y in (-low, high, min(max(-low, 0), high))}
        found.append((*given.values[3 * k : 3 * k + 3], points))
    return found, given.shift, ends.shift


def _relaxed(over: Vector, relus: Any, coarse: int, fine: int) -> Vector:
    """From a linear function of relu(y) to one of y that is nowhere smaller, whatever slopes and β are.

    v·relu(y) ≤ c·y + t for any c, with t the largest v·relu(y) − c·y: at an end of the interval, or at 0.
    """
    result, constant = [], over.values[-1] << coarse + fine
    for v, (above, below, beta, points) in zip(over.values, relus, strict=False):
        c = v * (above if v > 0 else below) + (beta << over.shift)
        constant += max([v * relu - c * y for y, relu in points])
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
