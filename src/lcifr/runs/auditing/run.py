"""One audit from request to result: people read, verdicts proved, proofs checked, figures gathered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.errors import LcifrError
from lcifr.runs.auditing import gathering
from lcifr.runs.auditing.baselines import Baselines
from lcifr.runs.auditing.parties import Parties, open_people, read_parties
from lcifr.runs.events import Listener, StepKind, listening, note, step
from lcifr.runs.folders.run import run_folder
from lcifr.runs.folders.settings import Command
from lcifr.runs.handing_over import BUNDLE
from lcifr.runs.people.source import HELD, PROVED, PeopleSource, refuse_more

if TYPE_CHECKING:
    from lcifr.certification.bundles.manifest import Drawn
    from lcifr.certification.population.statement import Statement
    from lcifr.runs.auditing.result import AuditResult, CheckedProofs
    from lcifr.runs.folders.settings import Steps
    from lcifr.similarity.linting.finding import Finding

PATIENCE = 100  # times the usual work for a person's proofs: this audit wrote them itself


@dataclass(frozen=True)
class AuditRequest:
    """What to audit, on whom, and where the result goes.

    Parameters
    ----------
    producer, consumer : the folders that ``produce`` and ``consume`` wrote. out : the new folder.
    table : the people; None for those whom the producer held out. id_column : the column of their names.
    sample : audit so many people, drawn at random.
    population : whether the people of ``table`` were drawn from the population and nobody trained on them.
    phi : a file or the name of another φ than the producer's.
    by : attributes to make subgroups of; None for the categories that φ leaves free.
    confidence : of the statement about the population.
    baselines : audit the plain and the unaware model too; None to do so where labels are known, up to 100,000 people.
    bundle : write and check the proofs of everybody (True), of nobody (False), or of ``proofs`` people (None).
    seed : of who is drawn for ``proofs`` and ``sample``.
    arithmetic : in which the models are computed: ``exact``, ``float64`` or ``float32``.
    workers : processes; None for one per core. chunk : people per part; None to choose.
    force : replace ``out`` if lcifr wrote it.
    """

    producer: Path
    consumer: Path
    out: Path
    table: Path | None = None
    id_column: str | None = None
    sample: int | None = None
    population: bool = False
    phi: str | None = None
    by: tuple[str, ...] | None = None
    confidence: float = 0.95
    baselines: bool | None = None
    bundle: bool | None = None
    proofs: int = PROVED
    seed: int = 0
    arithmetic: str = "float64"
    workers: int | None = None
    chunk: int | None = None
    force: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise LcifrError(
                f"confidence is {self.confidence}; expected a number between 0 and 1", fix="for example 0.95"
            )
        if self.proofs < 1:
            raise LcifrError(f"proofs is {self.proofs}; expected 1 or more", fix="say bundle=False for no proofs")

    @property
    def inputs(self) -> dict[str, Path]:
        """Files and folders that are read, by argument."""
        files = {"table": self.table, "phi": None if self.phi is None else Path(self.phi)}
        named = {name: path for name, path in files.items() if path is not None and path.is_file()}
        return {"producer": self.producer, "consumer": self.consumer, **named}

    @property
    def is_held_out(self) -> bool:
        """Whether the people stand for the population."""
        return self.population or self.table is None


def audit(request: AuditRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = ()) -> AuditResult:
    """Prove from end to end, person by person, that nobody similar gets another decision; or show who does.

    Writes the folder ``request.out``, which ``AuditResult.read`` reads again. Stopped at any moment, the same request
    goes on where it was.

    Parameters
    ----------
    listener : hears the events of :mod:`lcifr.runs.events`. argv : the words of the command line, for the settings.
    """
    with listening(listener):
        parties = read_parties(request.producer, request.consumer, request.phi, request.arithmetic)
        parties.check_groups(request.by)
        command = Command.of("audit", request, argv)
        with run_folder(command, request.out, force=request.force, inputs=request.inputs) as run:
            source = open_people(
                parties, request.producer, request.table, request.id_column, run.work, request.sample, request.seed
            )
            _refuse_many(source, request)
            gathering.audit_people(run.steps, parties, source, request.workers, request.chunk, modular=True)
            checked = _prove(run.steps, parties, source, request)  # first: they may leave somebody undecided
            parties.copy_into(run.work)
            baselines = _baselines(parties, source, request)
            found = gathering.gather(run.work, parties, source, request.by)
            result = _result(parties, source, found, request, baselines, checked)
            run.finish(result.to_dict())
    return result


def _refuse_many(source: PeopleSource, request: AuditRequest) -> None:
    """What holds everybody in memory is refused before anything is proved, or left out if nobody asked for it."""
    if request.bundle is None:
        refuse_more(min(request.proofs, source.count), HELD, "--proofs", "say a smaller number")
    fix = f"leave it out; or audit a sample of them: --sample {HELD}"
    for name, wanted in (("--bundle", request.bundle), ("--baselines", request.baselines)):
        if wanted:
            refuse_more(source.count, HELD, name, fix)
    if source.count > HELD and source.label is not None and request.baselines is None:
        note(f"no baselines beside it: they need everybody in memory, and these are more than {HELD:,}")


def _baselines(parties: Parties, source: PeopleSource, request: AuditRequest) -> Baselines:
    wanted = source.count <= HELD if request.baselines is None else request.baselines
    if not wanted or source.label is None:
        return {}
    from lcifr.runs.auditing.baselines import judge_baselines
    from lcifr.runs.learning import one_thread

    training = parties.training(request.producer)
    if training is None:
        return {}
    with one_thread(say=False):
        return judge_baselines(parties, training, source.individuals(), source.labels())


def _prove(steps: Steps, parties: Parties, source: PeopleSource, request: AuditRequest) -> CheckedProofs | None:
    """Write the proofs of some people or all, and let the exact checker read them back.

    Whose proof stops short is not certified any more.
    """
    from lcifr.certification.bundles.manifest import draw
    from lcifr.certification.bundles.writer import write_bundle
    from lcifr.check.bundle import check_bundle
    from lcifr.runs.auditing.result import CheckedProofs
    from lcifr.runs.streaming.audited import read_audited_rows, revise_audited

    if request.bundle is False:
        return None
    drawn: Drawn = draw(source.count, None if request.bundle else request.proofs, request.seed)
    audited = steps.work / gathering.AUDITED
    if not steps.kept(BUNDLE):
        everybody = (people for people, _ in source.rows())
        found = read_audited_rows(audited, everybody, parties.model, parties.hashes, drawn.rows())
        with step(f"Writing the proofs of {drawn}"):
            write_bundle(steps.work / BUNDLE, parties.encoder, found.people, decisions=found, drawn=drawn)
        steps.keep(BUNDLE)
    with step("Checking the proofs in exact arithmetic", StepKind.COUNT) as progress:
        report = check_bundle(steps.work / BUNDLE, progress, patience=PATIENCE)
    revise_audited(audited, set(report.names["undecided"]))
    steps.keep(gathering.AUDITED)
    return CheckedProofs.from_report(report, drawn)


def _result(
    parties: Parties,
    source: PeopleSource,
    found: gathering.Gathered,
    request: AuditRequest,
    baselines: Baselines,
    checked: CheckedProofs | None,
) -> AuditResult:
    from lcifr.certification.population.statement import state_tally
    from lcifr.runs.auditing.baselines import beaten_by
    from lcifr.runs.auditing.result import AuditResult, Modularity

    held_out, tally = request.is_held_out, found.tally
    statement = state_tally(tally, held_out=held_out, confidence=request.confidence, baselines=baselines)
    beaten = beaten_by(statement, is_unaware=parties.is_unaware) if baselines else {}
    return AuditResult(
        model=parties.summary(),
        held_out=held_out,
        statement=_with_warnings(statement, beaten, parties),
        advice=(*(one.advice for one in parties.head.degeneracies if one.advice), *beaten.values()),
        alone=tally.alone,
        modularity=Modularity(**tally.modularity()),
        reasons=dict(tally.reasons),
        counterexamples=tuple(found.counterexamples),
        drawn_from=source.drawn_from,
        findings=_findings(parties),
        checked=checked,
        bundle=None if checked is None else BUNDLE,
    )


def _with_warnings(statement: Statement, beaten: dict[str, str], parties: Parties) -> Statement:
    """Also what makes a baseline as good, and what is trivial about the model on the people it learned from."""
    from lcifr.runs.folders.summaries import learned_warnings

    about_z = [one for one in parties.saved.degeneracies if one.name in ("flat latent", "alone")]
    trivial = learned_warnings((*about_z, *parties.head.degeneracies), statement)
    return replace(statement, warnings=tuple(dict.fromkeys([*statement.warnings, *beaten, *trivial])))


def _findings(parties: Parties) -> tuple[Finding, ...] | None:
    """What lint says of φ with the people whom the producer learned from; None where they were not handed on.

    The producer keeps what it says of their own φ.
    """
    if parties.findings is not None and parties.is_producers_formula:
        return parties.findings
    from lcifr.data import read_frame
    from lcifr.runs.people.train_test import TRAIN
    from lcifr.similarity.linting.linter import lint

    people = parties.producer / "people" / f"{TRAIN}.parquet"
    if not people.is_file():
        return None
    return tuple(lint(parties.encoder.similarity, read_frame(people).select(list(parties.schema.names))))
