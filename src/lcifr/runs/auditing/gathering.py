"""Verdicts of everybody, proved part by part, and their figures gathered from the files that were written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.runs.auditing.subject import AuditSubject
from lcifr.runs.people.source import PeopleSource, part_for

if TYPE_CHECKING:
    from lcifr.certification.population.tally import Tally
    from lcifr.certification.verdicts import Audit
    from lcifr.data import Individuals
    from lcifr.runs.auditing.result import CounterexamplePair
    from lcifr.runs.folders.settings import Steps

AUDITED = "audited"
LISTED = 100  # counterexamples in result.json; audit.parquet has all


@dataclass
class Gathered:
    """Figures of everybody, and the first counterexamples."""

    tally: Tally
    counterexamples: list[CounterexamplePair] = field(default_factory=list)


def audit_people(
    steps: Steps, subject: AuditSubject, source: PeopleSource, workers: int | None, chunk: int | None, *, modular: bool
) -> None:
    """Audit everybody into the folder ``audited``, part by part, unless that is done already."""
    from lcifr.runs.events import StepKind, step
    from lcifr.runs.streaming.audit_job import AuditJob
    from lcifr.runs.streaming.large import note_resumed

    if steps.kept(AUDITED):
        return
    with step(f"Auditing {source.count} people from end to end", StepKind.LONG):
        options = {"modular": modular, "budget": None, "arithmetic": str(subject.arithmetic)}
        job = AuditJob(subject.encoder, options, subject.model, subject.library)
        part = part_for(source.count, chunk)
        done = job.audit(source.attributes, steps.work / AUDITED, source.id_column, part, workers)
    steps.keep(AUDITED)
    note_resumed(done)


def gather(work: Path, subject: AuditSubject, source: PeopleSource, by: tuple[str, ...] | None) -> Gathered:
    """Count what the audit found; and keep who was audited, and their labels, beside it in the same order."""
    from lcifr.certification.population.tally import Tally
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
    return found


class _Writers:
    """``people.parquet`` and, where they are known, ``labels.parquet``."""

    def __init__(self, work: Path, into: ExitStack) -> None:
        self._work, self._into, self._files = work, into, dict[str, Any]()

    def add(self, people: Individuals, label: Any) -> None:
        import pyarrow as pa

        self._write("people.parquet", pa.Table.from_pandas(people.to_pandas(), preserve_index=False))
        if label is not None:
            self._write("labels.parquet", pa.table({"label": label}))

    def _write(self, name: str, table: Any) -> None:
        from lcifr.runs.streaming.parts import ParquetAppender

        if name not in self._files:
            self._files[name] = self._into.enter_context(ParquetAppender(self._work / name))
        self._files[name].add(table)


def _counterexamples(subject: AuditSubject, found: Audit, most: int) -> list[CounterexamplePair]:
    import numpy as np

    from lcifr.data.io.files import json_value
    from lcifr.runs.auditing.result import CounterexamplePair

    rows = np.flatnonzero(found.violated)[:most]
    decided = subject.decide(found.others.take(rows))
    listed = []
    for row, other in zip(rows, decided, strict=True):
        pair = found.counterexample(found.ids[row])
        differs = {str(name): [json_value(value) for value in pair[name]] for name in pair.columns}
        own = json_value(found.prediction[row])
        listed.append(CounterexamplePair(found.ids[row], own, json_value(other), differs))
    return listed
