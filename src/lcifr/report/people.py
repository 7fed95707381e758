"""People of a report: who is shown, what similar people may have, in words and pictures."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.explain import PAIRS, SHOWN, Contributions, Explanation, undrawn_pairs
from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.population import decision_name
from lcifr.certification.profiles import Surroundings, profiles, surroundings
from lcifr.certification.verdicts import Audit, Certificates, Verdict
from lcifr.data import Numeric
from lcifr.display import canvas
from lcifr.display.charts import KIND_NAMES
from lcifr.display.score_charts import person_mark, profile_chart
from lcifr.display.scores import (
    Freedom,
    MarkedScore,
    Profile,
    person_sentence,
    place_bars,
    profile_sentence,
    range_text,
    signed,
)
from lcifr.display.text import exactly, floored, format_value, moved_words, quantity, short, visible
from lcifr.errors import LcifrError
from lcifr.models.rule import Kind
from lcifr.phi import Similarity
from lcifr.phi.lint import values_of as by_attribute
from lcifr.report.content import Explorer, PersonRow, Scores, Value

# Pictures of a person for the page's script: contributions, marks in charts, the output around a counterexample.

REST = "all others together"


def marked_scores(person: PersonRow | None, explorer: Explorer) -> tuple[MarkedScore, ...]:
    """The charts of the page with one person in them."""
    drawn = () if explorer.scores is None else explorer.scores.drawn
    if person is None:
        return tuple(MarkedScore(score) for score in drawn)
    return tuple(MarkedScore(one, person.values[one.attribute], person.may.get(one.attribute)) for one in drawn)


def contribution_rows(person: PersonRow, explorer: Explorer) -> list[tuple[str, str, str, str]]:
    """Attribute, the person's value, what it adds, and how far that could move within φ."""
    assert person.score is not None
    rows = [
        (one.attribute, _own(person, one.attribute, explorer), signed(one.adds), range_text(one))
        for one in person.score.contributions
    ]
    return [*rows, (REST, "", signed(person.score.rest), "")] if abs(person.score.rest) > 1e-12 else rows


def _own(person: PersonRow, attribute: str, explorer: Explorer) -> str:
    """A pair has no value of its own."""
    value = person.values.get(attribute)
    return "" if value is None else format_value(value, year=attribute in explorer.years)


def profile_sentences(person: PersonRow, explorer: Explorer) -> list[str]:
    """What is seen around the counterexample."""
    said = [visible(profile_sentence(one, year=one.attribute in explorer.years)) for one in person.profiles]
    differ = 0 if person.other is None else sum(person.other[name] != value for name, value in person.values.items())
    if said and (left := differ - len(said)):
        others = "Another attribute that differs moves" if left == 1 else f"{left} other attributes that differ move"
        said[-1] += (
            f" {others} it less on {'its' if left == 1 else 'their'} own and {'is' if left == 1 else 'are'} not drawn."
        )
    return said


def compact_pictures(person: PersonRow, explorer: Explorer, number: Callable[[str], int]) -> list[Any]:
    """[contributions or 0, marks, charts] with texts by their numbers; the page's script knows the order."""
    marks = [person_mark(one) for one in marked_scores(person, explorer)]
    charts = [
        [number(sentence), canvas.compact(profile_chart(one))]
        for one, sentence in zip(person.profiles, profile_sentences(person, explorer), strict=True)
    ]
    return [_contributions(person, explorer, number), [[m.own or 0, *m.similar] for m in marks], charts]


def _contributions(person: PersonRow, explorer: Explorer, number: Callable[[str], int]) -> Any:
    if person.score is None:
        return 0
    bars = place_bars(person.score)
    rows: list[list[Any]] = []
    for place, texts in enumerate(contribution_rows(person, explorer)):
        numbers = [number(visible(text)) for text in texts]
        bar = bars[place] if place < len(bars) else None  # the others have none
        rows.append(numbers if bar is None else [*numbers, *bar.bar, *(bar.range or ())])
    score = person.score
    head = [number(visible(person_sentence(score))), number(visible(score.up)), number(visible(score.down))]
    return [*head, bars[0].zero if bars else 0, rows]


# A person of the explorer as it is read: every value, range and sentence as text.

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
        KIND_NAMES[kind],
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


# Explanations of the explorer's people: scores of attributes, contributions, outputs around counterexamples.

AROUND = 300
"""Counterexamples at most around which the output is drawn."""
EACH = 4
"""Attributes of one counterexample, those that move the output most."""
PIECES = 40_000
"""Of all these drawings; where models have very many thresholds, fewer are drawn."""
Found = TypeVar("Found")


def _found_for_all(find: Callable[..., list[Found]], *about: Any) -> list[Found] | None:
    """What is found for everyone; None where φ ranks people who are not at hand, so that it cannot be evaluated."""
    try:
        return find(*about)
    except LcifrError:
        return None


def _scores(explanation: Explanation, contributions: Contributions) -> Scores:
    one, rule = explanation.model.function.outputs == 1, explanation.model.rule
    average = contributions.found.base + contributions.means.sum(0)
    return Scores(
        drawn=explanation.scores[:SHOWN],
        moves={score.attribute: score.moves for score in explanation.scores},
        pairs=explanation.pair_scores[:PAIRS],
        undrawn=tuple(undrawn_pairs(explanation.pairs, explanation.pair_scores)),
        average=float(average[0]) if one else None,
        up=contributions.name_of(1) if rule.kind is Kind.SIGN else "",
    )


def _around(found: Audit, encoder: FrozenEncoder, rows: NDArray[np.intp]) -> dict[int, tuple[Profile, ...]]:
    """Of as many counterexamples as the page has room for, by row, the output around them."""
    around: dict[int, tuple[Profile, ...]] = {}
    pieces = 0
    for row in rows[found.violated[rows]].tolist():
        if len(around) == AROUND or pieces >= PIECES:
            break
        pair = found.people.take([row]), found.others.take([row])
        around[row] = _largest(profiles(encoder, found.model, *pair))
        pieces += sum(len(one.outputs) for one in around[row])
    return around


def _largest(around: tuple[Profile, ...]) -> tuple[Profile, ...]:
    """Those that move the output most, in their order."""
    kept = sorted(around, key=lambda one: -abs(one.at_own - one.at_other))[:EACH]
    return tuple(one for one in around if one in kept)


# The explorer's people: everyone, or a sample and counterexamples where there are too many.

PEOPLE = 2_000
COUNTEREXAMPLES = 1_000
"""At most so many people, and so many of them chosen because they have a counterexample."""
YEARS = (1800, 2200)
BYTES = 4_000_000
"""Of all these people in the page. Long names and many attributes leave room for fewer."""


def explore(
    found: Audit | Certificates,
    encoder: FrozenEncoder | None,
    similarity: Similarity | None,
    radii: NDArray[np.float64] | None,
    words: Mapping[str, str],
) -> Explorer:
    """Choose people and describe each; the same people for the same result."""
    rows = _choose(found.verdict == Verdict.COUNTEREXAMPLE)
    people = tuple(_verdict(found, row, radii, words) for row in rows.tolist())
    made = Explorer(
        people=people,
        attributes=(),
        units={},
        complete=len(people) == len(found),
        counterexamples=_count(people),
        regions=False,
        tolerance=found.model.rule.tolerance,
    )
    if isinstance(found, Audit):
        made = _with_attributes(made, found, rows, encoder, similarity, words)
    while len(made.people) > 1 and (size := _size(made)) > BYTES:
        fewer = made.people[:: -(-size // BYTES)]
        made = replace(made, people=fewer, complete=False, counterexamples=_count(fewer))
    return made


def first_people(explorer: Explorer, most: int) -> Explorer:
    """At most so many of the people, in their order: counterexamples before the undecided, and these before others."""
    if len(explorer.people) <= most:
        return explorer
    rank = {str(Verdict.COUNTEREXAMPLE): 0, str(Verdict.UNDECIDED): 1}
    places = sorted(range(len(explorer.people)), key=lambda place: rank.get(explorer.people[place].verdict, 2))
    kept = tuple(explorer.people[place] for place in sorted(places[:most]))
    left_off = len(explorer.people) - len(kept)
    return replace(explorer, people=kept, complete=False, counterexamples=_count(kept), left_off=left_off)


def _years(people: Sequence[PersonRow]) -> tuple[str, ...]:
    """Attributes of which every value shown is a whole number that could be a year."""
    names = list(people[0].values) if people else []
    return tuple(name for name in names if all(_could_be_a_year(one.values[name]) for one in people))


def _could_be_a_year(value: Value) -> bool:
    return not isinstance(value, str) and value == int(value) and YEARS[0] <= value < YEARS[1]


def _count(people: Sequence[PersonRow]) -> int:
    return sum(one.verdict == Verdict.COUNTEREXAMPLE for one in people)


def _size(explorer: Explorer) -> int:
    return len(json.dumps(compact(explorer), ensure_ascii=False).encode("utf-8", "replace"))


def _choose(violated: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Rows in order; the sample is drawn with a fixed seed from everyone, so that it shows the usual too."""
    if len(violated) <= PEOPLE:
        return np.arange(len(violated))
    rng = np.random.default_rng(0)
    bad = np.flatnonzero(violated)
    kept = rng.permutation(bad)[:COUNTEREXAMPLES]
    rest = rng.permutation(np.setdiff1d(np.arange(len(violated)), kept))[: PEOPLE - len(kept)]
    return np.sort(np.concatenate([kept, rest]))


def _verdict(
    found: Audit | Certificates, row: int, radii: NDArray[np.float64] | None, words: Mapping[str, str]
) -> PersonRow:
    """What is known of a person without the attributes."""
    return PersonRow(
        id=str(found.ids[row]),
        verdict=str(found.verdict[row]),
        reason=str(found.reason[row]),
        decision=_word(found.prediction[row], words, found.model.rule.tolerance),
        margin=_finite(found.margin[row]),
        radius=None if radii is None else _finite(radii[row]),
        vacuous=bool(found.vacuous[row]),
    )


def _with_attributes(
    explorer: Explorer,
    found: Audit,
    rows: NDArray[np.intp],
    encoder: FrozenEncoder | None,
    similarity: Similarity | None,
    words: Mapping[str, str],
) -> Explorer:
    """The people of ``rows`` with their attributes, with what similar people may have, and with counterexamples.

    Without the encoder it is not known what is decided about these, and nothing is explained.
    """
    schema, tolerance, least = found.people.schema, found.model.rule.tolerance, found.least_probability
    people, others, violated = found.people.take(rows), found.others.take(rows), found.violated[rows]
    near = None if similarity is None else _found_for_all(surroundings, similarity, people)
    decided: list[Any] = [None] * len(rows)
    around: dict[int, tuple[Profile, ...]] = {}
    added, scores = None, None
    if encoder is not None:
        decided = list(found.model.predict(encoder.function(encoder.encoding.encode(others))))
        explanation = Explanation(encoder, found.model, found.people, found.ids)
        around = _around(found, encoder, rows)
        if explanation.terms is not None and len(found.people):
            terms = Contributions(explanation.terms, found.model, encoder.encoding, explanation.base, words)
            added, scores = _found_for_all(terms.of, people, encoder.similarity), _scores(explanation, terms)
    described = []
    for place, (row, one) in enumerate(zip(rows.tolist(), explorer.people, strict=True)):
        free = Surroundings({}, False) if near is None else near[place]
        described.append(
            replace(
                one,
                least_probability=_finite(least[row]),
                values=by_attribute(people, place),
                may=free.may,
                linked=free.linked,
                score=None if added is None else added[place],
                profiles=around.get(row, ()),
            )
        )
        if violated[place]:
            described[place] = replace(described[place], other=by_attribute(others, place))
        if violated[place] and decided[place] is not None:
            moved = _moved(found.prediction[row], decided[place], tolerance)
            other_decision = _word(decided[place], words, tolerance)
            described[place] = replace(described[place], other_decision=other_decision, moved=moved)
    return replace(
        explorer,
        people=tuple(described),
        attributes=schema.names,
        units={one.name: one.unit for one in schema if isinstance(one, Numeric) and one.unit},
        regions=near is not None,
        years=_years(described),
        scores=scores,
        probabilities=found.model.rule.log_odds is not None,
    )


def _word(decision: Any, words: Mapping[str, str], tolerance: float | None) -> str:
    plain = decision.item() if isinstance(decision, np.generic) else decision
    if tolerance is not None and isinstance(plain, float):
        return quantity(plain, tolerance)
    return words.get(decision_name(plain), str(plain))


def _moved(own: Any, other: Any, tolerance: float | None) -> float | None:
    return None if tolerance is None or np.ndim(own) else abs(float(other) - float(own))


def _finite(value: float) -> float | None:
    """The value; None where it is not finite, or as huge as the margin of a person to whom no one is similar."""
    return float(value) if np.isfinite(value) and abs(value) < 1e300 else None
