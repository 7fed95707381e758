"""The search over trees called from Python: arrays brought into its shapes, people shared by threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
from numba.core.event import Listener, install_listener

from lcifr.models.trees import Trees
from lcifr.prove.answer import Claim, Question
from lcifr.prove.networks.kernel.pieces import Interruption, cells_of, share, stopped_at
from lcifr.prove.trees import shape
from lcifr.prove.trees.kernel import make_kernel
from lcifr.prove.trees.memory import Sizes, make_memory, make_record
from lcifr.prove.trees.program import Arrangement, arrange
from lcifr.prove.trees.proofs import RecordedTrees, gather
from lcifr.regions.region import Cell

kernel = cache(make_kernel)


class Announcer(Listener):
    """Says on stderr that the search is being compiled, where it is: silence for a minute looks like a fault."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: object) -> None:
        """A function begins to be compiled, and was not found on disk."""
        if not self.said:
            print("lcifr: compiling the search over trees, about a minute, once on this machine ...", file=sys.stderr)
        self.said = True

    def on_end(self, event: object) -> None:
        """It is compiled; others follow."""


def answer_trees(question: Question) -> Claim:
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
    exhausted = found.exhausted.view(np.bool_)
    return Claim(
        found.upper,
        np.ones(found.upper.shape, np.bool_),
        found.witness,
        exhausted,
        found.nodes,
        found.branched.astype(np.int8),
        ("bounds", "branch"),
        gather(question, found.upper, written) if question.proof else None,
        stopped.happened,
    )


def _blank(question: Question) -> shape.Found:
    people, k = question.directions.shape[:2]
    return shape.Found(
        upper=np.full((people, k), -np.inf),
        proved=np.full((people, k), -np.inf),
        best=np.full((people, k), -np.inf),
        nodes=np.zeros((people, k), np.int64),
        exhausted=np.zeros((people, k), np.uint8),
        branched=np.zeros((people, k), np.uint8),
        witness=np.full((people, k, question.region.features), np.nan),
    )


def _asked(question: Question) -> shape.TreeQuestion:
    rows, target = question.directions, question.target
    alike = len(rows) == 1 or rows.strides[0] == 0
    return shape.TreeQuestion(
        np.array(rows[:1] if alike else rows, order="C"),
        np.full(rows.shape[:2], -np.inf) if target is None else np.array(target, order="C"),
        float(question.tolerance),
        int(question.budget.nodes),
        np.zeros(1, np.uint8),
    )


def _answer_cell(
    question: Question,
    cell: Cell,
    number: int,
    asked: shape.TreeQuestion,
    found: shape.Found,
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
            if stopped < end:  # whoever needs more room gets it, and starts again with the best point so far
                sizes = _larger(sizes, memory, stopped == begin)
            begin = stopped

    share(len(cell.present), work, stop)


_kept = threading.local()


def _memory(ensemble: shape.Ensemble, sizes: Sizes) -> shape.SearchMemory:
    """Memory of this thread, kept for its next piece or call: new pages cost more than a few people do."""
    known: tuple[shape.Ensemble, Sizes, shape.SearchMemory] | None = getattr(_kept, "memory", None)
    if known is not None and known[0] is ensemble and known[1] == sizes:
        return known[2]
    made = make_memory(ensemble, sizes, make_record(False, 1, 0, 1, 1))
    if sizes.nodes == Sizes.nodes:  # a large search may take much
        _kept.memory = (ensemble, sizes, made)
    return made


def rows_of(cell: Cell) -> shape.NumberRows:
    """The linear rows of a cell over its numbers, in cell order."""
    if cell.rows is None:
        return shape.NumberRows(np.zeros((0, len(cell.numeric))), np.zeros((len(cell.present), 0)))
    return shape.NumberRows(np.array(cell.rows.G[:, cell.numeric], order="C"), np.array(cell.rows.g, order="C"))


def _larger(sizes: Sizes, memory: shape.SearchMemory, alone: bool) -> Sizes:
    """More room of the kind that was missing."""
    if memory.record.size[2]:
        return replace(sizes, recorded=4 * sizes.recorded) if alone else sizes
    if memory.open.size[0] + 2 > len(memory.open.parent):
        return replace(sizes, nodes=4 * sizes.nodes)
    return replace(sizes, leaves=4 * sizes.leaves)


def _copy(record: shape.SplitRecord) -> shape.SplitRecord:
    used = int(record.size[0])
    return record._replace(
        attribute=record.attribute[:used].copy(),
        place=record.place[:used].copy(),
        level=record.level[:used].copy(),
        child=record.child[:used].copy(),
    )
