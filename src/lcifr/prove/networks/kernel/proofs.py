"""Recorded trees as proofs for the exact checker, made when they are first read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lcifr.models.network import Network
from lcifr.prove.networks.kernel.arrays import Record
from lcifr.prove.networks.kernel.record import (
    CHOICE,
    FREE,
    LEAF,
    NO_INTERVAL,
    NO_POINT,
    NUMERIC,
    OFF,
    ON,
    RELU,
    USED,
    WHOLE,
)
from lcifr.prove.networks.rounding import to_size
from lcifr.prove.proof import (
    CategorySplit,
    CellProof,
    Ends,
    Entry,
    Leaf,
    MadeWhenSeen,
    Multipliers,
    Node,
    NumericSplit,
    ProvedBound,
    ReluLine,
    ReluSplit,
    WholeSplit,
)
from lcifr.prove.question import FloatArray, Question
from lcifr.regions.region import Cell


@dataclass(frozen=True, eq=False)
class RecordedCell:
    """What was recorded about people ``start``, ``start`` + 1, … on one cell.

    Parameters
    ----------
    cell, number : the cell, and its number in the region. order : (columns in cell order,) features.
    names : attributes of the columns that hold whole numbers.
    factor : (neurons,) by how much the neurons of ``network`` are larger than those of the one that was asked about.
    """

    network: Network
    cell: Cell
    number: int
    order: np.ndarray
    names: Mapping[int, str] = field(default_factory=dict)
    factor: FloatArray | None = None
    start: int = 0
    record: Record | None = None

    @cached_property
    def sizes(self) -> FloatArray:
        """(rows,) by which power of two the search multiplied each linear row."""
        if self.cell.rows is None:
            return np.zeros(0)
        given, taken = np.abs(self.cell.rows.G).max(1), np.abs(to_size(self.cell.rows).G).max(1)
        return np.asarray(np.where(given > 0, taken / np.where(given > 0, given, 1.0), 1.0))


def copy_record(record: Record, begin: int, end: int) -> Record:
    """What is in use of a record, about people begin … end−1 counted from its own first."""
    used = int(record.size[USED])
    nodes = {name: getattr(record, name)[:used].copy() for name in NODES}
    people = {name: getattr(record, name)[begin:end].copy() for name in PEOPLE}
    return record._replace(**nodes, **people)


NODES = ("kind", "place", "level", "threshold", "child", "by", "half", "slope", "rate", "above", "source")
PEOPLE = ("root", "state", "above_root", "below_root")


class PersonProof(MadeWhenSeen[RecordedCell]):
    """Proofs about a network."""

    def make(self) -> list[list[CellProof]]:
        """For each direction its proofs, from what was recorded."""
        made: list[list[CellProof]] = [[] for _ in self.directions]
        for part in self.parts:
            for proof, which in _CellWriter(part, self.person, self.directions, self.upper).proofs():
                for k in which:
                    made[k].append(proof)
        return made


class _CellWriter:
    """The proofs of one person about one cell."""

    def __init__(self, part: RecordedCell, person: int, directions: FloatArray, upper: FloatArray) -> None:
        assert part.record is not None
        self.part, self.record, self.row = part, part.record, person - part.start
        self.directions, self.upper = directions, upper
        hidden = part.network.layers[:-1]
        neurons = sum(len(layer.bias) for layer in hidden)
        self.factor = [1.0] * neurons if part.factor is None else part.factor.tolist()
        self.places = [(layer, j) for layer, one in enumerate(hidden) for j in range(len(one.bias))]
        self.depth, self.last = len(hidden), part.network.layers[-1].weight
        self.state = self.record.state[self.row].tolist()
        self.free = [n for n, state in enumerate(self.state) if state == FREE]
        self.below = self.record.below_root[self.row].tolist()
        self.lines: dict[tuple[int, int], Multipliers] = {}

    def proofs(self) -> Iterator[tuple[CellProof, list[int]]]:
        """Proofs, and the directions that each is about: one of all that need no tree, one for each other."""
        roots = self.record.root[self.row].tolist()
        plain = [k for k, root in enumerate(roots) if root < 0]
        if plain:
            leaf = Leaf(self._root_lines(), ends=self._ends({}, {}, None))
            claims = tuple(self._claim(k, (leaf,)) for k in plain)
            yield CellProof(self.part.number, claims), plain
        for k, root in enumerate(roots):
            if root >= 0:
                yield CellProof(self.part.number, (self._claim(k, tuple(self._tree(root, k))),)), [k]

    def _claim(self, k: int, nodes: tuple[Node, ...]) -> ProvedBound:
        direction = tuple(Entry(j, value) for j, value in enumerate(self.directions[k].tolist()) if value)
        return ProvedBound(direction, float(self.upper[k]), nodes)

    def _root_lines(self) -> Multipliers:
        slopes = zip(self.places, self.record.above_root[self.row].tolist(), self.below, strict=True)
        return Multipliers(tuple(ReluLine(*place, a, b) for place, a, b in slopes if a or b))

    def _tree(self, root: int, k: int) -> Iterator[Node]:
        """The nodes in preorder."""
        kind, place, child = self.record.kind, self.record.place, self.record.child
        weight, todo = self.directions[k] @ self.last, [root]
        leaves: dict[int, Leaf] = {}
        while todo:
            node = todo.pop()
            if kind[node] in (LEAF, NO_INTERVAL, NO_POINT):
                by = int(self.record.by[node])
                if by not in leaves or kind[node] != LEAF:
                    leaves[by] = self._leaf(by, int(kind[node]), weight)
                yield leaves[by]
                continue
            yield self._split(node, int(kind[node]), int(place[node]))
            todo += [int(child[node, 1]), int(child[node, 0])]

    def _split(self, node: int, kind: int, place: int) -> Node:
        if kind == RELU:
            return ReluSplit(*self.places[place])
        if kind == WHOLE:
            return WholeSplit(self.part.names[int(self.part.order[place])], int(self.record.level[node]))
        if kind == NUMERIC:
            return NumericSplit(int(self.part.order[place]), float(self.record.threshold[node]))
        assert kind == CHOICE
        columns = self.part.order[np.flatnonzero(self.record.half[node])]
        choice = next(one.columns for one in self.part.cell.choices if columns[0] in one.columns)
        return CategorySplit(int(choice[0]), tuple(columns.tolist()))

    def _leaf(self, by: int, kind: int, weight: FloatArray) -> Leaf:
        if by < 0:
            return Leaf(self._root_lines(), ends=self._ends({}, {}, None))
        slopes = dict(zip(self.free, self.record.slope[by].tolist(), strict=False))
        lines = [ReluLine(*self.places[n], 1.0, 1.0) for n, state in enumerate(self.state) if state == ON]
        factor = self.factor
        lines += [ReluLine(*self.places[n], 0.0, 0.0, slope * factor[n]) for n, slope in slopes.items() if slope]
        rows = tuple(Entry(r, rate) for r, rate in enumerate((self.record.rate[by] * self.part.sizes).tolist()) if rate)
        sources = dict(enumerate(self.record.source[by].tolist()))
        ends = self._ends(sources, slopes, weight if kind == LEAF else None)
        return Leaf(Multipliers(tuple(lines), rows), kind == NO_POINT, ends)

    def _ends(self, sources: dict[int, int], slopes: dict[int, float], weight: FloatArray | None) -> tuple[Ends, ...]:
        """The ends of deeper layers that a leaf rests on, by passes with the lines of the nodes that proved them.

        ``weight`` : (last width,) coefficients of the last hidden layer where only ends that these need are asked for.
        """
        found, begin = [], 0
        for layer in range(self.depth):
            width = len(self.part.network.layers[layer].bias)
            passes: dict[int, list[int]] = {}
            known = [None] * width if weight is None or layer < self.depth - 1 else weight.tolist()
            for j in range(width if layer else 0):
                for side in self._sides(begin + j, j, known[j], slopes):
                    passes.setdefault(sources.get(2 * begin + side, -1), []).append(side)
            found += [Ends(layer, tuple(sides), self._lines_of(node, begin)) for node, sides in passes.items()]
            begin += width
        return tuple(found)

    def _lines_of(self, node: int, count: int) -> Multipliers:
        """The lines of the first ``count`` neurons at a recorded node, or at the root (−1)."""
        key = node, count
        if key not in self.lines:
            above = self.record.above_root[self.row, :count].tolist()
            if node >= 0:
                for n, slope in zip(self.free, self.record.above[node].tolist(), strict=False):
                    if n < count:
                        above[n] = slope
            below = [b if s != 1.0 else 1.0 for s, b in zip(above, self.below, strict=False)]
            lines = zip(self.places, above, below, strict=False)
            self.lines[key] = Multipliers(tuple(ReluLine(*place, s, b) for place, s, b in lines if s))
        return self.lines[key]

    def _sides(self, n: int, j: int, weight: float | None, slopes: dict[int, float]) -> list[int]:
        """2j for the upper end, 2j + 1 for the lower one, as far as they are used.

        In the last hidden layer the sign of the neuron's coefficient is known. Where it is not positive, a coefficient
        between it and 0 holds whatever the interval.
        """
        state = self.state[n]
        if weight is None:  # interval arithmetic of the next layer reads both ends, but none below 0
            return [2 * j] if state == OFF else [2 * j, 2 * j + 1]
        sides = {OFF: [2 * j], ON: [2 * j + 1], FREE: [2 * j, 2 * j + 1]}[state]
        if weight <= 0.0:
            return [] if state != FREE or weight <= slopes[n] <= 0.0 else sides
        if state == FREE and slopes[n] == 0.0:
            return [2 * j]
        return sides


def gather(question: Question, upper: FloatArray, written: Sequence[RecordedCell]) -> list[PersonProof]:
    """The proofs of all people, from the records of each chunk and cell."""
    parts: list[list[RecordedCell]] = [[] for _ in upper]
    for part in sorted(written, key=lambda one: one.number):
        assert part.record is not None
        for person in range(part.start, part.start + len(part.record.root)):
            if part.cell.present[person]:
                parts[person].append(part)
    rows = question.rows
    return [PersonProof(i, part, rows[i if len(rows) > 1 else 0], upper[i]) for i, part in enumerate(parts)]
