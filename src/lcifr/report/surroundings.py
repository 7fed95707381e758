"""What surrounds the verdicts in a folder: data, command, check, findings and hashes."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from lcifr.report.content import About, Checked
from lcifr.similarity.linting.finding import Finding, Severity


def read_about(result: Mapping[str, Any], settings: Mapping[str, Any], *, author: str = "", written: str = "") -> About:
    """From ``result.json`` and ``settings.json``, and what only the one who makes the page knows."""
    data, drawn_from = result.get("data") or {}, result.get("drawn_from")
    whom = "held out from training" if result.get("held_out") else "not held out from training"
    title = str(data.get("title") or "")
    words = {name: str(settings[name]) for name in ("started", "seed") if settings.get(name) is not None}
    if settings.get("argv"):
        words = {"command": shlex.join(["lcifr", *map(str, settings["argv"])]), **words}
    bundle = (result.get("files") or {}).get("bundle")
    return About(
        title=f"{result['target']}: who is decided like everybody similar?",
        data=f"{result['people']:,} people"
        + (f" of {title}" if title else "")
        + (f" drawn at random from {int(drawn_from):,}" if drawn_from else "")
        + f", {whom}",
        partial=data.get("partial"),
        data_cautions=tuple(str(text) for text in data.get("cautions") or ()),
        settings=words,
        checked=_checked(result.get("checked")),
        recheck=(f"python -m lcifr.check {bundle}",) if bundle else (),
        findings=_findings(result.get("findings")),
        versions=settings.get("versions"),
        audited=str(settings.get("finished") or settings.get("started") or "")[: len("2026-11-16")],
        author=author,
        written=written,
    )


def _checked(found: Mapping[str, Any] | None) -> Checked | None:
    if found is None:
        return None
    return Checked(
        int(found["people"]),
        int(found["certified"]),
        int(found["counterexamples"]),
        _many(found["trusted"]),
        _many(found["rejected"]),
    )


def _many(found: Any) -> int:
    return found if isinstance(found, int) else len(found)


def _findings(found: Any) -> tuple[Finding, ...] | None:
    if found is None:
        return None
    return tuple(Finding(str(one["code"]), Severity(one["severity"]), str(one["message"])) for one in found)


def read_hashes(result: Mapping[str, Any]) -> dict[str, str]:
    """Of everything the verdicts depend on, by name."""
    proved = result.get("provenance") or {}
    known = {
        "encoder": proved.get("weights"),
        **{name: proved.get(name) for name in ("encoding", "schema", "similarity")},
    }
    known |= result.get("hashes") or {}
    return {name: str(value) for name, value in sorted(known.items()) if value}
