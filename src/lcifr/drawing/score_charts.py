"""SVG charts of attribute scores: steps of a number over the people's histogram, bars of a category, one person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element

from lcifr.drawing.axes import (
    BOTTOM,
    RIGHT,
    TOP,
    WIDTH,
    Frame,
    across,
    grid,
    label_width,
    line,
    rectangle,
    round_ticks,
    svg,
    text,
)
from lcifr.drawing.labels import axis_name, clipped
from lcifr.drawing.markup import element
from lcifr.drawing.scores import AttributeScore, Freedom, MarkedScore
from lcifr.drawing.text import short

FLOOR, GAP, BARS = 158.0, 10.0, 48.0
"""Of the steps; then a gap, and the histogram below."""
NAMES, ADDS, COUNTS = 152.0, 336.0, 348.0
"""Across a chart of categories: names up to here, what they add up to there, from here on the people."""
ROW = 20.0
MOST = 14
"""Categories that are drawn, those of most people; a table has the others."""
NEAR = 0.3
"""Steps closer together than this, in both directions, are drawn as one."""


Four = tuple[float, float, float, float]


@dataclass(frozen=True)
class Mark:
    """A person in a chart: own : x1, y1, x2, y2 of a line. similar : x, y, width, height of what is similar."""

    own: Four | None
    similar: tuple[Four, ...]


def score_chart(marked: MarkedScore, *, title: str, description: str, key: str) -> Element:
    """What an attribute adds: up, or to the right, is more. The person's value and similar range are marked."""
    score = marked.score
    marks = element("g", mark_shapes(person_mark(marked)), class_="marks")
    parts = _bars(score, marks) if score.categories else _steps(score, marks)
    height = _height(score) if score.categories else FLOOR + GAP + BARS + BOTTOM
    return svg(parts, title=title, description=description, key=key, height=height)


def mark_shapes(mark: Mark) -> list[Element]:
    """The band of what is similar, and the person's own value."""
    found = [rectangle(x, y, width, height, "similar") for x, y, width, height in mark.similar]
    return found if mark.own is None else [*found, line(*mark.own, "own")]


def person_mark(marked: MarkedScore) -> Mark:
    """Where a person is in the chart of an attribute, and what somebody similar may have; whole pixels."""
    score, own, free = marked.score, marked.own, marked.free or Freedom()
    if own is None:
        return Mark(None, ())
    if score.categories:
        rows = {name: TOP + ROW * place for place, name in enumerate(shown_categories(score))}
        at = None if own not in rows else (NAMES + 2, rows[str(own)] + 1, NAMES + 2, rows[str(own)] + ROW - 1)
        return Mark(at, tuple((0.0, rows[name], float(WIDTH), ROW) for name in free.values if name in rows))
    frame, bottom = _frame(score), FLOOR + GAP + BARS
    x = round(_inside(frame, float(own)))
    ends = [(round(_inside(frame, low)), round(_inside(frame, high))) for low, high in free.intervals]
    return Mark((x, TOP, x, bottom), tuple((a, TOP, max(b - a, 1), bottom - TOP) for a, b in ends))


def _inside(frame: Frame, value: float) -> float:
    return min(max(frame.x(value), frame.start), WIDTH - RIGHT)


# -- numbers -----------------------------------------------------------------------------------------------------------


def _frame(score: AttributeScore) -> Frame:
    low, high = _extent(score)
    return Frame(score.edges[0], score.edges[-1], low, high, label_width(round_ticks(low, high), short), floor=FLOOR)


def _extent(score: AttributeScore) -> tuple[float, float]:
    values = [0.0, *(value for output in score.adds for value in output)]
    room = 0.08 * ((max(values) - min(values)) or 1.0)
    return min(values) - room, max(values) + room


def _steps(score: AttributeScore, marks: Element) -> list[Any]:
    frame = _frame(score)
    assert score.people is not None
    counts = score.people.counts["people"]
    below = Frame(frame.left, frame.right, 0.0, max(*counts, 1), frame.start, FLOOR + GAP, FLOOR + GAP + BARS)
    bars = [
        rectangle(below.x(a) + 0.5, below.y(n), below.x(b) - below.x(a) - 1, below.floor - below.y(n), "bar people")
        for (a, b), n in zip(pairwise(score.people.edges), counts, strict=True)
        if n
    ]
    zero = line(frame.start, frame.y(0), WIDTH - RIGHT, frame.y(0), "axis")
    return [
        marks,
        grid(frame, round_ticks(frame.low, frame.high), short),
        zero,
        bars,
        across(below, short, axis_name(score.attribute, score.unit)),
        text(below.start - 6, below.floor - 2, "people", "end"),
        [_path(frame, score.edges, values, place) for place, values in enumerate(score.adds)],
    ]


def _path(frame: Frame, edges: Sequence[float], values: Sequence[float], place: int) -> Element:
    return element("polyline", points=step_points(frame, edges, values), class_=f"path o{place}")


def step_points(frame: Frame, edges: Sequence[float], values: Sequence[float]) -> str:
    """The corners of a step function; of steps that nobody could see, the last."""
    corners = [
        (frame.x(edge), frame.y(value)) for value, ends in zip(values, pairwise(edges), strict=True) for edge in ends
    ]
    kept = [corners[0]]
    for x, y in corners[1:]:
        if abs(x - kept[-1][0]) > NEAR or abs(y - kept[-1][1]) > NEAR:
            kept.append((x, y))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in kept)


# -- categories --------------------------------------------------------------------------------------------------------


def shown_categories(score: AttributeScore) -> tuple[str, ...]:
    """Those with a row in the chart: of most people, in the order of the schema."""
    order = sorted(range(len(score.categories)), key=lambda place: -score.counts[place])[:MOST]
    return tuple(score.categories[place] for place in sorted(order))


def _height(score: AttributeScore) -> float:
    return TOP + ROW * len(shown_categories(score)) + BOTTOM


def _bars(score: AttributeScore, marks: Element) -> list[Any]:
    """One row for each category; the bar begins where nothing is added, and the people stand beside it."""
    low, high = _extent(score)
    floor = _height(score) - BOTTOM
    wide = (ADDS - NAMES) / (high - low)
    most = max(*score.counts, 1)
    parts: list[Any] = [marks]
    for tick in round_ticks(low, high, 4):
        x = NAMES + (tick - low) * wide
        parts += [line(x, TOP, x, floor, "grid"), text(x, floor + 17, short(tick), "middle")]
    zero = NAMES - low * wide
    for row, name in enumerate(shown_categories(score)):
        place, y = score.categories.index(name), TOP + ROW * row
        parts.append(text(NAMES - 6, y + 14, clipped(name), "end", "name"))
        thick = (ROW - 6) / len(score.adds)
        for number, values in enumerate(score.adds):
            x = zero + min(values[place], 0.0) * wide
            parts.append(rectangle(x, y + 3 + number * thick, abs(values[place]) * wide, thick, f"bar o{number}"))
        if score.counts[place]:
            share = (WIDTH - RIGHT - COUNTS) * score.counts[place] / most
            parts.append(rectangle(COUNTS, y + 5, share, ROW - 10, "bar people"))
    parts += [line(zero, TOP, zero, floor, "axis"), text((COUNTS + WIDTH - RIGHT) / 2, floor + 17, "people", "middle")]
    return [*parts, text((NAMES + ADDS) / 2, floor + BOTTOM - 8, "adds", "middle", "label")]
