"""New people certified with a model that already decides: decisions with a verdict each, as a gate in pipelines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.runs.auditing.gathering import audit_people, gather
from lcifr.runs.events import Listener, listening
from lcifr.runs.executors.crew import workers_of
from lcifr.runs.executors.devices import job_device
from lcifr.runs.folders.run import run_folder
from lcifr.runs.folders.settings import Command
from lcifr.runs.models.labels import check_labels
from lcifr.runs.models.preparing import (
    ModelQuestion,
    prepare_model,
    read_for_people,
    read_people,
    without_strange_labels,
)
from lcifr.runs.sweeps.folder import SweepLookUp

if TYPE_CHECKING:
    from lcifr.runs.auditing.certify_result import CertifyResult
    from lcifr.runs.executors.crew import Workers


@dataclass(frozen=True, kw_only=True)
class ModelCertifyRequest(ModelQuestion):
    """Whom to decide about with a model, and where the certificates go; see :class:`ModelQuestion`.

    Parameters
    ----------
    out : the new folder. workers : processes; None for one per core. chunk : people per part; None to choose.
    sweep : the folder that ``sweep`` wrote; whoever is in a strictly proved cell of it is not searched for.
    force : replace ``out`` if lcifr wrote it.
    executor, address, device, labels : as for :class:`lcifr.runs.AuditRequest`.
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
    listener : hears the events of :mod:`lcifr.runs.events`. argv : the words of the command line, for the settings.
    """
    from lcifr.runs.auditing.certify_result import CertifyResult
    from lcifr.runs.auditing.result import decisions_of, name_decisions

    with listening(listener):
        look_up = SweepLookUp.read(request.sweep)
        prepared = prepare_model(request)
        command = Command.of("certify", request, argv, prepared.file.libraries)
        with run_folder(command, request.out, force=request.force, inputs=request.inputs) as run:
            source = read_people(prepared, request, run.work, workers=request.crew)
            subject = read_for_people(prepared, request, source)
            source = without_strange_labels(source, subject)
            subject = check_labels(prepared, request, subject, source)
            summary = replace(subject.summary(), labels=name_decisions(request.labels, decisions_of(subject.model)))
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
            warned = (*result.statement.warnings, *subject.warnings)
            result = replace(result, statement=replace(result.statement, warnings=warned))
            run.finish(result.to_dict())
    return result
