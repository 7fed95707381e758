"""Sums of trees in exact arithmetic: which leaves a part of a cell can reach, and the largest sum of their values."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate
from typing import Any

from lcifr.check.exact import VALUES, at_most, ensure, exact, fraction, items, number, numbers, position, reading, spend
from lcifr.check.network import FORMATS, Group, Groups, read_layer
from lcifr.check.proof import Bounds, Direction, Problem, RationalCell, halve

Leaf = tuple[Groups, dict[int, int]]  # the groups that its tree narrows on the way to it; of its outputs the integers


def reached(tree: Any, groups: Groups, box: Groups) -> list[Leaf]:
    """The leaves that a part with these groups can reach, where those in the box are narrowed already."""
    spend(30)
    if isinstance(tree, dict):
        return [(box, tree)]
    name, ends, *children = tree
    here, found = box.get(name, groups[name]), list[Leaf]()
    for half, child in zip(halve(here, ends), children, strict=True):
        if half and half[0][1] <= half[-1][1]:
            found += reached(child, groups, box if half == here else {**box, name: half})
    return found


class TreeSum:
    """outputs = base + scale · Σ of one leaf of each tree; values of leaves are integers over ``2**shift``."""

    def __init__(self, found: Any, width: int) -> None:
        with reading("the trees"):
            ensure(found["inputs"] == width, f"{width} numbers come in, the trees take {found['inputs']!r:.60}")
            self.base = [Fraction(value) for value in numbers(found["base"], len(found["base"]))]
            self.scale, self.outputs = fraction(found["scale"]), len(self.base)
            at_most(VALUES, width * self.outputs, "columns times outputs of trees")
            leaves = (node[1] for nodes in items(found["trees"]) for node in nodes if node[0] == "leaf")
            values = exact([number(value) for leaf in leaves for _, value in leaf])
            integers, self.shift = reversed(values.values), values.shift
            self.trees = [self._read(nodes, integers) for nodes in reversed(found["trees"])]
            self.network = (read_layer([[0.0] * (width + 1)] * self.outputs, width + 1),)  # nothing is linear
            ensure(self.scale > 0, "the scale is not positive")

    def _read(self, nodes: Any, values: Iterator[int]) -> Any:
        """A tree in preorder as its only leaf, or as (group, ends, first child, second child); from its end on."""
        built: list[Any] = []
        for kind, name, *border in reversed(items(nodes)):
            if kind == "leaf":
                built.append({position(output, self.outputs): next(values) for output, _ in reversed(items(name))})
                ensure(not border and len(built[-1]) == len(name), "a leaf has an output twice, or more than outputs")
                continue
            (end,) = border
            ends: Any = frozenset(items(end)) if kind == "choice" else (number(end), math.nextafter(end, math.inf))
            built.append(((kind, name), ends, built.pop(), built.pop()))
        (tree,) = built
        return tree

    def at(self, point: Groups, arithmetic: list[str]) -> tuple[list[Fraction], list[Fraction]]:
        """The exact outputs at a point, and how far a machine's are from them at most."""
        leaves = [leaf for tree in self.trees for _, leaf in reached(tree, point, {})]  # one of each tree
        spend(10 * self.outputs * len(leaves))
        sums = (Fraction(sum(leaf.get(j, 0) for leaf in leaves), 1 << self.shift) for j in range(self.outputs))
        return [b + self.scale * total for b, total in zip(self.base, sums, strict=True)], self.off(point, arithmetic)

    def off(self, groups: Groups, arithmetic: list[str]) -> list[Fraction]:
        """How far a machine's outputs are from exact ones at most, on a cell of these groups."""
        found, count = [Fraction(0)] * self.outputs, len(self.trees)
        if arithmetic[-1] == "exact":
            return found
        unit, normal = FORMATS[arithmetic[-1]]
        rounded = (count + 5) * unit
        ensure(2 * rounded <= 1, "there are so many trees that nothing is known of their sum")
        leaves = [[leaf for _, leaf in reached(tree, groups, {})] for tree in self.trees]
        spend(10 * self.outputs * sum(map(len, leaves)))
        for j, base in enumerate(map(abs, self.base)):
            large = Fraction(sum(max(abs(leaf.get(j, 0)) for leaf in tree) for tree in leaves), 1 << self.shift)
            lost = 16 * normal * (count + 2) * (1 + self.scale)
            found[j] = rounded / (1 - rounded) * (base + self.scale * large) + lost
            ensure((base + large + self.scale * large + found[j]) * normal < 2, "a number may be too large")
        return found


class TreesProblem(Problem):
    """Trees on a cell. A part has, of each tree, the leaves that it can reach. Nobody is between two floats."""

    floats = True

    def __init__(self, function: TreeSum, cell: RationalCell) -> None:
        super().__init__(function.network, cell)
        self.function, trees = function, [(tree, reached(tree, cell.groups, {})) for tree in function.trees]
        self.root = cell._replace(trees=trees)

    def narrowed(self, part: RationalCell, name: tuple[str, int], half: Group) -> RationalCell:
        """The part where this group has these corners; only trees that still depend on it are gone through."""
        part = super().narrowed(part, name, half)
        if part.empty:
            return part
        spend(5 * sum(len(leaves) for _, leaves in part.trees))
        moved = (any(name in box for box, _ in leaves) for _, leaves in part.trees)
        pairs = zip(part.trees, moved, strict=True)
        return part._replace(trees=[(t, reached(t, part.groups, {}) if again else old) for (t, old), again in pairs])

    def leaf(self, part: RationalCell, ends: Any, passes: Any) -> Bounds | None:
        """What the passes of a leaf show: of rows what is linear, and of the trees the largest sum."""
        found = super().leaf(part, ends, passes)
        return found and {direction: bound + self.largest(part, direction) for direction, bound in found.items()}

    def largest(self, part: RationalCell, direction: Direction) -> Fraction:
        """A number that direction · outputs does not exceed: trees about one group alone are added up before."""
        (values, shift), total, alone = exact([c for _, c in direction]), 0, defaultdict[Any, Counter[float]](Counter)
        weights = dict(zip((j for j, _ in direction), values, strict=True))
        for _, leaves in part.trees:
            spend(30 * len(leaves))
            scores = [sum(weights.get(j, 0) * v for j, v in leaf.items()) for _, leaf in leaves]
            names = {name for box, _ in leaves for name in box}
            if len(names) == 1:
                (name,) = names
                for (box, _), score in zip(leaves, scores, strict=True):
                    for start, stop in _spans(name[0], box[name], part.groups[name]):
                        alone[name].update({start: score})
                        alone[name].subtract({stop: score})
            else:
                total += max(scores)
        total += sum(max(accumulate(steps[place] for place in sorted(steps)[:-1])) for steps in alone.values())
        base = sum((Fraction(c) * self.function.base[j] for j, c in direction), Fraction(0))
        return base + self.function.scale * Fraction(total, 1 << self.function.shift + shift)


def _spans(kind: str, group: Group, whole: Group) -> list[tuple[float, float]]:
    """Where a group is, as intervals without their end; a category by the places of its columns among those left."""
    if kind == "numeric":
        return [(group[0][1], math.nextafter(group[-1][1], math.inf))]
    return [(place, place + 1) for place, corner in enumerate(whole) if corner in group]
