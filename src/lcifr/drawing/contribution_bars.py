"""Bars of a person's contributions, one to a row of a table: what an attribute adds, and its range within φ."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element

from lcifr.drawing.axes import line, rectangle
from lcifr.drawing.markup import element
from lcifr.drawing.score_text import signed
from lcifr.drawing.scores import Contribution, PersonScore

BAR, ROW, ROOM = 160, 16, 4
"""Width and height of a bar's picture, and what is left free beside it."""


@dataclass(frozen=True)
class ContributionBar:
    """Across: where 0 is, the bar from there (left, width), and the range within φ (left, width), if it is one."""

    zero: int
    bar: tuple[int, int]
    range: tuple[int, int] | None


def place_bars(score: PersonScore) -> list[ContributionBar]:
    """The bars of all listed contributions, on one scale."""
    ends = [0.0, *(end for one in score.contributions for end in (one.adds, one.low, one.high))]
    low, wide = min(ends), (max(ends) - min(ends)) or 1.0

    def x(value: float) -> int:
        return round(ROOM + (value - low) / wide * (BAR - 2 * ROOM))

    def span(a: float, b: float) -> tuple[int, int]:
        left, right = sorted((x(a), x(b)))
        return left, max(right - left, 1)

    return [
        ContributionBar(x(0.0), span(0.0, one.adds), span(one.low, one.high) if moves(one) else None)
        for one in score.contributions
    ]


def contribution_bar(one: Contribution, place: ContributionBar) -> Element:
    """The picture of one contribution: blue raises the output, red lowers it, the band is what somebody similar has."""
    parts = [] if place.range is None else [rectangle(place.range[0], 1, place.range[1], ROW - 2, "similar")]
    parts.append(rectangle(place.bar[0], 4, place.bar[1], ROW - 8, "for" if one.adds >= 0 else "against"))
    parts.append(line(place.zero, 0, place.zero, ROW, "axis"))
    size = {"viewBox": f"0 0 {BAR} {ROW}", "width": BAR, "height": ROW}
    return element("svg", parts, class_="chart", aria_hidden="true", **size)


def moves(one: Contribution) -> bool:
    """Whether it can be seen that a contribution could move."""
    return signed(one.low) != signed(one.high)


def range_text(one: Contribution) -> str:
    """How far a contribution could move."""
    return f"{signed(one.low)} to {signed(one.high)}" if moves(one) else "stays"
