"""A report in any format, written to a file: of a result folder, of a sweep, of the demo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lcifr.certification.population import state
from lcifr.data.files import moment, write_atomic
from lcifr.errors import LcifrError, did_you_mean
from lcifr.report.content import About, Report
from lcifr.report.folder import build, read_folder
from lcifr.report.html import render_html
from lcifr.report.markdown import render_json, render_markdown
from lcifr.report.people import first_people
from lcifr.report.sweep import render_sweep
from lcifr.workflows.demo import PROOFS, DemoResult
from lcifr.workflows.events import step
from lcifr.workflows.folders import RunSettings, command_of_folder
from lcifr.workflows.options import LABELS, Spelling, argument, option
from lcifr.workflows.sweeping import SweepResult

# The formats of a report: HTML, Markdown and JSON.

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


# The report of the demo: the page about its last model, with the others as baselines; Markdown and JSON beside it.

DECISIONS = {"0": "refused", "1": "granted"}


def write_demo_report(result: DemoResult) -> Path:
    """Write the report in every format into the demo's folder; the path of the page."""
    *others, last = result.models
    data, settings = result.data, result.settings
    statement = state(
        last.audit,
        data.test.y,
        held_out=True,
        by={"sex": data.test.X["sex"]},
        baselines={model.name: dict(model.figures) for model in others},
    )
    about = About(
        title="German Credit: do similar people get the same decision?",
        data=f"{len(data.test)} applicants not used for training",
        partial=data.partial,
        data_cautions=data.cautions,
        model=last.name,
        decisions=DECISIONS,
        settings={"command": f"lcifr demo --seed {settings.seed}"},
        author="lcifr demo",
        audited=settings.started[: len("2026-11-16")],
        checked=last.checked,
        recheck=(f"python -m lcifr.check {PROOFS}/trained",),
    )
    made = build(last.audit, statement, encoder=last.encoder, radius=last.handed, about=about)
    for form in format_names():
        (result.out / f"report.{form}").write_bytes(render(made, form).encode())
    return result.out / "report.html"


# A report written to a file, from request to result.

OTHER_NAMES = {"": "html", "htm": "html", "markdown": "md"}
"""Of formats, and of the endings of their files."""


def people_of(text: str) -> int | None:
    """``"50"`` as 50; ``"all"`` as None."""
    if text != "all" and not text.isdecimal():
        raise LcifrError(f"--people {text!r} is neither a number of people nor all", fix="write a whole number, or all")
    return None if text == "all" else int(text)


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """Which folder to make a page of, and where it goes.

    Parameters
    ----------
    form : one of :func:`format_names`. labels : what decisions are called; empty for the names that the folder has.
    people : how many a Markdown page shows one by one; None for everyone in the report.
    """

    folder: Path = argument("AUDIT", "The folder that `lcifr audit` or `lcifr sweep` wrote.")
    tuned: Path | None = option(None, "Also show the results of `lcifr tune`.", name="tune", metavar="FRONTIER")
    out: Path | None = option(None, "The file to write. (Default: report.html in AUDIT.)", metavar="FILE")
    form: str | None = option(
        None,
        "The format. (Default: the extension of --out, else html.)",
        name="format",
        choices=("html", "md", "markdown", "json"),
    )
    author: str = option("", "The author, named at the top of the page.", variable="LCIFR_AUTHOR")
    labels: Mapping[Any, str] = option(
        {}, "What to call the decisions in output and reports, such as 0=refused,1=granted.", spelling=LABELS
    )
    people: int | None = option(
        LISTED,
        "Markdown: show this many people one by one, counterexamples first.",
        spelling=Spelling("N|all", people_of, lambda people: "all" if people is None else str(people)),
    )

    @property
    def format(self) -> str:
        """The format that is written."""
        if self.form is not None:
            return OTHER_NAMES.get(self.form, self.form)
        ending = "" if self.out is None else self.out.suffix.lower().lstrip(".")
        known = {**OTHER_NAMES, **{name: name for name in format_names()}}
        if ending not in known:
            raise LcifrError(
                f"--out {self.out}: no report is written as .{ending}",
                fix=f"name a file that ends in {', '.join(f'.{one}' for one in format_names())}, or say --format",
            )
        return known[ending]


@dataclass(frozen=True, eq=False)
class WrittenReport:
    """The file of a report, its format, whether attributes of people are on the page, and what ``--json`` adds."""

    file: Path
    form: str
    shows_people: bool
    facts: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        about = {"format": "lcifr-report-written-1", "command": "report", "file": str(self.file), "form": self.form}
        return {**about, **self.facts}


def write_report(request: ReportRequest) -> WrittenReport:
    """Make a page of a result folder."""
    form = request.format
    path = request.out if request.out is not None else request.folder / f"report.{form}"
    if path.is_dir():
        raise LcifrError(f"--out {path} is a folder", fix=f"name a file in it, such as {path / f'report.{form}'}")
    author, today = request.author.strip(), moment().date().isoformat()
    if command_of_folder(request.folder, "audit", "consume", "sweep") == "sweep":
        if request.tuned is not None:
            raise LcifrError("--tune is about a learned model's frontier, not about a sweep", fix="leave --tune out")
        with step(f"Making {path}"):
            settings = RunSettings.read(request.folder)
            result = SweepResult.read(request.folder).with_labels(request.labels)
            _write(path, render_sweep(result, settings, form, author=author, written=today))
        return WrittenReport(path, form, True, _facts_of_sweep(result))
    with step(f"Making {path}"):
        made = read_folder(request.folder, request.tuned, author=author, written=today, labels=request.labels)
        _write(path, render(made, form, people=request.people))
    return WrittenReport(path, form, bool(made.explorer.attributes), _facts(made))


def _facts_of_sweep(result: SweepResult) -> dict[str, Any]:
    names = ("sweep", "shares", "exact_shares", "individuals", "people", "cells", "pairs")
    plain = result.to_dict()
    return {name: plain[name] for name in names}


def _facts(report: Report) -> dict[str, Any]:
    counts = {name: getattr(report.statement, name) for name in ("people", "certified", "violated", "undecided")}
    return {
        **counts,
        "explored": len(report.explorer.people),
        "cautions": [asdict(one) for one in report.cautions],
    }


def _write(path: Path, text: str) -> None:
    try:
        write_atomic(path, text.encode("utf-8", "replace"))
    except OSError as problem:
        raise LcifrError(f"{path} cannot be written: {problem.strerror}", fix="choose another --out") from None
