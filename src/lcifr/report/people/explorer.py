"""The explorer's people: everybody, or a sample and counterexamples where there are too many."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.population import decision_name
from lcifr.certification.profiles import Surroundings, surroundings
from lcifr.certification.verdicts import Audit, Certificates, Verdict
from lcifr.data import Numeric
from lcifr.display.text import quantity
from lcifr.errors import LcifrError
from lcifr.phi import Similarity
from lcifr.phi.lint import values_of as by_attribute
from lcifr.report.people.content import Explorer, PersonRow, Value
from lcifr.report.people.explained import explain_people
from lcifr.report.people.shown import compact

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
    explained = explain_people(found, rows, encoder, words)
    near = _surroundings(found, rows, similarity)
    people = _describe(found, rows, near, _decisions(found, rows, encoder), radii, words)
    people = [
        replace(one, score=score, profiles=around)
        for one, score, around in zip(people, explained.contributions, explained.profiles, strict=True)
    ]
    schema = found.people.schema if isinstance(found, Audit) else None
    made = Explorer(
        people=tuple(people),
        attributes=() if schema is None else schema.names,
        units={} if schema is None else {a.name: a.unit for a in schema if isinstance(a, Numeric) and a.unit},
        complete=len(people) == len(found),
        counterexamples=_count(people),
        regions=near is not None,
        tolerance=_tolerance(found),
        years=_years(people),
        scores=explained.scores,
        probabilities=isinstance(found, Audit) and found.model.rule.log_odds is not None,
    )
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
    """Rows in order; the sample is drawn with a fixed seed from everybody, so that it shows the usual too."""
    if len(violated) <= PEOPLE:
        return np.arange(len(violated))
    rng = np.random.default_rng(0)
    bad = np.flatnonzero(violated)
    kept = rng.permutation(bad)[:COUNTEREXAMPLES]
    rest = rng.permutation(np.setdiff1d(np.arange(len(violated)), kept))[: PEOPLE - len(kept)]
    return np.sort(np.concatenate([kept, rest]))


def _describe(
    found: Audit | Certificates,
    rows: NDArray[np.intp],
    near: list[Surroundings] | None,
    decided: list[Any],
    radii: NDArray[np.float64] | None,
    words: Mapping[str, str],
) -> list[PersonRow]:
    common: list[dict[str, Any]] = [
        {
            "id": str(found.ids[row]),
            "verdict": str(found.verdict[row]),
            "reason": str(found.reason[row]),
            "decision": _word(found.prediction[row], words, _tolerance(found)),
            "margin": _finite(found.margin[row]),
            "radius": None if radii is None else _finite(radii[row]),
            "vacuous": bool(found.vacuous[row]),
        }
        for row in rows
    ]
    if not isinstance(found, Audit):
        return [PersonRow(**one) for one in common]
    least = found.least_probability
    people, others, violated = found.people.take(rows), found.others.take(rows), found.violated[rows]
    around = near if near is not None else [Surroundings({}, False)] * len(rows)
    return [
        PersonRow(
            **one,
            least_probability=_finite(least[row]),
            values=by_attribute(people, place),
            may=around[place].may,
            linked=around[place].linked,
            other=by_attribute(others, place) if violated[place] else None,
            **_otherwise(found, row, decided[place] if violated[place] else None, words),
        )
        for place, (row, one) in enumerate(zip(rows, common, strict=True))
    ]


def _otherwise(found: Audit, row: int, other: Any, words: Mapping[str, str]) -> dict[str, Any]:
    """What is decided about a counterexample, and how far off that is; nothing where nobody can say."""
    if other is None:
        return {}
    tolerance = _tolerance(found)
    moved = _moved(found.prediction[row], other, tolerance)
    return {"other_decision": _word(other, words, tolerance), "moved": moved}


def _surroundings(
    found: Audit | Certificates, rows: NDArray[np.intp], similarity: Similarity | None
) -> list[Surroundings] | None:
    """None where φ cannot be evaluated; the verdicts stand, and the page says what is missing."""
    if similarity is None or not isinstance(found, Audit):
        return None
    try:
        return surroundings(similarity, found.people.take(rows))
    except LcifrError:  # ranks among people who are not at hand
        return None


def _decisions(found: Audit | Certificates, rows: NDArray[np.intp], encoder: FrozenEncoder | None) -> list[Any]:
    """What is decided about the counterexamples; without the encoder nobody can say."""
    if encoder is None or not isinstance(found, Audit):
        return [None] * len(rows)
    encoded = encoder.encoding.encode(found.others.take(rows))
    return list(found.model.predict(encoder.function(encoded)))


def _tolerance(found: Audit | Certificates) -> float | None:
    return found.model.rule.tolerance


def _word(decision: Any, words: Mapping[str, str], tolerance: float | None) -> str:
    plain = decision.item() if isinstance(decision, np.generic) else decision
    if tolerance is not None and isinstance(plain, float):
        return quantity(plain, tolerance)
    return words.get(decision_name(plain), str(plain))


def _moved(own: Any, other: Any, tolerance: float | None) -> float | None:
    return None if tolerance is None or other is None or np.ndim(own) else abs(float(other) - float(own))


def _finite(value: float) -> float | None:
    """JSON has no infinity; somebody to whom nobody is similar has no margin worth a number."""
    return float(value) if np.isfinite(value) and abs(value) < 1e300 else None
