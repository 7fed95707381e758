"""``lcifr report``: a result folder as a page to send to somebody, or as Markdown or JSON with the same content."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lcifr.cli.terminal.output import JsonOption, print_json, to_stderr

EXAMPLE = "Example: lcifr report audit --out report.html"


class Format(StrEnum):
    """Those of ``lcifr.report.formats``; a test keeps the two alike, so that ``--help`` need not load them."""

    HTML = "html"
    MD = "md"
    JSON = "json"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(report)


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="AUDIT", help="The folder that `lcifr audit` or `lcifr sweep` wrote.")
    ],
    tuned: Annotated[
        Path | None, typer.Option("--tune", metavar="FRONTIER", help="Also show what `lcifr tune` found.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the page goes. (Default: report.html in AUDIT.)")
    ] = None,
    format: Annotated[
        Format | None, typer.Option(help="What to write. (Default: what the name of --out ends with, else html.)")
    ] = None,
    author: Annotated[
        str, typer.Option(envvar="LCIFR_AUTHOR", help="Who answers for the page, named at its top.", show_default=False)
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Make a page of an audit: what was promised, what was proved of whom, and what that does not say.

    One file that needs no network and opens by double click. The folder of `lcifr consume` works too; a consumer's
    report has no people and no counterexamples. Of a sweep the page shows shares of everybody who can exist, a map of
    where the violations are, and the worst pairs.

    AUDIT is private: the page shows people's attributes.
    """
    from lcifr.report.page import ReportRequest, write_report

    form = None if format is None else format.value
    result = write_report(ReportRequest(folder=folder, tuned=tuned, out=out, form=form, author=author))
    if as_json:
        print_json(result.to_dict())
        return
    typer.echo(str(result.file))
    opened = "Open it with any browser; it needs no network. " if result.form == Format.HTML else ""
    shown = (
        "It shows people’s attributes: share it with care."
        if result.shows_people
        else "It shows ids, decisions and verdicts, and no attribute of anybody."
    )
    to_stderr(opened + shown)
