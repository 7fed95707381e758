"""Networks and sums of trees in exact arithmetic, on points and cells; and how far a machine is off."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, islice
from operator import mul
from typing import Any, NamedTuple

from lcifr.check.exact import (
    VALUES,
    WEIGHTS,
    Vector,
    at_most,
    ensure,
    exact,
    fraction,
    items,
    number,
    numbers,
    position,
    spend,
    up,
)

# Networks in integers: linear functions of what goes in, exactly; what comes out, and how far a machine is off.

Group = Sequence[tuple[int, float]]  # corners: a column and its value there, where all others of the group are 0
Groups = Mapping[tuple[str, int], Group]  # "numeric", column; or "choice", first column


class IntegerLayer:
    """W x + b as one matrix in integers over ``2**shift``: the rows of [W b], and below them 0 … 0 1.

    So x and y both end with a 1, whose coefficient is the constant of a linear function.
    """

    def __init__(self, rows: Sequence[Sequence[int]], shift: int) -> None:
        self.rows, self.columns, self.shift = rows, [*zip(*rows, strict=True)], shift
        self.bits = max(Vector([*row], 0).bits for row in rows)

    def row(self, neuron: int, sign: int) -> Vector:
        """A neuron's y, or −y, as a linear function of x."""
        return Vector([sign * value for value in self.rows[neuron]], self.shift)

    def before(self, over: Vector, forward: bool = False) -> Vector:
        """A linear function of W x + b as one of x; or, forward, W x + b itself of a point x."""
        spend(len(self.rows) * len(self.columns) * (1 + (self.bits * over.bits >> 16)))
        matrix = self.rows if forward else self.columns
        return Vector([sum(map(mul, over.values, values)) for values in matrix], over.shift + self.shift)


Network = tuple[IntegerLayer, ...]
# Of each format the roundoff u and the smallest normal number N. From 2 / N on a number may overflow.
FORMATS = {"float64": (Fraction(1, 2**53), Fraction(1, 2**1022)), "float32": (Fraction(1, 2**24), Fraction(1, 2**126))}
Inputs = list[list[tuple[int, float, Fraction]]]  # of each corner of a group a column, its value, and how far it is off


def read_layer(rows: Sequence[Sequence[float]], width: int) -> IntegerLayer:
    """From the rows of [W b], each of so many numbers."""
    flat = exact([value for row in [*rows, [*[0.0] * (width - 1), 1.0]] for value in numbers(row, width)])
    return IntegerLayer([flat.values[i : i + width] for i in range(0, len(flat.values), width)], flat.shift)


def read_network(layers: Any) -> Network:
    """Read the rows of [W b] of every layer; layers whose sizes do not fit are rejected."""
    widths = [len(layers[0][0]), *(len(rows) + 1 for rows in layers)]
    network = tuple(read_layer(rows, width) for rows, width in zip(layers, widths, strict=False))
    at_most(WEIGHTS, sum(layer.bits * len(layer.rows) * len(layer.columns) for layer in network), "bits of weights")
    return network


class Corners:
    """Groups of columns, each at or between its corners; all other columns are 0, and the last is 1."""

    def __init__(self, groups: Iterable[Group]) -> None:
        apart = [[*dict.fromkeys(group)] for group in groups]
        moving, still = [group for group in apart if len(group) > 1], [group[0] for group in apart if len(group) == 1]
        corners = [corner for group in [*moving, still, [(-1, 1.0)]] for corner in group]
        self.sizes, self.columns = [len(group) for group in moving], [column for column, _ in corners]
        self.values = exact([value for _, value in corners])

    def of(self, layer: IntegerLayer) -> IntegerLayer:
        """A layer with a column for each corner of the groups that move; what stands still is in the constant."""
        spend(len(layer.rows) * len(self.columns) * (2 + (layer.bits >> 9)))
        pairs = zip(self.columns, self.values.values, strict=True)
        columns = [[value * weight for weight in layer.columns[column]] for column, value in pairs]
        moving = sum(self.sizes)
        still = [sum(weights) for weights in zip(*columns[moving:], strict=True)]
        return IntegerLayer([*zip(*columns[:moving], still, strict=True)], layer.shift + self.values.shift)

    def top(self, over: Vector) -> Fraction:
        """The maximum of a linear function of such a layer: of each group the best corner."""
        spend(200 + 10 * len(over.values) + (over.bits**2 >> 16))
        values = iter(over.values)
        best = sum(max(islice(values, size)) for size in self.sizes) + over.values[-1]
        return Fraction(best, 1 << over.shift)


class FactorChain:
    """Networks in turn: as one for proofs, exactly, and as a machine computes them, each part in its arithmetic.

    Where two networks touch both layers are affine, so they are one. Flushing may do so much to what comes in.
    """

    def __init__(self, parts: list[list[Network]], width: int, flushed: float = 0.0) -> None:
        self.network, self.parts, self.width, self.flushed = tuple[IntegerLayer, ...](), parts, width, flushed
        for first, *others in (network for part in parts for network in part):
            takes = len(first.columns) - 1
            ensure(takes == width, f"{width} numbers come in, the network takes {takes}")
            if self.network:
                rows = [self.network[-1].before(Vector([*row], first.shift)).values for row in first.rows]
                first = IntegerLayer(rows, first.shift + self.network[-1].shift)
            self.network = (*self.network[:-1], first, *others)
            width = len(self.network[-1].rows) - 1
        self.outputs = width

    def at(self, point: Groups) -> list[Fraction]:
        """The exact outputs at a point; it has one corner in each group."""
        known = dict(corner for group in point.values() for corner in group)
        ensure(all(float(v) == v for v in known.values()), "the trees of an encoder give numbers that no float64 is")
        width = len(self.network[0].columns) - 1  # the identity has no layer: nothing is claimed of it alone
        value = exact([*(known.get(column, 0.0) for column in range(width)), 1.0])
        for layer in self.network:
            reached = value.values if layer is self.network[0] else [max(v, 0) for v in value.values]  # ReLU
            value = layer.before(Vector(reached, value.shift), forward=True)
        spend(len(value.values) * (value.bits**2 >> 16))
        return [Fraction(output, 1 << value.shift) for output in value.values[:-1]]

    def rounding(self, groups: Groups, arithmetic: list[str], before: Sequence[Fraction] = ()) -> list[Fraction]:
        """How far a machine's outputs are from exact ones at most, on a cell, where each part has its arithmetic.

        What comes in may be off by so much before. This is the bound of docs/design/arithmetic.md. Whatever goes from
        layer to layer is rounded outward to a float64, so that numbers do not grow.
        """
        ensure(self.flushed < math.inf, "a step of an encoding may lose its number where it is flushed")
        inputs: Inputs = [[(column, value, Fraction(0)) for column, value in group] for group in groups.values()]
        flushed = Fraction(self.flushed) + max(before, default=0)
        for network, name in ((one, name) for part, name in zip(self.parts, arithmetic, strict=True) for one in part):
            unit, normal = FORMATS[name]
            cast, lost, flushed = unit if name == "float32" else 0, 32 * normal + 2 * flushed, Fraction(0)
            inputs = [[(k, v, e + cast * (abs(Fraction(v)) + e) + lost) for k, v, e in group] for group in inputs]
            for layer in network:
                least = 0.0 if layer is not network[-1] else -math.inf  # ReLU
                outputs = enumerate(_through(layer, inputs, name))
                inputs = [[(k, max(low, least), e), (k, max(high, least), e)] for k, (low, high, e) in outputs]
        return [group[0][2] for group in inputs]


def errors(function: Any, groups: Groups, arithmetic: list[str]) -> list[Fraction]:
    """How far a machine's outputs are from exact ones at most, on a cell of these groups."""
    return [Fraction(0)] * function.outputs if arithmetic[-1] == "exact" else function.rounding(groups, arithmetic)


def numeric(ends: Iterable[Any]) -> Groups:
    """Numbers at or between these ends, as groups of a cell."""
    return {("numeric", j): [(j, end) for end in each] for j, each in enumerate(ends)}


def _through(layer: IntegerLayer, inputs: Inputs, name: str) -> Iterator[tuple[float, float, Fraction]]:
    """Of every neuron the least and the largest exact value, and how far it is off at most."""
    spend(300 * sum(map(len, inputs)))
    unit, normal = FORMATS[name]
    rounded, floor = (len(inputs) + 3) * unit, 16 * normal
    ensure(2 * rounded <= 1, "a layer has so many inputs that nothing is known of their sum")
    share = rounded / (1 - rounded)
    sizes = [max(abs(Fraction(v)) + e for _, v, e in group) for group in inputs]
    off = [[(k, up(e + share * (abs(Fraction(v)) + e) + floor)) for k, v, e in group] for group in inputs]
    values, wrong = Corners([[(k, v) for k, v, _ in group] for group in inputs]), Corners(off)
    lost, largest = floor * (len(inputs) + 1 + sum(sizes)), max(sizes, default=Fraction(0))
    weights = IntegerLayer([[*map(abs, row[:-1]), 0] for row in layer.rows], layer.shift)
    sums, errors = values.of(layer), wrong.of(weights)
    for neuron, row in enumerate(layer.rows[:-1]):
        weight, bias = (Fraction(max(map(abs, part), default=0), 1 << layer.shift) for part in (row[:-1], row[-1:]))
        error = Fraction(up(wrong.top(errors.row(neuron, 1)) + share * bias + lost))
        ensure(max(weight, bias, 2 * error / share, largest) * normal < 2, f"a number may be too large for {name}")
        yield -up(values.top(sums.row(neuron, -1))), up(values.top(sums.row(neuron, 1))), error


# Cells of rational bounds: what may be in them, and how they are halved.

Direction = tuple[tuple[int, float], ...]  # (output, coefficient) in ascending order, without zeros


def has_room(group: Group) -> bool:
    """Whether a category is left, or a number."""
    return bool(group) and group[0][1] <= group[-1][1]


class RationalCell(NamedTuple):
    """Where the features are: every group of columns at or between its corners, and G x − g ≤ 0 for each row [G −g].

    A number is a group ``"numeric", column`` with the corners (column, low) and (column, high). A category is a group
    ``"choice", first column`` with a corner (column, 1) for each category that is allowed. ``wholes`` are the names of
    numbers that are whole in the table, with the column of each and how a number of the table becomes its value there.
    In a part of a cell, ends (layer, place) of hidden neurons that are ``decided`` are at most 0, and ``leaves`` are
    those of each tree that can be reached.
    """

    groups: Groups
    rows: Sequence[Sequence[float]] = ()
    wholes: Mapping[str, tuple[int, Callable[[float], float]]] = {}
    decided: frozenset[tuple[int, int]] = frozenset()


def borders(kind: str, border: Any, floats: bool) -> Any:
    """Of a category the columns of the first half; of a number where the first half ends, and the second begins."""
    if kind == "choice":
        return frozenset(items(border))
    return number(border), math.nextafter(border, math.inf) if floats else border


def halve(group: Group, ends: Any) -> Sequence[Group]:
    """A category in these columns and in the others; or a number up to the first end and from the second on.

    Ends that fall are those of a number that falls where the table's rises: from the first on, and up to the second.
    """
    if isinstance(ends, frozenset):
        return [[corner for corner in group if (corner[0] in ends) == inside] for inside in (True, False)]
    (column, low), (_, high), (first, second) = group[0], group[-1], sorted(ends)
    halves = [[(column, low), (column, min(high, first))], [(column, max(low, second)), (column, high)]]
    return halves if ends[0] == first else halves[::-1]


# Sums of trees in exact arithmetic: which leaves a part of a cell can reach, and the largest sum of their values.

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
