"""The formats of a report, one file each with ``render(report) -> str``; shared parts begin with _.

They are found by looking at this folder; there is no list to keep.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace

from lcifr.errors import LcifrError, did_you_mean
from lcifr.report.content import Report
from lcifr.report.people.explorer import first_people

LISTED = 50
"""People on a Markdown page: about 30 lines each."""


def format_names() -> tuple[str, ...]:
    """Every format there is."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")))


def render(report: Report, format: str = "html", *, people: int | None = LISTED) -> str:
    """The report as text in one format: the same text for the same report, always.

    Parameters
    ----------
    people : how many a Markdown page shows one by one; None for everyone in the report. Other formats show them all.
    """
    if format == "md" and people is not None:
        report = replace(report, explorer=first_people(report.explorer, people))
    names = format_names()
    if format not in names:
        raise LcifrError(
            f"there is no format {format!r}.{did_you_mean(format, names)}", fix=f"one of {', '.join(names)}"
        )
    text: str = importlib.import_module(f"{__name__}.{format}").render(report)
    return text
