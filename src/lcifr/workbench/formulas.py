"""Formulas on the page: while they are written, what they mean, and what they mean for people of a table."""

from __future__ import annotations

import hashlib
import itertools
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lcifr.certification.profiles import surroundings
from lcifr.data import Numeric
from lcifr.data.files import write_atomic
from lcifr.display.text import visible
from lcifr.errors import LcifrError, RegionError
from lcifr.phi import Similarity
from lcifr.phi.formula import Span
from lcifr.phi.lint import Example, Severity, short_percent, values_of
from lcifr.phi.neighbours import neighbours_of
from lcifr.phi.parser import diagnose
from lcifr.phi.syntax_errors import find_position
from lcifr.report.content import Explorer, PersonRow
from lcifr.report.people import Row, show
from lcifr.workbench.completion import Suggestion, complete
from lcifr.workbench.people_tables import OpenTable, PeopleTables
from lcifr.workbench.work_folder import PageRequest, WorkFolder, command_line
from lcifr.workflows.formulas import check_with_people
from lcifr.workflows.people import read_formula

# What the page asks and learns about formulas: a text, its mistakes, its English, its people.


@dataclass(frozen=True)
class TypedFormula(PageRequest):
    """A formula as it is being written, and the people it is looked at with.

    file : where it is, or will be, saved. caret : where completion is wanted; None for nowhere.
    wanted : whether completion was asked for, rather than come by itself while typing. row : of the table, the person.
    """

    text: str
    table: str
    schema: str = ""
    file: str = ""
    caret: int | None = None
    wanted: bool = False
    row: int = 0


@dataclass(frozen=True)
class Mistake:
    """Something wrong with the text from start to end; lines and columns count from 1."""

    start: int
    end: int
    line: int
    column: int
    message: str
    fix: str


@dataclass(frozen=True)
class ReadFormula:
    """What a text says: mistakes, or English; suggestions for the caret; the command that says the same."""

    mistakes: tuple[Mistake, ...]
    english: str
    suggestions: tuple[Suggestion, ...]
    command: str


@dataclass(frozen=True)
class PlacedFinding:
    """What lint found, and where in the text; start is None where it is about all of it."""

    code: str
    severity: str
    message: str
    start: int | None
    end: int | None
    examples: tuple[str, ...]


@dataclass(frozen=True)
class PairLine:
    """Two people in a line: who, what differs, and of a near miss the part of the formula that fails."""

    who: str
    differs: str
    failing: str = ""
    row: int | None = None


@dataclass(frozen=True)
class NeighbourBar:
    """How many people have from low to high similar others."""

    low: int
    high: int
    people: int


@dataclass(frozen=True)
class LookedAt:
    """What is odd about a formula, and how many neighbours people have."""

    findings: tuple[PlacedFinding, ...]
    asked: str
    counted: str
    alone: str
    bars: tuple[NeighbourBar, ...]
    similar: tuple[PairLine, ...]
    missed: tuple[PairLine, ...]
    command: str


@dataclass(frozen=True)
class AroundPerson:
    """One person: what a similar person may have, who is similar, and who just misses."""

    row: int
    rows: tuple[Row, ...]
    note: str
    count: int
    compared: int
    similar: tuple[PairLine, ...]
    missed: tuple[PairLine, ...]
    problem: str = ""


@dataclass(frozen=True)
class SavedFormula:
    """A formula's file: its text, and a hash that shows whether it was changed in the meantime."""

    file: str
    text: str
    sha256: str


# The formula desk: a formula while it is written, what it means, and what it means for people of a table.

BARS = 12
"""Of the histogram of neighbour counts."""
ASKED, PAIRS = 500, 3_000_000
"""People whose neighbours are counted, and pairs that are compared for that, at most: a second or two."""


class FormulaDesk:
    """Formulas of a folder."""

    def __init__(self, folder: WorkFolder, tables: PeopleTables) -> None:
        self._folder, self._tables = folder, tables
        self._turn, self._waiting = threading.Lock(), itertools.count(1)
        self._newest = 0

    def open(self, file: str) -> SavedFormula:
        """The text of a file."""
        text, _ = read_formula(str(self._folder.file(file)))
        return SavedFormula(file, text, _digest(self._folder.file(file)))

    def save(self, file: str, text: str, seen: str, overwrite: bool) -> SavedFormula:
        """Write a formula; refused where the file is not what was opened, unless that is meant.

        Parameters
        ----------
        seen : the hash of the file when it was opened or saved; empty for a new one.
        """
        path = self._folder.new(file, ".phi")
        if path.exists() and not overwrite and (not path.is_file() or _digest(path) != seen):
            raise LcifrError(
                f"{file} has been changed since it was opened",
                fix="open it again, or save under another name",
            )
        write_atomic(path, text.encode())
        return SavedFormula(file, text, _digest(path))

    def read(self, typed: TypedFormula) -> ReadFormula:
        """What is wrong with a text, or what it says; quick enough for every key."""
        table = self._tables.open(typed.table, typed.schema)
        offered = () if typed.caret is None else complete(typed.text, typed.caret, table.schema, anything=typed.wanted)
        mistakes = tuple(
            _mistake(typed.text, one.span, one.message, one.fix) for one in diagnose(typed.text, table.schema)
        )
        english = ""
        if not mistakes:
            try:
                english = self._similarity(typed, table).explain()
            except LcifrError as error:  # ranks, which need the people
                mistakes = (Mistake(0, 0, 1, 1, *_both(error)),)
        command = command_line("phi", "explain", typed.file or "NAME.phi", data=table.name, schema=table.schema_name)
        return ReadFormula(mistakes, english, offered, command)

    def look(self, typed: TypedFormula) -> LookedAt:
        """What lint finds, and how many neighbours the people have; one text at a time, and none that is older."""
        self._newest = mine = next(self._waiting)
        with self._turn:
            if mine != self._newest:
                raise LcifrError("a newer text is being checked")
            return self._look(typed)

    def _look(self, typed: TypedFormula) -> LookedAt:
        table = self._tables.open(typed.table, typed.schema)
        similarity = self._similarity(typed, table)
        result = check_with_people(similarity, table.name, most=min(ASKED, max(20, PAIRS // len(table.people))))
        found = result.neighbours
        findings = tuple(
            PlacedFinding(
                one.code,
                str(one.severity),
                visible(one.message),
                None if one.span is None else one.span.start,
                None if one.span is None else one.span.end,
                tuple(visible(str(example)) for example in one.examples if one.severity is not Severity.NOTE),
            )
            for one in result.findings
        )
        who = f"{len(found.asked):,} people drawn at random" if found.is_sample else f"all {found.people:,} people"
        return LookedAt(
            findings,
            f"Of {who}, each compared with the other {found.people - 1:,}:",
            f"number of similar people: median {found.median:g}, largest {found.largest:,}",
            f"{short_percent(found.share_isolated)} have no similar person in the table",
            tuple(_bars(found.counts)),
            tuple(_pair_line(one, table) for one in found.similar),
            tuple(_pair_line(one, table) for one in found.missed),
            command_line("phi", "check", typed.file or "NAME.phi", data=table.name, schema=table.schema_name),
        )

    def around(self, typed: TypedFormula) -> AroundPerson:
        """What a formula means for one person of the table."""
        table = self._tables.open(typed.table, typed.schema)
        similarity, place = self._similarity(typed, table), table.place(typed.row)
        near = neighbours_of(similarity, table.people, place)
        rows, note, problem = _surroundings(similarity, table, place)
        return AroundPerson(
            typed.row,
            rows,
            note,
            near.count,
            near.compared,
            tuple(_pair_line(one, table) for one in near.similar),
            tuple(_pair_line(one.example, table, typed.text, one.failing) for one in near.missed),
            problem,
        )

    def _similarity(self, typed: TypedFormula, table: OpenTable) -> Similarity:
        return Similarity(typed.text, table.schema, table.encoding, source=typed.file or "the formula")


def _surroundings(similarity: Similarity, table: OpenTable, place: int) -> tuple[tuple[Row, ...], str, str]:
    """What may differ, in words; or why that is unknown."""
    person = table.people.take([place])
    values = values_of(person, 0)
    units = {one.name: one.unit for one in table.schema if isinstance(one, Numeric) and one.unit}
    row = PersonRow(str(place), "CERTIFIED", "", "", None, values=values)
    about = Explorer((row,), table.schema.names, units, True, 0, True, None, (), None)
    try:
        [around] = surroundings(similarity, person)
    except RegionError as error:
        return show(row, replace(about, regions=False)).rows, "", str(error)
    row = replace(row, may=around.may, linked=around.linked)
    shown = show(row, about)
    return shown.rows, shown.note, ""


def _mistake(text: str, span: Span, message: str, fix: str | None) -> Mistake:
    place = find_position(text, span.start)
    return Mistake(span.start, span.end, place.line, place.column, visible(message), visible(fix or ""))


def _both(error: LcifrError) -> tuple[str, str]:
    """What an error says, and what to do about it."""
    return visible(str(error).removesuffix(f"\nFix: {error.fix}")), visible(error.fix or "")


def _bars(counts: Any) -> Iterable[NeighbourBar]:
    """People by their number of neighbours: first 0, then ranges of equal width."""
    counts = np.asarray(counts)
    yield NeighbourBar(0, 0, int((counts == 0).sum()))
    most = int(counts.max())
    width = -(-most // BARS) if most else 0
    for low in range(1, most + 1, max(width, 1)):
        high = min(low + width - 1, most)
        yield NeighbourBar(low, high, int(((counts >= low) & (counts <= high)).sum()))


def _pair_line(example: Example, table: OpenTable, text: str = "", failing: Span | None = None) -> PairLine:
    rows = [None if place is None else table.rows[place] for place in example.rows]
    who = " and ".join("a made-up person" if row is None else f"row {row}" for row in rows)
    part = "" if failing is None else " ".join(text[failing.start : failing.end].split())
    return PairLine(who, visible(str(example)), visible(part), rows[1])


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
