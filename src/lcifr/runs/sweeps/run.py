"""The work of ``lcifr sweep``: everybody who can exist, proved, violating or open; stopped and resumed at will."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.runs.auditing.parties import open_people, read_parties
from lcifr.runs.events import Listener, StepKind, listening, step
from lcifr.runs.folders.run import Run, run_folder
from lcifr.runs.folders.settings import Command
from lcifr.runs.models.labels import check_labels
from lcifr.runs.models.preparing import ModelQuestion, prepare_model, read_for_people, read_people
from lcifr.runs.sweeps.folder import CELLS, ENCODING, PAIRS, SweepResult
from lcifr.runs.sweeps.people import MOST, decide_people
from lcifr.runs.sweeps.proving import write_and_check
from lcifr.runs.sweeps.worst_pairs import worst_pairs

if TYPE_CHECKING:
    from lcifr.certification.sweep.result import Sweep
    from lcifr.certification.sweep.sweeper import Sweeper
    from lcifr.certification.sweep.swept_model import SweptModel
    from lcifr.data import Schema
    from lcifr.runs.auditing.result import ModelSummary
    from lcifr.runs.auditing.subject import AuditSubject
    from lcifr.runs.people.source import PeopleSource

SWEPT = "swept.parquet"
"""Cells of a sweep that is over, until the folder is complete: a resumed run does not begin to cut them again."""
KEPT_EVERY = 15.0
"""Seconds of work that a stopped sweep may lose."""
PERCENT = 100
"""Steps of the progress bar: how much of everybody is decided."""


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """How far to go.

    Parameters
    ----------
    out : the new folder. universe : ``whole`` or ``reals``. cells, seconds : looked at, at most, in this run.
    nodes : of the search in one cell. bundle : write the proofs for the exact checker, and check them.
    people : how many people of the table, whom no cell decides, are then asked about one by one, at most.
    force : replace ``out`` if lcifr wrote it.
    labels : what decisions are called in output and reports, such as ``{0: "refused", 1: "granted"}``.
    """

    out: Path
    universe: str = "whole"
    cells: int = 10_000
    seconds: float | None = None
    nodes: int = 200
    people: int = MOST
    bundle: bool = False
    force: bool = False
    labels: Mapping[Any, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SweepRequest(SweepOptions):
    """A producer's and a consumer's folder; ``phi`` replaces the producer's formula."""

    producer: Path
    consumer: Path
    phi: str | None = None
    arithmetic: str = "float64"


@dataclass(frozen=True, kw_only=True)
class ModelSweepRequest(ModelQuestion, SweepOptions):
    """A model that already decides, with a table of its columns; see :class:`ModelQuestion`."""


def sweep(request: SweepRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = ()) -> SweepResult:
    """Sweep what `lcifr produce` and `lcifr consume` learned."""
    with listening(listener):
        command = Command.of("sweep", request, argv)
        inputs = {"producer": request.producer, "consumer": request.consumer}
        if request.phi is not None and Path(request.phi).is_file():
            inputs["phi"] = Path(request.phi)
        parties = read_parties(request.producer, request.consumer, request.phi, request.arithmetic)
        with run_folder(command, request.out, force=request.force, inputs=inputs) as run:
            people = open_people(parties, request.producer, None, None, run.work)
            return _sweep(run, parties, people, request)


def sweep_model(
    request: ModelSweepRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = ()
) -> SweepResult:
    """Sweep a model that already decides."""
    with listening(listener):
        prepared = prepare_model(request)
        command = Command.of("sweep", request, argv, prepared.file.libraries)
        with run_folder(command, request.out, force=request.force, inputs=request.inputs) as run:
            people = read_people(prepared, request, run.work)
            subject = read_for_people(prepared, request, people)
            subject = check_labels(prepared, request, subject, people)
            return _sweep(run, subject, people, request, subject.warnings)


def _sweep(
    run: Run, subject: AuditSubject, people: PeopleSource, options: SweepOptions, warnings: tuple[str, ...] = ()
) -> SweepResult:
    from lcifr.certification.sweep.sweeper import Sweeper
    from lcifr.certification.sweep.swept_model import SweptModel
    from lcifr.runs.auditing.result import decisions_of, name_decisions

    summary = replace(subject.summary(), labels=name_decisions(options.labels, decisions_of(subject.model)))
    whole = options.universe == "whole"
    library = None if subject.library is None else subject.library.source
    swept = SweptModel(subject.encoder, subject.model, subject.arithmetic, library)
    run.lost = "A few seconds of work are lost."
    if run.steps.kept(SWEPT):
        found = _read(run.work / SWEPT, swept, whole)
    else:
        file = run.work / CELLS
        start = _read(file, swept, whole) if run.resumed and file.is_file() else None
        sweeper = Sweeper(swept, whole=whole, nodes=options.nodes, start=start)
        found = _run(run, sweeper, options, subject.schema)
        _keep(run, found, subject.schema, SWEPT)
        run.steps.keep(SWEPT)
    decided, found = decide_people(run.work, swept, found, people, options.people)
    _keep(run, found, subject.schema)
    found.counterexamples().to_csv(run.work / PAIRS, index=False)
    subject.encoder.encoding.save(run.work / ENCODING)
    worst = worst_pairs(swept, found.pairs)
    checked = write_and_check(run.work, swept, found, options.nodes) if options.bundle else None
    result = SweepResult(_warned(summary, warnings), found, decided, worst, checked)
    (run.work / SWEPT).unlink()
    run.finish(result.to_dict())
    return result


def _warned(model: ModelSummary, warnings: tuple[str, ...]) -> ModelSummary:
    """The model with what a reader of its cells has to know."""
    if model.origin is None or not warnings:
        return model
    return replace(model, origin=replace(model.origin, assumptions=(*model.origin.assumptions, *warnings)))


def _run(run: Run, sweeper: Sweeper, options: SweepOptions, schema: Schema) -> Sweep:
    """The sweep, kept from time to time, with a bar that says how much of everybody is decided."""
    kept = time.monotonic()
    with step("Sweeping everyone who could exist, percent decided", StepKind.COUNT, PERCENT) as advance:

        def progress(known: Sweep) -> None:
            nonlocal kept
            if time.monotonic() - kept > KEPT_EVERY:
                _keep(run, known, schema)
                kept = time.monotonic()
            advance(int(sweeper.decided * PERCENT), PERCENT)

        return sweeper.run(cells=options.cells, seconds=options.seconds, progress=progress)


def _keep(run: Run, found: Sweep, schema: Schema, name: str = CELLS) -> None:
    import pyarrow.parquet as pq

    from lcifr.certification.sweep.result import to_table

    beside = run.work / f".{name}.new"
    pq.write_table(to_table(found, schema), beside)
    beside.replace(run.work / name)


def _read(file: Path, swept: SweptModel, whole: bool) -> Sweep:
    import pyarrow.parquet as pq

    from lcifr.certification.sweep.result import from_table

    schema = swept.encoding.schema
    return from_table(pq.read_table(file), schema, whole=whole, arithmetic=swept.arithmetic, hashes=swept.hashes)
