"""Hand over new people: z and proved radius, from an encoder trained earlier."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.workflows.events import Listener, listening
from lcifr.workflows.folders import Command, run_folder
from lcifr.workflows.options import (
    PRODUCER,
    HandoverOptions,
    RunOptions,
    argument,
    arithmetic_option,
    option,
)
from lcifr.workflows.people import scan_people
from lcifr.workflows.producing import BUNDLE, hand_over, prove_radii, refuse_bundle

if TYPE_CHECKING:
    from lcifr.workflows.results import RepresentResult

HANDED = "handover"


@dataclass(frozen=True, kw_only=True)
class RepresentRequest(HandoverOptions, RunOptions):
    """Which people to hand over, with which encoder, and where to write the result."""

    producer: Path = argument("PRODUCER", PRODUCER)
    table: Path = argument("TABLE", "The new people: a .csv or .parquet file.")
    bundle: bool = option(False, "Write the proofs for `lcifr check`.", negative="no-bundle")
    arithmetic: str = arithmetic_option()

    @property
    def inputs(self) -> dict[str, Path]:
        """Files and folders that are read, by argument."""
        return {"producer": self.producer, "table": self.table}


def represent(
    request: RepresentRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = ()
) -> RepresentResult:
    """Hand over new people: z and proved radius. If interrupted, the same request resumes where it stopped.

    Parameters
    ----------
    listener : receives events (:mod:`lcifr.workflows.events`). argv : the command line, to record in the settings.
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
                source = source.in_memory()  # both the hand-over and the proofs need everyone
            title = f"Proving the radius of {source.count:,} people"
            hand_over(run.steps, HANDED, encoder, source, request, title=title, device=request.device)
            if request.bundle:
                prove_radii(run.steps, encoder, source, HANDED)
            files = {"handover": HANDED, "bundle": BUNDLE if request.bundle else None}
            radius = radius_summary(run.work / HANDED)
            result = RepresentResult(source.count, encoder.function.hash, radius, files)
            run.finish(result.to_dict())
    return result
