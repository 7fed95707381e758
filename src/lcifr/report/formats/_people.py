"""People on the page: the explorer for the screen, and all counterexamples, up to a number, for paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any
from xml.etree.ElementTree import Element

from lcifr.display.canvas import breakable, element
from lcifr.display.score_charts import profile_chart
from lcifr.display.text import count
from lcifr.report.content import KINDS
from lcifr.report.document import PeopleBlock
from lcifr.report.people.content import Explorer
from lcifr.report.people.drawn import profile_sentences
from lcifr.report.people.shown import Shown, show

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
    options += [element("option", KINDS[kind], value=kind) for kind in KINDS if kind in kinds]
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
                profile_chart(profile, title=profile.attribute, description=words, key=f"around-{number}-{place}"),
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
