"""What the page asks and learns about formulas: a text, its mistakes, its English, its people."""

from __future__ import annotations

from dataclasses import dataclass

from lcifr.report.people import Row
from lcifr.workbench.formulas.completion import Suggestion


@dataclass(frozen=True)
class TypedFormula:
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
    """One person: what may differ in somebody similar, who is similar, and who just is not."""

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
    """A formula's file: its text, and a hash by which a change by somebody else is noticed."""

    file: str
    text: str
    sha256: str
