"""SVG heat map of a pair score: blue cells raise the output, red ones lower it, the deeper the more."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import Any
from xml.etree.ElementTree import Element

from lcifr.drawing.axes import (
    BOTTOM,
    HEIGHT,
    RIGHT,
    TOP,
    WIDTH,
    Frame,
    across,
    label_width,
    rectangle,
    round_ticks,
    svg,
    text,
)
from lcifr.drawing.labels import axis_name, clipped, fit_row
from lcifr.drawing.score_text import signed
from lcifr.drawing.scores import PairAxis, PairScore
from lcifr.drawing.text import short

FLOOR = HEIGHT - BOTTOM
NAMES = 112.0
"""Room for the names of categories beside the map."""
LISTED = 12


def pair_chart(score: PairScore, *, title: str, description: str, key: str) -> Element:
    """A rectangle for each piece of both attributes."""
    start = NAMES if score.up.categories else label_width(round_ticks(score.up.edges[0], score.up.edges[-1]), short)
    x, y = _ends(score.across), _ends(score.up)
    frame = Frame(x[0], x[-1], y[0], y[-1], start, TOP + 12, FLOOR)
    most = max((abs(value) for column in score.adds for value in column), default=0.0) or 1.0
    cells = [
        _cell(frame, ends, span, kind, shade)
        for ends, column in zip(pairwise(x), score.adds, strict=True)
        for span, (kind, shade) in _runs(y, [_look(value / most) for value in column])
    ]
    parts: list[Any] = [cells, _below(frame, score.across), _beside(frame, score.up)]
    return svg(parts, title=title, description=description, key=key)


def _look(share: float) -> tuple[str, str]:
    return "cell for" if share >= 0 else "cell against", f"{abs(share):.2f}"


def _runs(ends: list[float], looks: list[tuple[str, str]]) -> Iterator[tuple[tuple[float, float], tuple[str, str]]]:
    """Neighbours that look alike, as one."""
    place = 0
    for look, same in groupby(looks):
        start, place = place, place + len(list(same))
        yield (ends[start], ends[place]), look


def _cell(frame: Frame, ends: tuple[float, float], span: tuple[float, float], kind: str, shade: str) -> Element:
    (x, right), (y, top) = (frame.x(ends[0]), frame.x(ends[1])), (frame.y(span[0]), frame.y(span[1]))
    made = rectangle(x, top, right - x, y - top, kind)
    made.set("fill-opacity", shade)
    return made


def _ends(axis: PairAxis) -> list[float]:
    return list(axis.edges) or [float(place) for place in range(axis.count + 1)]


def _below(frame: Frame, axis: PairAxis) -> list[Element]:
    name = axis_name(axis.attribute, axis.unit)
    if not axis.categories:
        return across(frame, short, name)
    middles = [frame.x(place + 0.5) for place in range(axis.count)]
    wide = max(int((middles[1] - middles[0]) / 8) if len(middles) > 1 else 20, 2)
    names = [clipped(value, wide) for value in axis.categories]
    places = fit_row(middles, names, WIDTH) or []
    found = [text(x, frame.floor + 17, word, "middle") for x, word in zip(places, names, strict=False)]
    return [*found, text((frame.start + WIDTH - RIGHT) / 2, frame.floor + BOTTOM - 8, name, "middle", "label")]


def _beside(frame: Frame, axis: PairAxis) -> list[Element]:
    found = [text(frame.start - 6, TOP, clipped(axis_name(axis.attribute, axis.unit), 30), "start", "label")]
    found[0].set("x", "0")
    if axis.categories:
        step = -(-axis.count // 12)
        named = list(enumerate(axis.categories))[::step]
        return found + [text(frame.start - 6, frame.y(k + 0.5) + 4, clipped(v, 14), "end") for k, v in named]
    ticks = round_ticks(axis.edges[0], axis.edges[-1])
    return found + [text(frame.start - 6, frame.y(tick) + 4, short(tick), "end") for tick in ticks]


def pair_sentence(score: PairScore) -> str:
    """What the map shows."""
    cells = score.across.count * score.up.count
    return f"{cells} cells; together they move the output by {short(score.moves, 3)} among these people."


def pair_rows(score: PairScore) -> tuple[tuple[str, str, str], ...]:
    """The cells that add or take most: both ranges, and what they add."""
    cells = [(value, i, j) for i, column in enumerate(score.adds) for j, value in enumerate(column)]
    largest = sorted(cells, key=lambda cell: -abs(cell[0]))[:LISTED]
    return tuple((_piece(score.across, i), _piece(score.up, j), signed(value)) for value, i, j in largest)


def _piece(axis: PairAxis, place: int) -> str:
    if axis.categories:
        return axis.categories[place]
    return f"{short(axis.edges[place], 6)} to {short(axis.edges[place + 1], 6)}"
