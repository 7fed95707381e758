"""Pictures of a person for the page's script: contributions, marks in charts, the output around a counterexample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lcifr.display.canvas import compact_chart
from lcifr.display.score_charts import person_mark, profile_chart
from lcifr.display.scores import MarkedScore, person_sentence, place_bars, profile_sentence, range_text, signed
from lcifr.display.text import format_value, visible
from lcifr.report.people.content import Explorer, PersonRow

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
        [number(sentence), compact_chart(profile_chart(one, title="", description="", key=""))]
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
