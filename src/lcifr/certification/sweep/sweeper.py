"""Sweeps: the universe cut into cells until each is proved, refuted, or left open when the limit is reached."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count
from math import ceil
from typing import Any, Literal

import numpy as np

from lcifr.certification.counterexample import Pairs
from lcifr.certification.demands import FloatArray
from lcifr.certification.subject import Subject, subject_of
from lcifr.certification.sweep.alike import refuse_unsweepable
from lcifr.certification.sweep.pair_question import CellAnswers, PairQuestion
from lcifr.certification.sweep.pairs import violating_everywhere
from lcifr.certification.sweep.result import CellStatus, Sweep, SweepLimit, SweptCell
from lcifr.data import Individuals
from lcifr.errors import LcifrError
from lcifr.models.rule import Kind
from lcifr.phi.similarity import Similarity
from lcifr.prove import Budget
from lcifr.regions.universe import UniverseCells

# Which cell of the universe to cut next, and where: across the attribute along which the scores change most.

DRAWN = 32
"""People of a cell who say how far it is decided alike."""
LEAST = 0.05
"""Of a cell's size that counts however its people are decided, before the exponent: no cell waits forever."""
EXPONENT = 4
"""How much longer cells wait whose people are not decided alike. Of Compas (an MLP), 1,054 cells proved 18 % with 0,
24 % with 2 and 25 % with 4."""


def cut(cells: UniverseCells, score: Callable[[Individuals], FloatArray]) -> list[UniverseCells | None]:
    """Of each cell two that are it together; None where a single individual is left.

    From a person in the middle, every attribute is moved to its ends (a category to each of its values). A number is
    cut in half, a category into the values with lower and with higher scores.

    Parameters
    ----------
    cells : at least one.
    score : people -> (people, scores).
    """
    moves = [_Moves(cells.take([row])) for row in range(len(cells))]
    values = score(Individuals.joined([one.people for one in moves]))
    ends = np.cumsum([len(one.people) for one in moves])
    return [one.cut(mine) for one, mine in zip(moves, np.split(values, ends[:-1]), strict=True)]


def agreement(subject: Subject, cells: UniverseCells) -> FloatArray:
    """(cells,) how far drawn people of a cell are decided alike: 1 where all are, little where half of them are not."""
    if subject.rule.kind is Kind.NUMBER:
        return np.ones(len(cells))
    people = cells.draw(DRAWN, np.random.default_rng(0))
    decisions = np.asarray(subject.model.decide(subject.scores(people))).reshape(len(cells), DRAWN)
    alike = (decisions[:, :, None] == decisions[:, None, :]).sum(1).max(1) / DRAWN
    return np.asarray(np.maximum(2.0 * alike - 1.0, LEAST) ** EXPONENT)


class _Moves:
    """The people whose scores are compared: for each attribute, the person in the middle with its ends or values."""

    def __init__(self, cell: UniverseCells) -> None:
        self.cell = cell
        middle, numbers = cell.middles(), cell.lower.shape[1]
        codes = [np.flatnonzero(mask[0]) for mask in cell.allowed]
        self.owners = np.repeat(np.arange(numbers + len(codes)), [2] * numbers + [len(one) for one in codes])
        self.codes = np.concatenate([np.full(2 * numbers, -1), *codes])
        people = middle.take(np.zeros(len(self.owners), np.intp))
        rows = np.arange(2 * numbers)
        people.numbers[rows, rows // 2] = np.stack([cell.lower[0], cell.upper[0]], axis=1).reshape(-1)
        rows = np.arange(2 * numbers, len(self.owners))
        people.codes[rows, self.owners[rows] - numbers] = self.codes[rows]
        self.people = people

    def cut(self, values: FloatArray) -> UniverseCells | None:
        """Across the attribute along which some score changes most, of those that can be cut."""
        numbers = self.cell.lower.shape[1]
        for place in np.argsort(-self.changes(values), kind="stable").tolist():
            two = self.cell.cut_number(0, place) if place < numbers else self.halve_category(place - numbers, values)
            if two is not None:
                return two
        return None

    def changes(self, values: FloatArray) -> FloatArray:
        """(attributes,) by how much some score changes along each; nothing for those that cannot move."""
        count = self.cell.lower.shape[1] + len(self.cell.allowed)
        starts = np.searchsorted(self.owners, np.arange(count))
        top, bottom = (end.reduceat(values, starts, axis=0) for end in (np.maximum, np.minimum))
        return np.asarray((top - bottom).max(1, initial=0.0))

    def halve_category(self, place: int, values: FloatArray) -> UniverseCells | None:
        mine = np.flatnonzero(self.owners == self.cell.lower.shape[1] + place)
        if len(mine) < 2:
            return None
        order = mine[np.lexsort((self.codes[mine], values[mine].sum(1)))]
        first = np.zeros(self.cell.allowed[place].shape[1], np.bool_)
        first[self.codes[order[: len(order) // 2]]] = True
        return self.cell.cut_category(0, place, first)


# The sweep: the universe is cut into cells until each is proved, violating, or all that is allowed has been done.

AT_ONCE = 256
"""Cells that are asked about in one call."""
NODES = 200
"""Of the search in one cell, before it is cut: cutting is cheaper than a long search, and leaves smaller open parts."""
AT_LEAST = 1 / 16
"""The share of open cells that are asked about thoroughly even if that has proved nothing lately."""
REMEMBERED = 256
"""Attempts after which earlier ones count half."""


@dataclass
class SuccessRate:
    """How often an expensive attempt has succeeded lately: it is made that often, and in a few cells in any case."""

    tried: float = 0.0
    succeeded: float = 0.0

    def of(self, count: int) -> int:
        """In how many of so many cells it is to be made."""
        rate = (self.succeeded + 1.0) / (self.tried + 1.0)
        return min(count, ceil(count * max(rate, AT_LEAST)))

    def learn(self, tried: int, succeeded: int) -> None:
        """What became of some attempts; earlier ones fade."""
        fade = REMEMBERED / (REMEMBERED + tried)
        self.tried, self.succeeded = self.tried * fade + tried, self.succeeded * fade + succeeded


@dataclass
class Sweeper:
    """Cuts the universe, cells that are large and decided alike first.

    Parameters
    ----------
    subject : what decides, and who is similar; a pair counts only if the library of such a model decides differently.
    whole : whether whole-number attributes hold whole numbers only.
    nodes : of the search in a cell.
    start : what an earlier sweep of the same model knew; None to begin with the whole universe.
    """

    subject: Subject
    whole: bool = True
    nodes: int = NODES
    start: Sweep | None = None
    _open: list[tuple[float, int, SweptCell]] = field(default_factory=list)
    _done: dict[str, list[SweptCell]] = field(default_factory=lambda: {"proved": [], "violating": [], "uncut": []})
    _turn: Iterator[int] = field(default_factory=count)
    _decided: float = 0.0
    _pays: SuccessRate = field(default_factory=SuccessRate)

    def __post_init__(self) -> None:
        self._question = PairQuestion(self.subject)
        everyone = UniverseCells.everybody(self.subject.encoding, whole=self.whole)
        refuse_unsweepable(self.subject)
        self._total = everyone.measures()[0]
        if self.start is None:
            self._push([SweptCell(everyone, Fraction(1))])
            return
        self._done["proved"] += self.start.cells(CellStatus.PROVED)
        self._done["violating"] += self.start.violating
        self._push((*self.start.open, *self.start.cells(CellStatus.CROSSINGS)))
        self._decided = float(self.start.share(CellStatus.PROVED) + self.start.share(CellStatus.VIOLATING))

    def _push(self, some: Sequence[SweptCell]) -> None:
        """Queue cells: large ones and those that are decided alike come first, because there more is proved soon."""
        if some:
            chances = agreement(self.subject, UniverseCells.joined([one.cell for one in some]))
            for one, chance in zip(some, chances.tolist(), strict=True):
                heapq.heappush(self._open, (-float(one.share) * chance, next(self._turn), one))

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
        limit = None
        if self._open:
            limit = SweepLimit("cells", cells) if asked >= cells else SweepLimit("seconds", seconds or 0.0)
        return replace(self.state(), limit=limit)

    def state(self) -> Sweep:
        """What is known so far."""
        rest = (*(one for *_, one in self._open), *self._done["uncut"])
        proved, violating = (tuple(self._done[name]) for name in ("proved", "violating"))
        if self.subject.ignores_changes:  # both outputs of every pair are the same, but for what machines round
            proved, rest = (*proved, *(replace(one, strict=False) for one in rest)), ()
        return Sweep(proved, violating, rest, self.whole, self.subject.arithmetic, self.subject.hashes)

    @property
    def decided(self) -> float:
        """How much of the universe is proved or violating."""
        return self._decided

    def _look_at(self, some: list[SweptCell]) -> None:
        cells = UniverseCells.joined([one.cell for one in some])
        single = cells.is_single()
        for rows in (np.flatnonzero(~single), np.flatnonzero(single)):
            if len(rows):
                self._ask([some[row] for row in rows], cells.take(rows), single=bool(single[rows[0]]))

    def _ask(self, some: list[SweptCell], cells: UniverseCells, *, single: bool) -> None:
        """About cells that are one individual each (``single``), or about larger ones."""
        budget = Budget() if single else Budget(nodes=self.nodes)
        proved, strict, pairs = np.zeros(len(some), np.bool_), np.ones(len(some), np.bool_), Pairs.none(cells.middles())
        for row, one in enumerate(some):
            if one.pair is not None:  # it was found in the larger cell: nothing is left to search for
                pairs = pairs.replaced(np.array([row]), one.pair)
        fresh = np.flatnonzero(~pairs.found)
        if len(fresh):
            part = cells.take(fresh)
            ask = self._question.ask_individuals
            answers = ask(part.middles(), budget) if single else self._ask_about(part, budget)
            proved[fresh], strict[fresh] = answers.proved, answers.strict
            pairs = pairs.replaced(fresh, answers.pairs)
        everywhere = pairs.found if single else violating_everywhere(self.subject, cells, pairs, budget)
        left = list[SweptCell]()
        for row, one in enumerate(some):
            pair = pairs.take([row]) if pairs.found[row] else None
            known = SweptCell(one.cell, one.share, pair, bool(strict[row]))
            if proved[row] or everywhere[row]:
                self._done["proved" if proved[row] else "violating"].append(known)
                self._decided += float(one.share)
            else:
                left.append(known)
        self._cut(left)

    def _ask_about(self, cells: UniverseCells, budget: Budget) -> CellAnswers:
        """All of them cheaply, and of what that leaves as many thoroughly as it has paid lately."""
        answers = self._question.ask(cells, budget, thoroughly=False)
        left = np.flatnonzero(~answers.proved & ~answers.pairs.found)
        some = left[: self._pays.of(len(left))]
        if not len(some):
            return answers
        more = self._question.ask(cells.take(some), budget)
        proved = answers.proved.copy()
        proved[some] = more.proved
        self._pays.learn(len(some), int(more.proved.sum()))
        return replace(answers, proved=proved, pairs=answers.pairs.replaced(some, more.pairs))

    def _cut(self, some: Sequence[SweptCell]) -> None:
        if not some:
            return
        halves = list[SweptCell]()
        cells = UniverseCells.joined([one.cell for one in some])
        for known, two in zip(some, cut(cells, self.subject.directed_scores), strict=True):
            if two is None:  # one individual, or numbers between which is no float: a pair of one is not one of all
                self._done["uncut"].append(known)
                continue
            for side, measure in enumerate(two.measures()):
                half = two.take([side])
                inherits = known.pair is not None and bool(half.contains(known.pair.x)[0])
                halves.append(SweptCell(half, measure / self._total, known.pair if inherits else None))
        self._push(halves)


# The function ``lcifr.sweep``: looks for any two similar people who can exist and are decided differently.


def sweep(
    encoder: Any = None,
    model: Any = None,
    X: Any = None,
    *,
    similarity: Similarity | str | None = None,
    groups: Sequence[Sequence[Any]] | None = None,
    tolerance: float | None = None,
    universe: Literal["whole", "reals"] = "whole",
    arithmetic: str | None = None,
    cells: int = 10_000,
    seconds: float | None = None,
    nodes: int = NODES,
    progress: Callable[[Sweep], None] | None = None,
) -> Sweep:
    """Cut everyone who can exist into cells: proved, violating, or still open.

    ``sweep(encoder, model, X)`` is about an encoder of ours and a model on top, ``sweep(model, X, similarity=…)`` about
    a model of another library, as in :func:`lcifr.audit`. The schema says who can exist: every number needs a declared
    range. X is a table of the model's columns; its people take part only in how the model is read.

    Parameters
    ----------
    universe : whether attributes that the schema calls whole hold whole numbers only, or any real number.
    cells, seconds : how many cells are looked at, and for how long, at most. What is known by then comes back.
    nodes : of the search in a cell before it is cut.
    progress : called with what is known after each batch of cells.

    Raises
    ------
    RegionError
        If a number has no declared range, if no one can exist, or φ cannot be evaluated on pairs (two ranks in one
        comparison).
    LcifrError
        If the universe has another name.
    """
    if universe not in ("whole", "reals"):
        raise LcifrError(f'universe="{universe}" is neither "whole" nor "reals"', fix='say universe="whole"')
    subject = subject_of(encoder, model, X, similarity, groups, tolerance, arithmetic).subject
    sweeper = Sweeper(subject, whole=universe == "whole", nodes=nodes)
    return sweeper.run(cells=cells, seconds=seconds, progress=progress)
