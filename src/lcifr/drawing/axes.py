"""Axes of SVG charts: coordinates, grids, ticks, and the shell of a chart with its title and description."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

from lcifr.drawing.labels import fit_row, width_of
from lcifr.drawing.markup import element
from lcifr.drawing.text import count

WIDTH, HEIGHT = 440, 260
LEFT, RIGHT, TOP, BOTTOM = 46, 22, 14, 44
TICKS = 5  # across, or as many of them as have room for their numbers


@dataclass(frozen=True)
class Frame:
    """Data to chart coordinates; ``start`` is the width of the labels beside the chart, ``floor`` its lower end."""

    left: float
    right: float
    low: float
    high: float
    start: float = LEFT
    top: float = TOP
    floor: float = HEIGHT - BOTTOM

    def x(self, value: float) -> float:
        return self.start + (value - self.left) / (self.right - self.left) * (WIDTH - self.start - RIGHT)

    def y(self, value: float) -> float:
        return self.floor - (value - self.low) / (self.high - self.low) * (self.floor - self.top)


def label_width(ticks: Sequence[float], tick_text: Callable[[float], str]) -> float:
    """Room for the longest number beside the chart."""
    return max([LEFT, *(width_of(tick_text(tick)) + 10 for tick in ticks)])


def share_tick(share: float) -> str:
    return f"{100 * share:.4g} %"


def count_tick(value: float) -> str:
    return count(int(value))


def svg(parts: Any, *, title: str, description: str, key: str, height: float = HEIGHT) -> Element:
    """A chart that a screen reader can read out."""
    return element(
        "svg",
        element("title", title, id=f"{key}-title"),
        element("desc", description, id=f"{key}-desc"),
        parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height:g}",
        class_="chart",
        role="img",
        aria_labelledby=f"{key}-title {key}-desc",
    )


def grid(frame: Frame, ticks: Sequence[float], tick_text: Callable[[float], str]) -> list[Element]:
    """Lines across with their numbers."""
    found = []
    for tick in ticks:
        y = frame.y(tick)
        found.append(line(frame.start, y, WIDTH - RIGHT, y, "grid"))
        found.append(text(frame.start - 6, y + 4, tick_text(tick), "end"))
    return found


def across(frame: Frame, tick_text: Callable[[float], str], axis: str) -> list[Element]:
    """The axis below, with as many numbers as have room, and its name."""
    for many in range(TICKS, 0, -1):
        ticks = round_ticks(frame.left, frame.right, many)
        if places := fit_row([frame.x(tick) for tick in ticks], [tick_text(tick) for tick in ticks], WIDTH):
            break
    else:
        ticks, places = [], []
    words = [text(x, frame.floor + 17, tick_text(tick), "middle") for x, tick in zip(places, ticks, strict=True)]
    base = line(frame.start, frame.floor, WIDTH - RIGHT, frame.floor, "axis")
    return [base, *words, text((frame.start + WIDTH - RIGHT) / 2, frame.floor + BOTTOM - 8, axis, "middle", "label")]


def round_ticks(low: float, high: float, many: int = TICKS) -> list[float]:
    """At most about so many round numbers between both ends."""
    step = round_step((high - low) / many)
    first = -int(-low // step)
    slack = 1e-9 * (high - low)
    return [float(f"{k * step:.12g}") for k in range(first, first + 12) if low - slack <= k * step <= high + slack]


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5 · 10ᵏ that is at least this."""
    power = 10.0 ** math.floor(math.log10(least))
    return float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9)))


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Element:
    return element("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", class_=kind)


def rectangle(x: float, y: float, width: float, height: float, kind: str) -> Element:
    shape = {"x": x, "y": y, "width": max(width, 0.5), "height": height}
    return element("rect", **{name: f"{value:.1f}" for name, value in shape.items()}, class_=kind)


def circle(x: float, y: float, radius: float, kind: str) -> Element:
    return element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{radius:g}", class_=kind)


def text(x: float, y: float, words: str, anchor: str, kind: str = "tick") -> Element:
    return element("text", words, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=kind)
