"""An ensemble prepared for a cell: columns as attributes, thresholds as bins, categories as bits."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lcifr.models.trees.trees import CATEGORY, LEAF, NUMBER, NodeArrays, Trees
from lcifr.prove.trees.shape import Ensemble
from lcifr.regions.region import Cell, WholeColumn

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


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
    cut_start, cuts, after, cut = _cuts(given, attribute, by_number)
    bits = _Bits(cell, trees.inputs)
    places = [bits.of_node(nodes, int(n), int(attribute[n]) - numbers) for n in np.flatnonzero(~by_number & (nodes.kind != LEAF))]
    sets, set_start, chosen = bits.table(places, len(nodes.kind), choices)
    return Ensemble(
        kind=np.array(nodes.kind),
        second=np.array(nodes.second),
        value=np.ascontiguousarray(nodes.value * float(trees.scale)),
        attribute=np.ascontiguousarray(attribute, dtype=np.int64),
        cut=cut,
        chosen=chosen,
        root=np.array(nodes.root),
        base=np.array(trees.base),
        cut_start=cut_start,
        cuts=cuts,
        after=after,
        whole=np.isin(cell.numeric, [one.column for one in given.whole]).view(np.uint8),
        sets=sets,
        set_start=set_start,
        depth=_depth(nodes.kind, nodes.second, nodes.root),
    )


def _cuts(
    given: Arrangement, attribute: IntArray, by_number: NDArray[np.bool_]
) -> tuple[IntArray, FloatArray, FloatArray, IntArray]:
    """Where the cuts of each number begin, the cuts, the least number above each, and the cut of each node."""
    nodes, levels = given.trees.nodes, {one.column: one.values for one in given.whole}
    start, cuts, after, cut = [0], [np.zeros(0)], [np.zeros(0)], np.zeros(len(nodes.kind), np.int64)
    for a, column in enumerate(given.cell.numeric.tolist()):
        here = np.flatnonzero(by_number & (attribute == a))
        thresholds = nodes.threshold[here]
        above = np.nextafter(thresholds, np.inf)
        if column in levels:  # a cut between two whole numbers is one cut, whatever the threshold
            values = levels[column]
            last = np.searchsorted(values, thresholds, side="right") - 1
            inside = (last >= 0) & (last < len(values) - 1)
            above = np.where(inside, values[np.minimum(last + 1, len(values) - 1)], above)
            thresholds = np.where(inside, values[np.maximum(last, 0)], thresholds)
        found, first, cut[here] = np.unique(thresholds, return_index=True, return_inverse=True)
        cuts.append(found)
        after.append(above[first])
        start.append(start[-1] + len(found))
    return np.array(start, np.int64), np.concatenate(cuts), np.concatenate(after), cut


class _Bits:
    """Sets of values as bits, each choice's own."""

    def __init__(self, cell: Cell, inputs: int) -> None:
        self.columns = [choice.columns for choice in cell.choices]
        self.words = max(1, -(-max((len(c) for c in self.columns), default=1) // 64))

    def of_node(self, nodes: NodeArrays, n: int, choice: int) -> tuple[int, int, bytes]:
        columns = self.columns[choice]
        if nodes.kind[n] == CATEGORY:
            member = nodes.sets[nodes.chosen[n]][columns]
        else:  # a 0 or a 1 against a threshold
            at_one, at_zero = 1.0 <= nodes.threshold[n], 0.0 <= nodes.threshold[n]
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


def _depth(kind: NDArray[np.int8], second: IntArray, root: IntArray) -> IntArray:
    depth = np.zeros(len(kind), np.int64)
    for n in np.flatnonzero(kind != LEAF):
        depth[n + 1] = depth[second[n]] = depth[n] + 1
    return np.array([depth.max(initial=0)])
