"""CPU seconds of each stage of a command, by stage: run in the command's own process, written to ``stages.json``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FILE = Path("stages.json")
STAGES = {
    "first look (driver)": (
        "lcifr.workflows.people.scan_people",
        "lcifr.workflows.subjects.scan_people",
    ),
    "reading (worker)": ("lcifr.workflows.parts.EncoderJob.read",),
    "the library's answers (worker)": ("lcifr.certification.subject.Subject.predicted",),
    "regions and proofs (worker)": ("lcifr.workflows.jobs.audit_region",),
    "verdicts as Parquet (worker)": (
        "lcifr.certification.verdicts.Audit.to_arrow",
        "lcifr.workflows.jobs.parquet_bytes",
    ),
    "joining (driver)": ("lcifr.workflows.jobs.join_tables",),
    "counting and people.parquet (driver)": (
        "lcifr.workflows.auditing.gather",
        "lcifr.workflows.certifying.gather",
    ),
}
"""Functions where they are called; none of them calls another."""


def run() -> None:
    """The command of ``sys.argv``, with a clock in front of each stage."""
    import pkgutil

    seconds, found = dict.fromkeys(STAGES, 0.0), list[tuple[str, Any, str, Any]]()
    for stage, paths in STAGES.items():
        for path in paths:
            home, _, name = path.rpartition(".")
            place: Any = pkgutil.resolve_name(home)
            found.append((stage, place, name, getattr(place, name)))
    for stage, place, name, function in found:  # once all are imported: nobody imports a clock, and clocks it again
        setattr(place, name, _clocked(function, seconds, stage))
    from lcifr.cli import main

    sys.argv[0] = "lcifr"
    try:
        main()
    finally:
        FILE.write_text(json.dumps(seconds), encoding="utf-8")


def _clocked(function: Callable[..., Any], seconds: dict[str, float], stage: str) -> Callable[..., Any]:
    def clocked(*values: Any, **options: Any) -> Any:
        begun = time.process_time()
        try:
            return function(*values, **options)
        finally:
            seconds[stage] += time.process_time() - begun

    return clocked
