"""One audit from request to result: people read, verdicts proved, proofs checked, figures gathered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.runs.auditing import gathering
from lcifr.runs.auditing.baselines import JudgedBaselines
from lcifr.runs.auditing.gathering import write_and_check
from lcifr.runs.auditing.parties import Parties, open_people, read_parties
from lcifr.runs.auditing.subject import AuditOptions
from lcifr.runs.events import Listener, listening
from lcifr.runs.folders.run import run_folder
from lcifr.runs.folders.settings import Command
from lcifr.runs.handing_over import BUNDLE
from lcifr.runs.people.source import PeopleSource, is_table

if TYPE_CHECKING:
    from lcifr.certification.population import Statement
    from lcifr.phi.lint import Finding
    from lcifr.runs.auditing.result import AuditResult, CheckedProofs, ModelSummary


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

    def is_held_out(self, parties: Parties) -> bool:
        """Whether the people stand for the population; whom a model from elsewhere was trained on nobody knows."""
        return self.population or (self.table is None and not parties.is_foreign)


def audit(request: AuditRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = ()) -> AuditResult:
    """Prove from end to end, person by person, that nobody similar gets another decision; or show who does.

    Writes the folder ``request.out``, which ``AuditResult.read`` reads again. Stopped at any moment, the same request
    goes on where it was.

    Parameters
    ----------
    listener : hears the events of :mod:`lcifr.runs.events`. argv : the words of the command line, for the settings.
    """
    from lcifr.runs.auditing.result import decisions_of, name_decisions

    with listening(listener):
        parties = read_parties(request.producer, request.consumer, request.phi, request.arithmetic)
        parties.check_groups(request.by)
        summary = replace(parties.summary(), labels=name_decisions(request.labels, decisions_of(parties.model)))
        command = Command.of("audit", request, argv)
        with run_folder(command, request.out, force=request.force, inputs=request.inputs) as run:
            source = open_people(
                parties,
                request.producer,
                request.table,
                request.id_column,
                run.work,
                request.sample,
                request.seed,
                request.crew,
            )
            request.refuse_many(source)
            gathering.audit_people(
                run.steps, parties, source, request.crew, request.chunk, modular=True, device=request.device
            )
            checked = write_and_check(run.steps, parties, source, request)  # first: they may leave somebody undecided
            parties.copy_into(run.work)
            baselines = _baselines(parties, source, request)
            found = gathering.gather(run.work, parties, source, request.by)
            result = _result(parties, summary, source, found, request, baselines, checked)
            run.finish(result.to_dict())
    return result


def _baselines(parties: Parties, source: PeopleSource, request: AuditRequest) -> JudgedBaselines:
    if not request.wants_baselines(source):
        return JudgedBaselines()
    from lcifr.runs.auditing.baselines import BaselineSettings, judge_baselines
    from lcifr.runs.learning import one_thread

    training = parties.training(request.producer)
    if training is None:
        return JudgedBaselines()
    with one_thread(say=False):
        settings = BaselineSettings.of_parties(parties)
        found = judge_baselines(settings, training, source.individuals(), source.labels())
    return JudgedBaselines(found, settings.learner)


def _result(
    parties: Parties,
    summary: ModelSummary,
    source: PeopleSource,
    found: gathering.Gathered,
    request: AuditRequest,
    baselines: JudgedBaselines,
    checked: CheckedProofs | None,
) -> AuditResult:
    from lcifr.certification.population import state_tally
    from lcifr.runs.auditing.baselines import beaten_by
    from lcifr.runs.auditing.result import AuditResult, Modularity

    held_out, tally = request.is_held_out(parties), found.tally
    statement = state_tally(tally, held_out=held_out, confidence=request.confidence, baselines=baselines.figures)
    beaten = beaten_by(statement, is_unaware=parties.is_unaware) if baselines.figures else {}
    return AuditResult(
        model=summary,
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
        baseline_learner=baselines.learner,
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
    from lcifr.phi.lint import lint
    from lcifr.runs.people.train_test import TRAIN

    people = parties.producer / "people" / f"{TRAIN}.parquet"
    if not people.is_file():
        return None
    return tuple(lint(parties.encoder.similarity, read_frame(people).select(list(parties.schema.names))))
