"""The work of ``lcifr audit``: people read, verdicts proved, proofs checked, figures gathered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError, did_you_mean
from lcifr.workflows.baselines import JudgedBaselines
from lcifr.workflows.events import Listener, StepKind, listening, note, step
from lcifr.workflows.folders import Command, run_folder
from lcifr.workflows.labels import check_labels
from lcifr.workflows.people import PeopleSource, is_table, part_for
from lcifr.workflows.producing import BUNDLE
from lcifr.workflows.results import AUDITED
from lcifr.workflows.subjects import (
    AuditOptions,
    FolderOrigin,
    ModelQuestion,
    PreparedModel,
    file_of,
    folders_of,
    open_people,
    people_of_reference,
    prepare_model,
    read_folders,
    read_for_people,
    read_people,
    without_strange_labels,
)

if TYPE_CHECKING:
    from lcifr.certification.bundle import Drawn
    from lcifr.certification.population import Statement, Tally
    from lcifr.certification.subject import Subject
    from lcifr.certification.sweep.look_up import ProvedCells
    from lcifr.certification.verdicts import Audit
    from lcifr.data import Individuals
    from lcifr.phi.lint import Finding
    from lcifr.workflows.executors import Workers
    from lcifr.workflows.folders import Steps
    from lcifr.workflows.results import AuditResult, CheckedProofs, CounterexamplePair, ModelSummary


# Verdicts of everybody, proved part by part; proofs of some, written and checked; and the figures of all of them.

LISTED = 100  # counterexamples in result.json; audit.parquet has all


@dataclass
class Gathered:
    """Figures of everybody, and the first counterexamples."""

    tally: Tally
    counterexamples: list[CounterexamplePair] = field(default_factory=list)


def audit_people(
    steps: Steps,
    subject: Subject,
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
    device : where bounds are computed; see :class:`lcifr.workflows.executors.Device`.
    proved : of a sweep; whoever is in one of these cells is not searched for.
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
        job = AuditJob(subject, modular, device=_device(subject, device, workers), proved=proved)
        part = part_for(source.count, chunk, quick=not modular)
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
    """Refuse subgroups by what is no attribute, before anything is proved."""
    for name in asked or ():
        if name not in subject.schema:
            raise LcifrError(f'--by: there is no attribute "{name}".{did_you_mean(name, subject.schema.names)}')


def _groups(subject: Subject, people: Individuals, asked: tuple[str, ...] | None) -> dict[str, Any]:
    """Subgroups by category: those that were asked for, or those that φ leaves free."""
    free = subject.encoder.free_attributes
    wanted = asked or [one.name for one in subject.schema.categorical if one.name in free]
    return {name: people.column(name).to_numpy(zero_copy_only=False) for name in wanted}


def gather(work: Path, subject: Subject, source: PeopleSource, by: tuple[str, ...] | None) -> Gathered:
    """Count what the audit found; and keep who was audited, and their labels, beside it in the same order."""
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
    """``people.parquet`` and, where they are known, ``labels.parquet``."""

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


PATIENCE = 100  # times the usual work for a person's proofs: this audit wrote them itself


def write_and_check(
    steps: Steps, subject: Subject, source: PeopleSource, options: AuditOptions
) -> CheckedProofs | None:
    """Write the proofs of some people or all, and let the exact checker read them back.

    Whose proof stops short is not certified any more.
    """
    from lcifr.certification.bundle import draw, write_bundle
    from lcifr.check.bundle import check_bundle
    from lcifr.workflows.jobs import read_audited_rows, revise_audited
    from lcifr.workflows.results import CheckedProofs

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


# One audit from request to result: people read, verdicts proved, proofs checked, figures gathered.


@dataclass(frozen=True)
class AuditRequest(AuditOptions):
    """What to audit, on whom, and where the result goes; see :class:`AuditOptions` for how.

    Parameters
    ----------
    producer, consumer : the folders that ``produce`` and ``consume`` wrote. out : the new folder.
    table : the people; None for those whom the producer held out.
    phi : a file or the name of another φ than the producer's.
    arithmetic : in which the models are computed: ``exact``, ``float64`` or ``float32``; None for float64, and for
        what a consumer's trees from elsewhere are added up in.
    """

    producer: Path
    consumer: Path
    out: Path
    table: Path | None = None
    phi: str | None = None
    arithmetic: str | None = None

    @property
    def inputs(self) -> dict[str, Path]:
        """Files and folders that are read, by argument."""
        files = {"table": self.table, "phi": None if self.phi is None else Path(self.phi)}
        named = {name: path for name, path in files.items() if path is not None and is_table(path)}
        return {"producer": self.producer, "consumer": self.consumer, **named}

    def is_held_out(self, origin: FolderOrigin) -> bool:
        """Whether the people stand for the population; whom a model from elsewhere was trained on nobody knows."""
        return self.population or (self.table is None and not origin.is_foreign)


def audit(request: AuditRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = ()) -> AuditResult:
    """Prove from end to end, person by person, that nobody similar gets another decision; or show who does.

    Writes the folder ``request.out``, which ``AuditResult.read`` reads again. Stopped at any moment, the same request
    goes on where it was.

    Parameters
    ----------
    listener : hears :mod:`lcifr.workflows.events`. argv : the words of the command line, for the settings.
    """
    from lcifr.workflows.results import decisions_of, name_decisions

    with listening(listener):
        subject = read_folders(request.producer, request.consumer, request.phi, request.arithmetic)
        origin = folders_of(subject)
        check_groups(subject, request.by)
        summary = replace(origin.summary(subject), labels=name_decisions(request.labels, decisions_of(subject.model)))
        command = Command.of("audit", request, argv)
        with run_folder(command, request.out, force=request.force, inputs=request.inputs) as run:
            source = open_people(
                subject, request.table, request.id_column, run.work, request.sample, request.seed, request.crew
            )
            request.refuse_many(source)
            audit_people(run.steps, subject, source, request.crew, request.chunk, modular=True, device=request.device)
            checked = write_and_check(run.steps, subject, source, request)  # first: they may leave somebody undecided
            origin.copy_into(subject, run.work)
            baselines = _baselines_of_folders(subject, source, request)
            found = gather(run.work, subject, source, request.by)
            result = _result_of_folders(subject, summary, source, found, request, baselines, checked)
            run.finish(result.to_dict())
    return result


def _baselines_of_folders(subject: Subject, source: PeopleSource, request: AuditRequest) -> JudgedBaselines:
    if not request.wants_baselines(source):
        return JudgedBaselines()
    from lcifr.workflows.baselines import BaselineSettings, judge_baselines
    from lcifr.workflows.producing import one_thread

    training = folders_of(subject).training()
    if training is None:
        return JudgedBaselines()
    with one_thread(say=False):
        settings = BaselineSettings.of_folders(subject)
        found = judge_baselines(settings, training, source.individuals(), source.labels())
    return JudgedBaselines(found, settings.learner)


def _result_of_folders(
    subject: Subject,
    summary: ModelSummary,
    source: PeopleSource,
    found: Gathered,
    request: AuditRequest,
    baselines: JudgedBaselines,
    checked: CheckedProofs | None,
) -> AuditResult:
    from lcifr.certification.population import state_tally
    from lcifr.workflows.baselines import beaten_by
    from lcifr.workflows.results import AuditResult, Modularity

    origin, tally = folders_of(subject), found.tally
    held_out = request.is_held_out(origin)
    statement = state_tally(tally, held_out=held_out, confidence=request.confidence, baselines=baselines.figures)
    beaten = beaten_by(statement, is_unaware=origin.is_unaware) if baselines.figures else {}
    return AuditResult(
        model=summary,
        held_out=held_out,
        statement=_with_warnings(statement, beaten, origin),
        advice=(*(one.advice for one in origin.head.degeneracies if one.advice), *beaten.values()),
        alone=tally.alone,
        modularity=Modularity(**tally.modularity()),
        reasons=dict(tally.reasons),
        counterexamples=tuple(found.counterexamples),
        drawn_from=source.drawn_from,
        findings=_findings(subject),
        checked=checked,
        bundle=None if checked is None else BUNDLE,
        baseline_learner=baselines.learner,
    )


def _with_warnings(statement: Statement, beaten: dict[str, str], origin: FolderOrigin) -> Statement:
    """Also what makes a baseline as good, and what is trivial about the model on the people it learned from."""
    from lcifr.workflows.results import learned_warnings

    about_z = [one for one in origin.saved.degeneracies if one.name in ("flat latent", "alone")]
    trivial = learned_warnings((*about_z, *origin.head.degeneracies), statement)
    return replace(statement, warnings=tuple(dict.fromkeys([*statement.warnings, *beaten, *trivial])))


def _findings(subject: Subject) -> tuple[Finding, ...] | None:
    """What lint says of φ with the people whom the producer learned from; None where they were not handed on.

    The producer keeps what it says of their own φ.
    """
    origin = folders_of(subject)
    if origin.findings is not None and origin.is_producers_formula(subject.similarity):
        return origin.findings
    from lcifr.data import read_frame
    from lcifr.phi.lint import lint
    from lcifr.workflows.people import TRAIN

    people = origin.producer / "people" / f"{TRAIN}.parquet"
    if not people.is_file():
        return None
    return tuple(lint(subject.similarity, read_frame(people).select(list(subject.schema.names))))


# One audit of a model that already decides, from request to result.


@dataclass(frozen=True, kw_only=True)
class ModelAuditRequest(ModelQuestion, AuditOptions):
    """Which model to audit, on whom, and where the result goes; see :class:`ModelQuestion` and :class:`AuditOptions`.

    Parameters
    ----------
    out : the new folder.
    """

    out: Path


def audit_model(
    request: ModelAuditRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = ()
) -> AuditResult:
    """Prove, person by person, that nobody similar gets another decision from a model; or show who does.

    Writes the folder ``request.out``, which ``AuditResult.read`` reads again. Stopped at any moment, the same request
    goes on where it was.

    Parameters
    ----------
    listener : hears :mod:`lcifr.workflows.events`. argv : the words of the command line, for the settings.
    """
    from lcifr.workflows.results import decisions_of, name_decisions

    with listening(listener):
        prepared = prepare_model(request)
        command = Command.of("audit", request, argv, prepared.file.libraries)
        with run_folder(command, request.out, force=request.force, inputs=request.inputs) as run:
            source = read_people(prepared, request, run.work, request.sample, request.seed, request.crew)
            request.refuse_many(source)
            subject = read_for_people(prepared, request, source)
            source = without_strange_labels(source, subject)
            subject = check_labels(prepared, request, subject, source)
            check_groups(subject, request.by)
            origin = file_of(subject)
            summary = replace(
                origin.summary(subject), labels=name_decisions(request.labels, decisions_of(subject.model))
            )
            audit_people(run.steps, subject, source, request.crew, request.chunk, modular=False, device=request.device)
            checked = write_and_check(run.steps, subject, source, request)
            origin.copy_into(subject, run.work)
            baselines = _baselines_of_model(prepared, subject, source, request)
            found = gather(run.work, subject, source, request.by)
            result = _result_of_model(
                prepared, summary, source, found, request, baselines, checked, origin.warnings(subject)
            )
            run.finish(result.to_dict())
    return result


def _baselines_of_model(
    prepared: PreparedModel, subject: Subject, source: PeopleSource, request: ModelAuditRequest
) -> JudgedBaselines:
    """Learned from the reference, where that is another table with labels: nobody is judged by whom they taught."""
    if request.baselines and prepared.training is None:
        raise LcifrError(
            "baselines need people with labels other than the audited ones, and none were given",
            fix="add --reference TABLE, such as the training table, with the --target column",
        )
    if prepared.training is not None and source.label is None and request.baselines is None:
        note("no baselines: there are no labels of these people with which models could be compared")
    if prepared.training is None or not request.wants_baselines(source):
        return JudgedBaselines()
    from lcifr.estimators import FairEncoder
    from lcifr.workflows.baselines import BaselineSettings, judge_baselines
    from lcifr.workflows.people import read_people_table
    from lcifr.workflows.producing import one_thread

    training = read_people_table(prepared.training, prepared.reference, prepared.schema, None, labelled=True)
    similarity, tolerance = prepared.similarity, subject.model.rule.tolerance
    encoder = FairEncoder(
        similarity.text, schema=prepared.schema, random_state=request.seed, tolerance=tolerance or 0.0
    )
    settings = BaselineSettings(encoder, similarity, tolerance is not None, tolerance, None, subject.arithmetic)
    with one_thread(say=False):
        found = judge_baselines(settings, training, source.individuals(), source.labels())
    return JudgedBaselines(found, settings.learner)


def _result_of_model(
    prepared: PreparedModel,
    summary: ModelSummary,
    source: PeopleSource,
    found: Gathered,
    request: ModelAuditRequest,
    baselines: JudgedBaselines,
    checked: CheckedProofs | None,
    warnings: tuple[str, ...],
) -> AuditResult:
    from lcifr.certification.population import state_tally
    from lcifr.phi.lint import lint
    from lcifr.workflows.results import AuditResult, Modularity

    tally, held_out = found.tally, request.population
    statement = state_tally(tally, held_out=held_out, confidence=request.confidence, baselines=baselines.figures)
    training = prepared.similarity.encoding.training
    return AuditResult(
        model=summary,
        held_out=held_out,
        statement=replace(statement, warnings=(*statement.warnings, *warnings)),
        advice=(),
        alone=tally.alone,
        modularity=Modularity(**tally.modularity()),
        reasons=dict(tally.reasons),
        counterexamples=tuple(found.counterexamples),
        drawn_from=source.drawn_from,
        findings=None if training is None else tuple(lint(prepared.similarity, training)),
        checked=checked,
        bundle=None if checked is None else BUNDLE,
        baseline_learner=baselines.learner,
    )
