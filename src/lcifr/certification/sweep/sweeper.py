"""The sweep: the universe is cut into cells until each is proved, violating, or all that is allowed has been done."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count

import numpy as np

from lcifr.certification.sweep.cutting import cut
from lcifr.certification.sweep.fixed_change import violating_everywhere
from lcifr.certification.sweep.pair_question import PairQuestion
from lcifr.certification.sweep.pairs_found import Pairs
from lcifr.certification.sweep.result import Standing, Sweep, SweptCell
from lcifr.certification.sweep.swept_model import SweptModel
from lcifr.prove import Budget
from lcifr.regions.universe import UniverseCells

AT_ONCE = 64
"""Cells that are asked about in one call."""
NODES = 200
"""Of the search in one cell, before it is cut: cutting is cheaper than a long search, and leaves smaller open parts."""


@dataclass
class Sweeper:
    """Cuts the universe, largest open cell first.

    Parameters
    ----------
    swept : the model, with who counts as similar.
    whole : whether whole-number attributes hold whole numbers only.
    nodes : of the search in a cell.
    start : what an earlier sweep of the same model knew; None to begin with everybody.
    """

    swept: SweptModel
    whole: bool = True
    nodes: int = NODES
    start: Sweep | None = None
    _open: list[tuple[Fraction, int, SweptCell]] = field(default_factory=list)
    _done: dict[str, list[SweptCell]] = field(default_factory=lambda: {"proved": [], "violating": [], "uncut": []})
    _turn: Iterator[int] = field(default_factory=count)
    _decided: float = 0.0

    def __post_init__(self) -> None:
        self._question = PairQuestion(self.swept)
        everybody = UniverseCells.everybody(self.swept.encoding, whole=self.whole)
        self._total = everybody.measures()[0]
        if self.start is None:
            self._push(SweptCell(everybody, Fraction(1)))
            return
        self._done["proved"] += self.start.cells(Standing.PROVED)
        self._done["violating"] += self.start.violating
        for one in (*self.start.open, *self.start.cells(Standing.CROSSINGS)):
            self._push(one)
        self._decided = float(self.start.share(Standing.PROVED) + self.start.share(Standing.VIOLATING))

    def _push(self, one: SweptCell) -> None:
        heapq.heappush(self._open, (-one.share, next(self._turn), one))

    def run(
        self, *, cells: int = 10_000, seconds: float | None = None, progress: Callable[[Sweep], None] | None = None
    ) -> Sweep:
        """Go on until nothing is open, this many cells have been asked about, or the time is over."""
        deadline = None if seconds is None else time.monotonic() + seconds
        asked = 0
        while self._open and asked < cells and (deadline is None or time.monotonic() < deadline):
            some = [heapq.heappop(self._open)[2] for _ in range(min(AT_ONCE, len(self._open), cells - asked))]
            asked += len(some)
            self._look_at(some)
            if progress is not None:
                progress(self.state())
        return self.state()

    def state(self) -> Sweep:
        """What is known so far."""
        rest = (*(one for *_, one in self._open), *self._done["uncut"])
        proved, violating = (tuple(self._done[name]) for name in ("proved", "violating"))
        if self.swept.ignores_changes:  # both outputs of every pair are the same, but for what machines round
            proved, rest = (*proved, *(replace(one, strict=False) for one in rest)), ()
        return Sweep(proved, violating, rest, self.whole, self.swept.arithmetic, self.swept.hashes)

    @property
    def decided(self) -> float:
        """How much of everybody is proved or violating."""
        return self._decided

    def _look_at(self, some: list[SweptCell]) -> None:
        cells = UniverseCells.joined([one.cell for one in some])
        single = cells.is_single()
        for rows in (np.flatnonzero(~single), np.flatnonzero(single)):
            if len(rows):
                self._ask([some[row] for row in rows], cells.take(rows), alone=bool(single[rows[0]]))

    def _ask(self, some: list[SweptCell], cells: UniverseCells, *, alone: bool) -> None:
        budget = Budget() if alone else Budget(nodes=self.nodes)
        proved, strict, pairs = np.zeros(len(some), np.bool_), np.ones(len(some), np.bool_), Pairs.none(cells)
        for row, one in enumerate(some):
            if one.pair is not None:  # it was found in the larger cell: nothing is left to search for
                pairs.put([row], one.pair)
        fresh = np.flatnonzero(~pairs.found)
        if len(fresh):
            part = cells.take(fresh)
            ask = self._question.ask
            answers = self._question.ask_individuals(part.middles(), budget) if alone else ask(part, budget)
            proved[fresh], strict[fresh] = answers.proved, answers.strict
            pairs.put(fresh, answers.pairs)
        everywhere = pairs.found if alone else violating_everywhere(self.swept, cells, pairs, budget)
        for row, one in enumerate(some):
            pair = pairs.take([row]) if pairs.found[row] else None
            known = SweptCell(one.cell, one.share, pair, bool(strict[row]))
            if proved[row] or everywhere[row]:
                self._done["proved" if proved[row] else "violating"].append(known)
                self._decided += float(one.share)
            else:
                self._cut(known, cells, row)

    def _cut(self, known: SweptCell, cells: UniverseCells, row: int) -> None:
        two = cut(cells, row, self.swept.score)
        if two is None:  # one individual, or numbers between which there is no float: a pair of one is not one of all
            self._done["uncut"].append(known)
            return
        for side, measure in enumerate(two.measures()):
            half = two.take([side])
            inherits = known.pair is not None and bool(half.contains(known.pair.x)[0])
            self._push(SweptCell(half, measure / self._total, known.pair if inherits else None))
