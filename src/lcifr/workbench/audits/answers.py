"""What the page learns about an audit: its people, one of them, and somebody who differs from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lcifr.report.content import Value
from lcifr.report.people import Shown
from lcifr.workbench.models.model_desk import OwnDecision


@dataclass(frozen=True)
class PersonLine:
    """A person in the list."""

    id: str
    kind: str
    decision: str


@dataclass(frozen=True)
class OpenedAudit:
    """An audit in a few words, and its people; commands : that show and check the same."""

    audit: str
    title: str
    subtitle: str
    figure: str
    words: str
    bound: str
    shares: tuple[tuple[str, str, int, str], ...]
    facts: tuple[tuple[str, str], ...]
    cautions: tuple[tuple[str, str], ...]
    formula: str
    people: tuple[PersonLine, ...]
    complete: bool
    commands: tuple[str, ...]


@dataclass(frozen=True)
class MovableAttribute:
    """An attribute that can be moved: within φ to any of ``may``, and beyond to whatever the schema allows.

    low, high : the ends of a slider, those of the schema or of the people audited.
    """

    name: str
    unit: str
    integer: bool
    values: tuple[str, ...]
    allowed: tuple[str, ...]
    low: float
    high: float
    intervals: tuple[tuple[float, float], ...]
    own: str | float | int


@dataclass(frozen=True)
class AddedScore:
    """What one attribute adds to the output, and could add for somebody similar."""

    name: str
    adds: float
    low: float
    high: float
    words: str


@dataclass(frozen=True)
class ExploredPerson:
    """One person: verdict and words as in the report, what can be moved, and of an additive model the scores.

    other : the attributes of the counterexample; None where there is none.
    """

    shown: Shown
    other: Mapping[str, Value] | None
    movable: tuple[MovableAttribute, ...]
    scores: tuple[AddedScore, ...]
    score_words: str
    can_ask: bool


@dataclass(frozen=True)
class WhatIf:
    """Somebody who differs from a person of the audit.

    Parameters
    ----------
    similar : whether φ calls the two similar; None where nobody can say. failing : the part of φ that does not hold.
    same : whether both are decided alike. covered : whether the proof for the person speaks of this one.
    """

    own: OwnDecision
    same: bool
    similar: bool | None
    failing: str
    covered: bool
    sentence: str
