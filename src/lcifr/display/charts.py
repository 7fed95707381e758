"""Charts of verdicts: histograms, frontiers, and the shares of a sweep along one attribute and over two.

Colours come from ``chart.css`` through classes, so that a page can show the same chart light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.display.canvas import (
    BOTTOM,
    HEIGHT,
    RIGHT,
    TOP,
    WIDTH,
    Frame,
    LabelBox,
    Picture,
    Shape,
    across,
    axis_name,
    circle,
    clipped,
    count_tick,
    dot_labels,
    fit_row,
    grid,
    label_width,
    line,
    named_below,
    polyline,
    rectangle,
    round_step,
    round_ticks,
    share_tick,
    text,
    width_of,
)
from lcifr.display.text import short

# Histograms with round bin edges and bounded tails.

BARS = 24
WHOLE = 48
"""Whole numbers with a bar each; more are counted together."""
TAIL = 0.005  # share of values on each side that the end bars take in, however far away they are


@dataclass(frozen=True)
class Histogram:
    """Counts between edges.

    Parameters
    ----------
    edges : (bars + 1,) rising, round numbers. counts : for each kind of person (bars,) counts.
    beyond : how many values lie below the first and above the last edge; the end bars count them too.
    left_out : how many values are not finite, and in no bar.
    """

    edges: tuple[float, ...]
    counts: Mapping[str, tuple[int, ...]]
    beyond: tuple[int, int] = (0, 0)
    left_out: int = 0

    @property
    def bars(self) -> int:
        return len(self.edges) - 1


def histogram(
    values: NDArray[np.float64], kinds: Mapping[str, NDArray[np.bool_]], *, around_zero: bool = False
) -> Histogram | None:
    """Count ``values`` (people,) for every kind, a mask (people,); None where there is nothing to count.

    Values at the very end of float64, as people have to whom no one is similar, are left out.

    Parameters
    ----------
    around_zero : whether zero is an edge wherever the values lie, as margins need it, of which only those above zero
        prove something: no bar then holds both kinds, not even an end bar that takes in what lies beyond it.
    """
    finite = np.isfinite(values) & (np.abs(values) < 1e300)
    shown = values[finite]
    if not len(shown):
        return None
    edges = _edges(shown, around_zero)
    # A value on an edge is counted to the left of it: a margin of zero proves nothing.
    place = np.clip(np.searchsorted(edges, shown, side="left") - 1, 0, len(edges) - 2)
    counts = {
        name: tuple(np.bincount(place[mask[finite]], minlength=len(edges) - 1).tolist()) for name, mask in kinds.items()
    }
    beyond = int((shown < edges[0]).sum()), int((shown > edges[-1]).sum())
    return Histogram(tuple(edges.tolist()), counts, beyond, int((~finite).sum()))


def whole_histogram(values: NDArray[np.float64]) -> Histogram | None:
    """A bar for each of a few whole numbers, in the middle of it; None where there are too many between the ends."""
    low, high = int(values.min()), int(values.max())
    if high - low >= WHOLE:
        return None
    counts = np.bincount((values - low).astype(np.int64), minlength=high - low + 1)
    edges = np.arange(low, high + 2) - 0.5
    return Histogram(tuple(edges.tolist()), {"people": tuple(counts.tolist())})


def _edges(values: NDArray[np.float64], around_zero: bool) -> NDArray[np.float64]:
    low, high = np.quantile(values, [TAIL, 1 - TAIL])
    if not high > low:
        low, high = values.min(), values.max()
    if around_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if not high > low:
        low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
    high = max(high, low + 1e-300)  # subnormal widths have no steps
    step = round_step((high - low) / BARS)
    first, last = math.floor(low / step), math.ceil(high / step)
    if around_zero:  # however few lie on the other side of zero, they get a bar there
        first, last = min(first, -int(values.min() <= 0)), max(last, int(values.max() > 0))
    # Products of whole numbers and a decimal, as they are written: 3 · 0.1 is 0.3 and not 0.30000000000000004.
    return np.array([float(f"{k * step:.12g}") for k in range(first, max(last, first + 1) + 1)])


# Histograms of people and frontiers of models as charts.

DOT = 5.0
KIND_NAMES = {
    "certified": "Certified",
    "counterexample": "Counterexample",
    "undecided": "Undecided",
    "not-examined": "Not examined",
    "checked": "Checked by an auditor",
    "claimed": "Claimed by the producer",
}
"""What people are called by verdict, and radii by who stands behind them."""


def chart_style() -> str:
    """The style sheet of every chart."""
    return files("lcifr.display").joinpath("chart.css").read_text(encoding="utf-8")


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


def _families(dots: Sequence[Dot]) -> list[list[Dot]]:
    """The weights that were tried, family by family, in the order in which they are joined."""
    tried = [dot for dot in dots if dot.kind in ("tried", "chosen")]
    return [[dot for dot in tried if dot.family == name] for name in dict.fromkeys(dot.family for dot in tried)]


def histogram_chart(shown: Histogram, *, title: str, axis: str) -> Picture:
    """Stacked bars, one class per kind of person; a line at zero where values lie on both sides of it."""
    totals = [sum(bar) for bar in zip(*shown.counts.values(), strict=True)]
    step = round_step(max(max(totals), 1) / 4)
    if step < 1:
        step = 1.0
    top = step * -(-max(max(totals), 1) // step)
    ups = [k * step for k in range(int(top / step) + 1)]
    frame = Frame(shown.edges[0], shown.edges[-1], 0.0, top, label_width(ups, count_tick))
    shapes = [*grid(frame, ups, count_tick), *across(frame, short, axis)]
    shapes += [bar for place in range(shown.bars) for bar in _bar(frame, shown, place)]
    if shown.edges[0] < 0 < shown.edges[-1]:
        shapes.append(line(frame.x(0), TOP, frame.x(0), HEIGHT - BOTTOM, "zero"))
    return Picture(title, tuple(shapes), legend=tuple((kind, KIND_NAMES[kind]) for kind in shown.counts))


def frontier_chart(dots: Sequence[Dot], required: float, *, title: str) -> Picture:
    """Certified share (across) against score (up): the weights tried in a line, both baselines, the score required."""
    scores = [dot.up for dot in dots] + [required]
    spread = (max(scores) - min(scores)) or 0.02
    low, high = min(scores) - 0.15 * spread, max(scores) + 0.15 * spread
    up = round_ticks(low, high)
    frame = Frame(0.0, 1.0, low, high, label_width(up, share_tick))
    shapes = (
        *grid(frame, up, share_tick),
        *across(frame, share_tick, "certified share (validation)"),
        line(frame.start, frame.y(required), WIDTH - RIGHT, frame.y(required), "required"),
        *(polyline((frame.x(dot.across), frame.y(dot.up)) for dot in one) for one in _families(dots)),
        *_dots(frame, dots),
    )
    return Picture(title, shapes)


def _bar(frame: Frame, shown: Histogram, place: int) -> list[Shape]:
    x, width = frame.x(shown.edges[place]), frame.x(shown.edges[place + 1]) - frame.x(shown.edges[place])
    found, below = [], 0
    for kind, counts in shown.counts.items():
        if counts[place]:
            upper, lower = frame.y(below + counts[place]), frame.y(below)
            found.append(rectangle(x + 0.5, upper, width - 1, lower - upper, f"bar {kind}"))
            below += counts[place]
    return found


def _dots(frame: Frame, dots: Sequence[Dot]) -> list[Shape]:
    """Every model; one whose name has no room is in the table beside the chart."""
    places = [(frame.x(dot.across), frame.y(dot.up)) for dot in dots]
    paper = LabelBox(frame.start, 0.0, WIDTH, HEIGHT - BOTTOM)
    found = [circle(x, y, DOT, f"dot {dot.kind}") for dot, (x, y) in zip(dots, places, strict=True)]
    return [*found, *dot_labels(places, [dot.label for dot in dots], paper, DOT + 1)]


# Shares of everyone who could exist, by what is known of them, along the values of one attribute and of two.

Shares = Mapping[str, float]
"""For each standing (``proved``, ``strict crossings only``, ``violating``, ``open``) a share; together they are 1."""


@dataclass(frozen=True)
class ValueParts:
    """The values of an attribute, in the table's units, in a few parts.

    Parameters
    ----------
    labels : of the parts: a category, a whole number, or from … to ….
    edges : of a number (parts + 1,) where they begin and end; empty for categories.
    """

    attribute: str
    unit: str
    labels: tuple[str, ...]
    edges: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class ShareStrip:
    """Along one attribute: the shares of everyone with a value of each part."""

    bins: ValueParts
    shares: tuple[Shares, ...]


@dataclass(frozen=True)
class ShareGrid:
    """Over two attributes: ``shares[row][column]`` of everyone in a part of each."""

    across: ValueParts
    down: ValueParts
    shares: tuple[tuple[Shares, ...], ...]


@dataclass(frozen=True)
class SweepMap:
    """Where in the universe it is proved, where violated, and where open.

    Parameters
    ----------
    strips : one an attribute, first the one along which the standing changes most.
    grid : of the two attributes that separate best; None where there is but one attribute.
    """

    strips: tuple[ShareStrip, ...]
    grid: ShareGrid | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


# Charts of sweeps: stacked shares along one attribute, and a grid of them over two.

KINDS = {
    "proved": "certified",
    "strict crossings only": "crossings",
    "open": "undecided",
    "violating": "counterexample",
}
"""The class, and so the colour, of each standing, in the order in which they are stacked."""
Legend = tuple[tuple[str, str], ...]
HALVES = (0.0, 0.5, 1.0)
FLOOR = 120.0
ROW = 22.0
NAMES = 120.0
GAP = 1.0


def strip_chart(strip: ShareStrip, legend: Legend = ()) -> Picture:
    """A bar for each part of the attribute's values, of equal height, divided by standing."""
    frame = Frame(0.0, float(len(strip.bins)), 0.0, 1.0, label_width(HALVES, _percent), floor=FLOOR)
    bars: list[Shape] = []
    for place, shares in enumerate(strip.shares):
        left, right, below = frame.x(place), frame.x(place + 1), 0.0
        for standing, kind in KINDS.items():
            if (share := shares.get(standing, 0.0)) > 0:
                top, bottom = frame.y(below + share), frame.y(below)
                bars.append(rectangle(left + GAP / 2, top, right - left - GAP, bottom - top, f"bar {kind}"))
                below += share
    base = line(frame.start, FLOOR, WIDTH - RIGHT, FLOOR, "axis")
    shapes = (*grid(frame, HALVES, _percent), *bars, base, *_below(frame, strip.bins))
    return Picture(strip.bins.attribute, shapes, FLOOR + BOTTOM, legend=legend)


def grid_chart(shown: ShareGrid, legend: Legend = ()) -> Picture:
    """A rectangle for each part of both attributes, divided from left to right by standing."""
    rows = len(shown.down)
    floor = TOP + ROW * rows
    names = min(NAMES, max(width_of(clipped(label, 15)) for label in shown.down.labels) + 12)
    frame = Frame(0.0, float(len(shown.across)), 0.0, float(rows), names, floor=floor)
    shapes: list[Shape] = []
    for row, (label, line_) in enumerate(zip(shown.down.labels, shown.shares, strict=True)):
        y = TOP + ROW * row
        shapes.append(text(names - 6, y + ROW / 2 + 4, clipped(label, 15), "end", "name"))
        for column, shares in enumerate(line_):
            shapes += _divided(frame.x(column), y, frame.x(column + 1) - frame.x(column), shares)
    title = f"{shown.down.attribute} and {shown.across.attribute}"
    return Picture(title, (*shapes, *_below(frame, shown.across)), floor + BOTTOM, legend=legend)


def _divided(x: float, y: float, width: float, shares: Shares) -> list[Shape]:
    """From left to right, what is violating first; nothing where no one can exist."""
    found, left, room = [], x + GAP / 2, width - GAP
    for standing, kind in reversed(KINDS.items()):
        if (share := shares.get(standing, 0.0)) > 0:
            found.append(rectangle(left, y + GAP / 2, room * share, ROW - GAP, f"bar {kind}"))
            left += room * share
    return found


def _below(frame: Frame, bins: ValueParts) -> list[Shape]:
    """As many labels as have room, each below the middle of its part or the edge of it, and the attribute's name."""
    wide = bool(bins.edges) and any(" to " in label for label in bins.labels)
    places = [(float(place), short(edge)) for place, edge in enumerate(bins.edges)] if wide else []
    places = places or [(place + 0.5, clipped(label, 12)) for place, label in enumerate(bins.labels)]
    found: list[Shape] = []
    for step in range(1, len(places) + 1):
        kept = places[::step]
        centres = fit_row([frame.x(place) for place, _ in kept], [words for _, words in kept], WIDTH)
        if centres is not None:
            found = [text(x, frame.floor + 17, words, "middle") for x, (_, words) in zip(centres, kept, strict=True)]
            break
    return [*found, named_below(frame, axis_name(bins.attribute, bins.unit))]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
