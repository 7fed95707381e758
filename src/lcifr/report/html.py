"""The report as one page of HTML: nothing is loaded from anywhere, and it opens by double click.

Its elements are in ``templates``, which escape every value; people reach the explorer as JSON and its script shows them
through ``textContent`` only; and the page's own policy runs no script but the one with this hash.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice

from jinja2 import Environment

from lcifr.display.canvas import Picture
from lcifr.display.charts import chart_style
from lcifr.display.html import environment
from lcifr.display.score_charts import profile_chart
from lcifr.display.text import count
from lcifr.report.content import Report
from lcifr.report.people import Shown, compact, profile_sentences, show
from lcifr.report.sections import Document, PeopleBlock, put_into_words


def render_html(report: Report) -> str:
    """The whole page."""
    return html_document(put_into_words(report), compact(report.explorer), _file("page.js"))


def html_document(document: Document, people: Mapping[str, object] | None = None, more: str = "") -> str:
    """A page of any document.

    Parameters
    ----------
    people : what a script reads. more : the script that does, beside the one for all pages.
    """
    style, script = chart_style() + _file("page.css"), _file("theme.js") + more
    page = _environment().get_template("page.html")
    return page.render(document=document, people=people, style=style, script=script).lstrip() + "\n"


@cache
def _environment() -> Environment:
    found = environment("lcifr.report")
    found.filters |= {"digest": _digest, "kind": _kind, "on_paper": put_on_paper, "unbroken": unbroken}
    return found


def _file(name: str) -> str:
    return files("lcifr.report").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _kind(block: object) -> str:
    return type(block).__name__


def unbroken(text: str) -> str:
    """Prose in which no line ends between a number and its percent sign."""
    return re.sub(r"(?<=\d) %", "\u00a0%", text)


# People on paper: counterexamples, up to a number.

PRINTED = 100
"""Counterexamples on paper: some pages of them."""
DRAWN = 3
"""Of these, around which the output is drawn on paper."""
WORDS = 300_000
"""Characters of all of them: where names are very long, fewer are printed."""


@dataclass(frozen=True)
class Paper:
    """What is printed instead of the explorer.

    Parameters
    ----------
    sentence : how many counterexamples are printed. pairs : these people.
    around : ids of the first, with the output around each counterexample: a picture and a sentence for an attribute.
    """

    sentence: str
    pairs: tuple[Shown, ...] = ()
    around: tuple[tuple[str, tuple[tuple[Picture, str], ...]], ...] = ()


def put_on_paper(block: PeopleBlock) -> Paper:
    """The counterexamples for which there is room."""
    explorer = block.explorer
    if not explorer.attributes:
        return Paper("On screen, this page shows everyone’s decision, verdict and margin.")
    violated = (one for one in explorer.people if one.verdict == "COUNTEREXAMPLE")
    kept = tuple(_within(show(one, explorer) for one in islice(violated, PRINTED)))
    drawn = [one for one in explorer.people if one.profiles][:DRAWN]
    around = (
        tuple(zip(map(profile_chart, one.profiles), profile_sentences(one, explorer), strict=True)) for one in drawn
    )
    return Paper(_which(len(kept), block.violated), kept, tuple(zip((one.id for one in drawn), around, strict=True)))


def _within(pairs: Iterable[Shown]) -> Iterable[Shown]:
    """The first of them, as long as all their words have room."""
    words = 0
    for one in pairs:
        words += len(one.id) + len(one.sentence)
        words += sum(len(row.attribute) + len(row.own) + len(row.other) for row in one.rows if row.differs)
        if words > WORDS:
            return
        yield one


def _which(printed: int, violated: int) -> str:
    if not violated:
        return "There is no counterexample. On screen, this page shows everyone individually."
    if printed < violated:
        which = f"{count(printed)} of {count(violated)} counterexamples (the audit’s folder has all of them)"
    else:
        which = "the only counterexample" if violated == 1 else f"all {count(violated)} counterexamples"
    return f"In print: {which}, with what differs; everything else is equal. On screen, people are shown individually."
