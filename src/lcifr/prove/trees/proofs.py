"""Recorded split trees as proofs: what the checker reads (docs/design/trees.md, *Proofs*)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lcifr.prove.answer import FloatArray, Question
from lcifr.prove.proof import (
    CategorySplit,
    CellProof,
    Entry,
    Leaf,
    MadeWhenSeen,
    Multipliers,
    Node,
    NumericSplit,
    ProvedBound,
    WholeSplit,
)
from lcifr.prove.trees.shape import Ensemble, SplitRecord
from lcifr.regions.region import Cell, WholeColumn


@dataclass(frozen=True, eq=False)
class RecordedTrees:
    """The split trees of people start … stop−1 about one cell."""

    cell: Cell
    number: int
    ensemble: Ensemble
    whole: tuple[WholeColumn, ...]
    start: int = 0
    stop: int = 0
    record: SplitRecord | None = None

    def proof(self, person: int, k: int, direction: FloatArray, upper: float) -> CellProof:
        """The proof of one person and direction about this cell."""
        entries = tuple(Entry(o, value) for o, value in enumerate(direction.tolist()) if value)
        return CellProof(self.number, (ProvedBound(entries, upper, tuple(self._nodes(person, k))),))

    def _nodes(self, person: int, k: int) -> Iterator[Node]:
        """In preorder."""
        assert self.record is not None
        root = int(self.record.root[person - self.start, k])
        waiting = [0]
        while waiting:
            node = waiting.pop()
            child = int(self.record.child[root + node])
            if child > 0:
                split, swapped = self._split(root + node)
                yield split
                waiting += [child, child + 1] if swapped else [child + 1, child]
            else:
                yield Leaf() if child == 0 else Leaf(Multipliers(rows=(Entry(-1 - child, 1.0),)), empty=True)

    def _split(self, at: int) -> tuple[Node, bool]:
        """The split, and whether its children change places: larger numbers may be encoded as smaller ones."""
        assert self.record is not None
        a, place = int(self.record.attribute[at]), int(self.record.place[at])
        numbers = len(self.cell.numeric)
        if a >= numbers:
            columns, row = self.cell.choices[a - numbers].columns, self.ensemble.set_start[a - numbers] + place
            bits = np.unpackbits(self.ensemble.sets[row].view(np.uint8), bitorder="little")[: len(columns)]
            return CategorySplit(int(columns[0]), tuple(columns[bits.astype(np.bool_)].tolist())), False
        column = int(self.cell.numeric[a])
        level = float(self.record.level[at] if place < 0 else self.ensemble.cuts[self.ensemble.cut_start[a] + place])
        for one in self.whole:
            below = int(np.searchsorted(one.values, level, side="right")) - 1
            if one.column == column and 0 <= below < len(one.values) - 1:
                k = one.last - below - 1 if one.falling else one.first + below
                return WholeSplit(one.attribute, k), one.falling
        return NumericSplit(column, level), False


class PersonProofs(MadeWhenSeen[RecordedTrees]):
    """Proofs about trees."""

    def make(self) -> list[list[CellProof]]:
        """For each direction its proofs, from what was recorded."""
        return [
            [part.proof(self.person, k, direction, float(self.upper[k])) for part in self.parts]
            for k, direction in enumerate(self.directions)
        ]


def gather(question: Question, upper: FloatArray, written: Sequence[RecordedTrees]) -> list[PersonProofs]:
    """The proofs of everybody, from what was recorded piece by piece and cell by cell."""
    parts: list[list[RecordedTrees]] = [[] for _ in upper]
    for part in sorted(written, key=lambda one: one.number):
        for person in range(part.start, part.stop):
            if part.cell.present[person]:
                parts[person].append(part)
    return [PersonProofs(i, part, question.directions[i], upper[i]) for i, part in enumerate(parts)]
