"""People of the explorer: plain values, as JSON can hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = str | int | float


@dataclass(frozen=True)
class Freedom:
    """What a similar person may have instead of the person's own value: intervals of a number, or categories."""

    intervals: tuple[tuple[float, float], ...] = ()
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class PersonRow:
    """One person of the explorer.

    Parameters
    ----------
    values : the attributes, in the table's own units. may : for each attribute that may differ, how far.
    linked : whether not every combination of what may differ is similar.
    other, other_decision : the counterexample. moved : how far its number is from the person's own.
    """

    id: str
    verdict: str
    reason: str
    decision: str
    margin: float | None
    radius: float | None = None
    moved: float | None = None
    vacuous: bool = False
    values: Mapping[str, Value] = field(default_factory=dict)
    may: Mapping[str, Freedom] = field(default_factory=dict)
    linked: bool = False
    other: Mapping[str, Value] | None = None
    other_decision: str | None = None


@dataclass(frozen=True)
class Explorer:
    """The people one can look at: all of them, or a sample and as many counterexamples as the page has room for."""

    people: tuple[PersonRow, ...]
    attributes: tuple[str, ...]
    units: Mapping[str, str]
    complete: bool
    counterexamples: int
    regions: bool  # whether it is known what a similar person may have
    tolerance: float | None = None  # of decisions that are numbers
    years: tuple[str, ...] = ()  # attributes whose numbers are years, which nobody writes with a comma
