"""``lcifr report``: a result folder as a page to send to somebody, or as Markdown or JSON with the same content."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from lcifr.cli._output import JsonOption, print_json, to_stderr
from lcifr.errors import LcifrError

EXAMPLE = "Example: lcifr report audit --out report.html"


class Format(StrEnum):
    """Those of ``lcifr.report.formats``; a test keeps the two alike, so that ``--help`` need not load them."""

    HTML = "html"
    MD = "md"
    JSON = "json"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(report)


def report(
    folder: Annotated[Path, typer.Argument(metavar="AUDIT", help="The folder that `lcifr audit` wrote.")],
    tuned: Annotated[
        Path | None, typer.Option("--tune", metavar="FRONTIER", help="Also show what `lcifr tune` found.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the page goes. [default: report.html in AUDIT]")
    ] = None,
    format: Annotated[
        Format | None, typer.Option(help="What to write. [default: what the name of --out ends with, else html]")
    ] = None,
    author: Annotated[
        str, typer.Option(envvar="LCIFR_AUTHOR", help="Who answers for the page, named at its top.", show_default=False)
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Make a page of an audit: what was promised, what was proved of whom, and what that does not say.

    One file that needs no network and opens by double click. The folder of `lcifr consume` works too; a consumer's
    report has no people and no counterexamples.

    AUDIT is private: the page shows people's attributes.
    """
    from lcifr.report import read_folder, render

    form = format or _by_name(out)
    path = out if out is not None else folder / f"report.{form}"
    if path.is_dir():
        raise LcifrError(f"--out {path} is a folder", fix=f"name a file in it, such as {path / f'report.{form}'}")
    made = read_folder(folder, tuned, author=author.strip(), written=_today())
    _write(path, render(made, form))
    if as_json:
        print_json(_summary(made, path, form))
    else:
        typer.echo(str(path))
        opened = "Open it with any browser; it needs no network. " if form is Format.HTML else ""
        to_stderr(opened + _who_may_see(made))


def _today() -> str:
    """The day in UTC, as in the audit's settings; SOURCE_DATE_EPOCH names another one, for pages made again."""
    from datetime import UTC, datetime

    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    return (datetime.fromtimestamp(int(fixed), UTC) if fixed.isdecimal() else datetime.now(UTC)).date().isoformat()


def _by_name(out: Path | None) -> Format:
    ending = "" if out is None else out.suffix.lower().lstrip(".")
    known = {"": Format.HTML, "htm": Format.HTML, "markdown": Format.MD, **{str(one): one for one in Format}}
    if ending not in known:
        raise LcifrError(
            f"--out {out}: no report is written as .{ending}",
            fix=f"name a file that ends in {', '.join(f'.{one}' for one in Format)}, or say --format",
        )
    return known[ending]


def _who_may_see(made: Any) -> str:
    if made.explorer.attributes:
        return "It shows people’s attributes: share it with care."
    return "It shows ids, decisions and verdicts, and no attribute of anybody."


def _write(path: Path, text: str) -> None:
    from lcifr.files import write_atomic

    try:
        write_atomic(path, text.encode("utf-8", "replace"))
    except OSError as problem:
        raise LcifrError(f"{path} cannot be written: {problem.strerror}", fix="choose another --out") from None


def _summary(made: Any, path: Path, form: Format) -> dict[str, Any]:
    return {
        "format": "lcifr-report-written-1",
        "command": "report",
        "file": str(path),
        "form": str(form),
        "people": made.proved.people,
        "certified": made.proved.certified,
        "violated": made.proved.violated,
        "undecided": made.proved.undecided,
        "explored": len(made.explorer.people),
        "cautions": [{"code": one.code, "title": one.title, "text": one.text} for one in made.cautions],
    }
