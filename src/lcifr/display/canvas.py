"""Charts as lists of shapes: axes, labels that do not overlap, and the short form for a page's script.

``templates/charts.html`` writes the same shapes as SVG, ``figures`` with matplotlib.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

from lcifr.display.text import count, visible

# Placement of text in charts: no label covers another one, a dot, or the edge of the picture.
#
# The reader's font is unknown, so text is measured in the widest of the common ones.

WIDE = 7.6  # of a character, and HIGH of a line, in units of a picture with letters of 12 px
HIGH = 15.0
GAP = 6.0  # between two labels side by side
NEAR = 8.0  # from a dot to its label
RINGS = 4


@dataclass(frozen=True)
class LabelBox:
    """A rectangle; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: LabelBox) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def inside(self, other: LabelBox) -> bool:
        across = other.left <= self.left and self.right <= other.right
        return across and other.top <= self.top and self.bottom <= other.bottom


def width_of(text: str) -> float:
    """An upper bound on the width of a text."""
    return WIDE * len(text)


def clipped(name: str, most: int = 20) -> str:
    """A name that fits beside its bar; a table has the whole."""
    return name if len(name) <= most else name[: most - 1] + "…"


def axis_name(attribute: str, unit: str = "", most: int = 50) -> str:
    """The name of an attribute below a chart, with its unit."""
    behind = f" ({clipped(unit, most // 2)})" if unit else ""
    return clipped(attribute, most - len(behind)) + behind


def place_labels(
    dots: Sequence[tuple[float, float]], texts: Sequence[str], paper: LabelBox, radius: float
) -> list[LabelBox | None]:
    """A box for the text of every dot, as near to it as there is room; None where there is none."""
    taken = [LabelBox(x - radius, y - radius, x + radius, y + radius) for x, y in dots]
    found: list[LabelBox | None] = []
    for (x, y), text in zip(dots, texts, strict=True):
        free = (box for box in _around(x, y, width_of(text)) if box.inside(paper))
        box = next((box for box in free if not any(box.overlaps(other) for other in taken)), None)
        found.append(box)
        taken += [] if box is None else [box]
    return found


def _around(x: float, y: float, width: float) -> Iterator[LabelBox]:
    """Where the label of a dot may lie: beside it above and below first, then straight, then further away."""
    for ring in range(1, RINGS + 1):
        away = NEAR * ring
        lefts, tops = (x + away, x - away - width), (y - away - HIGH / 2, y + away - HIGH / 2)
        places = [*product(tops, lefts), *product((y - HIGH / 2,), lefts)]
        places += [(y - away - HIGH, x - width / 2), (y + away, x - width / 2)]
        yield from (LabelBox(left, top, left + width, top + HIGH) for top, left in places)


def fit_row(centres: Sequence[float], texts: Sequence[str], right: float) -> list[float] | None:
    """Centres of texts in one row, moved inside 0 … ``right``; None where two of them would touch."""
    widths = [width_of(text) for text in texts]
    moved = [min(max(x, width / 2), right - width / 2) for x, width in zip(centres, widths, strict=True)]
    extents = [(x - width / 2, x + width / 2) for x, width in zip(moved, widths, strict=True)]
    apart = all(left[1] + GAP <= following[0] for left, following in pairwise(extents))
    return moved if apart else None


# Axes: coordinates, grids and ticks.

WIDTH, HEIGHT = 440, 260
LEFT, RIGHT, TOP, BOTTOM = 46, 22, 14, 44
TICKS = 5  # across, or as many of them as have room for their numbers


@dataclass(frozen=True)
class Frame:
    """Data to chart coordinates; ``start`` is the width of the labels beside it, ``floor`` its lower end."""

    left: float
    right: float
    low: float
    high: float
    start: float = LEFT
    top: float = TOP
    floor: float = HEIGHT - BOTTOM
    end: float = WIDTH - RIGHT

    @property
    def middle(self) -> float:
        return (self.start + self.end) / 2

    def x(self, value: float) -> float:
        return self.start + (value - self.left) / (self.right - self.left) * (self.end - self.start)

    def y(self, value: float) -> float:
        return self.floor - (value - self.low) / (self.high - self.low) * (self.floor - self.top)


def label_width(ticks: Sequence[float], tick_text: Callable[[float], str]) -> float:
    """Room for the longest number beside the chart."""
    return max([LEFT, *(width_of(tick_text(tick)) + 10 for tick in ticks)])


def share_tick(share: float) -> str:
    return f"{100 * share:.4g} %"


def count_tick(value: float) -> str:
    return count(int(value))


def grid(frame: Frame, ticks: Sequence[float], tick_text: Callable[[float], str]) -> list[Shape]:
    """Lines across with their numbers."""
    found = []
    for tick in ticks:
        y = frame.y(tick)
        found.append(line(frame.start, y, WIDTH - RIGHT, y, "grid"))
        found.append(text(frame.start - 6, y + 4, tick_text(tick), "end"))
    return found


def across(frame: Frame, tick_text: Callable[[float], str], axis: str) -> list[Shape]:
    """The axis below, with as many numbers as have room, and its name."""
    for many in range(TICKS, 0, -1):
        ticks = round_ticks(frame.left, frame.right, many)
        if places := fit_row([frame.x(tick) for tick in ticks], [tick_text(tick) for tick in ticks], WIDTH):
            break
    else:
        ticks, places = [], []
    words = [text(x, frame.floor + 17, tick_text(tick), "middle") for x, tick in zip(places, ticks, strict=True)]
    base = line(frame.start, frame.floor, WIDTH - RIGHT, frame.floor, "axis")
    return [base, *words, named_below(frame, axis)]


def named_below(frame: Frame, name: str) -> Shape:
    """The name of the axis below."""
    return text(frame.middle, frame.floor + BOTTOM - 8, name, "middle", "label")


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


# Shapes: what a chart consists of, before it is SVG, a figure, or a list for a page's script.

SHAPES = {
    "line": ("x1", "y1", "x2", "y2", "class"),
    "rect": ("x", "y", "width", "height", "class"),
    "circle": ("cx", "cy", "r", "class"),
    "text": ("x", "y", "text-anchor", "class"),
    "polyline": ("points", "class"),
}
"""The attributes of each; a page's script has the same list."""


@dataclass(frozen=True)
class Shape:
    """One shape: ``values`` in the order of :data:`SHAPES`, numbers to a tenth, the class that colours it last."""

    tag: str
    values: tuple[float | str, ...]
    words: str = ""
    opacity: str | None = None

    @property
    def attributes(self) -> dict[str, str | None]:
        """As SVG has them; None for one that is left out."""
        named = dict(zip(SHAPES[self.tag], self.values, strict=True))
        written = {key: value if isinstance(value, str) else _decimal(key, value) for key, value in named.items()}
        return {**written, "fill-opacity": self.opacity}


def _decimal(key: str, value: float) -> str:
    return f"{value:g}" if key == "r" else f"{value:.1f}"


@dataclass(frozen=True)
class Picture:
    """A chart, :data:`WIDTH` wide.

    Parameters
    ----------
    marks : of one person, drawn behind everything else; None where no one can be marked.
    legend : the class and the name of every colour.
    """

    title: str
    shapes: tuple[Shape, ...]
    height: float = HEIGHT
    marks: tuple[Shape, ...] | None = None
    legend: tuple[tuple[str, str], ...] = ()


def _shape(tag: str, *values: float | str, words: str = "", opacity: str | None = None) -> Shape:
    rounded = tuple(value if isinstance(value, str) else round(float(value), 1) for value in values)
    return Shape(tag, rounded, visible(words), opacity)


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Shape:
    return _shape("line", x1, y1, x2, y2, kind)


def rectangle(x: float, y: float, width: float, height: float, kind: str, opacity: str | None = None) -> Shape:
    return _shape("rect", x, y, max(width, 0.5), height, kind, opacity=opacity)


def circle(x: float, y: float, radius: float, kind: str) -> Shape:
    return _shape("circle", x, y, radius, kind)


def text(x: float, y: float, words: str, anchor: str, kind: str = "tick") -> Shape:
    return _shape("text", x, y, anchor, kind, words=words)


def polyline(points: Iterable[tuple[float, float]], kind: str = "path") -> Shape:
    return _shape("polyline", " ".join(f"{x:.1f},{y:.1f}" for x, y in points), kind)


def dot_labels(
    dots: Sequence[tuple[float, float]], names: Sequence[str], paper: LabelBox, radius: float
) -> Iterator[Shape]:
    """The names of dots beside them, of those that have room."""
    for name, box, (x, _) in zip(names, place_labels(dots, names, paper, radius), dots, strict=True):
        if box is not None:
            beside = (box.left, "start") if box.left > x else (box.right, "end") if box.right < x else (x, "middle")
            yield text(beside[0], box.bottom - 4, name, beside[1], "name")


# The short list from which a page's script makes the same elements again; ``templates/charts.html`` writes SVG.


def compact(picture: Picture) -> list[Any]:
    """[height, shapes]: of each shape its place in SHAPES, its values, and the text of a text."""
    places = {tag: place for place, tag in enumerate(SHAPES)}
    shapes = [
        [places[one.tag], *map(_short, one.values), *([one.words] if one.tag == "text" else [])]
        for one in picture.shapes
    ]
    return [_short(picture.height), shapes]


def _short(value: float | str) -> float | str:
    """Whole numbers without a decimal point."""
    return int(value) if not isinstance(value, str) and value == int(value) else value
