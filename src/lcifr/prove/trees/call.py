"""The search over trees called from Python: its arrays, people shared by threads, its proofs."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numba.core.event import Listener, install_listener

from lcifr.models.trees import Trees
from lcifr.prove.networks.kernel.call import Interruption, cells_of, share, stopped_at
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
    entries,
)
from lcifr.prove.question import Answer, FloatArray, Question
from lcifr.prove.trees import arrays
from lcifr.prove.trees.arrange import Arrangement, arrange
from lcifr.prove.trees.arrays import Ensemble, Sizes, SplitRecord, make_memory, make_record
from lcifr.prove.trees.search import make_kernel
from lcifr.regions.region import Cell, WholeColumn

# Recorded split trees as proofs: what the checker reads (docs/design/trees.md, *Proofs*).


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
        return CellProof(self.number, (ProvedBound(entries(direction), upper, tuple(self._nodes(person, k))),))

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
    """The proofs of all people, from the records of each chunk and cell."""
    parts: list[list[RecordedTrees]] = [[] for _ in upper]
    for part in sorted(written, key=lambda one: one.number):
        for person in range(part.start, part.stop):
            if part.cell.present[person]:
                parts[person].append(part)
    return [PersonProofs(i, part, question.directions[i], upper[i]) for i, part in enumerate(parts)]


# The search over trees called from Python: arrays brought into its shapes, people shared by threads.

kernel = cache(make_kernel)


class Announcer(Listener):
    """Prints to stderr that the search is being compiled, where it is: silence for a minute looks like a fault."""

    def __init__(self) -> None:
        self.printed = False

    def on_start(self, event: object) -> None:
        """A function begins to be compiled, and was not found on disk."""
        if not self.printed:
            print("lcifr: compiling the search over trees, about a minute, once on this machine ...", file=sys.stderr)
        self.printed = True

    def on_end(self, event: object) -> None:
        """It is compiled; others follow."""


def answer_trees(question: Question) -> Answer:
    """What is found about each person and direction of a question about trees."""
    people, k, _ = question.directions.shape
    stopped = Interruption()
    found = _blank(question)
    asked = _asked(question)
    written: list[RecordedTrees] = []

    def stop() -> None:
        stopped.happened = True
        asked.stop.fill(1)

    with stopped_at(question.deadline, asked.stop.fill), install_listener("numba:compile", Announcer()):
        for number, cell in enumerate(question.region.cells):
            if people and k and cell.present.any():
                _answer_cell(question, cell, number, asked, found, written, stop)
    return Answer.claimed(
        question,
        found.upper,
        found.witness,
        exhausted=found.exhausted.view(np.bool_),
        nodes=found.nodes,
        method=found.branched,
        proof=gather(question, found.upper, written),
        interrupted=stopped.happened,
    )


def _blank(question: Question) -> arrays.Found:
    people, k = question.directions.shape[:2]
    return arrays.Found(
        upper=np.full((people, k), -np.inf),
        proved=np.full((people, k), -np.inf),
        best=np.full((people, k), -np.inf),
        nodes=np.zeros((people, k), np.int64),
        exhausted=np.zeros((people, k), np.uint8),
        branched=np.zeros((people, k), np.uint8),
        witness=np.full((people, k, question.region.features), np.nan),
    )


def _asked(question: Question) -> arrays.TreeQuestion:
    shape, target = question.directions.shape[:2], question.target
    return arrays.TreeQuestion(
        np.array(question.rows),
        np.full(shape, -np.inf) if target is None else np.array(target, order="C"),
        float(question.tolerance),
        int(question.resources.nodes),
        np.zeros(1, np.uint8),
    )


def _answer_cell(
    question: Question,
    cell: Cell,
    number: int,
    asked: arrays.TreeQuestion,
    found: arrays.Found,
    written: list[RecordedTrees],
    stop: Callable[[], None],
) -> None:
    trees = question.function
    assert isinstance(trees, Trees)
    ensemble = arrange(Arrangement.of(trees, cell, question.region.whole))
    order = np.concatenate([cell.numeric, *(choice.columns for choice in cell.choices)]).astype(np.int64)
    cells, rows = cells_of(cell, order), rows_of(cell)
    about = RecordedTrees(cell, number, ensemble, question.region.whole)

    def work(begin: int, end: int) -> None:
        sizes = Sizes()
        while begin < end:
            record = make_record(question.proof, sizes.recorded, begin, end - begin, asked.direction.shape[1])
            memory = _memory(ensemble, sizes)._replace(record=record)
            stopped = kernel()(ensemble, cells, rows, asked, found, memory, begin, end)
            if question.proof and stopped > begin:
                written.append(replace(about, start=begin, stop=stopped, record=_copy(record)))
            if stopped < end:  # a person that needs more room gets it, and starts again with the best point so far
                sizes = _larger(sizes, memory, stopped == begin)
            begin = stopped

    share(len(cell.present), work, stop)


_kept = threading.local()


def _memory(ensemble: arrays.Ensemble, sizes: Sizes) -> arrays.SearchMemory:
    """Memory of this thread, kept for its next piece or call: new pages cost more than a few people do."""
    known: tuple[arrays.Ensemble, Sizes, arrays.SearchMemory] | None = getattr(_kept, "memory", None)
    if known is not None and known[0] is ensemble and known[1] == sizes:
        return known[2]
    made = make_memory(ensemble, sizes, make_record(False, 1, 0, 1, 1))
    if sizes.nodes == Sizes.nodes:  # a large search may take much
        _kept.memory = (ensemble, sizes, made)
    return made


def rows_of(cell: Cell) -> arrays.NumberRows:
    """The linear rows of a cell over its numbers, in cell order."""
    if cell.rows is None:
        return arrays.NumberRows(np.zeros((0, len(cell.numeric))), np.zeros((len(cell.present), 0)))
    return arrays.NumberRows(np.array(cell.rows.G[:, cell.numeric], order="C"), np.array(cell.rows.g, order="C"))


def _larger(sizes: Sizes, memory: arrays.SearchMemory, alone: bool) -> Sizes:
    """More room of the kind that was missing."""
    if memory.record.size[2]:
        return replace(sizes, recorded=4 * sizes.recorded) if alone else sizes
    if memory.open.size[0] + 2 > len(memory.open.parent):
        return replace(sizes, nodes=4 * sizes.nodes)
    return replace(sizes, leaves=4 * sizes.leaves)


def _copy(record: arrays.SplitRecord) -> arrays.SplitRecord:
    used = int(record.size[0])
    return record._replace(
        attribute=record.attribute[:used].copy(),
        place=record.place[:used].copy(),
        level=record.level[:used].copy(),
        child=record.child[:used].copy(),
    )
