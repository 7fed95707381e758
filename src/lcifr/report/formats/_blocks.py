"""The blocks of a section as elements of the page: text, tables, charts, the people to look at."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

from lcifr.drawing.charts import frontier_chart, histogram_chart
from lcifr.drawing.markup import element
from lcifr.report.charts import KINDS
from lcifr.report.document import Block, Chart, Code, People, Points, Table

LONG = 120
MUCH = 1500
"""Characters of a cell, and of a point, that get a box of their own to scroll in: one name must not hide the rest."""


def draw_block(block: Block) -> Any:
    """Elements of the page, one or several."""
    if isinstance(block, str):
        return element("p", block)
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Chart):
        return _chart(block)
    if isinstance(block, Code):
        return [
            element("p", block.label, class_="code-label"),
            element("pre", element("code", block.text), tabindex="0"),
        ]
    if isinstance(block, Points):
        items = [
            element("li", draw_text(item.strip(), MUCH), class_="deeper" if item.startswith(" ") else None)
            for item in block.items
        ]
        return element("ul", items, class_="points")
    return _explorer(block)


def _table(table: Table) -> Element:
    kinds = ["number" if number else None for number in table.numbers]
    if table.head[-1] == "Hash":
        kinds[-1] = "hash"
    head = [element("th", name, scope="col", class_=kind) for name, kind in zip(table.head, kinds, strict=True)]
    rows = []
    for place, row in enumerate(table.rows):
        cells = [element("th", draw_text(row[0]), class_=kinds[0], scope="row")]
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
        class_="wide" if len(table.head) > 3 else None,
    )
    return element("div", made, class_="scroll", role="region", aria_label=table.caption, tabindex="0")


def draw_text(text: str, most: int = LONG) -> Any:
    """The text; in a box of its own if there is too much of it."""
    return element("span", text, class_="long") if len(text) > most else text


def _chart(chart: Chart) -> Element:
    if chart.histogram is not None:
        drawn = histogram_chart(
            chart.histogram, title=chart.title, description=chart.description, axis=chart.axis, key=chart.key
        )
    else:
        drawn = frontier_chart(
            chart.dots, chart.required, title=chart.title, description=chart.description, key=chart.key
        )
    keys = [element("li", element("span", class_=f"key {kind}"), name) for kind, name in chart.legend]
    return element(
        "figure",
        element("figcaption", chart.title),
        drawn,
        element("ul", keys, class_="legend") if keys else None,
        element(
            "details", element("summary", "The same as a table"), element("p", chart.description), _table(chart.table)
        ),
    )


def _explorer(block: People) -> list[Element]:
    kinds = dict.fromkeys(person.verdict.lower() for person in block.explorer.people)
    options = [element("option", "All", value="")]
    options += [element("option", KINDS[kind], value=kind) for kind in KINDS if kind in kinds]
    only = element("label", element("input", type="checkbox", id="only"), "Only what may differ", class_="only")
    finder = element(
        "div",
        element("label", "Find a person by id", for_="search"),
        element(
            "input",
            id="search",
            type="search",
            role="combobox",
            aria_controls="people",
            aria_expanded="true",
            aria_autocomplete="list",
            autocomplete="off",
            spellcheck="false",
        ),
        element("label", "Verdict", for_="verdict"),
        element("select", options, id="verdict"),
        element("p", id="matches", role="status"),
        element("ul", id="people", role="listbox", tabindex="0", aria_label="People"),
        only,
        class_="finder",
    )
    shown = element("div", element("article", id="person", tabindex="-1", aria_live="polite"))
    without = element(
        "noscript",
        element(
            "p", "To look at one person this page needs its script; the report as Markdown or JSON lists everybody."
        ),
    )
    return [without, element("div", finder, shown, class_="explorer", id="explore", hidden="")]
