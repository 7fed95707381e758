"""SVG charts of sweeps: stacked shares along one attribute, and a grid of them over two."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

from lcifr.drawing.axes import BOTTOM, RIGHT, TOP, WIDTH, Frame, grid, label_width, line, rectangle, svg, text
from lcifr.drawing.labels import axis_name, clipped, fit_row, width_of
from lcifr.drawing.sweeps.shares import ShareGrid, Shares, ShareStrip, ValueParts
from lcifr.drawing.text import short

KINDS = {
    "proved": "certified",
    "strict crossings only": "crossings",
    "open": "undecided",
    "violating": "counterexample",
}
"""The class, and so the colour, of each standing, in the order in which they are stacked."""
HALVES = (0.0, 0.5, 1.0)
FLOOR = 120.0
ROW = 22.0
NAMES = 120.0
GAP = 1.0


def strip_chart(strip: ShareStrip, *, title: str, description: str, key: str) -> Element:
    """A bar for each part of the attribute's values, of equal height, divided by standing."""
    frame = Frame(0.0, float(len(strip.bins)), 0.0, 1.0, label_width(HALVES, _percent), floor=FLOOR)
    bars: list[Element] = []
    for place, shares in enumerate(strip.shares):
        left, right, below = frame.x(place), frame.x(place + 1), 0.0
        for standing, kind in KINDS.items():
            if (share := shares.get(standing, 0.0)) > 0:
                top, bottom = frame.y(below + share), frame.y(below)
                bars.append(rectangle(left + GAP / 2, top, right - left - GAP, bottom - top, f"bar {kind}"))
                below += share
    base = line(frame.start, FLOOR, WIDTH - RIGHT, FLOOR, "axis")
    parts = [grid(frame, HALVES, _percent), bars, base, _below(frame, strip.bins)]
    return svg(parts, title=title, description=description, key=key, height=FLOOR + BOTTOM)


def grid_chart(shown: ShareGrid, *, title: str, description: str, key: str) -> Element:
    """A rectangle for each part of both attributes, divided from left to right by standing."""
    rows = len(shown.down)
    floor = TOP + ROW * rows
    names = min(NAMES, max(width_of(clipped(label, 15)) for label in shown.down.labels) + 12)
    frame = Frame(0.0, float(len(shown.across)), 0.0, float(rows), names, floor=floor)
    parts: list[Any] = []
    for row, (label, line_) in enumerate(zip(shown.down.labels, shown.shares, strict=True)):
        y = TOP + ROW * row
        parts.append(text(names - 6, y + ROW / 2 + 4, clipped(label, 15), "end", "name"))
        for column, shares in enumerate(line_):
            parts += _divided(frame.x(column), y, frame.x(column + 1) - frame.x(column), shares)
    parts.append(_below(frame, shown.across))
    return svg(parts, title=title, description=description, key=key, height=floor + BOTTOM)


def _divided(x: float, y: float, width: float, shares: Shares) -> list[Element]:
    """From left to right, what is violating first; nothing where nobody can exist."""
    found, left, room = [], x + GAP / 2, width - GAP
    for standing, kind in reversed(KINDS.items()):
        if (share := shares.get(standing, 0.0)) > 0:
            found.append(rectangle(left, y + GAP / 2, room * share, ROW - GAP, f"bar {kind}"))
            left += room * share
    return found


def _below(frame: Frame, bins: ValueParts) -> list[Element]:
    """As many labels as have room, each below the middle of its part or the edge of it, and the attribute's name."""
    wide = bool(bins.edges) and any(" to " in label for label in bins.labels)
    places = [(float(place), short(edge)) for place, edge in enumerate(bins.edges)] if wide else []
    places = places or [(place + 0.5, clipped(label, 12)) for place, label in enumerate(bins.labels)]
    found: list[Element] = []
    for step in range(1, len(places) + 1):
        kept = places[::step]
        centres = fit_row([frame.x(place) for place, _ in kept], [words for _, words in kept], WIDTH)
        if centres is not None:
            found = [text(x, frame.floor + 17, words, "middle") for x, (_, words) in zip(centres, kept, strict=True)]
            break
    middle = (frame.start + WIDTH - RIGHT) / 2
    name = axis_name(bins.attribute, bins.unit)
    return [*found, text(middle, frame.floor + BOTTOM - 8, name, "middle", "label")]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
