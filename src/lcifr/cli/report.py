"""``lcifr report``: a page about a result folder to send to others, or the same content as Markdown or JSON."""

from __future__ import annotations

import typer

from lcifr.cli.options import Call, new_app, request_command
from lcifr.cli.output import to_stderr
from lcifr.report.page import ReportRequest, WrittenReport, write_report

app = new_app()
EXAMPLE = "Example: lcifr report audit --out report.html"


@request_command(app, ReportRequest, epilog=EXAMPLE)
def report(request: ReportRequest, call: Call) -> None:
    """Write a report on an audit or a sweep: one page with the results, for people who were not involved.

    The page is a single file that works offline. The folder of `lcifr consume` works too; a consumer's report contains
    no attributes and no counterexamples. The page of a sweep shows shares of everyone who could exist, a map of
    the violations, and the worst pairs.

    The page shows people's attributes: treat it as private.
    """
    call.print(write_report(request), _show)


def _show(result: WrittenReport) -> None:
    typer.echo(str(result.file))
    opened = "Open it in any browser; it works offline. " if result.form == "html" else ""
    shown = (
        "It shows people’s attributes: share it with care."
        if result.shows_people
        else "It shows ids, decisions and verdicts, but no attributes."
    )
    to_stderr(opened + shown)
