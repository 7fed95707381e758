"""Sums of trees in exact arithmetic: which leaves a part of a cell can reach, and the largest sum of their values."""

import math
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import accumulate
from typing import Any

from lcifr.check.exact import VALUES, at_most, ensure, exact, fraction, items, number, numbers, position, spend, up
from lcifr.check.network import FORMATS, FactorChain, Groups, errors, numeric, read_layer
from lcifr.check.proof import Direction, RationalCell, borders, halve, has_room

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
        """The exact outputs at a point, which reaches one leaf of each tree."""
        spend(1_500 * self.outputs)  # with what becomes of each of them
        leaves = self.reach(point)
        return [self.largest(leaves, point, ((output, 1),)) for output in range(self.outputs)]

    def rounding(self, groups: Groups, arithmetic: list[str]) -> list[Fraction]:
        """How far a machine's outputs are from exact ones at most, on a cell of these groups."""
        (unit, normal), found, count = FORMATS[arithmetic[-1]], list[Fraction](), len(self.trees)
        rounded = (count + 5) * unit
        ensure(2 * rounded <= 1, "there are so many trees that nothing is known of their sum")
        leaves, lost = self.reach(groups), 16 * normal * (count + 2) * (1 + self.scale)
        spend(self.outputs * (400 + self.bits + 10 * sum(map(len, leaves))))
        for j, base in enumerate(map(abs, self.base)):
            large = Fraction(sum(max(abs(leaf.get(j, 0)) for _, leaf in tree) for tree in leaves), 1 << self.shift)
            found.append(rounded / (1 - rounded) * (base + self.scale * large) + lost)
            ensure((base + large + self.scale * large + found[j]) * normal < 2, "a number may be too large")
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


def is_trees(found: Any) -> bool:
    """Whether a function is a sum of trees; else it is a network, or factors of one."""
    return isinstance(found, dict) and found["kind"] == "trees"


class ScoreChain:
    """A model on the outputs of trees, which are stored numbers. Proofs are about the model, on the box of a cell."""

    def __init__(self, trees: TreeSum, model: FactorChain) -> None:
        self.trees, self.model, self.outputs = trees, model, model.outputs

    def scores(self, point: Groups) -> Groups:
        """What the trees say of a point, as a point of the model."""
        z = self.trees.at(point)
        ensure(all(float(v) == v for v in z), "the trees of an encoder give numbers that no float64 is")
        return numeric(zip(z, strict=True))

    def at(self, point: Groups) -> list[Fraction]:
        """The exact outputs at a point."""
        return self.model.at(self.scores(point))

    def rounding(self, point: Groups, arithmetic: list[str]) -> list[Fraction]:
        """How far a machine's outputs are from exact ones at most, at a point."""
        before = max(errors(self.trees, point, arithmetic[:1]))
        return self.model.rounding(self.scores(point), arithmetic[1:], before)

    def boxes(self, cells: list[RationalCell], arithmetic: list[str]) -> list[RationalCell]:
        """Of each cell the box of what a machine computes as the trees' outputs, rounded outward, for the model."""
        found = []
        for groups in (cell.groups for cell in cells):
            leaves, off = self.trees.reach(groups), enumerate(errors(self.trees, groups, arithmetic[:1]))
            ends = ([s * up(self.trees.largest(leaves, groups, ((j, s),)) + e) for s in (-1, 1)] for j, e in off)
            found.append(RationalCell(numeric(ends)))
        return found


class TreeChain:
    """Trees on the numbers that a machine stores of an encoder's outputs. Proofs are about the trees, on a box of z."""

    def __init__(self, encoder: Any, trees: TreeSum) -> None:
        self.encoder, self.trees, self.outputs = encoder, trees, trees.outputs

    def at(self, point: Groups) -> list[Fraction]:
        """The exact outputs at a point: thresholds are floats, so a number counts as the next float that there is."""
        return self.trees.at(numeric([up(z)] for z in self.encoder.at(point)))

    def rounding(self, point: Groups, arithmetic: list[str]) -> list[Fraction]:
        """How far a machine's outputs are from exact ones at most, at a point: what trees say of all that z can be."""
        ends = zip(self.encoder.at(point), errors(self.encoder, point, arithmetic[:1]), strict=True)
        box, own = numeric((z - e, z + e) for z, e in ends), self.at(point)
        leaves, off = self.trees.reach(box), enumerate(self.trees.rounding(box, arithmetic[1:]))
        return [max(self.trees.largest(leaves, box, ((j, s),)) - s * own[j] for s in (1, -1)) + e for j, e in off]
