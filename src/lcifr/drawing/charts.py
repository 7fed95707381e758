"""SVG charts with accessible titles and descriptions.

Colours come from ``chart.css`` through classes, so that a page can show the same chart light and dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
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
    circle,
    count_tick,
    grid,
    label_width,
    line,
    rectangle,
    round_step,
    round_ticks,
    share_tick,
    svg,
    text,
)
from lcifr.drawing.histogram import Histogram
from lcifr.drawing.labels import LabelBox, place_labels
from lcifr.drawing.markup import element, raw
from lcifr.drawing.text import short

DOT = 5.0


def chart_style() -> str:
    """The style sheet of every chart."""
    return files("lcifr.drawing").joinpath("chart.css").read_text(encoding="utf-8")


def standalone(chart: Element) -> Element:
    """The same picture with its style inside, for a file of its own."""
    chart.insert(0, raw("style", chart_style()))
    chart.set("width", "560")
    return chart


@dataclass(frozen=True)
class Dot:
    """One model of a frontier: ``kind`` is ``tried``, ``chosen``, ``plain`` or ``unaware``; a line joins a family."""

    label: str
    kind: str
    across: float
    up: float
    family: str = ""


def model_dot(kind: str, gamma: float, certified: float, score: float, family: str = "") -> Dot:
    """A model of a frontier: baselines by their names, the others by their weight; with the family if there are two."""
    name = kind if kind in ("plain", "unaware") else f"γ = {gamma:g}"
    return Dot(f"{family}, {name}" if family else name, kind, certified, score, family)


def family_lines(dots: Sequence[Dot]) -> tuple[tuple[Dot, ...], ...]:
    """The weights that were tried, family by family, in the order in which they are joined."""
    tried = [dot for dot in dots if dot.kind in ("tried", "chosen")]
    return tuple(tuple(dot for dot in tried if dot.family == name) for name in dict.fromkeys(d.family for d in tried))


def histogram_chart(shown: Histogram, *, title: str, description: str, axis: str, key: str) -> Element:
    """Stacked bars, one class per kind of person; a line at zero where values lie on both sides of it."""
    totals = [sum(bar) for bar in zip(*shown.counts.values(), strict=True)]
    step = round_step(max(max(totals), 1) / 4)
    if step < 1:
        step = 1.0
    top = step * -(-max(max(totals), 1) // step)
    ups = [k * step for k in range(int(top / step) + 1)]
    frame = Frame(shown.edges[0], shown.edges[-1], 0.0, top, label_width(ups, count_tick))
    parts: list[Any] = [grid(frame, ups, count_tick), across(frame, short, axis)]
    parts.append([_bar(frame, shown, place) for place in range(shown.bars)])
    if shown.edges[0] < 0 < shown.edges[-1]:
        parts.append(line(frame.x(0), TOP, frame.x(0), HEIGHT - BOTTOM, "zero"))
    return svg(parts, title=title, description=description, key=key)


def frontier_chart(dots: Sequence[Dot], required: float, *, title: str, description: str, key: str) -> Element:
    """Certified share (across) against score (up): the weights tried in a line, both baselines, the score required."""
    scores = [dot.up for dot in dots] + [required]
    spread = (max(scores) - min(scores)) or 0.02
    low, high = min(scores) - 0.15 * spread, max(scores) + 0.15 * spread
    up = round_ticks(low, high)
    frame = Frame(0.0, 1.0, low, high, label_width(up, share_tick))
    paths = [" ".join(f"{frame.x(d.across):.1f},{frame.y(d.up):.1f}" for d in one) for one in family_lines(dots)]
    parts: list[Any] = [
        grid(frame, up, share_tick),
        across(frame, share_tick, "certified share (validation)"),
        line(frame.start, frame.y(required), WIDTH - RIGHT, frame.y(required), "required"),
        [element("polyline", points=path, class_="path") for path in paths],
        _dots(frame, dots),
    ]
    return svg(parts, title=title, description=description, key=key)


def _bar(frame: Frame, shown: Histogram, place: int) -> list[Element]:
    x, width = frame.x(shown.edges[place]), frame.x(shown.edges[place + 1]) - frame.x(shown.edges[place])
    found, below = [], 0
    for kind, counts in shown.counts.items():
        if counts[place]:
            upper, lower = frame.y(below + counts[place]), frame.y(below)
            found.append(rectangle(x + 0.5, upper, width - 1, lower - upper, f"bar {kind}"))
            below += counts[place]
    return found


def _dots(frame: Frame, dots: Sequence[Dot]) -> list[Element]:
    """Every model; one whose name has no room is in the table beside the chart."""
    places = [(frame.x(dot.across), frame.y(dot.up)) for dot in dots]
    paper = LabelBox(frame.start, 0.0, WIDTH, HEIGHT - BOTTOM)
    found = [circle(x, y, DOT, f"dot {dot.kind}") for dot, (x, y) in zip(dots, places, strict=True)]
    boxes = place_labels(places, [dot.label for dot in dots], paper, DOT + 1)
    for dot, box, (x, _) in zip(dots, boxes, places, strict=True):
        if box is not None:
            beside = (box.left, "start") if box.left > x else (box.right, "end") if box.right < x else (x, "middle")
            found.append(text(beside[0], box.bottom - 4, dot.label, beside[1], "name"))
    return found
