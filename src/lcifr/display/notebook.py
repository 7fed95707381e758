"""HTML representations of objects in notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from lcifr.display.canvas import element, raw, svg, to_html
from lcifr.display.charts import chart_style
from lcifr.display.score_charts import pair_chart, pair_sentence, profile_chart, score_chart
from lcifr.display.scores import (
    MarkedScore,
    PairScore,
    PersonScore,
    Profile,
    contribution_bar,
    person_sentence,
    place_bars,
    profile_sentence,
    range_text,
    score_sentence,
    signed,
)
from lcifr.display.text import count, format_value, percents

SIDE_BY_SIDE = "display:grid;grid-template-columns:repeat(auto-fill,minmax(20em,1fr));gap:1em"
COLOURS = {"certified": "#0f5f8c", "counterexample": "#b3261e", "undecided": "#8a97a3", "not examined": "#d9dee3"}


def formula_html(name: str, text: str, english: str) -> str:
    """A formula: as it is written, and in English."""
    return _box(
        element("strong", f"φ: {name}"),
        element("pre", text.strip(), style="white-space:pre-wrap;border-left:3px solid #0f5f8c;padding-left:.8em"),
        element("pre", english, style="white-space:pre-wrap;font-family:inherit"),
    )


def verdicts_html(title: str, counts: Mapping[str, int], notes: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Counts of verdicts with a bar, what to know beside them, and a few people as a table (its head comes first)."""
    total = sum(counts.values())
    shares = percents(list(counts.values())) if total else ["–"] * len(counts)
    keys = [
        element(
            "span",
            element("span", "■ ", style=f"color:{COLOURS[kind]}"),
            f"{kind} {count(number)} ({share})",
            style="margin-right:1.5em",
        )
        for (kind, number), share in zip(counts.items(), shares, strict=True)
    ]
    return _box(
        element("strong", title),
        _bar(counts, total),
        element("div", keys),
        [element("div", note) for note in notes],
        _table(rows) if len(rows) > 1 else None,
    )


def scores_html(
    title: str, notes: Sequence[str], marked: Sequence[MarkedScore], pairs: Sequence[PairScore] = ()
) -> str:
    """What each attribute adds, as charts; pairs as maps."""
    maps = [
        element("div", svg(pair_chart(one), description=pair_sentence(one), key=f"pair-{place}"))
        for place, one in enumerate(pairs)
    ]
    return _box(
        element("strong", title),
        [element("div", note) for note in notes],
        _style(),
        _charts(marked),
        element("div", maps, style=SIDE_BY_SIDE) if maps else None,
    )


def person_html(
    name: str,
    values: Mapping[str, Any],
    score: PersonScore | None,
    profiles: Sequence[Profile],
    marked: Sequence[MarkedScore],
) -> str:
    """One person: what speaks for and against, the scores that could move, and the output around a counterexample."""
    parts: list[Any] = [element("strong", f"Person {name}"), _style()]
    if score is not None:
        parts += [element("div", person_sentence(score)), _contributions(score, values), _charts(marked)]
    for number, one in enumerate(profiles):
        words = profile_sentence(one)
        drawn = svg(profile_chart(one), description=words, key=f"profile-{number}")
        parts.append(element("div", element("div", words), drawn, style="max-width:34em"))
    return _box(*parts)


def _style() -> Element:
    return raw("style", chart_style())


def _charts(marked: Sequence[MarkedScore]) -> Element:
    drawn = [
        svg(score_chart(one), description=score_sentence(one.score), key=f"score-{place}")
        for place, one in enumerate(marked)
    ]
    return element("div", drawn, style=SIDE_BY_SIDE)


def _contributions(score: PersonScore, values: Mapping[str, Any]) -> Element:
    """A table with a small bar in every row: the contribution, and the range of it within φ."""
    head = ("attribute", "value", f"adds (+ for {score.up}, − for {score.down})", "within φ", "")
    rows = [
        [one.attribute, format_value(values.get(one.attribute, "")), signed(one.adds), range_text(one)]
        for one in score.contributions
    ]
    cell = "text-align:left;max-width:20em;overflow-wrap:anywhere"
    body = [
        element("tr", [element("td", text, style=cell) for text in row], element("td", contribution_bar(one, place)))
        for row, one, place in zip(rows, score.contributions, place_bars(score), strict=True)
    ]
    return element("table", element("tr", [element("th", name, style=cell) for name in head]), body)


def _bar(counts: Mapping[str, int], total: int) -> Element:
    bars, start = [], 0.0
    for kind, number in counts.items():
        width = 1000 * number / total if total else 0.0
        bars.append(element("rect", x=f"{start:.1f}", width=f"{width:.1f}", height="12", fill=COLOURS[kind]))
        start += width
    shape = {"viewBox": "0 0 1000 12", "preserveAspectRatio": "none"}
    return element("svg", bars, style="display:block;width:100%;height:12px;margin:.4em 0", **shape)


def _table(rows: Sequence[Sequence[str]]) -> Element:
    head, *body = rows
    cell = "text-align:left;max-width:30em;overflow-wrap:anywhere"
    return element(
        "table",
        element("tr", [element("th", name, style=cell) for name in head]),
        [element("tr", [element("td", text, style=cell) for text in row]) for row in body],
    )


def _box(*parts: object) -> str:
    return to_html(element("div", *parts, style="max-width:52em"))
