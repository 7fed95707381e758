"""Sums of trees in exact arithmetic: which leaves a part of a cell can reach, and the largest sum of their values."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

from lcifr.check.cell import Direction, RationalCell, borders, halve, has_room
from lcifr.check.exact import VALUES, at_most, ensure, exact, fraction, items, number, numbers, position, spend, up
from lcifr.check.network import FORMATS, FactorChain, Groups, errors, numeric, read_layer, read_network

Leaves = list[tuple[Groups, dict[int, int]]]  # the groups that a tree narrows on the way to a leaf; its integers
SEVERAL: Groups = {("", 0): (), ("", 1): ()}  # stands for more than one: which they are matters to nobody


def reached(tree: Any, groups: Groups, box: Groups) -> Leaves:
    """The leaves that a part with these groups can reach, where those in the box are narrowed already."""
    spend(30 + len(box) // 8)
    if isinstance(tree, dict):
        return [(box if len(box) < 2 else SEVERAL, tree)]
    name, ends, *children = tree
    here, found = box.get(name, groups[name]), Leaves()
    for half, child in zip(halve(here, ends), children, strict=True):
        if has_room(half):
            found += reached(child, groups, box if half == here else {**box, name: half})
    return found


class TreeSum:
    """outputs = base + scale · Σ of one leaf of each tree; values of leaves are integers over ``2**shift``."""

    def __init__(self, found: Any, width: int) -> None:
        ensure(found["inputs"] == width, f"{width} numbers come in, the trees take {found['inputs']!r:.60}")
        self.base = [Fraction(value) for value in numbers(found["base"], len(found["base"]))]
        self.scale, self.outputs = fraction(found["scale"]), len(self.base)
        ensure(self.scale > 0, "the scale is not positive")
        self.bits = (self.scale.numerator * self.scale.denominator).bit_length()
        at_most(VALUES, width * self.outputs, "columns times outputs of trees")
        leaves = (node[1] for nodes in items(found["trees"]) for node in nodes if node[0] == "leaf")
        self.shift = exact([number(value) for leaf in leaves for _, value in leaf]).shift
        self.trees = [self._read(nodes) for nodes in found["trees"]]
        self.network = (read_layer([[0.0] * (width + 1)] * self.outputs, width + 1),)  # nothing is linear

    def _read(self, nodes: Any) -> Any:
        """A tree in preorder as its only leaf, or as (group, ends, first child, second child); from its end on."""
        built: list[Any] = []
        for kind, name, *border in reversed(items(nodes)):
            if kind == "leaf":
                values = {position(j, self.outputs): int(Fraction(value) * 2**self.shift) for j, value in items(name)}
                ensure(not border and len(values) == len(name), "a leaf has an output twice, or more than outputs")
                built.append(values)
            else:
                (ends,) = border
                built.append(((kind, name), borders(kind, ends, floats=True), built.pop(), built.pop()))
        (tree,) = built
        return tree

    def reach(self, groups: Groups) -> list[Leaves]:
        """Of each tree the leaves that a part with these groups can reach."""
        return [reached(tree, groups, {}) for tree in self.trees]

    def at(self, point: Groups) -> list[Fraction]:
        """The exact outputs at a point. Thresholds are floats, so a number between two floats counts as the next."""
        spend(1_500 * self.outputs)  # with what becomes of each of them
        point = {name: [(column, up(Fraction(value))) for column, value in group] for name, group in point.items()}
        leaves = self.reach(point)
        return [self.largest(leaves, point, ((output, 1),)) for output in range(self.outputs)]

    def rounding(self, groups: Groups, arithmetic: list[str], before: Sequence[Fraction] = ()) -> list[Fraction]:
        """How far a machine's outputs are from exact ones at most, on a cell of these groups; or at a point.

        What comes in at a point may be off by so much before: then it is what trees say of all that it can be.
        """
        (unit, normal), found, count = FORMATS[arithmetic[-1]], list[Fraction](), len(self.trees)
        rounded = (count + 5) * unit
        ensure(2 * rounded <= 1, "there are so many trees that nothing is known of their sum")
        own = self.at(groups) if before else []
        if before:
            groups = numeric((v - e, v + e) for [(_, v)], e in zip(groups.values(), before, strict=True))
        leaves, lost = self.reach(groups), 16 * normal * (count + 2) * (1 + self.scale)
        spend(self.outputs * (400 + self.bits + 10 * sum(map(len, leaves))))
        for j, base in enumerate(map(abs, self.base)):
            large = Fraction(sum(max(abs(leaf.get(j, 0)) for _, leaf in tree) for tree in leaves), 1 << self.shift)
            found.append(rounded / (1 - rounded) * (base + self.scale * large) + lost)
            ensure((base + large + self.scale * large + found[j]) * normal < 2, "a number may be too large")
            spread = [self.largest(leaves, groups, ((j, s),)) - s * y for y in own[j : j + 1] for s in (1, -1)]
            found[j] += max(spread, default=0)
        return found

    def largest(self, trees: list[Leaves], groups: Groups, direction: Direction) -> Fraction:
        """What direction · outputs does not exceed at these leaves; trees about one group are added up first."""
        (values, shift), total, alone = exact([c for _, c in direction]), 0, defaultdict[Any, Counter[float]](Counter)
        weights = dict(zip((j for j, _ in direction), values, strict=True))
        spend(100 + self.bits)
        for leaves in trees:
            spend((20 + 10 * len(weights)) * len(leaves))
            scores = [sum(weight * leaf.get(j, 0) for j, weight in weights.items()) for _, leaf in leaves]
            names = {name for box, _ in leaves for name in box}
            if len(names) != 1:
                total += max(scores)
                continue
            (name,) = names
            for (box, _), score in zip(leaves, scores, strict=True):
                if name[0] == "numeric":
                    spans = [(box[name][0][1], math.nextafter(box[name][-1][1], math.inf))]
                else:  # by the places of the columns among those left
                    spans = [(place, place + 1) for place, corner in enumerate(groups[name]) if corner in box[name]]
                for start, stop in spans:
                    alone[name][start] += score
                    alone[name][stop] -= score
        total += sum(max(accumulate(steps[place] for place in sorted(steps)[:-1])) for steps in alone.values())
        base = sum((Fraction(c) * self.base[j] for j, c in direction), Fraction(0))
        return base + self.scale * Fraction(total, 1 << self.shift + shift)


class MixedChain:
    """A function of the numbers that a machine stores of what another says, where one of the two is trees.

    Proofs are about the second alone, on a box of what comes in between.
    """

    def __init__(self, first: Any, second: Any) -> None:
        self.first, self.second, self.outputs = first, second, second.outputs

    def at(self, point: Groups) -> list[Fraction]:
        """The exact outputs at a point."""
        return list(self.second.at(numeric(zip(self.first.at(point), strict=True))))

    def rounding(self, point: Groups, arithmetic: list[str]) -> list[Fraction]:
        """How far a machine's outputs are from exact ones at most, at a point."""
        between, off = numeric(zip(self.first.at(point), strict=True)), errors(self.first, point, arithmetic[:1])
        return list(self.second.rounding(between, arithmetic[1:], off))

    def box(self, groups: Groups, arithmetic: list[str]) -> RationalCell:
        """All that a machine computes as the outputs of trees in a cell, rounded outward."""
        ensure(isinstance(self.first, TreeSum), "trees behind an encoder are shown on its box, not on the whole")
        leaves, off = self.first.reach(groups), enumerate(errors(self.first, groups, arithmetic[:1]))
        ends = ([s * up(self.first.largest(leaves, groups, ((j, s),)) + e) for s in (-1, 1)] for j, e in off)
        return RationalCell(numeric(ends))


def read_function(found: Any, width: int, flushed: float = 0.0) -> Any:
    """Trees, a network, or the factors of one, which touch without a ReLU; without factors it is the identity."""
    if isinstance(found, dict) and found["kind"] == "trees":
        return TreeSum(found, width)
    ensure(isinstance(found, list) or found["kind"] == "network", "a function is neither a network nor trees")
    factors = [found] if isinstance(found, list) else items(found["factors"])
    return FactorChain([[read_network(layers) for layers in factors]], width, flushed)


def chained(first: Any, second: Any) -> Any:
    """One function after another; two networks are one."""
    if isinstance(first, FactorChain) and isinstance(second, FactorChain):
        return FactorChain(first.parts + second.parts, first.width, first.flushed)
    return MixedChain(first, second) if isinstance(first, TreeSum) or first.network else second
