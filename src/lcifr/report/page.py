"""A report written to a file, from request to result."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcifr.data.io.clock import moment
from lcifr.data.io.files import write_atomic
from lcifr.errors import LcifrError
from lcifr.report.content import Report
from lcifr.report.formats import format_names, render
from lcifr.report.sources.folder import read_folder

OTHER_ENDINGS = {"": "html", "htm": "html", "markdown": "md"}


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """Which folder to make a page of, and where it goes.

    Parameters
    ----------
    folder : written by ``lcifr audit`` or ``lcifr consume``. tuned : written by ``lcifr tune``, for the frontier.
    out : the file; None for ``report`` in the folder. form : one of :func:`format_names`; None for the one that the
        file's name ends with, else html. author : who answers for the page.
    """

    folder: Path
    tuned: Path | None = None
    out: Path | None = None
    form: str | None = None
    author: str = ""

    @property
    def format(self) -> str:
        """The format that is written."""
        if self.form is not None:
            return self.form
        ending = "" if self.out is None else self.out.suffix.lower().lstrip(".")
        known = {**OTHER_ENDINGS, **{name: name for name in format_names()}}
        if ending not in known:
            raise LcifrError(
                f"--out {self.out}: no report is written as .{ending}",
                fix=f"name a file that ends in {', '.join(f'.{one}' for one in format_names())}, or say --format",
            )
        return known[ending]


@dataclass(frozen=True, eq=False)
class WrittenReport:
    """A report, the file that shows it, and its format."""

    report: Report
    file: Path
    form: str

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        proved = self.report.proved
        return {
            "format": "lcifr-report-written-1",
            "command": "report",
            "file": str(self.file),
            "form": self.form,
            "people": proved.people,
            "certified": proved.certified,
            "violated": proved.violated,
            "undecided": proved.undecided,
            "explored": len(self.report.explorer.people),
            "cautions": [{"code": one.code, "title": one.title, "text": one.text} for one in self.report.cautions],
        }


def write_report(request: ReportRequest) -> WrittenReport:
    """Make a page of a result folder."""
    form = request.format
    path = request.out if request.out is not None else request.folder / f"report.{form}"
    if path.is_dir():
        raise LcifrError(f"--out {path} is a folder", fix=f"name a file in it, such as {path / f'report.{form}'}")
    made = read_folder(
        request.folder, request.tuned, author=request.author.strip(), written=moment().date().isoformat()
    )
    try:
        write_atomic(path, render(made, form).encode("utf-8", "replace"))
    except OSError as problem:
        raise LcifrError(f"{path} cannot be written: {problem.strerror}", fix="choose another --out") from None
    return WrittenReport(made, path, form)
