"""SVG chart of a profile: the output along an attribute, the decision's threshold, a person and a counterexample."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

from lcifr.drawing.axes import (
    BOTTOM,
    RIGHT,
    TOP,
    WIDTH,
    Frame,
    across,
    circle,
    grid,
    label_width,
    line,
    round_ticks,
    svg,
    text,
)
from lcifr.drawing.labels import LabelBox, axis_name, clipped, place_labels
from lcifr.drawing.markup import element
from lcifr.drawing.score_charts import NAMES, ROW, step_points
from lcifr.drawing.scores import Profile
from lcifr.drawing.text import short

FLOOR = 170.0
MOST = 14
"""Categories that are drawn: both of the pair, and the first others."""
DOT = 5.0
LABELS = ("this person’s value", "counterexample")


def profile_chart(profile: Profile, *, title: str, description: str, key: str) -> Element:
    """The output along an attribute, both values marked; a dashed line is where the decision changes."""
    if profile.categories:
        parts = _categories(profile)
        height = TOP + ROW * len(drawn_categories(profile)) + BOTTOM
    else:
        parts, height = _numbers(profile), FLOOR + BOTTOM
    return svg(parts, title=title, description=description, key=key, height=height)


def _extent(profile: Profile) -> tuple[float, float]:
    values = [*profile.outputs, *profile.limits, profile.at_own, profile.at_other]
    room = 0.12 * ((max(values) - min(values)) or 1.0)
    return min(values) - room, max(values) + room


def _numbers(profile: Profile) -> list[Any]:
    low, high = _extent(profile)
    up = round_ticks(low, high)
    frame = Frame(profile.edges[0], profile.edges[-1], low, high, label_width(up, short), floor=FLOOR)
    points = step_points(frame, profile.edges, profile.outputs) if profile.stepwise else _points(frame, profile)
    return [
        grid(frame, up, short),
        across(frame, short, axis_name(profile.attribute, profile.unit)),
        [line(frame.start, frame.y(limit), WIDTH - RIGHT, frame.y(limit), "zero") for limit in profile.limits],
        element("polyline", points=points, class_="path"),
        _pair(frame, profile),
    ]


def _points(frame: Frame, profile: Profile) -> str:
    pairs = zip(profile.edges, profile.outputs, strict=True)
    return " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in pairs)


def _pair(frame: Frame, profile: Profile) -> list[Element]:
    ends = ((float(profile.own), profile.at_own), (float(profile.other), profile.at_other))
    places = [(frame.x(x), frame.y(y)) for x, y in ends]
    found = [
        circle(*place, DOT, f"dot {kind}") for place, kind in zip(places, ("person", "counterexample"), strict=True)
    ]
    paper = LabelBox(frame.start, 0.0, WIDTH, FLOOR)
    for words, box, (x, _) in zip(LABELS, place_labels(places, LABELS, paper, DOT + 1), places, strict=True):
        if box is not None:
            beside = (box.left, "start") if box.left > x else (box.right, "end") if box.right < x else (x, "middle")
            found.append(text(beside[0], box.bottom - 4, words, beside[1], "name"))
    return found


def drawn_categories(profile: Profile) -> tuple[str, ...]:
    """The categories with a row."""
    first = [profile.own, profile.other]
    others = [name for name in profile.categories if name not in first][: MOST - 2]
    return tuple(name for name in profile.categories if name in first or name in others)


def _categories(profile: Profile) -> list[Any]:
    """A row for each category, with a dot at its output."""
    low, high = _extent(profile)
    rows = drawn_categories(profile)
    floor = TOP + ROW * len(rows)
    wide = (WIDTH - RIGHT - NAMES) / (high - low)
    parts: list[Any] = []
    for tick in round_ticks(low, high):
        x = NAMES + (tick - low) * wide
        parts += [line(x, TOP, x, floor, "grid"), text(x, floor + 17, short(tick), "middle")]
    for limit in profile.limits:
        x = NAMES + (limit - low) * wide
        parts.append(line(x, TOP, x, floor, "zero"))
    kinds = {profile.own: "person", profile.other: "counterexample"}
    for row, name in enumerate(rows):
        y = TOP + ROW * (row + 0.5)
        output = profile.outputs[profile.categories.index(name)]
        parts.append(text(NAMES - 6, y + 4, clipped(name), "end", "name"))
        parts.append(circle(NAMES + (output - low) * wide, y, DOT, f"dot {kinds.get(name, 'other')}"))
    return [*parts, text((NAMES + WIDTH - RIGHT) / 2, floor + BOTTOM - 8, profile.axis, "middle", "label")]
