"""What surrounds the verdicts in a folder: data, command, check, findings and hashes."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lcifr.artifacts.handover import Provenance
from lcifr.report.content import About, Checked
from lcifr.runs.auditing.result import AuditResult, CheckedProofs


def about_audit(result: AuditResult, settings: Mapping[str, Any]) -> About:
    """From an audit and its ``settings.json``."""
    data = result.model.data or {}
    title, drawn_from = str(data.get("title") or ""), result.drawn_from
    of = f" of {title}" if title else ""
    drawn = f" drawn at random from {int(drawn_from):,}" if drawn_from else ""
    return About(
        title=_title(result.model.target),
        data=f"{result.statement.people:,} people{of}{drawn}, {_whom(result.held_out)}",
        partial=data.get("partial"),
        data_cautions=tuple(str(text) for text in data.get("cautions") or ()),
        checked=None if result.checked is None else checked_of(result.checked),
        recheck=(f"python -m lcifr.check {result.bundle}",) if result.bundle else (),
        findings=result.findings,
        **_of_run(settings),
    )


def about_consumer(target: str, people: int, held_out: bool, settings: Mapping[str, Any]) -> About:
    """The same of a consumer's folder, which knows neither the data nor a check."""
    return About(title=_title(target), data=f"{people:,} people, {_whom(held_out)}", **_of_run(settings))


def _title(target: str) -> str:
    return f"{target}: who is decided like everybody similar?"


def _whom(held_out: bool) -> str:
    return "held out from training" if held_out else "not held out from training"


def _of_run(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Command, seed, versions and day of the run."""
    words = {name: str(settings[name]) for name in ("started", "seed") if settings.get(name) is not None}
    if settings.get("argv"):
        words = {"command": shlex.join(["lcifr", *map(str, settings["argv"])]), **words}
    day = str(settings.get("finished") or settings.get("started") or "")[: len("2026-11-16")]
    return {"settings": words, "versions": settings.get("versions"), "audited": day}


def checked_of(found: CheckedProofs) -> Checked:
    """What the page shows of the exact checker's word."""
    return Checked(found.people, found.certified, found.counterexamples, len(found.rejected))


def hashes_of_audit(result: AuditResult) -> dict[str, str]:
    """Of everything the verdicts depend on, by name."""
    return dict(sorted(asdict(result.model.hashes).items()))


def hashes_of_consumer(proved: Provenance) -> dict[str, str]:
    """Of everything the radii depend on, by name."""
    return {
        "encoder": proved.weights,
        "encoding": proved.encoding,
        "schema": proved.schema,
        "similarity": proved.similarity,
    }
