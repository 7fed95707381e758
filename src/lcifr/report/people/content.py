"""People of the explorer: plain values, as JSON can hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lcifr.display.scores import AttributeScore, Freedom, PairScore, PersonScore, Profile

Value = str | int | float
LISTED = 200
"""People in the page's list at once."""


@dataclass(frozen=True)
class PersonRow:
    """One person of the explorer.

    Parameters
    ----------
    values : the attributes, in the table's own units. may : for each attribute that may differ, how far.
    linked : whether not every combination of what may differ is similar.
    score : of an additive model, what speaks for and against. profiles : the output around the counterexample.
    least_probability : proved: no similar person's probability of this decision is smaller; None where not known.
    other, other_decision : the counterexample. moved : how far its number is from the person's own.
    """

    id: str
    verdict: str
    reason: str
    decision: str
    margin: float | None
    radius: float | None = None
    moved: float | None = None
    least_probability: float | None = None
    vacuous: bool = False
    values: Mapping[str, Value] = field(default_factory=dict)
    may: Mapping[str, Freedom] = field(default_factory=dict)
    linked: bool = False
    other: Mapping[str, Value] | None = None
    other_decision: str | None = None
    score: PersonScore | None = None
    profiles: tuple[Profile, ...] = ()


@dataclass(frozen=True)
class Scores:
    """What each attribute adds to the output of an additive model.

    Parameters
    ----------
    drawn : of the attributes that move the output most. moves : of all of them, how far.
    pairs : those drawn that have a score together. undrawn : those not drawn.
    average : the mean output of these people, where there is one output. up : what more of it speaks for.
    """

    drawn: tuple[AttributeScore, ...]
    moves: Mapping[str, float]
    pairs: tuple[PairScore, ...]
    undrawn: tuple[str, ...]
    average: float | None
    up: str


@dataclass(frozen=True, eq=False)
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
    scores: Scores | None = None  # of an additive model
    probabilities: bool = False  # whether the model computes a probability from its output
    left_off: int = 0  # people of the report whom a shorter page does not show

    @property
    def first(self) -> PersonRow | None:
        """Who is shown before anybody chooses: the first counterexample, or the first person."""
        bad = next((one for one in self.people[:LISTED] if one.verdict == "COUNTEREXAMPLE"), None)
        return bad or next(iter(self.people), None)
