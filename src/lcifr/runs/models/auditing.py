"""One audit of a model that already decides, from request to result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.errors import LcifrError
from lcifr.runs.auditing import gathering
from lcifr.runs.auditing.baselines import JudgedBaselines
from lcifr.runs.auditing.gathering import write_and_check
from lcifr.runs.auditing.subject import AuditOptions
from lcifr.runs.events import Listener, listening
from lcifr.runs.folders.run import run_folder
from lcifr.runs.folders.settings import Command
from lcifr.runs.handing_over import BUNDLE
from lcifr.runs.models.labels import check_labels
from lcifr.runs.models.preparing import (
    ModelQuestion,
    PreparedModel,
    prepare_model,
    read_for_people,
    read_people,
    without_strange_labels,
)

if TYPE_CHECKING:
    from lcifr.runs.auditing.result import AuditResult, CheckedProofs, ModelSummary
    from lcifr.runs.models.subject import ModelSubject
    from lcifr.runs.people.source import PeopleSource


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
    listener : hears the events of :mod:`lcifr.runs.events`. argv : the words of the command line, for the settings.
    """
    from lcifr.runs.auditing.result import decisions_of, name_decisions

    with listening(listener):
        prepared = prepare_model(request)
        command = Command.of("audit", request, argv, prepared.file.libraries)
        with run_folder(command, request.out, force=request.force, inputs=request.inputs) as run:
            source = read_people(prepared, request, run.work, request.sample, request.seed, request.crew)
            request.refuse_many(source)
            subject = read_for_people(prepared, request, source)
            source = without_strange_labels(source, subject)
            subject = check_labels(prepared, request, subject, source)
            subject.check_groups(request.by)
            summary = replace(subject.summary(), labels=name_decisions(request.labels, decisions_of(subject.model)))
            gathering.audit_people(
                run.steps, subject, source, request.crew, request.chunk, modular=False, device=request.device
            )
            checked = write_and_check(run.steps, subject, source, request)
            subject.copy_into(run.work)
            baselines = _baselines(prepared, subject, source, request)
            found = gathering.gather(run.work, subject, source, request.by)
            result = _result(prepared, summary, source, found, request, baselines, checked, subject.warnings)
            run.finish(result.to_dict())
    return result


def _baselines(
    prepared: PreparedModel, subject: ModelSubject, source: PeopleSource, request: ModelAuditRequest
) -> JudgedBaselines:
    """Learned from the reference, where that is another table with labels: nobody is judged by whom they taught."""
    if request.baselines and prepared.training is None:
        raise LcifrError(
            "baselines need people with labels other than the audited ones, and none were given",
            fix="add --reference TABLE, such as the training table, with the --target column",
        )
    if prepared.training is None or not request.wants_baselines(source):
        return JudgedBaselines()
    from lcifr.estimators import FairEncoder
    from lcifr.runs.auditing.baselines import BaselineSettings, judge_baselines
    from lcifr.runs.learning import one_thread
    from lcifr.runs.people.tables import read_people_table

    training = read_people_table(prepared.training, prepared.reference, prepared.schema, None, labelled=True)
    similarity, tolerance = prepared.similarity, subject.model.rule.tolerance
    encoder = FairEncoder(
        similarity.text, schema=prepared.schema, random_state=request.seed, tolerance=tolerance or 0.0
    )
    settings = BaselineSettings(encoder, similarity, tolerance is not None, tolerance, None, subject.arithmetic)
    with one_thread(say=False):
        found = judge_baselines(settings, training, source.individuals(), source.labels())
    return JudgedBaselines(found, settings.learner)


def _result(
    prepared: PreparedModel,
    summary: ModelSummary,
    source: PeopleSource,
    found: gathering.Gathered,
    request: ModelAuditRequest,
    baselines: JudgedBaselines,
    checked: CheckedProofs | None,
    warnings: tuple[str, ...],
) -> AuditResult:
    from lcifr.certification.population import state_tally
    from lcifr.phi.lint import lint
    from lcifr.runs.auditing.result import AuditResult, Modularity

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
