"""What surrounds the verdicts in a folder: data, command, check, findings and hashes."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from lcifr.certification.handover import Provenance
from lcifr.report.content import About, Checked, LibraryFacts
from lcifr.runs.auditing.origin import ModelOrigin
from lcifr.runs.auditing.result import AuditResult, CheckedProofs
from lcifr.runs.folders.results import ConsumeResult
from lcifr.runs.folders.settings import RunSettings


def about_audit(result: AuditResult, settings: RunSettings | None) -> About:
    """From an audit and its ``settings.json``."""
    data = result.model.data
    of = "" if data is None else f" of {data.title}"
    drawn = f" drawn at random from {result.drawn_from:,}" if result.drawn_from else ""
    origin, known = result.model.origin, result.model.trained_on is not None
    return About(
        title=_title(result.model.target),
        data=f"{result.statement.rows:,} people{of}{drawn}, {_whom(result.held_out, known=known)}",
        partial=None if data is None else data.partial,
        data_cautions=() if data is None else data.cautions,
        decisions=result.model.labels,
        baseline_learner=result.baseline_learner,
        checked=None if result.checked is None else checked_of(result.checked),
        recheck=(f"python -m lcifr.check {result.bundle}",) if result.bundle else (),
        findings=result.findings,
        scales=result.model.scales,
        library=None if origin is None else library_of(origin),
        **_of_run(settings),
    )


def library_of(origin: ModelOrigin) -> LibraryFacts:
    """What the page says of a model of another library."""
    described = f"; described by {origin.description}" if origin.description else ""
    return LibraryFacts(
        name=f"{Path(origin.file).name}: {origin.library}{described}",
        steps=origin.steps,
        rule=origin.rule,
        runtime=origin.runtime,
        sha256=origin.sha256,
        reference=Path(origin.reference).name,
        assumptions=origin.assumptions,
    )


def about_consumer(result: ConsumeResult, settings: RunSettings | None) -> About:
    """The same of a consumer's folder, which knows neither the data nor a check."""
    origin = result.origin
    known, trained_on = origin is None, result.is_in_sample
    data = f"{result.statement.people:,} people, {_whom(result.held_out, known=known, trained_on=trained_on)}"
    library = None if origin is None else library_of(origin)
    title = _title(result.model.target)
    return About(title=title, data=data, library=library, trained_on=trained_on or None, **_of_run(settings))


def _title(target: str) -> str:
    return f"{target}: do similar people get the same decision?"


def _whom(held_out: bool, *, known: bool, trained_on: bool = False) -> str:
    """What is known about these people and training.

    ``known`` : whether lcifr trained the model, and so knows on whom. ``trained_on`` : whether on people among these.
    """
    if held_out:
        return "held out from training" if known else "declared as held out from training"
    return "used for training" if trained_on else "possibly used for training"


def _of_run(settings: RunSettings | None) -> dict[str, Any]:
    """Command, seed, versions and day of the run."""
    if settings is None:
        return {}
    words = {"command": shlex.join(["lcifr", *settings.argv])} if settings.argv else {}
    words |= {"started": settings.started} | ({} if settings.seed is None else {"seed": str(settings.seed)})
    day = (settings.finished or settings.started)[: len("2026-11-16")]
    return {"settings": words, "versions": settings.versions, "audited": day}


def checked_of(found: CheckedProofs) -> Checked:
    """What the page shows of the exact checker's word."""
    return Checked(found.people, found.certified, found.counterexamples, len(found.rejected))


def hashes_of_audit(result: AuditResult) -> dict[str, str]:
    """Of everything the verdicts depend on, by name."""
    origin = result.model.origin
    file = {} if origin is None else {"model file": origin.sha256}
    return dict(sorted((result.model.hashes.to_dict() | file).items()))


def hashes_of_consumer(proved: Provenance) -> dict[str, str]:
    """Of everything the radii depend on, by name."""
    return {
        "encoder": proved.weights,
        "encoding": proved.encoding,
        "schema": proved.schema,
        "similarity": proved.similarity,
    }
