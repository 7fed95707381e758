"""A person of the explorer as it is read: every value, range and sentence as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from lcifr.display.scores import Freedom
from lcifr.display.text import exactly, floored, format_value, moved_words, short, visible
from lcifr.report.content import KINDS
from lcifr.report.people.content import Explorer, PersonRow, Value
from lcifr.report.people.drawn import compact_pictures

SAME = "the same"
MANY = 12
"""Categories that are listed by name; more are counted."""


@dataclass(frozen=True)
class Row:
    """One attribute: the person's value, what a similar person may have, and what the counterexample has."""

    attribute: str
    unit: str
    own: str
    may: str
    other: str
    differs: bool


@dataclass(frozen=True)
class Shown:
    """A person in words."""

    id: str
    kind: str
    verdict: str
    sentence: str
    facts: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    note: str
    decision: str
    other_decision: str


def show(person: PersonRow, explorer: Explorer) -> Shown:
    """One person as every format shows them."""
    rows = tuple(_row(name, person, explorer) for name in explorer.attributes)
    decision = "Decision" if explorer.tolerance is None else "Prediction"
    facts = [(decision, visible(person.decision)), ("Proved margin", _margin(person))]
    if explorer.probabilities:
        least = person.least_probability
        facts.append(("Proved probability", "–" if least is None else f"at least {floored(least, 3)}"))
    if person.radius is not None:
        facts.append(("Radius ε", short(person.radius)))
    kind = person.verdict.lower()
    note = (
        "Not every combination of these values is similar: φ has alternatives, or links attributes."
        if person.linked and person.may
        else ""
    )
    return Shown(
        visible(person.id),
        kind,
        KINDS[kind],
        _sentence(person, rows, explorer.tolerance),
        tuple(facts),
        rows,
        note,
        visible(person.decision),
        "another" if person.other_decision is None else visible(person.other_decision),
    )


def _margin(person: PersonRow) -> str:
    if person.margin is None:
        return "–"
    number = floored(person.margin)
    return number if person.verdict == "CERTIFIED" else f"none ({number})"


def _sentence(person: PersonRow, rows: tuple[Row, ...], tolerance: float | None) -> str:
    decision = f"“{visible(person.decision)}”"
    if person.vacuous:
        return "Certified with respect to φ, but vacuously: no one is similar to this person."
    if person.verdict == "CERTIFIED" and tolerance is not None:
        near = f"a prediction within {exactly(tolerance)} of {visible(person.decision)}"
        return f"Certified with respect to φ: everyone similar to this person gets {near}."
    if person.verdict == "CERTIFIED":
        return f"Certified with respect to φ: everyone similar to this person also gets the decision {decision}."
    if person.verdict == "UNDECIDED":
        return f"Undecided: neither a proof nor a counterexample was found. Reason: {person.reason or 'not recorded'}."
    other = f"“{visible(person.other_decision)}”" if person.other_decision is not None else "a different decision"
    changed = sum(row.differs for row in rows)
    where = "one attribute" if changed == 1 else f"{changed} attributes"
    if tolerance is not None:
        own = visible(person.decision)
        return f"The prediction is {own}, but for a similar person who differs in {where} {_far(person, tolerance)}."
    return f"The decision is {decision}, but a similar person who differs in {where} gets {other}."


def _far(person: PersonRow, tolerance: float) -> str:
    """How far the prediction for a counterexample is off."""
    if person.moved is None or person.other_decision is None:
        return f"the prediction moves by more than the tolerance of {exactly(tolerance)}"
    return f"it is {visible(person.other_decision)}: it {moved_words(person.moved, tolerance)}"


def _row(name: str, person: PersonRow, explorer: Explorer) -> Row:
    own, unit = person.values[name], explorer.units.get(name)
    other = None if person.other is None else person.other[name]
    free, year = person.may.get(name), name in explorer.years
    may = _freedom(free, own, year) if free is not None else SAME if explorer.regions and not person.vacuous else "–"
    return Row(
        visible(name),
        visible(unit or ""),
        format_value(own, year=year),
        may,
        "" if other is None else format_value(other, year=year),
        other is not None and other != own,
    )


def _freedom(free: Freedom, own: Value, year: bool) -> str:
    if free.values:
        if len(free.values) > MANY:
            return f"any of {len(free.values)} values"
        return " or ".join(visible(value) for value in free.values)
    return " or ".join(_interval(low, high, own, year) for low, high in free.intervals)


def _interval(low: float, high: float, own: Value, year: bool) -> str:
    ends = [format_value(_few(end), year=year) for end in (low, high)]
    if low == high:
        return ends[0]
    if isinstance(own, str):
        return " to ".join(ends)
    return f"{' to '.join(ends)} ({_signed(low - own)} to {_signed(high - own)})"


def _few(value: float) -> float:
    return float(f"{value:.6g}")


def _signed(value: float) -> str:
    return "0" if value == 0 else ("+" if value > 0 else "−") + short(abs(value))


@lru_cache(maxsize=1)  # once to see whether the people fit on the page, and once to write them there
def compact(explorer: Explorer) -> Mapping[str, object]:
    """All people for the page's script: texts that occur often once each, people as numbers into them."""
    texts: dict[str, int] = {}

    def number(text: str) -> int:
        return texts.setdefault(text, len(texts))

    everyone = [show(one, explorer) for one in explorer.people]
    people = []
    for one, shown in zip(explorer.people, everyone, strict=True):
        rows = [[number(row.own), number(row.may), number(row.other), int(row.differs)] for row in shown.rows]
        facts = [[number(name), value] for name, value in shown.facts]
        pictures = compact_pictures(one, explorer, number)
        people.append([shown.id, shown.kind, number(shown.sentence), facts, rows, number(shown.note), *pictures])
    names = [[row.attribute, row.unit] for row in everyone[0].rows] if everyone else []
    return {"attributes": names, "texts": list(texts), "people": people}
