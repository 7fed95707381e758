"""The work of ``lcifr certify``: saved models on new people, a decision and a verdict each."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lcifr.data.codec import from_json
from lcifr.data.files import MANIFEST
from lcifr.errors import LcifrError
from lcifr.models.network import choose_for
from lcifr.workflows.auditing import audit_people, gather
from lcifr.workflows.consuming import usual_surroundings
from lcifr.workflows.events import Listener, StepKind, listening, note, step
from lcifr.workflows.executors import job_device
from lcifr.workflows.folders import Command, Run, RunSettings, fitting_together, read_result, run_folder
from lcifr.workflows.options import (
    ABOUT_MODEL,
    PRODUCER,
    RunOptions,
    SubjectOptions,
    argument,
    on_option,
    option,
)
from lcifr.workflows.people import HELD_OUT, TRAIN, part_for
from lcifr.workflows.results import CertifyResult, decisions_of, name_decisions, read_consumer
from lcifr.workflows.subjects import RunOrigin, named_summary, open_origin, origin_of, refuse_mixed
from lcifr.workflows.sweeping import SweepLookUp, SweepRequest

if TYPE_CHECKING:
    from lcifr.certification.handover import Provenance


@dataclass(frozen=True, kw_only=True)
class CertifyRequest(SubjectOptions, RunOptions):
    """Which people to decide about with saved models, and where the certificates go.

    A consumer's model takes a hand-over; a table needs the producer too, or a model file, or the folder of a sweep.
    """

    producer: Path | None = option(
        None, f"{PRODUCER[:-1]}, if PEOPLE is a table.", metavar="PRODUCER", before="id_column"
    )
    consumer: Path | None = argument(
        "TABLE|CONSUMER",
        "With --model, or --sweep alone: the people. Else: the consumer's folder.",
        None,
        is_needed=True,
    )
    people: Path | None = argument("PEOPLE", "A .csv or .parquet table (with --producer), or a hand-over.", None)
    sweep: Path | None = option(
        None,
        "The folder that `lcifr sweep` wrote: people in a proved cell need no search.",
        metavar="SWEEP",
        before="id_column",
    )
    phi: str | None = option(
        None, "Who counts as similar: a .phi file.", metavar="FILE|NAME", before="schema", **ABOUT_MODEL
    )
    on: Literal["ball", "box"] | None = on_option()

    def __post_init__(self) -> None:
        RunOptions.__post_init__(self)
        SubjectOptions.__post_init__(self)
        if self.model is not None and self.reference is None:
            raise LcifrError(
                "new people do not define the standard deviations in φ or the known categories",
                fix="add --reference TABLE: the people who were audited, or the training table",
            )
        if self.consumer is not None and self.people is not None:
            self._refuse_mixture(self.people)

    def _refuse_mixture(self, people: Path) -> None:
        """Refuse what does not go together with a hand-over, or with a table."""
        handed = self.is_handover
        if self.sweep is not None and handed:
            raise LcifrError(
                f"{people} is a hand-over, but --sweep needs the people's table",
                fix="give the table and --producer, or leave --sweep out",
            )
        if handed and not (people / MANIFEST).exists() and (people / HELD_OUT).is_dir():
            raise LcifrError(
                f"{people} contains two hand-overs, {TRAIN} and {HELD_OUT}",
                fix=f"give one of them, such as {people / HELD_OUT}",
            )
        if handed == (self.producer is not None):
            known = "a hand-over needs no --producer" if handed else "a table of people needs --producer"
            raise LcifrError(f"{people}: {known}", fix="see the example of `lcifr certify --help`")

    @property
    def is_handover(self) -> bool:
        """Whether the people are a consumer's hand-over, and not a table; a table may be a folder of many files."""
        if self.consumer is None or self.people is None or not self.people.is_dir():
            return False
        return self.producer is None or (self.people / MANIFEST).is_file()

    @property
    def inputs(self) -> dict[str, Path]:
        """Files and folders that are read, by argument."""
        return self.files(people=self.people, sweep=self.sweep)


def certify(request: CertifyRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = ()) -> CertifyResult:
    """Decide about new people, and prove for whom everyone similar gets the same decision.

    Parameters
    ----------
    listener : receives events (:mod:`lcifr.workflows.events`). argv : the command line, to record in the settings.
    """
    with listening(listener):
        if request.sweep is not None and request.model is None and request.consumer is None:
            request = _as_swept(request, request.sweep)
        look_up = SweepLookUp.read(request.sweep)
        origin = None if request.is_handover else open_origin(request, request.people)
        command = Command.of("certify", request, argv, {} if origin is None else origin.libraries)
        with run_folder(command, request.out, force=request.force, inputs=request.inputs) as run:
            result = _from_handover(run, request) if origin is None else _end_to_end(run, request, origin, look_up)
            run.finish(result.to_dict())
    return result


def _end_to_end(run: Run, request: CertifyRequest, origin: RunOrigin, look_up: SweepLookUp | None) -> CertifyResult:
    subject, source = origin.open(request, request.people, run.work, workers=request.crew)
    summary = named_summary(subject, request.labels)
    proved = None if look_up is None else look_up.cells
    audit_people(run.steps, subject, source, request, modular=False, proved=proved)
    tally = gather(run.work, subject, source, None).tally
    result = CertifyResult.end_to_end(summary, tally, None if look_up is None else look_up.summary(tally))
    warned = (*result.statement.warnings, *origin_of(subject).warnings(subject))
    return replace(result, statement=replace(result.statement, warnings=warned))


def _from_handover(run: Run, request: CertifyRequest) -> CertifyResult:
    from lcifr.certification.handover import Outline
    from lcifr.certification.population import Tally, state_tally
    from lcifr.workflows.jobs import CERTIFIED, certify_folder, read_certified
    from lcifr.workflows.parts import note_resumed
    from lcifr.workflows.results import read_saved_head

    assert request.consumer is not None
    assert request.people is not None
    used = read_consumer(request.consumer)
    model = read_saved_head(request.consumer, used.task).model.agreeing(tolerance=used.tolerance)
    refuse_mixed(request.consumer, "model", used.model, model.function.hash)
    labels = name_decisions(request.labels, decisions_of(model))
    handed, learned_from = Outline.read(request.people), used.provenance
    on = request.on or usual_surroundings(handed.provenance, model)
    computed = choose_for(request.arithmetic, (model.function,))
    _refuse_another_encoder(handed.provenance, learned_from, request)
    file, parts = run.work / CERTIFIED, run.work / "certified"
    if not run.steps.kept(CERTIFIED, parts.name):
        with step(f"Certifying {handed.people:,} people", StepKind.LONG):
            done = certify_folder(
                request.people,
                model,
                parts,
                on=on,
                arithmetic=computed,
                chunk=part_for(handed.people, request.chunk),
                workers=request.crew,
                device=job_device(request.device, request.crew),
            )
        os.replace(parts / CERTIFIED, file)
        shutil.rmtree(parts)
        run.steps.keep(CERTIFIED)
        note_resumed(done)
    tally = Tally()
    for found in read_certified(file, model, on=on):
        tally.add(found, None, {})
    return CertifyResult(
        target=used.target,
        task=used.task,
        classes=used.classes,
        tolerance=used.tolerance,
        proved=f"hand-over, {on}",
        statement=state_tally(tally, held_out=False),
        certificates=CERTIFIED,
        arithmetic=str(computed),
        encoder_arithmetic=str(handed.provenance.arithmetic),
        provenance=learned_from,
        labels=labels,
    )


def _refuse_another_encoder(handed: Provenance, learned_from: Provenance, request: CertifyRequest) -> None:
    if handed.weights != learned_from.weights:
        raise LcifrError(
            f"{request.people} and the hand-over that {request.consumer} was trained on have different encoders",
            fix="ask the same producer for it: `lcifr represent`",
        )
    if handed.similarity != learned_from.similarity:
        note("this hand-over was proved for a different φ than the one the model was trained with")


# People looked up in a sweep's folder, whatever was swept.


def _as_swept(request: CertifyRequest, folder: Path) -> CertifyRequest:
    """The same request about the very model and φ that were swept, as the sweep's settings name them."""
    with fitting_together(folder):
        swept = _swept_request(folder)
        asked: dict[str, Any] = {one.name: getattr(swept, one.name) for one in fields(SubjectOptions)}
    if swept.model is None and swept.phi is not None:
        raise LcifrError(
            f"{folder} was swept for {swept.phi}, not for the producer's φ, which certificates of folders are about",
            fix="sweep without --phi, or leave --sweep out",
        )
    own = {"out": request.out, "force": request.force, "id_column": request.id_column}
    asked |= {"labels": request.labels or swept.labels, **own}
    if swept.model is not None:
        asked["reference"] = swept.reference or swept.table
    return replace(request, **asked)


def _swept_request(folder: Path) -> SweepRequest:
    """What the sweep was asked about; refused where one of these files is no longer there."""
    read_result(folder, "sweep")
    settings = RunSettings.read(folder)
    for name, one in settings.inputs.items():
        if not Path(one.path).exists():
            raise LcifrError(
                f"{one.path} ({name}), which {folder} was made from, is not there",
                fix="run it where the sweep was run, or say what is asked about: --model, --phi, --reference, …",
            )
    return from_json(SweepRequest, {**settings.arguments, "out": str(folder)})
