"""The report as one page of HTML: nothing is loaded from anywhere, and it opens by double click.

Text is escaped by construction (the page is a tree until it is written), people reach the explorer as JSON and its
script shows them through ``textContent`` only, and the page's own policy runs no script but the one with this hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from itertools import islice
from typing import Any
from xml.etree.ElementTree import Element

from lcifr.display.canvas import breakable, element, raw, svg, to_html
from lcifr.display.charts import KIND_NAMES, chart_style
from lcifr.display.score_charts import profile_chart
from lcifr.display.text import count
from lcifr.report.content import Caution, Explorer, Report
from lcifr.report.people import Shown, compact, profile_sentences, show
from lcifr.report.sections import (
    Block,
    Chart,
    CodeBlock,
    Document,
    Gallery,
    Headline,
    PeopleBlock,
    Points,
    Section,
    Table,
    put_into_words,
)

# People on the page: the explorer for the screen, and all counterexamples, up to a number, for paper.

PRINTED = 100
"""Counterexamples on paper: some pages of them."""
DRAWN = 3
"""Of these, around which the output is drawn on paper."""
WORDS = 300_000
"""Characters of all of them: where names are very long, fewer are printed."""


def draw_people(block: PeopleBlock) -> list[Element]:
    """What the script fills, and what is printed instead, which is also there where no script runs."""
    without = element(
        "noscript",
        element(
            "p",
            "Exploring people needs JavaScript; the JSON report, and Markdown with --people all, list them.",
        ),
    )
    shown = element("div", element("article", id="person", tabindex="-1", aria_live="polite"))
    explorer = element("div", _finder(block), shown, class_="explorer", id="explore", hidden="")
    return [without, explorer, element("div", list(_printed(block)), class_="printed")]


def _finder(block: PeopleBlock) -> Element:
    kinds = dict.fromkeys(person.verdict.lower() for person in block.explorer.people)
    options = [element("option", "All", value="")]
    options += [element("option", KIND_NAMES[kind], value=kind) for kind in KIND_NAMES if kind in kinds]
    search = {"role": "combobox", "aria_controls": "people", "aria_expanded": "true", "aria_autocomplete": "list"}
    return element(
        "div",
        element("label", "Find a person by id", for_="search"),
        element("input", id="search", type="search", autocomplete="off", spellcheck="false", **search),
        element("label", "Verdict", for_="verdict"),
        element("select", options, id="verdict"),
        element("p", id="matches", role="status"),
        element("ul", id="people", role="listbox", tabindex="0", aria_label="People"),
        element("label", element("input", type="checkbox", id="only"), "Show only what may differ", class_="only"),
        class_="finder",
    )


def _printed(block: PeopleBlock) -> Iterator[Any]:
    explorer = block.explorer
    if not explorer.attributes:
        yield element("p", "On screen, this page shows everyone’s decision, verdict and margin.")
        return
    violated = (one for one in explorer.people if one.verdict == "COUNTEREXAMPLE")
    kept = _within(show(one, explorer) for one in islice(violated, PRINTED))
    yield element("p", _which(len(kept), block.violated))
    if kept:
        head = ("Person", "Differs in", "This person", "A similar person")
        heads = element("thead", element("tr", [element("th", name, scope="col") for name in head]))
        yield element("table", heads, [_pair(one) for one in kept], class_="pairs")
    yield from _around(explorer)


def _around(explorer: Explorer) -> Iterator[Element]:
    """The output around the first counterexamples, each attribute on its own."""
    drawn = [one for one in explorer.people if one.profiles][:DRAWN]
    for number, one in enumerate(drawn):
        figures = [
            element(
                "figure",
                element("p", words),
                svg(profile_chart(profile), description=words, key=f"around-{number}-{place}"),
            )
            for place, (profile, words) in enumerate(zip(one.profiles, profile_sentences(one, explorer), strict=True))
        ]
        yield element("h3", "Around the counterexample of person ", element("bdi", one.id))
        yield from figures


def _within(pairs: Iterable[Shown]) -> list[Shown]:
    kept, words = [], 0
    for one in pairs:
        words += len(one.id) + len(one.sentence)
        words += sum(len(row.attribute) + len(row.own) + len(row.other) for row in one.rows if row.differs)
        if words > WORDS:
            break
        kept.append(one)
    return kept


def _which(printed: int, violated: int) -> str:
    if not violated:
        return "There is no counterexample. On screen, this page shows everyone individually."
    if printed < violated:
        which = f"{count(printed)} of {count(violated)} counterexamples (the audit’s folder has all of them)"
    else:
        which = "the only counterexample" if violated == 1 else f"all {count(violated)} counterexamples"
    return f"In print: {which}, with what differs; everything else is equal. On screen, people are shown individually."


def _pair(one: Shown) -> Element:
    """The rows of one person, which stay on one page: what differs, and below it the two decisions."""
    rows = [(breakable(row.attribute), row.unit, row.own, row.other) for row in one.rows if row.differs]
    first = element("th", element("bdi", one.id), scope="rowgroup", rowspan=len(rows) + 1)
    lines = [
        [element("td", name, f" ({unit})" if unit else None), element("td", own), element("td", other)]
        for name, unit, own, other in rows
    ]
    lines.append([element("td", words) for words in ("Decision", one.decision, one.other_decision)])
    lines[0].insert(0, first)
    return element("tbody", [element("tr", cells) for cells in lines])


# The blocks of a section as elements of the page: text, tables, charts, the people to look at.

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
    drawn = svg(chart.picture, description=chart.description, key=chart.key)
    keys = [element("li", element("span", class_=f"key {kind}"), name) for kind, name in chart.picture.legend]
    legend = element("ul", keys, class_="legend") if keys else None
    described = element("p", chart.description)
    return [
        element("figure", element("figcaption", chart.picture.title), drawn, legend),
        element("details", element("summary", "The same as a table"), described, _table(chart.table)),
    ]


# The report as one page: nothing is loaded from anywhere, and it opens by double click.
#
# Text is escaped by construction (the page is a tree until it is written), people reach the explorer as JSON and its
# script shows them through ``textContent`` only, and the page's own policy runs no script but the one with this hash.


def render_html(report: Report) -> str:
    """The whole page."""
    data = raw("script", _data(report), type="application/json", id="explorer-data")
    return html_document(put_into_words(report), [data], _file("page.js"))


def html_document(document: Document, data: Sequence[Element] = (), more: str = "") -> str:
    """A page of any document.

    Parameters
    ----------
    data : elements that a script reads. more : the script that does, beside the one for all pages.
    """
    style, script = chart_style() + _file("page.css"), _file("theme.js") + more
    page = element(
        "html",
        element("head", _head(document, style, script)),
        element(
            "body",
            element("a", "Skip to the report", href="#report", class_="skip"),
            element("div", _body(document), class_="frame"),
            list(data),
            raw("script", script),
        ),
        lang="en",
    )
    return "<!DOCTYPE html>\n" + to_html(page) + "\n"


def _file(name: str) -> str:
    return files("lcifr.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _data(report: Report) -> str:
    """JSON that no parser of HTML can mistake for markup."""
    text = json.dumps(compact(report.explorer), separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _head(document: Document, style: str, script: str) -> list[Element]:
    policy = (
        f"default-src 'none'; style-src 'sha256-{_hash(style)}'; script-src 'sha256-{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"{document.title} – {_in_short(document.headline)}"),
        raw("style", style),
    ]


def _body(document: Document) -> list[Element]:
    return [
        element(
            "header",
            element(
                "div",
                element("span", f"{document.kind} · lcifr", class_="brand"),
                element(
                    "button", "Dark", id="theme", type="button", hidden="", aria_label="Switch between light and dark"
                ),
                class_="bar-top",
            ),
            element("h1", document.title, id="report"),
            element("p", document.subtitle, class_="subtitle"),
            element("dl", [_fact(name, text) for name, text in document.facts], class_="facts"),
            _headline(document.headline),
        ),
        *([_cautions(document.cautions)] if document.cautions else []),
        element(
            "div",
            _contents(document),
            element("main", [_section(section) for section in document.sections]),
            class_="layout",
        ),
        element("footer", document.footer),
    ]


def _in_short(headline: Headline) -> str:
    return headline.words if headline.muted else f"{headline.figure} {headline.of}"


def _fact(name: str, text: str) -> Element:
    return element("div", element("dt", name), element("dd", draw_text(text, MUCH)))


def _headline(headline: Headline) -> Element:
    return element(
        "div",
        element("p", headline.figure, class_="figure muted" if headline.muted else "figure"),
        element(
            "div",
            element("p", headline.words, class_="words"),
            element("p", unbroken(headline.bound), class_="bound"),
        ),
        element("div", _shares(headline), class_="shares-box"),
        class_="headline muted" if headline.muted else "headline",
    )


def _shares(headline: Headline) -> list[Element]:
    total = sum(people for _, _, people, _ in headline.parts) or 1
    bars, start = [], 0.0
    for kind, _, people, _ in headline.parts:
        width = 1000 * people / total
        bars.append(element("rect", x=f"{start:.2f}", y="0", width=f"{width:.2f}", height="18", class_=kind))
        start += width
    words = ", ".join(f"{name} {share}" for _, name, _, share in headline.parts)
    bar = element(
        "svg", bars, class_="shares", viewBox="0 0 1000 18", preserveAspectRatio="none", role="img", aria_label=words
    )
    keys = [
        element(
            "li",
            element("span", class_=f"key {kind}"),
            f"{name} {count(people)} ({share})" if headline.counted else f"{name} {share}",
        )
        for kind, name, people, share in headline.parts
    ]
    return [bar, element("ul", keys, class_="legend")]


def _cautions(cautions: tuple[Caution, ...]) -> Element:
    items = [
        element("li", element("strong", f"{one.title}. "), draw_text(unbroken(one.text), MUCH)) for one in cautions
    ]
    return element(
        "aside",
        element("h2", "Read this first", id="cautions"),
        element("ul", items),
        class_="cautions",
        aria_labelledby="cautions",
    )


def _contents(document: Document) -> Element:
    links = [element("li", element("a", section.title, href=f"#{section.key}")) for section in document.sections]
    return element("nav", element("ol", links), class_="contents", aria_label="Contents")


def _section(section: Section) -> Element:
    return element(
        "section", element("h2", section.title), [draw_block(block) for block in section.blocks], id=section.key
    )
