"""One network on one cell: what a split tree with multipliers proves there. docs/design/proofs.md has the mathematics.

No number of a proof can make a bound false, so none is judged: what does not fit is not used, or raises, which rejects.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from lcifr.check.exact import Rejected, Vector, ensure, exact, number, numbers, position, reading, up
from lcifr.check.limits import spend
from lcifr.check.network import Corners, Network, read_layer

Direction = tuple[tuple[int, float], ...]  # (output, coefficient) in ascending order, without zeros
Bounds = dict[Direction, Fraction]  # what a direction does not exceed; below 0 for none at all: there is no point
# Of each corner of a group a column and its value there; all other columns of the group are 0.
Groups = Mapping[tuple[str, int], Sequence[tuple[int, float]]]
Ends = list[float]  # what y and −y of each neuron of a layer do not exceed, one after the other; rounded up


class RationalCell(NamedTuple):
    """Where the features are: every group of columns at or between its corners, and G x − g ≤ 0 for each row [G −g].

    A number is a group ``"numeric", column`` with the corners (column, low) and (column, high). A category is a group
    ``"choice", first column`` with a corner (column, 1) for each category that is allowed. ``wholes`` are the names of
    numbers that are whole in the table, with the column of each and how a number of the table becomes its value there.
    """

    groups: Groups
    rows: Sequence[Sequence[float]] = ()
    wholes: Mapping[str, tuple[int, Callable[[float], float]]] = {}


class Part(NamedTuple):
    """A part of a cell, and which ends (layer, place) of hidden neurons are at most 0 in it."""

    groups: Groups
    decided: frozenset[tuple[int, int]] = frozenset()

    @property
    def empty(self) -> bool:
        """Whether a group has no corner, or a number no room."""
        return not all(group and group[0][1] <= group[-1][1] for group in self.groups.values())


class Problem:
    """A network on a cell. Columns that stand still there are made constant, and the others counted anew."""

    def __init__(self, network: Network, cell: RationalCell) -> None:
        self.root, self.wholes = Part(cell.groups), cell.wholes
        fixed = dict(corner for group in cell.groups.values() if len(set(group)) == 1 for corner in group)
        columns = sorted({column for group in cell.groups.values() for column, _ in group} - fixed.keys())
        self.places = {column: place for place, column in enumerate(columns)}
        self.layers = (network[0].at(fixed, columns), *network[1:])
        self.cuts = read_layer(cell.rows, len(network[0].columns)).at(fixed, columns)

    def corners(self, part: Part) -> Corners:
        """Of the groups that move."""
        moving = (group for group in part.groups.values() if all(column in self.places for column, _ in group))
        return Corners([(self.places[column], value) for column, value in group] for group in moving)

    def bounds(self, corners: Corners, hidden: Sequence[Ends], starts: Iterable[Vector], by: Any) -> list[Fraction]:
        """For each start a number that it does not exceed: start · [relu(y) 1] of the last of these hidden layers."""
        spend(30 * (5 + len(by[0]) + len(by[1])))
        lines = {(layer, k): numbers(line, 3) for layer, k, *line in by[0]}
        for depth, ends in reversed(list(enumerate(hidden))):
            given = [value for k in range(len(ends) // 2) for value in lines.get((depth, k), (0.0, 0.0, 0.0))]
            slopes, sides = exact(given), exact(ends)
            starts = [self.layers[depth].before(_relaxed(over, slopes, sides)) for over in starts]
        if by[1]:  # λ·(g − G x) is not negative anywhere in the cell; a negative λ is none
            rates = {row: min(-number(rate), 0.0) for row, rate in by[1]}
            cut = self.cuts.before(exact([*(rates.get(row, 0.0) for row in range(len(self.cuts.rows) - 1)), 0.0]))
            starts = [over.plus(cut) for over in starts]
        return [corners.top(over) for over in starts]

    def intervals(self, corners: Corners, decided: frozenset[tuple[int, int]], passes: Any) -> list[Ends]:
        """Where the neurons of every hidden layer are: by what is decided, interval arithmetic and given passes."""
        hidden: list[Ends] = []
        for depth, layer in enumerate(self.layers[:-1]):
            spend(100 + len(passes))
            count = 2 * len(layer.rows) - 2
            ends = [0.0 if (depth, place) in decided else math.inf for place in range(count)]
            for _, places, *by in [(depth, range(count), (), ()), *(one for one in passes if one[0] == depth)]:
                starts = [layer.row(position(k, count) // 2, 1 - 2 * (k % 2)) for k in places]
                for k, bound in zip(places, self.bounds(corners, hidden, starts, by), strict=True):
                    ends[k] = min(ends[k], up(bound))
            hidden.append(ends)
        return hidden

    def leaf(self, part: Part, ends: Any, passes: Any) -> Bounds | None:
        """What the passes of a leaf show; None if there is no point."""
        if part.empty:
            return None
        corners, found, outputs = self.corners(part), Bounds(), range(len(self.layers[-1].rows) - 1)
        hidden = self.intervals(corners, part.decided, ends)
        if any(y < -minus for ends in hidden for y, minus in zip(ends[::2], ends[1::2], strict=True)):
            return None
        for direction, *by in passes:
            spend(30 * len(direction))
            entries = {position(output, len(outputs)): number(value) for output, value in direction}
            start = self.layers[-1].before(exact([*(entries.get(output, 0.0) for output in outputs), 0.0]))
            (bound,) = self.bounds(corners, hidden, [start], by)
            key = tuple(entries.items())
            found[key] = min(bound, found.get(key, bound))
        return None if found.get((), 0) < 0 else found

    def halves(self, part: Part, kind: str, name: Any, border: Any) -> list[Part]:
        """The two parts of a part. They share their border, or no whole number is between k and k + 1."""
        spend(15 * (20 + len(part.groups) + len(part.decided)))
        if kind == "relu":
            layer = position(name, len(self.layers) - 1)
            k = position(border, len(self.layers[layer].rows) - 1)
            return [Part(part.groups, part.decided | {(layer, place)}) for place in (2 * k, 2 * k + 1)]
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
            spend(len(group) * (5 + len(border)))
            halves = [[corner for corner in group if (corner[0] in border) == inside] for inside in (True, False)]
        return [Part({**part.groups, (kind, name): half}, part.decided) for half in halves]


def _relaxed(over: Vector, slopes: Vector, sides: Vector) -> Vector:
    """From a linear function of relu(y) to one of y that is nowhere smaller, whatever slopes and β are.

    v·relu(y) ≤ c·y + t for any c, with t the largest v·relu(y) − c·y: at an end of the interval, or at 0.
    """
    spend(len(sides.values) * (10 + ((over.bits + slopes.bits + sides.bits) ** 2 >> 19)))
    result, constant = [], over.values[-1] << slopes.shift + sides.shift
    lines, ends = (zip(*[iter(vector.values)] * count, strict=True) for vector, count in ((slopes, 3), (sides, 2)))
    for v, (above, below, beta), (high, minus) in zip(over.values, lines, ends, strict=False):
        c = v * (above if v > 0 else below) + (beta << over.shift)
        on = (v << slopes.shift) - c
        constant += max([on * y if y > 0 else -c * y for y in (-minus, high, 0 if -minus < 0 < high else high)])
        result.append(c << sides.shift)
    return Vector([*result, constant], over.shift + slopes.shift + sides.shift)


def examine(problem: Problem, nodes: Any) -> Bounds:
    """For each direction of a proof the number that direction · network(x′) does not exceed in the cell.

    The nodes are a tree in preorder; rejected unless they are exactly one.
    """
    with reading("the proof"):
        waiting, found = [problem.root], None
        for count, (kind, *inside) in enumerate(nodes):
            spend(100)
            ensure(waiting, f"node {count} has no place in the tree")
            part = waiting.pop()
            if kind != "leaf":
                waiting += reversed(problem.halves(part, kind, *inside))
            elif (here := problem.leaf(part, *inside)) is not None:
                bounds = here if found is None else found
                found = {key: max(bound, bounds[key]) for key, bound in here.items() if key in bounds}
        ensure(not waiting, f"the tree lacks {len(waiting)} of its branches")
        return {(): Fraction(-1)} if found is None else found


def follows(found: Bounds, direction: Direction, limit: Fraction | float, strict: bool = False) -> bool:
    """Whether the direction stays within (strictly: below) the limit; in a cell without a point every one does."""
    bound = found.get(direction, math.inf)
    return found.get((), 0) < 0 or bound < limit or (bound == limit and not strict)
