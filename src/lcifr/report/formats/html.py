"""The report as one page: nothing is loaded from anywhere, and it opens by double click.

Text is escaped by construction (the page is a tree until it is written), people reach the explorer as JSON and its
script shows them through ``textContent`` only, and the page's own policy runs no script but the one with this hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files
from xml.etree.ElementTree import Element

from lcifr.display.canvas import element, raw, to_html
from lcifr.display.charts import chart_style
from lcifr.display.text import count
from lcifr.report.content import Caution, Report
from lcifr.report.document import Document, Headline, Section
from lcifr.report.formats._blocks import MUCH, draw_block, draw_text, unbroken
from lcifr.report.people.shown import compact
from lcifr.report.wording import put_into_words


def render(report: Report) -> str:
    """The whole page."""
    data = raw("script", _data(report), type="application/json", id="explorer-data")
    return render_document(put_into_words(report), [data], _file("page.js"))


def render_document(document: Document, data: Sequence[Element] = (), more: str = "") -> str:
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
