"""Placement of text in charts: no label covers another one, a dot, or the edge of the picture.

The reader's font is unknown, so text is measured in the widest of the common ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

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
