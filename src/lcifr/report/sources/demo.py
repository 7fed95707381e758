"""The report of the demo: the page about its last model, with the others as baselines; Markdown and JSON beside it."""

from __future__ import annotations

from pathlib import Path

from lcifr.certification.population import state
from lcifr.report.build import build
from lcifr.report.content import About
from lcifr.report.formats import format_names, render
from lcifr.report.sources.surroundings import checked_of
from lcifr.runs.demo import PROOFS, DemoResult

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
        checked=checked_of(last.checked),
        recheck=(f"python -m lcifr.check {PROOFS}/trained",),
    )
    made = build(last.audit, statement, encoder=last.encoder, radius=last.handed, about=about)
    for form in format_names():
        (result.out / f"report.{form}").write_bytes(render(made, form).encode())
    return result.out / "report.html"
