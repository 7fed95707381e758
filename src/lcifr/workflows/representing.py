"""New people handed over: their z and proved radius, by an encoder that was learned before."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.workflows.events import Listener, listening
from lcifr.workflows.executors import job_device, workers_of
from lcifr.workflows.folders import Command, run_folder
from lcifr.workflows.people import scan_people
from lcifr.workflows.producing import BUNDLE, hand_over, prove_radii, refuse_bundle

if TYPE_CHECKING:
    from lcifr.workflows.executors import Workers
    from lcifr.workflows.results import RepresentResult

HANDED = "handover"


@dataclass(frozen=True, kw_only=True)
class RepresentRequest:
    """Whom to hand over, and where the result goes.

    Parameters
    ----------
    producer : the folder that ``produce`` wrote. table : the new people, a .csv or .parquet file of any size.
    out : the new folder. force : replace it if lcifr wrote it. id_column : their names; None for row numbers.
    share_formula : whether the hand-over shows φ. bundle : whether proofs are written, for at most 100,000 people.
    arithmetic : in which the encoder is computed: ``exact``, ``float64`` or ``float32``.
    workers : processes; None for one per core. chunk : people per part; None to choose.
    executor, address, device : as for :class:`lcifr.workflows.AuditRequest`.
    """

    producer: Path
    table: Path
    out: Path
    id_column: str | None = None
    share_formula: bool = True
    bundle: bool = False
    arithmetic: str = "float64"
    workers: int | None = None
    chunk: int | None = None
    force: bool = False
    executor: str = "local"
    address: str | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        job_device(self.device, self.crew)

    @property
    def crew(self) -> Workers:
        """Who works on the people."""
        return workers_of(self.executor, self.workers, self.address)

    @property
    def inputs(self) -> dict[str, Path]:
        """Files and folders that are read, by argument."""
        return {"producer": self.producer, "table": self.table}


def represent(
    request: RepresentRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = ()
) -> RepresentResult:
    """Hand over new people: their z and proved radius. Stopped at any moment, the same request goes on where it was.

    Parameters
    ----------
    listener : hears :mod:`lcifr.workflows.events`. argv : the words of the command line, for the settings.
    """
    from lcifr.certification.handover import FrozenEncoder, radius_summary
    from lcifr.workflows.results import RepresentResult, read_producer, read_saved_encoder

    with listening(listener):
        read_producer(request.producer)
        saved = read_saved_encoder(request.producer)
        encoder = FrozenEncoder(saved.function, saved.similarity, saved.whole_numbers)
        command = Command.of("represent", request, argv)
        with run_folder(command, request.out, force=request.force, inputs=request.inputs) as run:
            schema = encoder.encoding.schema
            source = scan_people(
                request.table, schema, request.id_column, run.work, labels=False, stored=False, workers=request.crew
            )
            if request.bundle:
                refuse_bundle(source.count)
                source = source.in_memory()  # hand-over and proofs need them
            title = f"Proving the radius of {source.count:,} people"
            hand_over(run.steps, HANDED, encoder, source, request, title=title, device=request.device)
            if request.bundle:
                prove_radii(run.steps, encoder, source, HANDED)
            files = {"handover": HANDED, "bundle": BUNDLE if request.bundle else None}
            radius = radius_summary(run.work / HANDED)
            result = RepresentResult(source.count, encoder.function.hash, radius, files)
            run.finish(result.to_dict())
    return result
