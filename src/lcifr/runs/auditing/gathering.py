"""Verdicts of everybody, proved part by part; proofs of some, written and checked; and the figures of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.runs.auditing.subject import AuditOptions, AuditSubject
from lcifr.runs.events import StepKind, step
from lcifr.runs.handing_over import BUNDLE
from lcifr.runs.people.source import PeopleSource, part_for

if TYPE_CHECKING:
    from lcifr.certification.bundle import Drawn
    from lcifr.certification.population import Tally
    from lcifr.certification.sweep.look_up import ProvedCells
    from lcifr.certification.verdicts import Audit
    from lcifr.data import Individuals
    from lcifr.runs.auditing.result import CheckedProofs, CounterexamplePair
    from lcifr.runs.executors.crew import Workers
    from lcifr.runs.folders.settings import Steps

AUDITED = "audited"
LISTED = 100  # counterexamples in result.json; audit.parquet has all


@dataclass
class Gathered:
    """Figures of everybody, and the first counterexamples."""

    tally: Tally
    counterexamples: list[CounterexamplePair] = field(default_factory=list)


def audit_people(
    steps: Steps,
    subject: AuditSubject,
    source: PeopleSource,
    workers: Workers,
    chunk: int | None,
    *,
    modular: bool,
    proved: ProvedCells | None = None,
    device: str = "cpu",
) -> None:
    """Audit everybody into the folder ``audited``, part by part, unless that is done already.

    Parameters
    ----------
    device : where bounds are computed; see :class:`lcifr.runs.executors.devices.Device`.
    proved : of a sweep; whoever is in one of these cells is not searched for.
    """
    from lcifr.runs.events import StepKind, step
    from lcifr.runs.streaming.audited import AuditJob
    from lcifr.runs.streaming.large import note_resumed

    if proved is not None:
        proved.refuse_others(subject.hashes)
    if steps.kept(AUDITED):
        return
    with step(f"Auditing {source.count:,} people end to end", StepKind.LONG):
        options = {"modular": modular, "budget": None, "arithmetic": str(subject.arithmetic)}
        options |= _device(subject, device, workers)
        job = AuditJob(subject.encoder, options, subject.model, subject.library, proved, subject.library_file)
        part = part_for(source.count, chunk, quick=not modular)
        done = job.audit(source.worked_on, steps.work / AUDITED, source.id_column, part, workers)
    steps.keep(AUDITED)
    note_resumed(done)


def _device(subject: AuditSubject, asked: str, workers: Workers) -> dict[str, str]:
    """What the options of a job say of the device: nothing for the CPU, so that its parts are named as ever."""
    from lcifr.models.trees import Trees
    from lcifr.runs.events import note
    from lcifr.runs.executors.devices import job_device

    device = job_device(asked, workers)
    if device is not None and isinstance(subject.model.function, Trees):
        note(f"--device {asked} changes nothing here: trees are searched on the CPU")
        return {}
    return {} if device is None else {"device": device}


def gather(work: Path, subject: AuditSubject, source: PeopleSource, by: tuple[str, ...] | None) -> Gathered:
    """Count what the audit found; and keep who was audited, and their labels, beside it in the same order."""
    from lcifr.certification.population import Tally
    from lcifr.runs.streaming.audited import read_audited_chunks

    found, labels = Gathered(Tally()), list[Any]()

    def people(into: ExitStack) -> Iterator[Individuals]:
        writers = _Writers(work, into)
        for some, label in source.rows():
            writers.add(some, label)
            labels.append(None if label is None else label.to_numpy())
            yield some

    with ExitStack() as open_:
        for audit in read_audited_chunks(work / AUDITED, people(open_), subject.model, subject.hashes):
            found.tally.add(audit, labels.pop(), subject.groups(audit.people, by))
            found.counterexamples += _counterexamples(subject, audit, LISTED - len(found.counterexamples))
    found.tally.not_examined = source.left_out
    return found


class _Writers:
    """``people.parquet`` and, where they are known, ``labels.parquet``."""

    def __init__(self, work: Path, into: ExitStack) -> None:
        self._work, self._into, self._files = work, into, dict[str, Any]()

    def add(self, people: Individuals, label: Any) -> None:
        import pyarrow as pa

        self._write("people.parquet", people.to_arrow(coded=True))
        if label is not None:
            self._write("labels.parquet", pa.table({"label": label}))

    def _write(self, name: str, table: Any) -> None:
        from lcifr.runs.streaming.parquet_files import ParquetAppender

        if name not in self._files:
            self._files[name] = self._into.enter_context(ParquetAppender(self._work / name))
        self._files[name].add(table)


def _counterexamples(subject: AuditSubject, found: Audit, most: int) -> list[CounterexamplePair]:
    import numpy as np

    from lcifr.data.files import json_value
    from lcifr.runs.auditing.result import CounterexamplePair

    rows = np.flatnonzero(found.violated)[:most]
    if not len(rows):
        return []
    people, others = found.people.take(rows), found.others.take(rows)
    listed = []
    pairs = zip(people.to_arrow().to_pylist(), others.to_arrow().to_pylist(), strict=True)
    for row, (person, similar), other in zip(rows, pairs, subject.decide(others), strict=True):
        differs = {name: [value, similar[name]] for name, value in person.items() if value != similar[name]}
        own = json_value(found.prediction[row])
        listed.append(CounterexamplePair(found.ids[row], own, json_value(other), differs))
    return listed


PATIENCE = 100  # times the usual work for a person's proofs: this audit wrote them itself


def write_and_check(
    steps: Steps, subject: AuditSubject, source: PeopleSource, options: AuditOptions
) -> CheckedProofs | None:
    """Write the proofs of some people or all, and let the exact checker read them back.

    Whose proof stops short is not certified any more.
    """
    from lcifr.certification.bundle import draw, write_bundle
    from lcifr.check.bundle import check_bundle
    from lcifr.runs.auditing.result import CheckedProofs
    from lcifr.runs.streaming.audited import read_audited_rows, revise_audited

    if options.bundle is False:
        return None
    drawn: Drawn = draw(source.count, None if options.bundle else options.proofs, options.seed)
    audited = steps.work / AUDITED
    if not steps.kept(BUNDLE):
        everybody = (people for people, _ in source.rows())
        found = read_audited_rows(audited, everybody, subject.model, subject.hashes, drawn.rows())
        with step(f"Writing the proofs of {drawn}"):
            write_bundle(steps.work / BUNDLE, subject.encoder, found.people, decisions=found, drawn=drawn)
        steps.keep(BUNDLE)
    with step("Checking the proofs in exact arithmetic", StepKind.COUNT) as progress:
        report = check_bundle(steps.work / BUNDLE, progress, patience=PATIENCE)
    revise_audited(audited, set(report.names["undecided"]))
    steps.keep(AUDITED)
    return CheckedProofs.from_report(report, drawn)
