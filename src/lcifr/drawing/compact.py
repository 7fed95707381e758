"""SVG charts as short lists of numbers and texts, from which a page's script makes the same elements again."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

SHAPES = {
    "line": ("x1", "y1", "x2", "y2", "class"),
    "rect": ("x", "y", "width", "height", "class"),
    "circle": ("cx", "cy", "r", "class"),
    "text": ("x", "y", "text-anchor", "class"),
    "polyline": ("points", "class"),
}
"""What a chart consists of; the script has the same list."""


def compact_chart(chart: Element) -> list[Any]:
    """[height, shapes]: of each shape its place in SHAPES, its attributes in that order, and the text of a text."""
    names = list(SHAPES)
    shapes: list[list[Any]] = []
    for one in chart.iter():
        if one.tag in SHAPES:
            values = [_value(one.get(name, "")) for name in SHAPES[one.tag]]
            shapes.append([names.index(one.tag), *values, *([one.text or ""] if one.tag == "text" else [])])
    return [_value(chart.attrib["viewBox"].split()[3]), shapes]


def _value(text: str) -> Any:
    """A number where the text is one."""
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number == int(number) else number
