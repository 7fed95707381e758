"""The work of ``lcifr certify``: saved models on new people, a decision and a verdict each."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lcifr.data.files import MANIFEST
from lcifr.errors import LcifrError
from lcifr.models.network import choose_for
from lcifr.workflows.auditing import audit_people, gather
from lcifr.workflows.consuming import usual_surroundings
from lcifr.workflows.events import Listener, StepKind, listening, note, step
from lcifr.workflows.executors import job_device, workers_of
from lcifr.workflows.folders import Command, Run, RunSettings, fitting_together, read_result, run_folder
from lcifr.workflows.labels import check_labels
from lcifr.workflows.people import HELD_OUT, TRAIN, part_for
from lcifr.workflows.results import CertifyResult, decisions_of, name_decisions, read_consumer
from lcifr.workflows.subjects import (
    ModelQuestion,
    file_of,
    folders_of,
    open_people,
    prepare_model,
    read_folders,
    read_for_people,
    read_people,
    refuse_mixed,
    without_strange_labels,
)
from lcifr.workflows.sweeping import SweepLookUp

if TYPE_CHECKING:
    from lcifr.certification.handover import Provenance
    from lcifr.workflows.executors import Workers


# Saved models on new people: decisions with a verdict each, from a hand-over or from end to end.


@dataclass(frozen=True)
class CertifyRequest:
    """Whom to decide about with saved models, and where the certificates go.

    Parameters
    ----------
    consumer : the folder that ``consume`` wrote. out : the new folder.
    people : a hand-over; or a table, which needs ``producer``, the folder that ``produce`` wrote.
    id_column : the column of the people's names in a table.
    on : what of a hand-over is proved: ``ball`` or ``box``; None as for ``consume``.
    arithmetic : in which the models are computed: ``exact``, ``float64`` or ``float32``; None for float64, and for
        what a consumer's trees from elsewhere are added up in. A hand-over names the encoder's, and then it is the
        consumer's.
    workers : processes; None for one per core. chunk : people per part; None to choose.
    sweep : the folder that ``sweep`` wrote; whoever of a table is in a strictly proved cell of it is not searched for.
    force : replace ``out`` if lcifr wrote it.
    executor, address, device, labels : as for :class:`lcifr.workflows.AuditRequest`.
    """

    consumer: Path
    people: Path
    out: Path
    producer: Path | None = None
    id_column: str | None = None
    on: Literal["ball", "box"] | None = None
    arithmetic: str | None = None
    workers: int | None = None
    chunk: int | None = None
    sweep: Path | None = None
    force: bool = False
    executor: str = "local"
    address: str | None = None
    device: str = "cpu"
    labels: Mapping[Any, str] = field(default_factory=dict)

    @property
    def crew(self) -> Workers:
        """Who works on the people."""
        return workers_of(self.executor, self.workers, self.address)

    def __post_init__(self) -> None:
        job_device(self.device, self.crew)
        is_handover = self.producer is None or (self.people / MANIFEST).is_file()  # else a table in many files
        handed = self.people.is_dir() and is_handover
        if self.sweep is not None and handed:
            raise LcifrError(
                f"{self.people} is a hand-over, but --sweep needs the people's table",
                fix="give the table and --producer, or leave --sweep out",
            )
        if handed and not (self.people / MANIFEST).exists() and (self.people / HELD_OUT).is_dir():
            raise LcifrError(
                f"{self.people} contains two hand-overs, {TRAIN} and {HELD_OUT}",
                fix=f"give one of them, such as {self.people / HELD_OUT}",
            )
        if handed == (self.producer is not None):
            known = "a hand-over needs no --producer" if handed else "a table of people needs --producer"
            raise LcifrError(f"{self.people}: {known}", fix="see the example of `lcifr certify --help`")

    @property
    def inputs(self) -> dict[str, Path]:
        """Files and folders that are read, by argument."""
        known = {"consumer": self.consumer, "people": self.people}
        asked = {"producer": self.producer, "sweep": self.sweep}
        return known | {name: path for name, path in asked.items() if path is not None}


def certify(request: CertifyRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = ()) -> CertifyResult:
    """Decide about new people, and prove for whom everybody similar gets the same decision.

    Parameters
    ----------
    listener : hears :mod:`lcifr.workflows.events`. argv : the words of the command line, for the settings.
    """
    command = Command.of("certify", request, argv)
    with (
        listening(listener),
        run_folder(command, request.out, force=request.force, inputs=request.inputs) as run,
    ):
        producer = request.producer
        result = _from_handover(run, request) if producer is None else _from_table(run, request, producer)
        run.finish(result.to_dict())
    return result


def _from_handover(run: Run, request: CertifyRequest) -> CertifyResult:
    from lcifr.certification.handover import Outline
    from lcifr.certification.population import Tally, state_tally
    from lcifr.workflows.jobs import CERTIFIED, certify_folder, read_certified
    from lcifr.workflows.parts import note_resumed
    from lcifr.workflows.results import read_saved_head

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


def _from_table(run: Run, request: CertifyRequest, producer: Path) -> CertifyResult:
    look_up = SweepLookUp.read(request.sweep)
    subject = read_folders(producer, request.consumer, arithmetic=request.arithmetic)
    summary = folders_of(subject).summary(subject)
    summary = replace(summary, labels=name_decisions(request.labels, decisions_of(subject.model)))
    source = open_people(subject, request.people, request.id_column, run.work, workers=request.crew)
    proved = None if look_up is None else look_up.cells
    audit_people(
        run.steps, subject, source, request.crew, request.chunk, modular=False, proved=proved, device=request.device
    )
    tally = gather(run.work, subject, source, None).tally
    found = None if look_up is None else look_up.summary(tally)
    return CertifyResult.end_to_end(summary, tally, looked_up=found)


# New people certified with a model that already decides: decisions with a verdict each, as a gate in pipelines.


@dataclass(frozen=True, kw_only=True)
class ModelCertifyRequest(ModelQuestion):
    """Whom to decide about with a model, and where the certificates go; see :class:`ModelQuestion`.

    Parameters
    ----------
    out : the new folder. workers : processes; None for one per core. chunk : people per part; None to choose.
    sweep : the folder that ``sweep`` wrote; whoever is in a strictly proved cell of it is not searched for.
    force : replace ``out`` if lcifr wrote it.
    executor, address, device, labels : as for :class:`lcifr.workflows.AuditRequest`.
    """

    out: Path
    sweep: Path | None = None
    workers: int | None = None
    chunk: int | None = None
    force: bool = False
    executor: str = "local"
    address: str | None = None
    device: str = "cpu"
    labels: Mapping[Any, str] = field(default_factory=dict)

    @property
    def crew(self) -> Workers:
        """Who works on the people."""
        return workers_of(self.executor, self.workers, self.address)

    @property
    def inputs(self) -> dict[str, Path]:
        return super().inputs | ({} if self.sweep is None else {"sweep": self.sweep})

    def __post_init__(self) -> None:
        job_device(self.device, self.crew)
        if self.reference is None:
            raise LcifrError(
                "new people do not define the standard deviations in φ or the known categories",
                fix="add --reference TABLE: the people who were audited, or the training table",
            )


def certify_model(
    request: ModelCertifyRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = ()
) -> CertifyResult:
    """Decide about new people, and prove for whom everybody similar gets the same decision.

    Parameters
    ----------
    listener : hears :mod:`lcifr.workflows.events`. argv : the words of the command line, for the settings.
    """

    with listening(listener):
        look_up = SweepLookUp.read(request.sweep)
        prepared = prepare_model(request)
        command = Command.of("certify", request, argv, prepared.file.libraries)
        with run_folder(command, request.out, force=request.force, inputs=request.inputs) as run:
            source = read_people(prepared, request, run.work, workers=request.crew)
            subject = read_for_people(prepared, request, source)
            source = without_strange_labels(source, subject)
            subject = check_labels(prepared, request, subject, source)
            origin = file_of(subject)
            summary = replace(
                origin.summary(subject), labels=name_decisions(request.labels, decisions_of(subject.model))
            )
            proved = None if look_up is None else look_up.cells
            audit_people(
                run.steps,
                subject,
                source,
                request.crew,
                request.chunk,
                modular=False,
                proved=proved,
                device=request.device,
            )
            tally = gather(run.work, subject, source, None).tally
            found = None if look_up is None else look_up.summary(tally)
            result = CertifyResult.end_to_end(summary, tally, found)
            warned = (*result.statement.warnings, *origin.warnings(subject))
            result = replace(result, statement=replace(result.statement, warnings=warned))
            run.finish(result.to_dict())
    return result


# People looked up in a sweep's folder, for whatever it was that was swept.


def certify_swept(
    folder: Path,
    people: Path,
    options: Mapping[str, Any],
    listener: Listener | None = None,
    *,
    argv: tuple[str, ...] = (),
) -> CertifyResult:
    """Certify new people for the very model and φ that were swept, as the sweep's settings name them.

    Parameters
    ----------
    people : a table. options : ``out``, ``id_column``, ``workers``, ``chunk`` and ``force``, as for ``certify``.
    """

    with fitting_together(folder):
        request = _as_swept(folder, people, options)
    if isinstance(request, CertifyRequest):
        return certify(request, listener, argv=argv)
    return certify_model(request, listener, argv=argv)


def _as_swept(folder: Path, people: Path, options: Mapping[str, Any]) -> CertifyRequest | ModelCertifyRequest:

    asked = _swept_arguments(folder)
    shared: dict[str, Any] = {**options, "sweep": folder, "arithmetic": asked["arithmetic"]}
    shared["labels"] = options.get("labels") or asked.get("labels") or {}
    if "producer" in asked:
        _refuse_another_formula(folder, asked["phi"])
        producer, consumer = Path(asked["producer"]), Path(asked["consumer"])
        return CertifyRequest(people=people, producer=producer, consumer=consumer, **shared)
    described = asked["describe"]
    return ModelCertifyRequest(
        model=Path(asked["model"]),
        describe=None if described is None else Path(described),
        missing=asked.get("missing"),
        table=people,
        reference=Path(asked["reference"] or asked["table"]),
        phi=asked["phi"],
        schema=asked["schema"],
        target=asked["target"],
        tolerance=asked["tolerance"],
        accept_draft=bool(asked.get("accept_draft")),  # as they were accepted for the sweep
        accept_accuracy=bool(asked.get("accept_accuracy")),
        groups=tuple(map(tuple, asked["groups"])),
        **shared,
    )


def _refuse_another_formula(folder: Path, phi: str | None) -> None:
    if phi is not None:
        raise LcifrError(
            f"{folder} was swept for {phi}, not for the producer's φ, which certificates of folders are about",
            fix="sweep without --phi, or leave --sweep out",
        )


def _swept_arguments(folder: Path) -> Mapping[str, Any]:
    """What the sweep was asked about; refused where one of these files is no longer there."""
    read_result(folder, "sweep")
    settings = RunSettings.read(folder)
    for name, one in settings.inputs.items():
        if not Path(one.path).exists():
            raise LcifrError(
                f"{one.path} ({name}), which {folder} was made from, is not there",
                fix="run it where the sweep was run, or say what is asked about: --model, --phi, --reference, …",
            )
    return settings.arguments
