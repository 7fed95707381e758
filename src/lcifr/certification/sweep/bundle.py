"""The bundle of a sweep: how the universe is cut into cells, and each cell's proof or pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.audit import limits_end_to_end
from lcifr.certification.bundle import PEOPLE, class_claim, line_writer, plain_person, prove, write_model
from lcifr.certification.counterexample import CounterexampleChecker
from lcifr.certification.demands import outputs_at
from lcifr.certification.subject import Subject, rule_of_bundle
from lcifr.certification.sweep.alike import limits_alike, reached_people
from lcifr.certification.sweep.pair_question import PairQuestion
from lcifr.certification.sweep.pairs import FixedChange, people_of
from lcifr.certification.sweep.result import CellStatus, Sweep, SweptCell
from lcifr.data import Individuals
from lcifr.data.files import describe_files, fresh_folder, versions, write_manifest
from lcifr.errors import LcifrError
from lcifr.models.rule import Kind
from lcifr.prove import Budget
from lcifr.regions.region import Region
from lcifr.regions.universe import UniverseCells
from lcifr.regions.whole_numbers import narrow_to_whole_numbers

# The tree of cuts that led to the cells of a sweep, recovered from the cells alone.
#
# Cells result from repeatedly cutting the universe in two, so any group of cells can be split along some attribute, at
# a border that no cell straddles.

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Cut:
    """A split in two: numbers up to ``border`` and those above (for whole numbers, from ``border`` + 1); or the
    categories with these codes, and the others."""

    attribute: str
    border: float | tuple[int, ...]

    def to_plain(self) -> list[Any]:
        """As it is written in a bundle."""
        return [self.attribute, list(self.border) if isinstance(self.border, tuple) else self.border]


@dataclass(frozen=True)
class CutLeaf:
    """A cell (by its row), and the cuts between the previous cell and this one, in preorder."""

    cell: int
    cuts: tuple[Cut, ...]


@dataclass(frozen=True)
class _Halves:
    cut: Cut
    first: Rows
    second: Rows

    @property
    def imbalance(self) -> int:
        return abs(len(self.first) - len(self.second))


def cut_tree(cells: UniverseCells) -> Iterator[CutLeaf]:
    """The cells in the order of their tree, first halves first.

    Raises
    ------
    LcifrError
        If no sequence of cuts makes these cells.
    """
    waiting, cuts = [np.arange(len(cells))], list[Cut]()
    while waiting:
        rows = waiting.pop()
        if len(rows) == 1:
            yield CutLeaf(int(rows[0]), tuple(cuts))
            cuts = []
            continue
        halves = min(_all_halves(cells, rows), key=lambda one: one.imbalance, default=None)
        if halves is None:
            raise LcifrError(
                "the sweep's cells cannot result from repeatedly cutting the universe in two", fix="sweep again"
            )
        cuts.append(halves.cut)
        waiting += [halves.second, halves.first]


def _all_halves(cells: UniverseCells, rows: Rows) -> Iterator[_Halves]:
    for place, name in enumerate(cells.schema.names_numeric):
        yield from _along_number(name, cells.lower[rows, place], cells.upper[rows, place], cells.counted[place], rows)
    for place, name in enumerate(cells.schema.names_categorical):
        yield from _along_category(name, cells.allowed[place][rows], rows)


def _along_number(name: str, lower: Any, upper: Any, whole: bool, rows: Rows) -> Iterator[_Halves]:
    """The border nearest to the middle of the cells, if there is one."""
    order = np.argsort(lower, kind="stable")
    reached = np.maximum.accumulate(upper[order])[:-1]
    begins = lower[order][1:]
    fits = np.flatnonzero(reached < begins if whole else reached <= begins)
    if len(fits):
        at = int(fits[np.abs(fits + 1 - len(rows) / 2).argmin()])
        yield _Halves(Cut(name, float(reached[at])), rows[order[: at + 1]], rows[order[at + 1 :]])


def _along_category(name: str, allowed: Any, rows: Rows) -> Iterator[_Halves]:
    """Separate the categories connected to the first cell's, through cells that share any, from the rest."""
    codes = allowed[0].copy()
    while (grown := codes | allowed[(allowed & codes).any(1)].any(0)).sum() > codes.sum():
        codes = grown
    inside = (allowed & codes).any(1)
    if not inside.all():
        yield _Halves(Cut(name, tuple(np.flatnonzero(codes).tolist())), rows[inside], rows[~inside])


# What a sweep's bundle claims about its cells, with proofs: no pair in the cell is decided differently, or one is.

Claim = dict[str, Any]
OPEN: Claim = {"standing": "open"}
MOST_CLASSES = 16
"""With more classes, the checker does not check all pairs: the network grows with the fourth power of their number."""


@dataclass(frozen=True, eq=False)
class CellClaims:
    """Claims about cells, one search per batch. Whatever the search does not settle is left open."""

    subject: Subject
    budget: Budget

    def of(self, standings: Sequence[CellStatus], cells: Sequence[SweptCell]) -> list[Claim]:
        """The claim for each cell, given its status."""
        joined = UniverseCells.joined([one.cell for one in cells])
        claims = [{**OPEN, **self._pair(one)} for one in cells]
        single = joined.is_single()
        proved, violating = (
            np.array([standing is one for standing in standings], np.bool_)
            for one in (CellStatus.PROVED, CellStatus.VIOLATING)
        )
        violating &= np.array([one.strict for one in cells], np.bool_)
        for row in np.flatnonzero(violating).tolist():
            claims[row] |= {"standing": "violating"} if single[row] else self._changed(cells[row], claims[row])
        for rows, prove_these in ((proved & ~single, self._proved), (proved & single, self._certified)):
            for row, claim in zip(np.flatnonzero(rows).tolist(), prove_these(joined.take(rows)), strict=True):
                claims[row] |= claim
        return claims

    @property
    def _few_classes(self) -> bool:
        rule = self.subject.rule
        return rule.kind is not Kind.CLASS or rule.outputs <= MOST_CLASSES

    @cached_property
    def _question(self) -> PairQuestion:
        return PairQuestion(self.subject)

    def _proved(self, cells: UniverseCells) -> list[Claim]:
        """Prove that no pair is decided differently: everyone is decided alike, or by a proof about both decisions."""
        claims: list[Claim] = [{} for _ in range(len(cells))]
        for attempt in self._attempts:
            left = [row for row, claim in enumerate(claims) if not claim]
            if left:
                for row, claim in zip(left, attempt(cells.take(left)), strict=True):
                    claims[row] = claim
        return claims

    @property
    def _attempts(self) -> tuple[Callable[[UniverseCells], list[Claim]], ...]:
        """One copy of the model is cheaper to search and check than two, and proves most cells."""
        network = self._question.copies is not None and len(self.subject.score_directions) and self._few_classes
        alike = () if self.subject.rule.kind is Kind.NUMBER else (self._alike,)
        return (*alike, self._both) if network else alike

    def _both(self, cells: UniverseCells) -> list[Claim]:
        """Prove that no pair is decided differently, with both decisions as one network."""
        region = self.subject.pairs.region(cells, as_written=True)
        limits = self._question.limits(region, cells.whole)
        shown = prove(self._question.both.merged, limits, region, self.budget)
        return [{} if found is None else {"standing": "proved", "proofs": found} for found in shown]

    def _alike(self, cells: UniverseCells) -> list[Claim]:
        """Prove that everyone in the pairs gets the same decision as the person in the middle of the cell."""
        subject, people = self.subject, cells.middles()
        pairs = subject.pairs.region(cells, as_written=True)
        shown = self._alike_proofs(reached_people(subject.pairs, pairs, cells, subject.encoding), people)
        return [
            {} if found is None else {"standing": "proved", **predicted, "proofs": found}
            for found, predicted in zip(shown, self._predictions(people), strict=True)
        ]

    def _alike_proofs(self, region: Region, people: Individuals) -> list[list[Any] | None]:
        """Proofs that everyone in each region gets the same decision as one person."""
        deployment = self.subject.deployed
        own = outputs_at(deployment, self.subject.encoding.encode(people))
        return prove(deployment.merged, limits_alike(self.subject, region, own), region, self.budget)

    def _certified(self, cells: UniverseCells) -> list[Claim]:
        """For cells with a single individual: that person's own certificate."""
        if not len(cells):
            return []
        people = cells.middles()
        region = narrow_to_whole_numbers(self.subject.similarity.region(people), self.subject.encoding)
        checker = CounterexampleChecker(self.subject, people)
        limits, asked = limits_end_to_end(checker, region), checker.deployment.asked_over(region)
        claims = list[Claim]()
        predicted = self._predictions(people)
        for row, found in enumerate(prove(checker.deployment.merged, limits, asked, self.budget)):
            decision = {"verdict": "certified", **predicted[row], "on": "whole", "proofs": found}
            claim = {"standing": "proved", "x": plain_person(people, row), "decision": decision}
            claims.append({} if found is None else claim)
        return claims

    def _changed(self, one: SweptCell, pair: Claim) -> Claim:
        """Prove that the change from x to x′ is a violation for everyone in the cell."""
        assert one.pair is not None
        change = FixedChange(one.cell, one.pair)
        before, after = (
            self._alike_proofs(people_of(self.subject, cell), person)[0]
            for cell, person in ((one.cell, one.pair.x), (change.moved, one.pair.other))
        )
        if before is None or after is None:
            return {}
        shifts = {name: float(by) for name, by in change.shift.items() if by}
        made = {"codes": change.codes, "shifts": shifts, **self._predictions(one.pair.other)[0]}
        return {**pair, "standing": "violating", "change": {**made, "before": before, "after": after}}

    def _pair(self, one: SweptCell) -> Claim:
        """A pair in the cell that is decided differently, if strictly so: the checker does not confirm ties."""
        if one.pair is None or not one.strict:
            return {}
        other = plain_person(one.pair.other, 0)
        decision = {"verdict": "counterexample", **self._predictions(one.pair.x)[0], "other": other}
        return {"x": plain_person(one.pair.x, 0), "decision": decision}

    def _predictions(self, people: Individuals) -> list[dict[str, int]]:
        rule, outputs = self.subject.rule, outputs_at(self.subject.deployed, self.subject.encoding.encode(people))
        return [class_claim(rule, decided) for decided in rule.decide(outputs.values)]


# The bundle of a sweep: how the universe is cut into cells, and each cell's proof or pair.
#
#     folder/manifest.json        format, files with their hashes, the rule of decision, universe, arithmetic and shares
#     folder/people.jsonl.gz      for each cell the cuts that lead to it, what is claimed, and the proofs
#     folder/similarity.json, encoding.json, encoder.json, model.json
#
# ``python -m lcifr.check FOLDER`` derives the similar pairs of every cell and confirms every claim in exact arithmetic.

FORMAT = "lcifr-sweep-2"
AT_ONCE = 64
"""Cells whose proofs are in memory together."""
Shares = dict[str, Fraction]


def write_sweep_bundle(
    folder: str | Path,
    subject: Subject,
    found: Sweep,
    *,
    budget: Budget | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> Shares:
    """Write the proofs of a sweep for the exact checker, and return the shares that the bundle claims.

    These are the sweep's shares, except that cells without a proof on file count as open: cells whose proof the search
    does not find again within ``budget``, ties (a pair that differs by one, or cells without strict crossings), and
    numbers that trees predict.
    """
    if subject.deployed.is_composed:
        raise LcifrError(
            "proofs of a model on the scores of a booster are not written for sweeps", fix="sweep without a bundle"
        )
    with fresh_folder(folder) as fresh:
        write_model(fresh, subject.encoder, subject.model)
        shares = _write_cells(fresh / PEOPLE, CellClaims(subject, budget or Budget()), found, progress)
        manifest = {
            "format": FORMAT,
            "people": len(found.index.cells),
            "decision": rule_of_bundle(subject.model.rule),
            "sweep": {
                "universe": "whole" if found.whole else "reals",
                "arithmetic": str(found.arithmetic),
                "others": subject.pairs.others,
                "shares": {standing: str(share) for standing, share in shares.items()},
            },
            "versions": versions(),
            "files": describe_files(fresh),
        }
        write_manifest(fresh, manifest)
    return shares


def _write_cells(
    path: Path, claims: CellClaims, found: Sweep, progress: Callable[[int, int], Any] | None
) -> dict[str, Fraction]:
    standings = [standing for standing in CellStatus for _ in found.cells(standing)]
    cells = [one for standing in CellStatus for one in found.cells(standing)]
    shares: Shares = {}
    with line_writer(path) as write:
        order, done = cut_tree(found.index.cells), 0
        while leaves := list(islice(order, AT_ONCE)):
            some = [leaf.cell for leaf in leaves]
            claimed = claims.of([standings[row] for row in some], [cells[row] for row in some])
            for leaf, claim in zip(leaves, claimed, strict=True):
                shares[claim["standing"]] = shares.get(claim["standing"], Fraction(0)) + cells[leaf.cell].share
                write({"id": leaf.cell, "cuts": [cut.to_plain() for cut in leaf.cuts], **claim})
            done += len(leaves)
            if progress is not None:
                progress(done, len(cells))
    return shares
