"""The formats of a report: HTML, Markdown and JSON."""

from __future__ import annotations

from dataclasses import replace

from lcifr.errors import LcifrError, did_you_mean
from lcifr.report.content import Report
from lcifr.report.formats.html import render as render_html
from lcifr.report.formats.json import render as render_json
from lcifr.report.formats.md import render as render_markdown
from lcifr.report.people.explorer import first_people

LISTED = 50
"""People on a Markdown page: about 30 lines each."""
FORMATS = {"html": render_html, "json": render_json, "md": render_markdown}


def format_names() -> tuple[str, ...]:
    """Every format there is."""
    return tuple(FORMATS)


def render(report: Report, format: str = "html", *, people: int | None = LISTED) -> str:
    """The report as text in one format: the same text for the same report, always.

    Parameters
    ----------
    people : how many a Markdown page shows one by one; None for everyone in the report. Other formats show them all.
    """
    if format == "md" and people is not None:
        report = replace(report, explorer=first_people(report.explorer, people))
    if format not in FORMATS:
        raise LcifrError(
            f"there is no format {format!r}.{did_you_mean(format, format_names())}",
            fix=f"one of {', '.join(format_names())}",
        )
    return FORMATS[format](report)
