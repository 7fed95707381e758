"""The exact checker on an audit bundle, from request to result."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.runs.events import Listener, StepKind, listening, step

if TYPE_CHECKING:
    from lcifr.certification.bundles.manifest import Drawn
    from lcifr.check.judge import CheckReport


@dataclass(frozen=True)
class CheckRequest:
    """bundle : its folder, or the folder of the run that wrote it. patience : times the usual work for one person."""

    bundle: Path
    patience: int = 1

    @property
    def folder(self) -> Path:
        """The bundle itself."""
        inner = self.bundle / "bundle"
        return inner if not _is_bundle(self.bundle) and _is_bundle(inner) else self.bundle


@dataclass(frozen=True)
class CheckResult:
    """What the checker confirms; drawn : whom the bundle says it is about, None where it does not say so."""

    report: CheckReport
    drawn: Drawn | None

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        return {**asdict(self.report), **({} if self.drawn is None else {"drawn": asdict(self.drawn)})}


def check(request: CheckRequest, listener: Listener | None = None) -> CheckResult:
    """Confirm every proof of an audit bundle in exact arithmetic; ``listener`` hears :mod:`lcifr.runs.events`."""
    from lcifr.certification.bundles.manifest import read_drawn
    from lcifr.check.bundle import check_bundle
    from lcifr.check.exact import Rejected

    bundle = request.folder
    if not bundle.is_dir():
        raise LcifrError(f"{bundle}: there is no such folder", fix="give the folder `bundle` of a producer or an audit")
    try:
        with listening(listener), step("Checking", StepKind.COUNT) as progress:
            report = check_bundle(bundle, progress, request.patience)
    except (Rejected, RecursionError) as problem:
        fix = "get the bundle again; nothing in it is confirmed"
        if "steps of work" in str(problem) or "values in model.json" in str(problem):
            fix += f". If you trust whoever wrote it, allow more work: --patience {10 * request.patience}"
        raise LcifrError(f"{bundle}: {problem}", fix=fix) from None
    return CheckResult(report, read_drawn(bundle))


def _is_bundle(folder: Path) -> bool:
    return (folder / "manifest.json").exists()
