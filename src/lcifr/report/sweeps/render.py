"""The report of a sweep in every format of a report."""

from __future__ import annotations

import json

from lcifr.errors import LcifrError
from lcifr.report.formats.html import render_document as html_document
from lcifr.report.formats.md import render_document as markdown_document
from lcifr.report.sweeps.wording import put_sweep_into_words
from lcifr.runs.folders.settings import RunSettings
from lcifr.runs.sweeps.folder import SweepResult

FORMAT = "lcifr-sweep-report-1"


def render_sweep(
    result: SweepResult, settings: RunSettings, format: str = "html", *, author: str = "", written: str = ""
) -> str:
    """The report as text in one format: html, md or json.

    Parameters
    ----------
    author : who answers for the page. written : the day on which it is made, shown if the sweep ended on another one.
    """
    if format == "json":
        return json.dumps({**result.to_dict(), "format": FORMAT}, indent=1, allow_nan=False) + "\n"
    document = put_sweep_into_words(result, settings, author=author, written=written)
    if format == "html":
        return html_document(document)
    if format == "md":
        return markdown_document(document)
    raise LcifrError(f"no report of a sweep is written as {format!r}", fix="one of html, json, md")
