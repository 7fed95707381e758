"""The blocks of a section as elements of the page: text, tables, charts, the people to look at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from lcifr.display.canvas import breakable, element
from lcifr.display.charts import frontier_chart, grid_chart, histogram_chart, strip_chart
from lcifr.display.score_charts import pair_chart, score_chart
from lcifr.report.document import Block, Chart, CodeBlock, Gallery, Points, Table
from lcifr.report.formats._people import draw_people

LONG = 120
MUCH = 1500
"""Characters of a cell, and of a point, that get a box of their own to scroll in: one name must not hide the rest."""
SHORT = 12  # rows


def draw_block(block: Block) -> Any:
    """Elements of the page, one or several."""
    if isinstance(block, str):
        return element("p", unbroken(block))
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Chart):
        return _chart(block)
    if isinstance(block, Gallery):
        return _gallery(block)
    if isinstance(block, CodeBlock):
        return [
            element("p", block.label, class_="code-label"),
            element("pre", element("code", block.text), tabindex="0"),
        ]
    if isinstance(block, Points):
        items = [
            element("li", draw_text(unbroken(item.strip()), MUCH), class_="deeper" if item.startswith(" ") else None)
            for item in block.items
        ]
        return element("ul", items, class_="points")
    return draw_people(block)


def _table(table: Table) -> Element:
    kinds = ["number" if number else None for number in table.numbers]
    if table.head[-1] == "Hash":
        kinds[-1] = "hash"
    head = [element("th", name, scope="col", class_=kind) for name, kind in zip(table.head, kinds, strict=True)]
    rows = []
    for place, row in enumerate(table.rows):
        name = draw_text(row[0])
        cells = [
            element("th", breakable(name) if isinstance(name, str) else name, class_=kinds[0], scope="row"),
        ]
        cells += [
            element("td", draw_text(text), class_=kind, data_label=name)
            for text, kind, name in list(zip(row, kinds, table.head, strict=True))[1:]
        ]
        rows.append(element("tr", cells, class_="own" if place == table.own else None))
    made = element(
        "table",
        element("caption", table.caption),
        element("thead", element("tr", head)),
        element("tbody", rows),
        class_=" ".join(_shape(table)) or None,
    )
    return element("div", made, class_="scroll", role="region", aria_label=table.caption, tabindex="0")


def _shape(table: Table) -> Iterator[str]:
    """``wide`` ones become lists on a phone, ``short`` ones stay on one page of paper."""
    if len(table.head) > 3:
        yield "wide"
    if len(table.rows) <= SHORT:
        yield "short"


def unbroken(text: str) -> str:
    """Prose in which no line ends between a number and its percent sign."""
    return re.sub(r"(?<=\d) %", "\u00a0%", text)


def draw_text(text: str, most: int = LONG) -> Any:
    """The text; in a box of its own if there is too much of it."""
    return element("span", text, class_="long") if len(text) > most else text


def _gallery(gallery: Gallery) -> list[Element]:
    """The person who is marked can be another one: whoever is chosen in the explorer."""
    words = [element("span", class_="key similar"), "The values that someone similar to person "]
    words += [element("bdi", gallery.marked, id="marked"), " may have; the line is that person’s own value."]
    note = [element("p", words, class_="marked-note")] if gallery.marked else []
    return [*note, element("div", [element("div", _chart(one)) for one in gallery.charts], class_="gallery")]


def _chart(chart: Chart) -> list[Element]:
    if chart.score is not None:
        drawn = score_chart(chart.score, title=chart.title, description=chart.description, key=chart.key)
    elif chart.pair is not None:
        drawn = pair_chart(chart.pair, title=chart.title, description=chart.description, key=chart.key)
    elif chart.strip is not None:
        drawn = strip_chart(chart.strip, title=chart.title, description=chart.description, key=chart.key)
    elif chart.grid is not None:
        drawn = grid_chart(chart.grid, title=chart.title, description=chart.description, key=chart.key)
    elif chart.histogram is not None:
        drawn = histogram_chart(
            chart.histogram, title=chart.title, description=chart.description, axis=chart.axis, key=chart.key
        )
    else:
        drawn = frontier_chart(
            chart.dots, chart.required, title=chart.title, description=chart.description, key=chart.key
        )
    keys = [element("li", element("span", class_=f"key {kind}"), name) for kind, name in chart.legend]
    legend = element("ul", keys, class_="legend") if keys else None
    described = element("p", chart.description)
    return [
        element("figure", element("figcaption", chart.title), drawn, legend),
        element("details", element("summary", "The same as a table"), described, _table(chart.table)),
    ]
