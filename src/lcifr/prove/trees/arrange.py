"""A sum of trees as the arrays that the search reads: bins, bits, and the conditions of every leaf."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.models.trees import CATEGORY, LEAF, NUMBER, NodeArrays, Trees
from lcifr.prove.trees.arrays import ABOUT, HIGH, LOW, Ensemble
from lcifr.regions.region import Cell, WholeColumn

# The conditions of every leaf: one for each attribute on the way to it, as bins or as bits.

IntArray = NDArray[np.int64]

BEYOND = 1 << 30
"""A bin after the last one."""


@dataclass(frozen=True)
class BinnedNodes:
    """The splits of all trees in bins and bits, as :class:`lcifr.prove.trees.arrays.Ensemble` names them."""

    kind: NDArray[np.int8]
    second: IntArray
    attribute: IntArray
    cut: IntArray
    chosen: IntArray
    root: IntArray
    sets: NDArray[np.uint64]
    numbers: int

    def packed(self, twice: NDArray[np.uint8]) -> NDArray[np.int32]:
        """(nodes, 3) all that is needed at a node, side by side; ``twice`` of each leaf."""
        leaf = self.kind == LEAF
        place = np.where(leaf, twice, np.where(self.attribute < self.numbers, self.cut, self.chosen))
        return np.stack([np.where(leaf, -1, self.attribute), place, self.second], 1).astype(np.int32)


@dataclass(frozen=True)
class LeafConditions:
    """Conditions of leaves, one leaf after the other (see :class:`lcifr.prove.trees.arrays.Ensemble`)."""

    first: IntArray
    condition: NDArray[np.int32]
    bits: NDArray[np.uint64]
    twice: NDArray[np.uint8]
    depth: int

    @classmethod
    def of(cls, nodes: BinnedNodes) -> LeafConditions:
        """Level by level, all trees at once: children have the conditions of their parent and one more."""
        count, levels = len(nodes.kind), list[_Level]()
        level = _Level.of_roots(nodes)
        while len(level.node):
            levels.append(level.take(np.flatnonzero(nodes.kind[level.node] == LEAF)))
            level = level.children(nodes)
        deepest = levels[-1].condition.shape[1] if levels else 0
        leaves = _Level.joined([_Level.of_roots(nodes).take(np.zeros(0, np.int64)), *levels], deepest)
        leaves = leaves.take(np.argsort(leaves.node))
        used = leaves.condition[..., ABOUT] >= 0
        many, twice = np.zeros(count + 1, np.int64), np.zeros(count, np.uint8)
        many[leaves.node + 1], twice[leaves.node] = used.sum(1), leaves.twice
        condition = leaves.condition[used].astype(np.int32)
        return cls(np.cumsum(many), condition, np.ascontiguousarray(leaves.bits[used]), twice, len(levels))


@dataclass(frozen=True)
class _Level:
    """Nodes of one depth: (nodes, slots, …) of conditions, those in use first; ABOUT is −1 where a slot is free."""

    node: IntArray
    condition: IntArray
    bits: NDArray[np.uint64]
    twice: NDArray[np.bool_]

    @classmethod
    def of_roots(cls, nodes: BinnedNodes) -> _Level:
        """All roots, without any condition."""
        count = len(nodes.root)
        bits = np.zeros((count, 0, nodes.sets.shape[1]), np.uint64)
        return cls(np.array(nodes.root), np.zeros((count, 0, 3), np.int64), bits, np.zeros(count, np.bool_))

    @classmethod
    def joined(cls, levels: list[_Level], slots: int) -> _Level:
        """All their nodes, one level after the other."""
        wide = [level.wider(slots) for level in levels]
        return cls(*(np.concatenate([getattr(one, name) for one in wide]) for name in cls.__dataclass_fields__))

    def take(self, rows: IntArray) -> _Level:
        """Some of the nodes."""
        return _Level(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def wider(self, slots: int) -> _Level:
        """With free slots at the end."""
        free = len(self.node), slots - self.condition.shape[1]
        condition = np.concatenate([self.condition, np.full((*free, 3), (-1, 0, BEYOND))], 1)
        bits = np.concatenate([self.bits, np.full((*free, self.bits.shape[2]), 2**64 - 1, np.uint64)], 1)
        return replace(self, condition=condition, bits=bits)

    def children(self, nodes: BinnedNodes) -> _Level:
        """The next level."""
        rows, slots = np.flatnonzero(nodes.kind[self.node] != LEAF), self.condition.shape[1] + 1
        parents = self.take(rows).wider(slots)
        split, here, about = parents.node, np.arange(len(rows)), parents.condition[..., ABOUT]
        attribute, cut = nodes.attribute[split], nodes.cut[split]
        slot = ((about == attribute[:, None]) | (about < 0)).argmax(1)
        choice = attribute >= nodes.numbers
        again = choice & (about[here, slot] >= 0)
        sides = []
        for side in range(2):
            condition, bits = parents.condition.copy(), parents.bits.copy()
            low, high = condition[..., LOW], condition[..., HIGH]
            condition[here, slot, ABOUT] = attribute
            if side == 0:
                high[here, slot] = np.where(choice, BEYOND, np.minimum(high[here, slot], cut))
            else:
                low[here, slot] = np.where(choice, 0, np.maximum(low[here, slot], cut + 1))
            chosen = nodes.sets[nodes.chosen[split[choice]]]
            bits[here[choice], slot[choice]] &= chosen if side == 0 else ~chosen
            child = split + 1 if side == 0 else nodes.second[split]
            sides.append(_Level(child, condition, bits, parents.twice | again))
        return _Level.joined(sides, slots)


# An ensemble prepared for a cell: columns as attributes, thresholds as bins, categories as bits.

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Arrangement:
    """Trees, how a cell names its columns, and which hold whole numbers; what is made of them is kept."""

    name: tuple[object, ...]
    trees: Trees = field(compare=False)
    cell: Cell = field(compare=False)
    whole: tuple[WholeColumn, ...] = field(compare=False)

    @classmethod
    def of(cls, trees: Trees, cell: Cell, whole: tuple[WholeColumn, ...]) -> Arrangement:
        choices = tuple(choice.columns.tobytes() for choice in cell.choices)
        levels = tuple((one.column, one.first, one.last, one.values.tobytes()) for one in whole)
        return cls((trees.hash, cell.numeric.tobytes(), choices, levels), trees, cell, whole)


@lru_cache(maxsize=16)
def arrange(given: Arrangement) -> Ensemble:
    """The ensemble in bins and bits. A column of a choice that is split as a number is a set of its values."""
    trees, cell, nodes = given.trees, given.cell, given.trees.nodes
    numbers, choices = len(cell.numeric), len(cell.choices)
    attribute_of = np.full(trees.inputs, -1)
    attribute_of[cell.numeric] = np.arange(numbers)
    for c, choice in enumerate(cell.choices):
        attribute_of[choice.columns] = numbers + c
    attribute = np.where(nodes.kind == LEAF, 0, attribute_of[nodes.column])
    by_number = (nodes.kind == NUMBER) & (attribute < numbers)
    cuts = _Cuts.of(given, attribute, by_number)
    levels = {one.column: one.values for one in given.whole}
    by_column = [levels.get(column, np.zeros(0)) for column in cell.numeric.tolist()]
    bits = _Bits(cell)
    places = [
        bits.of_node(nodes, int(n), int(attribute[n]) - numbers)
        for n in np.flatnonzero(~by_number & (nodes.kind != LEAF))
    ]
    sets, set_start, chosen = bits.table(places, len(nodes.kind), choices)
    binned = BinnedNodes(nodes.kind, nodes.second, attribute, cuts.cut, chosen, nodes.root, sets, numbers)
    conditions = LeafConditions.of(binned)
    value = np.ascontiguousarray(nodes.value * float(trees.scale))
    added = _Added.of(binned, conditions, value, cuts.start, set_start)
    return Ensemble(
        split=binned.packed(conditions.twice),
        value=value,
        root=added.others,
        base=np.array(trees.base),
        cut_start=cuts.start,
        cuts=cuts.cuts,
        upto=cuts.upto,
        after=cuts.after,
        upto_bin=cuts.upto_bin,
        after_bin=cuts.after_bin,
        whole=np.isin(cell.numeric, list(levels)).view(np.uint8),
        level_start=np.cumsum([0, *map(len, by_column)]).astype(np.int64),
        levels=np.concatenate([np.zeros(0), *by_column]),
        sets=sets,
        set_start=set_start,
        depth=np.array([conditions.depth]),
        first=conditions.first,
        condition=conditions.condition,
        bits=conditions.bits,
        offset=added.offset,
        alone=added.alone,
        steps=added.steps,
        size=trees.largest.sum(0) * trees.scale_above * (1 + 1e-9),
        trees=np.array([trees.count]),
    )


@dataclass(frozen=True)
class _Added:
    """Trees about one attribute, added up for each of its bins or values; the roots of all others."""

    offset: IntArray
    alone: NDArray[np.uint8]
    steps: FloatArray
    others: IntArray

    @classmethod
    def of(
        cls, nodes: BinnedNodes, conditions: LeafConditions, value: FloatArray, cut_start: IntArray, set_start: IntArray
    ) -> _Added:
        words = nodes.sets.shape[1]
        bins, sets = np.diff(cut_start) + 3, np.maximum(np.diff(set_start), 64 * words)
        offset = np.cumsum([0, *bins.tolist(), *sets.tolist()]).astype(np.int64)
        alone, steps = np.zeros(len(offset) - 1, np.uint8), np.zeros((int(offset[-1]) + 4, value.shape[1]))
        others, ends = list[int](), [*nodes.root.tolist(), len(nodes.kind)]
        for root, end in pairwise(ends):
            about = nodes.attribute[root:end][nodes.kind[root:end] != LEAF]
            if not len(about) or (about != about[0]).any():
                others.append(root)
                continue
            a = int(about[0])
            alone[a] = 1
            for leaf in (root + np.flatnonzero(nodes.kind[root:end] == LEAF)).tolist():
                c = int(conditions.first[leaf])
                if a < nodes.numbers:
                    low, high = int(conditions.condition[c, LOW]), min(int(conditions.condition[c, HIGH]), bins[a] - 1)
                    steps[offset[a] + low : offset[a] + high + 1] += value[leaf]
                else:
                    member = np.unpackbits(conditions.bits[c].view(np.uint8), bitorder="little").astype(np.bool_)
                    steps[offset[a] + np.flatnonzero(member)] += value[leaf]
        return cls(offset, alone, steps, np.array(others, np.int64))


@dataclass(frozen=True)
class _Cuts:
    """The thresholds of all numbers, see :class:`Ensemble`, and the cut of each node."""

    start: IntArray
    cuts: FloatArray
    upto: FloatArray
    after: FloatArray
    upto_bin: IntArray
    after_bin: IntArray
    cut: IntArray

    @classmethod
    def of(cls, given: Arrangement, attribute: IntArray, by_number: NDArray[np.bool_]) -> _Cuts:
        nodes, levels = given.trees.nodes, {one.column: one.values for one in given.whole}
        cut, parts = np.zeros(len(nodes.kind), np.int64), list[tuple[NDArray[Any], ...]]()
        for a, column in enumerate(given.cell.numeric.tolist()):
            here = np.flatnonzero(by_number & (attribute == a))
            cuts, cut[here] = np.unique(nodes.threshold[here], return_inverse=True)
            upto, after = cuts, np.nextafter(cuts, np.inf)
            if column in levels:  # no person lies between two whole numbers
                values = levels[column]
                last = np.searchsorted(values, cuts, side="right") - 1
                inside = (last >= 0) & (last < len(values) - 1)
                upto = np.where(inside, values[np.maximum(last, 0)], upto)
                after = np.where(inside, values[np.minimum(last + 1, len(values) - 1)], after)
            parts.append((cuts, upto, after, np.searchsorted(cuts, upto), np.searchsorted(cuts, after)))
        start = np.cumsum([0, *(len(part[0]) for part in parts)]).astype(np.int64)
        floats, bins = np.zeros(0), np.zeros(0, np.int64)
        columns = zip((floats, floats, floats, bins, bins), *parts, strict=True)
        cuts, upto, after, upto_bin, after_bin = (np.concatenate(column) for column in columns)
        return cls(start, cuts, upto, after, upto_bin, after_bin, cut)


class _Bits:
    """Sets of values as bits, each choice's own."""

    def __init__(self, cell: Cell) -> None:
        self.columns = [choice.columns for choice in cell.choices]
        self.words = max(1, -(-max((len(c) for c in self.columns), default=1) // 64))

    def of_node(self, nodes: NodeArrays, n: int, choice: int) -> tuple[int, int, bytes]:
        columns = self.columns[choice]
        if nodes.kind[n] == CATEGORY:
            member = nodes.sets[nodes.chosen[n]][columns]
        else:  # a 0 or a 1 against a threshold
            at_one, at_zero = nodes.threshold[n] >= 1.0, nodes.threshold[n] >= 0.0
            member = np.where(columns == nodes.column[n], at_one, at_zero)
        bits = np.zeros(64 * self.words, np.uint8)
        bits[: len(columns)] = member
        return n, choice, np.packbits(bits, bitorder="little").tobytes()

    def table(
        self, places: list[tuple[int, int, bytes]], nodes: int, choices: int
    ) -> tuple[NDArray[np.uint64], IntArray, IntArray]:
        """(sets, words), where those of each choice begin, and the set of each node."""
        chosen, start, rows = np.zeros(nodes, np.int64), [0], list[bytes]()
        for choice in range(choices):
            known: dict[bytes, int] = {}
            for n, about, packed in places:
                if about == choice:
                    chosen[n] = start[-1] + known.setdefault(packed, len(known))
            rows += known
            start.append(len(rows))
        table = np.frombuffer(b"".join(rows), np.uint64).reshape(-1, self.words).copy()
        return table if len(table) else np.zeros((0, self.words), np.uint64), np.array(start, np.int64), chosen
