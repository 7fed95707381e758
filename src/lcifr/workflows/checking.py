"""The work of ``lcifr check``: the exact checker run on a bundle, and the bundle compared with the reader's files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.data.codec import Record, inline, key
from lcifr.errors import LcifrError
from lcifr.workflows.binding import OwnFiles
from lcifr.workflows.events import Listener, StepKind, listening, step
from lcifr.workflows.options import argument, option

if TYPE_CHECKING:
    from lcifr.certification.bundle import ProofSample
    from lcifr.check.judge import CheckReport
    from lcifr.check.people import FileComparison


@dataclass(frozen=True)
class CheckRequest(OwnFiles):
    """Which bundle to check, and the reader's own files to compare it with."""

    bundle: Path = argument("BUNDLE", "The `bundle` folder of a producer or an audit.", before="people")
    patience: int = option(
        1, "Allow this many times the usual work per person.", metavar="TIMES", least=1, before="people"
    )
    strict: bool = option(False, "Exit 4 if every claim is confirmed, but someone has no claim.", before="patience")

    @property
    def folder(self) -> Path:
        """The bundle itself."""
        inner = self.bundle / "bundle"
        return inner if not _is_bundle(self.bundle) and _is_bundle(inner) else self.bundle


@dataclass(frozen=True)
class CheckResult(Record):
    """What the checker confirms; drawn : the sample that the bundle says it is about, None where it names none.

    about : φ, who can exist and the rule of decision in words. compared : with the reader's own files, if any.
    """

    report: CheckReport = field(metadata=inline())
    about: Sequence[str] = ()
    compared: Sequence[FileComparison] = ()
    drawn: ProofSample | None = field(default=None, metadata=key(omit=True))

    @property
    def exit_code(self) -> int:
        """As ``lcifr check`` ends; see :func:`lcifr.check.people.exit_code`."""
        from lcifr.check.people import exit_code

        return exit_code(self.report, self.compared)

    def lines(self) -> list[str]:
        """For people to read."""
        return [*self.report.lines(), *self.about, *(line for one in self.compared for line in one.lines())]


def check(request: CheckRequest, listener: Listener | None = None) -> CheckResult:
    """Confirm every proof of an audit bundle in exact arithmetic; ``listener`` hears :mod:`lcifr.workflows.events`."""
    from lcifr.certification.bundle import read_sample
    from lcifr.check.bundle import check_bundle
    from lcifr.check.exact import Rejected
    from lcifr.check.report import statement
    from lcifr.workflows.binding import BundleBinding

    bundle = request.folder
    if not bundle.is_dir():
        raise LcifrError(f"{bundle}: there is no such folder", fix="give the folder `bundle` of a producer or an audit")
    request.refuse_lost()
    try:
        with listening(listener), step("Checking", StepKind.COUNT) as progress:
            report = check_bundle(bundle, progress, request.patience)
            about = statement(bundle, report)
    except (Rejected, RecursionError) as problem:
        fix = "get the bundle again; nothing in it is confirmed"
        if "steps of work" in str(problem) or "values in model.json" in str(problem):
            fix += f". If you trust its author, allow more work: --patience {10 * request.patience}"
        raise LcifrError(f"{bundle}: {problem}", fix=fix) from None
    compared: list[FileComparison] = []
    if request.are_given:
        with listening(listener):
            compared = BundleBinding(bundle, report, request).compare()
    return CheckResult(report, about, compared, read_sample(bundle))


def _is_bundle(folder: Path) -> bool:
    return (folder / "manifest.json").exists()
