"""One function on one cell: what a split tree with multipliers proves there. docs/design/proofs.md has the mathematics.

No number of a proof can make a bound false, so none is judged: what does not fit is not used, or raises, which rejects.
"""

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from lcifr.check.exact import Vector, ensure, exact, items, number, numbers, position, reading, spend, up
from lcifr.check.functions import Corners, Direction, Network, RationalCell, borders, halve, has_room, read_layer

Bounds = dict[Direction, Fraction]  # what a direction does not exceed; below 0 for none at all: there is no point


class Problem:
    """A network or a sum of trees on a cell, or on a part of it.

    Halves of a number share their border; trees see floats alone, so there the second begins one float further.
    """

    def __init__(self, network: Network, cell: RationalCell, trees: Any = None) -> None:
        self.network, self.cuts = network, read_layer(cell.rows, len(network[0].columns))
        self.trees, self.root = trees, cell

    def leaf(self, part: RationalCell, ends: Any, passes: Any) -> Bounds | None:
        """What the passes of a leaf show; None if there is no point."""
        if not all(map(has_room, part.groups.values())):
            return None
        within, found, outputs = Relaxation(self, part, ends), Bounds(), range(len(self.network[-1].rows) - 1)
        if any(y < -minus for ends in within.hidden for y, minus in zip(ends[::2], ends[1::2], strict=True)):
            return None
        leaves = self.trees and self.trees.reach(part.groups)
        for direction, *by in items(passes):
            entries = {position(output, len(outputs)): number(value) for output, value in items(direction)}
            start = within.layers[-1].before(exact([*(entries.get(output, 0.0) for output in outputs), 0.0]))
            (bound,), key = within.bounds([start], *by), tuple(entries.items())
            bound += self.trees.largest(leaves, part.groups, key) if self.trees else 0
            found[key] = min(bound, found.get(key, bound))
        return None if found.get((), 0) < 0 else found

    def halves(self, part: RationalCell, kind: str, name: Any, border: Any) -> list[RationalCell]:
        """The two parts of a part. They share their border, or no whole number is between k and k + 1."""
        spend(15 * (20 + len(part.groups) + len(part.decided)))
        if kind == "relu":
            layer = position(name, len(self.network) - 1)
            k = position(border, len(self.network[layer].rows) - 1)
            return [part._replace(decided=part.decided | {(layer, place)}) for place in (2 * k, 2 * k + 1)]
        if kind == "whole":  # the encodings of the floats nearest to k and k + 1
            ensure(name in part.wholes and type(border) is int, "a split is of no whole number, or at none")
            (name, encode), kind = part.wholes[name], "numeric"
            ends: Any = numbers([encode(float(border)), encode(float(border + 1))], 2)
        else:
            ends = borders(kind, border, floats=self.trees is not None)
        ensure((kind, name) in part.groups, "a split is of no kind, or about what the cell does not have")
        halves = halve(part.groups[kind, name], ends)
        return [part._replace(groups={**part.groups, (kind, name): half}) for half in halves]


class Relaxation:
    """Where the neurons of every hidden layer are in a part, and linear functions of them bounded by those of corners.

    By what is decided, interval arithmetic and the given passes; ``hidden`` has of each layer what y and −y of each
    neuron do not exceed, one after the other, rounded up.
    """

    def __init__(self, problem: Problem, part: RationalCell, passes: Any) -> None:
        self.corners, self.hidden = Corners(part.groups.values()), list[list[float]]()
        self.layers = [self.corners.of(problem.network[0]), *problem.network[1:]]
        self.cuts = self.corners.of(problem.cuts)
        for depth, layer in enumerate(self.layers[:-1]):
            every = range(2 * len(layer.rows) - 2)
            ends = [0.0 if (depth, place) in part.decided else math.inf for place in every]
            given = (one for one in items(passes) if one[0] == depth)
            for _, places, *by in [(depth, every, (), ()), *given]:
                starts = (layer.row(position(k, len(every)) // 2, 1 - 2 * (k % 2)) for k in places)
                for k, bound in zip(places, self.bounds(starts, *by), strict=True):
                    ends[k] = min(ends[k], up(bound))
            self.hidden.append(ends)

    def bounds(self, starts: Iterable[Vector], lines: Any, rows: Any, *, depth: Any = None) -> Iterator[Fraction]:
        """For each start, of the layer at that depth or the next, a number that it does not exceed in the part."""
        known, steps = {(layer, k): numbers(line, 3) for layer, k, *line in items(lines)}, []
        for at, ends in reversed(list(enumerate(self.hidden[:depth]))):
            given = [value for k in range(len(ends) // 2) for value in known.get((at, k), (0.0, 0.0, 0.0))]
            steps.append((self.layers[at], exact(given), exact(ends)))
        rates = {row: min(-number(rate), 0.0) for row, rate in items(rows)}  # a negative λ is none
        cut = self.cuts.before(exact([*(rates.get(row, 0.0) for row in range(len(self.cuts.rows) - 1)), 0.0]))
        for over in starts:
            for layer, slopes, sides in steps:
                over = layer.before(_relaxed(over, slopes, sides))
            yield self.corners.top(over.plus(cut) if rates else over)  # λ·(g − G x) is nowhere in the cell negative


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
        spend(200 + 300 * len(nodes))
        waiting, found = [problem.root], None
        for count, (kind, *inside) in enumerate(nodes):
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
    spend(50)
    bound = found.get(direction, math.inf)
    return found.get((), 0) < 0 or bound < limit or (bound == limit and not strict)
