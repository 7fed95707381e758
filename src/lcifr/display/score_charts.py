"""SVG charts of the scores of attributes and of pairs of them, and of a model's output along one attribute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any
from xml.etree.ElementTree import Element

from lcifr.display.canvas import (
    BOTTOM,
    HEIGHT,
    RIGHT,
    TOP,
    WIDTH,
    Frame,
    LabelBox,
    across,
    axis_name,
    circle,
    clipped,
    element,
    fit_row,
    grid,
    label_width,
    line,
    place_labels,
    rectangle,
    round_ticks,
    svg,
    text,
)
from lcifr.display.scores import AttributeScore, Freedom, MarkedScore, PairAxis, PairScore, Profile, signed
from lcifr.display.text import short

# SVG charts of attribute scores: steps of a number over the people's histogram, bars of a category, one person.

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
    low, high = _extent_of_score(score)
    return Frame(score.edges[0], score.edges[-1], low, high, label_width(round_ticks(low, high), short), floor=FLOOR)


def _extent_of_score(score: AttributeScore) -> tuple[float, float]:
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
    low, high = _extent_of_score(score)
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


# SVG heat map of a pair score: blue cells raise the output, red ones lower it, the deeper the more.

PAIR_FLOOR = HEIGHT - BOTTOM
PAIR_NAMES = 112.0
"""Room for the names of categories beside the map."""
LISTED = 12


def pair_chart(score: PairScore, *, title: str, description: str, key: str) -> Element:
    """A rectangle for each piece of both attributes."""
    start = (
        PAIR_NAMES if score.up.categories else label_width(round_ticks(score.up.edges[0], score.up.edges[-1]), short)
    )
    x, y = _ends(score.across), _ends(score.up)
    frame = Frame(x[0], x[-1], y[0], y[-1], start, TOP + 12, PAIR_FLOOR)
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


# SVG chart of a profile: the output along an attribute, the decision's threshold, a person and a counterexample.

PROFILE_FLOOR = 170.0
"""Categories that are drawn: both of the pair, and the first others."""
DOT = 5.0
LABELS = ("this person’s value", "counterexample")


def profile_chart(profile: Profile, *, title: str, description: str, key: str) -> Element:
    """The output along an attribute, both values marked; a dashed line is where the decision changes."""
    if profile.categories:
        parts = _categories(profile)
        height = TOP + ROW * len(drawn_categories(profile)) + BOTTOM
    else:
        parts, height = _numbers(profile), PROFILE_FLOOR + BOTTOM
    return svg(parts, title=title, description=description, key=key, height=height)


def _extent_of_profile(profile: Profile) -> tuple[float, float]:
    values = [*profile.outputs, *profile.limits, profile.at_own, profile.at_other]
    room = 0.12 * ((max(values) - min(values)) or 1.0)
    return min(values) - room, max(values) + room


def _numbers(profile: Profile) -> list[Any]:
    low, high = _extent_of_profile(profile)
    up = round_ticks(low, high)
    frame = Frame(profile.edges[0], profile.edges[-1], low, high, label_width(up, short), floor=PROFILE_FLOOR)
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
    paper = LabelBox(frame.start, 0.0, WIDTH, PROFILE_FLOOR)
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
    low, high = _extent_of_profile(profile)
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
