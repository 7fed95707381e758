"""SVG charts with accessible titles and descriptions.

Colours come from ``chart.css`` through classes, so that a page can show the same chart light and dark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any
from xml.etree.ElementTree import Element

from lcifr.drawing.histogram import Histogram, round_step
from lcifr.drawing.labels import LabelBox, fit_row, place_labels, width_of
from lcifr.drawing.markup import element, raw
from lcifr.drawing.text import count, short

WIDTH, HEIGHT = 440, 260
LEFT, RIGHT, TOP, BOTTOM = 46, 22, 14, 44
TICKS = 5  # across, or as many of them as have room for their numbers
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


@dataclass(frozen=True)
class _Frame:
    """Data to chart coordinates; ``start`` is the width of the labels beside the chart."""

    left: float
    right: float
    low: float
    high: float
    start: float = LEFT

    def x(self, value: float) -> float:
        return self.start + (value - self.left) / (self.right - self.left) * (WIDTH - self.start - RIGHT)

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (value - self.low) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)


def histogram_chart(shown: Histogram, *, title: str, description: str, axis: str, key: str) -> Element:
    """Stacked bars, one class per kind of person; a line at zero where values lie on both sides of it."""
    totals = [sum(bar) for bar in zip(*shown.counts.values(), strict=True)]
    step = round_step(max(max(totals), 1) / 4)
    if step < 1:
        step = 1.0
    top = step * -(-max(max(totals), 1) // step)
    ups = [k * step for k in range(int(top / step) + 1)]
    frame = _Frame(shown.edges[0], shown.edges[-1], 0.0, top, _start(ups, count_tick))
    parts: list[Any] = [_grid(frame, ups, count_tick), _across(frame, short, axis)]
    parts.append([_bar(frame, shown, place) for place in range(shown.bars)])
    if shown.edges[0] < 0 < shown.edges[-1]:
        parts.append(_line(frame.x(0), TOP, frame.x(0), HEIGHT - BOTTOM, "zero"))
    return _svg(parts, title=title, description=description, key=key)


def frontier_chart(dots: Sequence[Dot], required: float, *, title: str, description: str, key: str) -> Element:
    """Certified share (across) against score (up): the weights tried in a line, both baselines, the score required."""
    scores = [dot.up for dot in dots] + [required]
    spread = (max(scores) - min(scores)) or 0.02
    low, high = min(scores) - 0.15 * spread, max(scores) + 0.15 * spread
    up = _round_ticks(low, high)
    frame = _Frame(0.0, 1.0, low, high, _start(up, _share_tick))
    lines = [" ".join(f"{frame.x(d.across):.1f},{frame.y(d.up):.1f}" for d in line) for line in family_lines(dots)]
    parts: list[Any] = [
        _grid(frame, up, _share_tick),
        _across(frame, _share_tick, "certified share (validation)"),
        _line(frame.start, frame.y(required), WIDTH - RIGHT, frame.y(required), "required"),
        [element("polyline", points=line, class_="path") for line in lines],
        _dots(frame, dots),
    ]
    return _svg(parts, title=title, description=description, key=key)


def _start(ticks: Sequence[float], tick_text: Callable[[float], str]) -> float:
    """Room for the longest number beside the chart."""
    return max([LEFT, *(width_of(tick_text(tick)) + 10 for tick in ticks)])


def _share_tick(share: float) -> str:
    return f"{100 * share:.4g} %"


def count_tick(value: float) -> str:
    return count(int(value))


def _svg(parts: list[Any], *, title: str, description: str, key: str) -> Element:
    return element(
        "svg",
        element("title", title, id=f"{key}-title"),
        element("desc", description, id=f"{key}-desc"),
        parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        class_="chart",
        role="img",
        aria_labelledby=f"{key}-title {key}-desc",
    )


def _grid(frame: _Frame, ticks: Sequence[float], tick_text: Callable[[float], str]) -> list[Element]:
    found = []
    for tick in ticks:
        y = frame.y(tick)
        found.append(_line(frame.start, y, WIDTH - RIGHT, y, "grid"))
        found.append(_text(frame.start - 6, y + 4, tick_text(tick), "end"))
    return found


def _across(frame: _Frame, tick_text: Callable[[float], str], axis: str) -> list[Element]:
    for many in range(TICKS, 0, -1):
        ticks = _round_ticks(frame.left, frame.right, many)
        if places := fit_row([frame.x(tick) for tick in ticks], [tick_text(tick) for tick in ticks], WIDTH):
            break
    else:
        ticks, places = [], []
    words = [_text(x, HEIGHT - BOTTOM + 17, tick_text(tick), "middle") for x, tick in zip(places, ticks, strict=True)]
    base = _line(frame.start, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "axis")
    return [base, *words, _text((frame.start + WIDTH - RIGHT) / 2, HEIGHT - 8, axis, "middle", "label")]


def _round_ticks(low: float, high: float, many: int = TICKS) -> list[float]:
    step = round_step((high - low) / many)
    first = -int(-low // step)
    slack = 1e-9 * (high - low)
    return [float(f"{k * step:.12g}") for k in range(first, first + 12) if low - slack <= k * step <= high + slack]


def _bar(frame: _Frame, shown: Histogram, place: int) -> list[Element]:
    x, width = frame.x(shown.edges[place]), frame.x(shown.edges[place + 1]) - frame.x(shown.edges[place])
    found, below = [], 0
    for kind, counts in shown.counts.items():
        if counts[place]:
            upper, lower = frame.y(below + counts[place]), frame.y(below)
            found.append(
                element(
                    "rect",
                    x=f"{x + 0.5:.1f}",
                    y=f"{upper:.1f}",
                    width=f"{max(width - 1, 0.5):.1f}",
                    height=f"{lower - upper:.1f}",
                    class_=f"bar {kind}",
                )
            )
            below += counts[place]
    return found


def _dots(frame: _Frame, dots: Sequence[Dot]) -> list[Element]:
    """Every model; one whose name has no room is in the table beside the chart."""
    places = [(frame.x(dot.across), frame.y(dot.up)) for dot in dots]
    paper = LabelBox(frame.start, 0.0, WIDTH, HEIGHT - BOTTOM)
    found = [
        element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{DOT:g}", class_=f"dot {dot.kind}")
        for dot, (x, y) in zip(dots, places, strict=True)
    ]
    boxes = place_labels(places, [dot.label for dot in dots], paper, DOT + 1)
    for dot, box, (x, _) in zip(dots, boxes, places, strict=True):
        if box is not None:
            beside = (box.left, "start") if box.left > x else (box.right, "end") if box.right < x else (x, "middle")
            found.append(_text(beside[0], box.bottom - 4, dot.label, beside[1], "name"))
    return found


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Element:
    return element("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", class_=kind)


def _text(x: float, y: float, text: str, anchor: str, kind: str = "tick") -> Element:
    return element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=kind)
