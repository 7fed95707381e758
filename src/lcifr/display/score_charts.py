"""Charts of the scores of attributes and of pairs of them, and of a model's output along one attribute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise

from lcifr.display.canvas import (
    BOTTOM,
    HEIGHT,
    RIGHT,
    TICKS,
    TOP,
    WIDTH,
    Frame,
    LabelBox,
    Picture,
    Shape,
    across,
    circle,
    clipped,
    dot_labels,
    fit_row,
    grid,
    label_width,
    line,
    named_below,
    polyline,
    rectangle,
    round_ticks,
    text,
)
from lcifr.display.scores import (
    BAR,
    AttributeScore,
    Axis,
    Freedom,
    MarkedScore,
    PairScore,
    PersonScore,
    Profile,
    bar_shapes,
    place_bars,
    signed,
)
from lcifr.display.text import short

# Attribute scores: steps of a number over the people's histogram, bars of a category, one person.

FLOOR, GAP, BARS = 158.0, 10.0, 48.0
"""Where the steps end, the gap below them, and the height of the histogram below that."""
NAMES, ADDS, COUNTS = 152.0, 336.0, 348.0
"""Columns of a chart of categories: where the names end, where what they add ends, and where the people begin."""
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


def score_chart(marked: MarkedScore) -> Picture:
    """What an attribute adds: up, or to the right, is more. The person's value and similar range are marked."""
    score, mark = marked.score, person_mark(marked)
    marks = [rectangle(*band, "similar") for band in mark.similar]
    marks += [] if mark.own is None else [line(*mark.own, "own")]
    shapes = _bars(score) if score.categories else _steps(score)
    height = _height(score) if score.categories else FLOOR + GAP + BARS + BOTTOM
    legend = tuple((f"o{number}", name) for number, name in enumerate(score.outputs))
    return Picture(score.attribute, tuple(shapes), height, tuple(marks), legend)


def person_mark(marked: MarkedScore) -> Mark:
    """Where a person is in the chart of an attribute, and what someone similar may have; whole pixels."""
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
    low, high = _extent([0.0, *chain(*score.adds)], 0.08)
    return Frame(score.edges[0], score.edges[-1], low, high, label_width(round_ticks(low, high), short), floor=FLOOR)


def _extent(values: Sequence[float], share: float) -> tuple[float, float]:
    """From the least to the greatest, and a share of that more on both sides."""
    room = share * ((max(values) - min(values)) or 1.0)
    return min(values) - room, max(values) + room


def _steps(score: AttributeScore) -> list[Shape]:
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
        *grid(frame, round_ticks(frame.low, frame.high), short),
        zero,
        *bars,
        *across(below, short, score.label),
        text(below.start - 6, below.floor - 2, "people", "end"),
        *(polyline(_corners(frame, score.edges, adds), f"path o{place}") for place, adds in enumerate(score.adds)),
    ]


def _corners(frame: Frame, edges: Sequence[float], values: Sequence[float]) -> list[tuple[float, float]]:
    """The corners of a step function; of steps too small to see, the last."""
    corners = [
        (frame.x(edge), frame.y(value)) for value, ends in zip(values, pairwise(edges), strict=True) for edge in ends
    ]
    kept = [corners[0]]
    for x, y in corners[1:]:
        if abs(x - kept[-1][0]) > NEAR or abs(y - kept[-1][1]) > NEAR:
            kept.append((x, y))
    return kept


# -- categories --------------------------------------------------------------------------------------------------------


def shown_categories(score: AttributeScore) -> tuple[str, ...]:
    """Those with a row in the chart: of most people, in the order of the schema."""
    order = sorted(range(len(score.categories)), key=lambda place: -score.counts[place])[:MOST]
    return tuple(score.categories[place] for place in sorted(order))


def _height(score: AttributeScore) -> float:
    return TOP + ROW * len(shown_categories(score)) + BOTTOM


def _bars(score: AttributeScore) -> list[Shape]:
    """One row for each category; the bar begins where nothing is added, and the people stand beside it."""
    names = shown_categories(score)
    frame, parts = _named_rows(names, *_extent([0.0, *chain(*score.adds)], 0.08), end=ADDS, ticks=4)
    most, thick = max(*score.counts, 1), (ROW - 6) / len(score.adds)
    for row, name in enumerate(names):
        place, y = score.categories.index(name), TOP + ROW * row
        for number, values in enumerate(score.adds):
            left, right = sorted((frame.x(0.0), frame.x(values[place])))
            parts.append(rectangle(left, y + 3 + number * thick, right - left, thick, f"bar o{number}"))
        if score.counts[place]:
            share = (WIDTH - RIGHT - COUNTS) * score.counts[place] / most
            parts.append(rectangle(COUNTS, y + 5, share, ROW - 10, "bar people"))
    parts.append(line(frame.x(0.0), TOP, frame.x(0.0), frame.floor, "axis"))
    parts.append(text((COUNTS + WIDTH - RIGHT) / 2, frame.floor + 17, "people", "middle"))
    return [*parts, named_below(frame, "adds")]


def _named_rows(
    names: Sequence[str], low: float, high: float, *, end: float = WIDTH - RIGHT, ticks: int = TICKS
) -> tuple[Frame, list[Shape]]:
    """A row for each name; across, numbers and their grid up to ``end``."""
    frame = Frame(low, high, 0.0, 1.0, NAMES, TOP, TOP + ROW * len(names), end)
    shapes: list[Shape] = []
    for tick in round_ticks(low, high, ticks):
        x = frame.x(tick)
        shapes += [line(x, TOP, x, frame.floor, "grid"), text(x, frame.floor + 17, short(tick), "middle")]
    shapes += [text(NAMES - 6, TOP + ROW * row + 14, clipped(name), "end", "name") for row, name in enumerate(names)]
    return frame, shapes


# A pair score as a map: blue cells raise the output, red ones lower it, the deeper the more.

PAIR_FLOOR = HEIGHT - BOTTOM
PAIR_NAMES = 112.0
"""Room for the names of categories beside the map."""
LISTED = 12


def pair_chart(score: PairScore) -> Picture:
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
    return Picture(score.name, (*cells, *_below(frame, score.across), *_beside(frame, score.up)))


def _look(share: float) -> tuple[str, str]:
    return "cell for" if share >= 0 else "cell against", f"{abs(share):.2f}"


def _runs(ends: list[float], looks: list[tuple[str, str]]) -> Iterator[tuple[tuple[float, float], tuple[str, str]]]:
    """Neighbours that look alike, as one."""
    place = 0
    for look, same in groupby(looks):
        start, place = place, place + len(list(same))
        yield (ends[start], ends[place]), look


def _cell(frame: Frame, ends: tuple[float, float], span: tuple[float, float], kind: str, shade: str) -> Shape:
    (x, right), (y, top) = (frame.x(ends[0]), frame.x(ends[1])), (frame.y(span[0]), frame.y(span[1]))
    return rectangle(x, top, right - x, y - top, kind, shade)


def _ends(axis: Axis) -> list[float]:
    return list(axis.edges) or [float(place) for place in range(axis.count + 1)]


def _below(frame: Frame, axis: Axis) -> list[Shape]:
    if not axis.categories:
        return across(frame, short, axis.label)
    middles = [frame.x(place + 0.5) for place in range(axis.count)]
    wide = max(int((middles[1] - middles[0]) / 8) if len(middles) > 1 else 20, 2)
    names = [clipped(value, wide) for value in axis.categories]
    places = fit_row(middles, names, WIDTH) or []
    found = [text(x, frame.floor + 17, word, "middle") for x, word in zip(places, names, strict=False)]
    return [*found, named_below(frame, axis.label)]


def _beside(frame: Frame, axis: Axis) -> list[Shape]:
    found = [text(0, TOP, clipped(axis.label, 30), "start", "label")]
    if axis.categories:
        step = -(-axis.count // 12)
        named = list(enumerate(axis.categories))[::step]
        return found + [text(frame.start - 6, frame.y(k + 0.5) + 4, clipped(v, 14), "end") for k, v in named]
    ticks = round_ticks(axis.edges[0], axis.edges[-1])
    return found + [text(frame.start - 6, frame.y(tick) + 4, short(tick), "end") for tick in ticks]


def pair_sentence(score: PairScore) -> str:
    """One sentence about the map of a pair: its cells, and how far they move the output."""
    cells = score.across.count * score.up.count
    return f"{cells} cells; together they move the output by {short(score.moves, 3)} among these people."


def pair_rows(score: PairScore) -> tuple[tuple[str, str, str], ...]:
    """The cells that add or take most: both ranges, and what they add."""
    cells = [(value, i, j) for i, column in enumerate(score.adds) for j, value in enumerate(column)]
    largest = sorted(cells, key=lambda cell: -abs(cell[0]))[:LISTED]
    return tuple((score.across.piece(i), score.up.piece(j), signed(value)) for value, i, j in largest)


# A profile: the output along an attribute, the decision's threshold, a person and a counterexample.

PROFILE_FLOOR = 170.0
"""Categories that are drawn: both of the pair, and the first others."""
DOT = 5.0
LABELS = ("this person’s value", "counterexample")


def profile_chart(profile: Profile) -> Picture:
    """The output along an attribute, both values marked; a dashed line is where the decision changes."""
    if profile.categories:
        height = TOP + ROW * len(drawn_categories(profile)) + BOTTOM
        return Picture(profile.attribute, tuple(_categories(profile)), height)
    return Picture(profile.attribute, tuple(_numbers(profile)), PROFILE_FLOOR + BOTTOM)


def _extent_of_profile(profile: Profile) -> tuple[float, float]:
    return _extent([*profile.outputs, *profile.limits, profile.at_own, profile.at_other], 0.12)


def _numbers(profile: Profile) -> list[Shape]:
    low, high = _extent_of_profile(profile)
    up = round_ticks(low, high)
    frame = Frame(profile.edges[0], profile.edges[-1], low, high, label_width(up, short), floor=PROFILE_FLOOR)
    if profile.stepwise:
        points = _corners(frame, profile.edges, profile.outputs)
    else:
        points = [(frame.x(x), frame.y(y)) for x, y in zip(profile.edges, profile.outputs, strict=True)]
    return [
        *grid(frame, up, short),
        *across(frame, short, profile.label),
        *(line(frame.start, frame.y(limit), WIDTH - RIGHT, frame.y(limit), "zero") for limit in profile.limits),
        polyline(points),
        *_pair(frame, profile),
    ]


def _pair(frame: Frame, profile: Profile) -> list[Shape]:
    ends = ((float(profile.own), profile.at_own), (float(profile.other), profile.at_other))
    places = [(frame.x(x), frame.y(y)) for x, y in ends]
    found = [
        circle(*place, DOT, f"dot {kind}") for place, kind in zip(places, ("person", "counterexample"), strict=True)
    ]
    paper = LabelBox(frame.start, 0.0, WIDTH, PROFILE_FLOOR)
    return [*found, *dot_labels(places, LABELS, paper, DOT + 1)]


def drawn_categories(profile: Profile) -> tuple[str, ...]:
    """The categories with a row."""
    first = [profile.own, profile.other]
    others = [name for name in profile.categories if name not in first][: MOST - 2]
    return tuple(name for name in profile.categories if name in first or name in others)


def _categories(profile: Profile) -> list[Shape]:
    """A row for each category, with a dot at its output."""
    names, kinds = drawn_categories(profile), {profile.own: "person", profile.other: "counterexample"}
    frame, parts = _named_rows(names, *_extent_of_profile(profile))
    for limit in profile.limits:
        parts.append(line(frame.x(limit), TOP, frame.x(limit), frame.floor, "zero"))
    for row, name in enumerate(names):
        x = frame.x(profile.outputs[profile.categories.index(name)])
        parts.append(circle(x, TOP + ROW * (row + 0.5), DOT, f"dot {kinds.get(name, 'other')}"))
    return [*parts, named_below(frame, profile.axis)]


# A person's contributions, for figures; pages have them as a table with a bar in each row.


def contribution_chart(score: PersonScore, title: str) -> Picture:
    """What each attribute adds for a person, and how far that could move within φ."""
    shapes: list[Shape] = []
    for row, (one, place) in enumerate(zip(score.contributions, place_bars(score), strict=True)):
        y = TOP + ROW * row
        shapes += [text(NAMES - 6, y + 12, clipped(one.attribute), "end", "name"), *bar_shapes(one, place, NAMES, y)]
        shapes.append(text(NAMES + BAR + 6, y + 12, signed(one.adds), "start"))
    floor = TOP + ROW * len(score.contributions)
    words = f"adds: + for {clipped(score.up)}, − for {clipped(score.down)}; the band is what someone similar may have"
    return Picture(title, (*shapes, text(0, floor + BOTTOM - 22, words, "start", "label")), floor + BOTTOM)
