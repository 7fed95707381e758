"""The work of ``lcifr audit``: reads people, proves verdicts, checks proofs and gathers the figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError, MissingExtraError, did_you_mean
from lcifr.workflows.baselines import JudgedBaselines, judge_baselines
from lcifr.workflows.events import Listener, StepKind, listening, note, step
from lcifr.workflows.folders import Command, run_folder
from lcifr.workflows.options import RunOptions, SubjectOptions, argument, option, phi_option, sample_option
from lcifr.workflows.people import HELD, PROVED, PeopleSource, part_for, refuse_more
from lcifr.workflows.producing import BUNDLE, one_thread
from lcifr.workflows.results import AUDITED
from lcifr.workflows.subjects import named_summary, open_origin, origin_of, people_of_reference

if TYPE_CHECKING:
    from lcifr.certification.bundle import ProofSample
    from lcifr.certification.population import Tally
    from lcifr.certification.subject import Subject
    from lcifr.certification.sweep.look_up import ProvedCells
    from lcifr.certification.verdicts import Audit
    from lcifr.data import Individuals
    from lcifr.workflows.executors import Workers
    from lcifr.workflows.folders import Steps
    from lcifr.workflows.results import AuditResult, CheckedProofs, CounterexamplePair, ModelSummary


# AuditRequest: what to audit, on which people, and how.


@dataclass(frozen=True, kw_only=True)
class AuditRequest(SubjectOptions, RunOptions):
    """What to audit, on which people, and how: a model file, or the folders of a producer and a consumer."""

    producer: Path | None = argument(
        "TABLE|PRODUCER", "With --model: the people. Else: the producer's folder.", None, is_needed=True
    )
    consumer: Path | None = argument("CONSUMER", "The folder that `lcifr consume` wrote.", None)
    table: Path | None = argument("TABLE", "The people: .csv or .parquet. (Default: the held-out people.)", None)
    phi: str | None = phi_option(before="by")
    sample: int | None = sample_option()
    population: bool = option(
        False, "Declare that TABLE is a random sample of the population and was not used for training."
    )
    by: tuple[str, ...] | None = option(
        None,
        "Report subgroups of this column. (Default: the categories that φ leaves free.)",
        metavar="COLUMN",
    )
    confidence: float = option(0.95, "Confidence of the statement about the population.", least=0.5, most=0.9999)
    baselines: bool | None = option(
        None,
        "Also audit a plain and an unaware model. (Default: if labels are known, up to 100,000 people.)",
        negative="no-baselines",
    )
    bundle: bool | None = option(None, "Write and check everyone's proofs, or none.", negative="no-bundle")
    proofs: int = option(PROVED, "Write and check the proofs of this many people, drawn at random.", least=1)
    seed: int = option(0, "Seed for --proofs and --sample.", least=0)

    def __post_init__(self) -> None:
        RunOptions.__post_init__(self)
        SubjectOptions.__post_init__(self)
        if not 0 < self.confidence < 1:
            raise LcifrError(
                f"confidence is {self.confidence}; expected a number between 0 and 1", fix="for example 0.95"
            )
        if self.proofs < 1:
            raise LcifrError(f"proofs is {self.proofs}; expected 1 or more", fix="say bundle=False for no proofs")

    @property
    def inputs(self) -> dict[str, Path]:
        """Files and folders that are read, by argument."""
        return self.files(table=self.table)

    def refuse_many(self, source: PeopleSource) -> None:
        """Refuse what needs everyone in memory, before anything is proved; leave baselines out if no one asked."""
        if self.bundle is None:
            refuse_more(min(self.proofs, source.count), HELD, "--proofs", "say a smaller number")
        fix = f"leave it out; or audit a sample of them: --sample {HELD}"
        for name, wanted in (("--bundle", self.bundle), ("--baselines", self.baselines)):
            if wanted:
                refuse_more(source.count, HELD, name, fix)
        if source.count > HELD and source.label is not None and self.baselines is None:
            note(f"no baselines: they need everyone in memory, and there are more than {HELD:,}")

    def wants_baselines(self, source: PeopleSource) -> bool:
        """Whether baselines stand beside the model: where labels are known, unless it is said otherwise."""
        wanted = source.count <= HELD if self.baselines is None else self.baselines
        return wanted and source.label is not None


# Verdicts for everyone, proved part by part; proofs for some, written and checked; and the figures for all.

LISTED = 100  # counterexamples in result.json; audit.parquet has all


@dataclass
class Gathered:
    """The figures for everyone, and the first counterexamples."""

    tally: Tally
    counterexamples: list[CounterexamplePair] = field(default_factory=list)


def audit_people(
    steps: Steps,
    subject: Subject,
    source: PeopleSource,
    request: RunOptions,
    *,
    modular: bool,
    proved: ProvedCells | None = None,
) -> None:
    """Audit all people into the folder ``audited``, part by part, unless that is done already.

    ``proved`` : cells of a sweep; people in them need no search.
    """
    from lcifr.workflows.jobs import AuditJob
    from lcifr.workflows.parts import note_resumed

    if proved is not None:
        proved.refuse_others(subject.hashes)
    if steps.kept(AUDITED):
        return
    with step(f"Auditing {source.count:,} people end to end", StepKind.LONG):
        if subject.reference is not None:
            subject = subject.agreeing_among(people_of_reference(subject))
        workers = request.crew
        job = AuditJob(subject, modular, device=_device(subject, request.device, workers), proved=proved)
        part = part_for(source.count, request.chunk, quick=not modular)
        done = job.audit(source.worked_on, steps.work / AUDITED, source.id_column, part, workers)
    steps.keep(AUDITED)
    note_resumed(done)


def _device(subject: Subject, asked: str, workers: Workers) -> str | None:
    """Where the bounds of a job are computed; None for the CPU, where trees are searched."""
    from lcifr.workflows.executors import job_device

    device = job_device(asked, workers)
    if device is not None and not subject.model.function.uses_device:
        note(f"--device {asked} changes nothing here: {subject.model.function.describe()} are searched on the CPU")
        return None
    return device


def check_groups(subject: Subject, asked: tuple[str, ...] | None) -> None:
    """Refuse subgroups by names that are not attributes, before anything is proved."""
    for name in asked or ():
        if name not in subject.schema:
            raise LcifrError(f'--by: there is no attribute "{name}".{did_you_mean(name, subject.schema.names)}')


def _groups(subject: Subject, people: Individuals, asked: tuple[str, ...] | None) -> dict[str, Any]:
    """Subgroups by category: those that were asked for, or those that φ leaves free."""
    free = subject.encoder.free_attributes
    wanted = asked or [one.name for one in subject.schema.categorical if one.name in free]
    return {name: people.column(name).to_numpy(zero_copy_only=False) for name in wanted}


def gather(work: Path, subject: Subject, source: PeopleSource, by: tuple[str, ...] | None) -> Gathered:
    """Count what the audit found; store the people audited, and their labels, beside it in the same order."""
    from lcifr.certification.population import Tally
    from lcifr.workflows.jobs import read_audited_chunks

    found, labels = Gathered(Tally()), list[Any]()

    def people(into: ExitStack) -> Iterator[Individuals]:
        writers = _Writers(work, into)
        for some, label in source.rows():
            writers.add(some, label)
            labels.append(None if label is None else label.to_numpy())
            yield some

    with ExitStack() as open_:
        for audit in read_audited_chunks(work / AUDITED, people(open_), subject.model, subject.hashes):
            found.tally.add(audit, labels.pop(), _groups(subject, audit.people, by))
            found.counterexamples += _counterexamples(subject, audit, LISTED - len(found.counterexamples))
    found.tally.not_examined = source.left_out
    return found


class _Writers:
    """Writes ``people.parquet`` and, if labels are known, ``labels.parquet``."""

    def __init__(self, work: Path, into: ExitStack) -> None:
        self._work, self._into, self._files = work, into, dict[str, Any]()

    def add(self, people: Individuals, label: Any) -> None:
        import pyarrow as pa

        self._write("people.parquet", people.to_arrow(coded=True))
        if label is not None:
            self._write("labels.parquet", pa.table({"label": label}))

    def _write(self, name: str, table: Any) -> None:
        from lcifr.data.parquet import ParquetAppender

        if name not in self._files:
            self._files[name] = self._into.enter_context(ParquetAppender(self._work / name))
        self._files[name].add(table)


def _counterexamples(subject: Subject, found: Audit, most: int) -> list[CounterexamplePair]:
    import numpy as np

    from lcifr.data.files import json_value
    from lcifr.workflows.results import CounterexamplePair

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


PATIENCE = 100  # times the usual work per person: this audit wrote the proofs itself


def write_and_check(
    steps: Steps, subject: Subject, source: PeopleSource, options: AuditRequest
) -> CheckedProofs | None:
    """Write the proofs for some or all people, and let the exact checker read them back.

    A certified person whose proof stops short becomes undecided.
    """
    from lcifr.certification.bundle import draw, write_bundle
    from lcifr.check.bundle import check_bundle
    from lcifr.workflows.jobs import read_audited_rows, revise_audited
    from lcifr.workflows.results import CheckedProofs

    if options.bundle is False:
        return None
    drawn: ProofSample = draw(source.count, None if options.bundle else options.proofs, options.seed)
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


# Verdicts of an audit that is not finished, counted from the parts that are.


@dataclass
class VerdictsSoFar:
    """Counts of a run's verdicts; each part is read once.

    Parameters
    ----------
    work : the folder that the run works in.
    """

    work: Path
    _parts: dict[str, Counter[str]] = field(default_factory=dict)

    def count(self) -> dict[str, int]:
        """People by verdict, of those parts that are there now; of all once the parts have been joined."""
        from lcifr.workflows.jobs import AUDITED as JOINED

        joined = self.work / AUDITED / JOINED
        paths = [joined] if joined.exists() else sorted((self.work / f".{AUDITED}.parts").glob("part-*.parquet"))
        found: Counter[str] = Counter()
        for path in paths:
            if path.name not in self._parts:
                counted = _count(path)
                if counted is None:
                    continue
                self._parts[path.name] = counted
            found += self._parts[path.name]
        return dict(found)


def _count(path: Path) -> Counter[str] | None:
    """None for a file that went away meanwhile: parts are removed when they have been joined."""
    from pyarrow import ArrowInvalid, parquet

    try:
        return Counter(parquet.read_table(path, columns=["verdict"])["verdict"].to_pylist())
    except (FileNotFoundError, ArrowInvalid):
        return None


# One audit from request to result: read people, prove verdicts, check proofs, gather the figures.


def audit(request: AuditRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = ()) -> AuditResult:
    """Prove from end to end, person by person, that everyone similar gets the same decision; or show who does not.

    Writes the folder ``request.out``, which ``AuditResult.read`` reads again. If interrupted, the same request
    resumes where it stopped.

    Parameters
    ----------
    listener : receives events (:mod:`lcifr.workflows.events`). argv : the command line, to record in the settings.
    """
    with listening(listener):
        origin = open_origin(request, request.table)
        command = Command.of("audit", request, argv, origin.libraries)
        with run_folder(command, request.out, force=request.force, inputs=request.inputs) as run:
            people: dict[str, Any] = {"sample": request.sample, "seed": request.seed, "workers": request.crew}
            subject, source = origin.open(request, request.table, run.work, **people)
            check_groups(subject, request.by)
            summary = named_summary(subject, request.labels)
            request.refuse_many(source)
            audit_people(run.steps, subject, source, request, modular=subject.reference is None)
            checked = write_and_check(run.steps, subject, source, request)  # first: it may revise verdicts
            origin_of(subject).copy_into(subject, run.work)
            baselines = _baselines(subject, source, request)
            found = gather(run.work, subject, source, request.by)
            result = _result(subject, summary, source, found, request, baselines, checked)
            run.finish(result.to_dict())
    return result


def _baselines(subject: Subject, source: PeopleSource, request: AuditRequest) -> JudgedBaselines:
    origin = origin_of(subject)
    if request.baselines:
        origin.refuse_baselines()
    elif request.baselines is None and source.label is None:
        origin.note_no_baselines()
    try:
        asked = origin.baselines(subject, request.seed) if request.wants_baselines(source) else None
    except MissingExtraError as missing:
        if request.baselines:
            raise
        note(f"no baselines: {missing.name} is not installed. {missing.fix}")
        asked = None
    if asked is None:
        return JudgedBaselines()
    settings, training = asked
    with one_thread(say=False):
        found = judge_baselines(settings, training, source.individuals(), source.labels())
    return JudgedBaselines(found, settings.learner)


def _result(
    subject: Subject,
    summary: ModelSummary,
    source: PeopleSource,
    found: Gathered,
    request: AuditRequest,
    baselines: JudgedBaselines,
    checked: CheckedProofs | None,
) -> AuditResult:
    from lcifr.certification.population import state_tally
    from lcifr.workflows.results import AuditResult, Modularity

    origin, tally = origin_of(subject), found.tally
    held_out = request.population or (request.table is None and origin.held_out)
    statement = state_tally(tally, held_out=held_out, confidence=request.confidence, baselines=baselines.figures)
    warnings, advice = origin.remarks(subject, statement)
    return AuditResult(
        model=summary,
        held_out=held_out,
        statement=replace(statement, warnings=tuple(dict.fromkeys((*statement.warnings, *warnings)))),
        advice=advice,
        alone=tally.alone,
        modularity=Modularity(**tally.modularity()),
        reasons=dict(tally.reasons),
        counterexamples=tuple(found.counterexamples),
        drawn_from=source.drawn_from,
        findings=origin.findings(subject),
        checked=checked,
        bundle=None if checked is None else BUNDLE,
        baseline_learner=baselines.learner,
    )
