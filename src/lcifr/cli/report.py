"""``lcifr report``: a result folder as a page to send to somebody, or as Markdown or JSON with the same content."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from lcifr.cli.options import LabelsOption, new_app
from lcifr.cli.output import JsonOption, print_json, to_stderr
from lcifr.workflows.options import labels_of

app = new_app()
EXAMPLE = "Example: lcifr report audit --out report.html"


class Format(StrEnum):
    """Those of ``lcifr.report.page``, one under two names; a test compares them: ``--help`` does not load those."""

    HTML = "html"
    MD = "md"
    MARKDOWN = "markdown"
    JSON = "json"


@app.command(epilog=EXAMPLE)
def report(
    folder: Annotated[
        Path, typer.Argument(metavar="AUDIT", help="The folder that `lcifr audit` or `lcifr sweep` wrote.")
    ],
    tuned: Annotated[
        Path | None, typer.Option("--tune", metavar="FRONTIER", help="Also show the results of `lcifr tune`.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The file to write. (Default: report.html in AUDIT.)")
    ] = None,
    format: Annotated[
        Format | None, typer.Option(help="The format. (Default: the extension of --out, else html.)")
    ] = None,
    author: Annotated[
        str, typer.Option(envvar="LCIFR_AUTHOR", help="The author, named at the top of the page.", show_default=False)
    ] = "",
    labels: LabelsOption = None,
    people: Annotated[
        str,
        typer.Option(
            "--people", metavar="N|all", help="Markdown: show this many people one by one, counterexamples first."
        ),
    ] = "50",
    as_json: JsonOption = False,
) -> None:
    """Write a report on an audit or a sweep: one page with the results, for people who were not involved.

    The page is a single file that works offline. The folder of `lcifr consume` works too; a consumer's report contains
    no attributes and no counterexamples. The page of a sweep shows shares of everyone who could exist, a map of
    the violations, and the worst pairs.

    The page shows people's attributes: treat it as private.
    """
    from lcifr.report.page import ReportRequest, write_report

    form = None if format is None else format.value
    about: dict[str, Any] = {"author": author, "labels": labels_of(labels), "people": _people(people)}
    result = write_report(ReportRequest(folder=folder, tuned=tuned, out=out, form=form, **about))
    if as_json:
        print_json(result.to_dict())
        return
    typer.echo(str(result.file))
    opened = "Open it in any browser; it works offline. " if result.form == Format.HTML else ""
    shown = (
        "It shows people’s attributes: share it with care."
        if result.shows_people
        else "It shows ids, decisions and verdicts, but no attributes."
    )
    to_stderr(opened + shown)


def _people(text: str) -> int | None:
    """A number of people, or everyone."""
    if text == "all":
        return None
    if not text.isdecimal():
        raise typer.BadParameter(f"{text!r} is neither a number of people nor all", param_hint="--people")
    return int(text)
