"""HTML representations of objects in notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element

from lcifr.drawing.markup import element, to_html
from lcifr.drawing.text import count, percents

COLOURS = {"certified": "#0f5f8c", "counterexample": "#b3261e", "undecided": "#8a97a3"}


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
