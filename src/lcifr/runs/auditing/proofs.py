"""Proofs of an audit: written into a bundle, and read back by the exact checker."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from lcifr.errors import LcifrError
from lcifr.runs.auditing import gathering
from lcifr.runs.auditing.options import AuditOptions
from lcifr.runs.auditing.subject import AuditSubject
from lcifr.runs.events import StepKind, note, step
from lcifr.runs.handing_over import BUNDLE
from lcifr.runs.people.source import PeopleSource

if TYPE_CHECKING:
    from lcifr.certification.bundles.manifest import Drawn
    from lcifr.runs.auditing.result import CheckedProofs
    from lcifr.runs.folders.settings import Steps

PATIENCE = 100  # times the usual work for a person's proofs: this audit wrote them itself


def write_and_check(
    steps: Steps, subject: AuditSubject, source: PeopleSource, options: AuditOptions
) -> CheckedProofs | None:
    """Write the proofs of some people or all, and let the exact checker read them back.

    Whose proof stops short is not certified any more. Of a model from elsewhere whose proofs cannot be written down it
    is said why, unless they were asked for.
    """
    from lcifr.certification.bundles.manifest import draw
    from lcifr.certification.bundles.writer import write_bundle
    from lcifr.check.bundle import check_bundle
    from lcifr.check.exact import Rejected
    from lcifr.runs.auditing.result import CheckedProofs
    from lcifr.runs.streaming.audited import read_audited_rows, revise_audited

    if options.bundle is False:
        return None
    drawn: Drawn = draw(source.count, None if options.bundle else options.proofs, options.seed)
    audited = steps.work / gathering.AUDITED
    try:
        if not steps.kept(BUNDLE):
            everybody = (people for people, _ in source.rows())
            found = read_audited_rows(audited, everybody, subject.model, subject.hashes, drawn.rows())
            with step(f"Writing the proofs of {drawn}"):
                write_bundle(steps.work / BUNDLE, subject.encoder, found.people, decisions=found, drawn=drawn)
            steps.keep(BUNDLE)
        with step("Checking the proofs in exact arithmetic", StepKind.COUNT) as progress:
            report = check_bundle(steps.work / BUNDLE, progress, patience=PATIENCE)
    except (LcifrError, Rejected) as problem:
        if subject.library is None or options.bundle:
            raise
        shutil.rmtree(steps.work / BUNDLE, ignore_errors=True)
        note(f"there are no proofs to check: {str(problem).splitlines()[0]}")
        return None
    revise_audited(audited, set(report.names["undecided"]))
    steps.keep(gathering.AUDITED)
    return CheckedProofs.from_report(report, drawn)
