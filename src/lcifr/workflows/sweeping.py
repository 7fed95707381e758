"""The work of ``lcifr sweep``, and its folder: everyone who could exist, proved, violating or open; resumable."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from lcifr.data.codec import Record, from_json, to_json
from lcifr.errors import ArtefactError
from lcifr.models.arithmetic import Arithmetic
from lcifr.workflows.events import Listener, StepKind, listening, step
from lcifr.workflows.folders import Command, Run, RunSettings, fitting_together, read_result, run_folder
from lcifr.workflows.options import (
    SubjectOptions,
    argument,
    arithmetic_option,
    labels_option,
    option,
)
from lcifr.workflows.subjects import named_summary, open_origin, origin_of
from lcifr.workflows.sweep_people import MOST, SweptPeople, decide_people

if TYPE_CHECKING:
    from lcifr.certification.counterexample import Pairs
    from lcifr.certification.population import Tally
    from lcifr.certification.subject import Subject
    from lcifr.certification.sweep.look_up import ProvedCells
    from lcifr.certification.sweep.result import Sweep
    from lcifr.certification.sweep.sweeper import Sweeper
    from lcifr.data import Encoding, Schema
    from lcifr.workflows.people import PeopleSource
    from lcifr.workflows.results import LookUpSummary, ModelSummary


# The pairs of a sweep whose outputs are furthest apart, in the table's own units, with what differs.

LISTED = 20
"""In ``result.json``; ``pairs.csv`` has all."""


@dataclass(frozen=True)
class WorstPair:
    """Two similar people who are decided differently.

    Parameters
    ----------
    x, other : their attributes. decision, other_decision : in the model's own labels.
    apart : how far apart their outputs are: scores by which classes are decided, or the predicted numbers.
    """

    x: Mapping[str, Any]
    other: Mapping[str, Any]
    decision: Any
    other_decision: Any
    apart: float

    @property
    def differs(self) -> dict[str, tuple[Any, Any]]:
        """For each attribute that differs, both values."""
        return {name: (self.x[name], self.other[name]) for name in self.x if self.x[name] != self.other[name]}

    @property
    def alike(self) -> dict[str, Any]:
        """The attributes that both have."""
        return {name: value for name, value in self.x.items() if value == self.other[name]}


def worst_pairs(subject: Subject, pairs: list[Pairs], most: int = LISTED) -> tuple[WorstPair, ...]:
    """The pairs with the largest distance between their outputs; one that is another turned round is left out."""
    import numpy as np

    from lcifr.data import Individuals
    from lcifr.data.files import json_value

    if not pairs:
        return ()
    x, other = (Individuals.joined([getattr(pair, who) for pair in pairs]) for who in ("x", "other"))
    apart = np.abs(subject.directed_scores(x) - subject.directed_scores(other)).max(1)
    seen: set[frozenset[bytes]] = set()
    rows: list[int] = []
    for row in np.argsort(-apart, kind="stable").tolist():
        both = frozenset(one.numbers[row].tobytes() + one.codes[row].tobytes() for one in (x, other))
        if both not in seen:
            seen.add(both)
            rows.append(row)
        if len(rows) == most:
            break
    one, two = (subject.model.decide(subject.scores(people.take(rows))) for people in (x, other))
    tables = [people.take(rows).to_pandas().to_dict("records") for people in (x, other)]
    plain = [[{str(name): json_value(value) for name, value in row.items()} for row in table] for table in tables]
    return tuple(
        WorstPair(plain[0][place], plain[1][place], json_value(one[place]), json_value(two[place]), float(apart[row]))
        for place, row in enumerate(rows)
    )


# Proofs of a sweep on file: the bundle is written, and read back by the exact checker.

BUNDLE, CHECKED = "bundle", "checked.json"
MORE_NODES = 10
"""Times those of the sweep: a proof is known to exist, so the search for it may take its time."""
PATIENCE = 100
"""Times the usual work for the proofs of a cell: this sweep wrote them itself."""

WITHOUT = "ties, people settled by trying everyone similar, numbers predicted by trees, or no proof found a second time"
"""Why a bundle may know less than its sweep."""


@dataclass(frozen=True)
class SweepCheck(Record):
    """What the exact checker confirmed of a sweep's bundle.

    Parameters
    ----------
    shares : of everyone who can exist, by status, as exact fractions p/q.
    confirmed : cells with a claim that is confirmed. unproved : cells that the sweep has settled, but without a proof
        on file: they are open in the bundle. rejected : cells whose proof does not show what it must.
    """

    also = ("bundle",)
    bundle: ClassVar[str] = BUNDLE
    shares: Mapping[str, str]
    confirmed: int
    unproved: int
    rejected: int

    def __str__(self) -> str:
        said = [f"proofs: {self.confirmed:,} cells confirmed by the exact checker"]
        unproved = f"{self.unproved:,} more are known to the sweep but left open in the bundle ({WITHOUT})"
        said += [unproved] if self.unproved else []
        said += [f"{self.rejected:,} NOT CONFIRMED"] if self.rejected else []
        return ", ".join(said)


def write_and_check(work: Path, subject: Subject, found: Sweep, nodes: int) -> SweepCheck:
    """Write the bundle of a sweep into its folder, check it, and keep the report beside it."""
    from lcifr.certification.sweep.bundle import write_sweep_bundle
    from lcifr.check.bundle import check_bundle
    from lcifr.data.files import write_json
    from lcifr.prove import Budget

    shutil.rmtree(work / BUNDLE, ignore_errors=True)  # left by a sweep that was stopped afterwards, and resumed
    with step("Writing the proofs", StepKind.COUNT) as progress:
        write_sweep_bundle(work / BUNDLE, subject, found, budget=Budget(nodes=MORE_NODES * nodes), progress=progress)
    with step("Checking the proofs in exact arithmetic", StepKind.COUNT) as progress:
        report = check_bundle(work / BUNDLE, progress, patience=PATIENCE)
    write_json(work / CHECKED, asdict(report))
    confirmed = sum(len(report.names.get(kind, ())) for kind in ("proved", "strict crossings only", "violating"))
    rejected = len(report.rejected.keys() - {"shares"})
    unproved = len(found.proved) + len(found.violating) - confirmed - rejected
    return SweepCheck(report.shares, confirmed, unproved, rejected)


# The folder of a sweep: cells, pairs, encoding and shares, written by ``lcifr sweep`` and read back unchanged.

FORMAT = "lcifr-swept-1"
CELLS, PAIRS, ENCODING = "cells.parquet", "pairs.csv", "encoding.json"


@dataclass(frozen=True, eq=False)
class SweepResult:
    """Parameters
    ----------
    model : what was swept. sweep : its cells, shares and pairs. people : of the table, and what decided them.
    worst : the pairs whose outputs are furthest apart. checked : what the exact checker confirmed of proofs on file;
        None where none were asked for.
    """

    model: ModelSummary
    sweep: Sweep
    people: SweptPeople
    worst: tuple[WorstPair, ...] = ()
    checked: SweepCheck | None = None

    @property
    def undecided(self) -> int:
        """Cells that are neither strictly proved nor violating."""
        from lcifr.certification.sweep.result import CellStatus

        return sum(len(self.sweep.cells(one)) for one in (CellStatus.OPEN, CellStatus.CROSSINGS))

    @property
    def people_lines(self) -> list[str]:
        """The people of the table in words, and which of their proofs the exact checker has not seen."""
        lines = [f"people in the table: {self.people}"]
        if self.checked is not None and self.people.proofs:
            lines.append(
                f"the bundle is about cells: proofs of single people ({self.people.proofs:,}) are not in it and not "
                "checked; lcifr audit writes and checks proofs about people"
            )
        return lines

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        from lcifr.certification.sweep.result import CellStatus

        shares = {str(one): self.sweep.share(one) for one in CellStatus}
        unknown = float(self.sweep.share(CellStatus.OPEN) + self.sweep.share(CellStatus.CROSSINGS))
        sure = (CellStatus.PROVED, CellStatus.VIOLATING)
        bounds = {str(one): [float(shares[one]), min(1.0, float(shares[one]) + unknown)] for one in sure}
        decision = None if self.sweep.hashes is None else dict(self.sweep.hashes.decision)
        return {
            "format": FORMAT,
            "command": "sweep",
            "universe": "whole" if self.sweep.whole else "reals",
            "shares": {name: float(share) for name, share in shares.items()},
            "exact_shares": {name: str(share) for name, share in shares.items()},
            "bounds": bounds,
            "cells": {str(one): len(self.sweep.cells(one)) for one in CellStatus},
            "pairs": len(self.sweep.pairs),
            "stopped_by": to_json(self.sweep.limit),
            "refuted_cells": self.sweep.refuted_cells,
            "people": self.people.counts,
            **self.people.to_dict(),
            "individuals": self.sweep.individuals,
            "worst": to_json(self.worst),
            "map": self.sweep.map().to_dict(),
            "decision": decision,
            "sweep": self.sweep.hash,
            "checked": to_json(self.checked),
            **self.model.to_dict(),
        }

    def with_labels(self, labels: Mapping[Any, str]) -> SweepResult:
        """The same with other names of decisions, for people to read; nothing else depends on them."""
        from lcifr.workflows.results import name_decisions

        if not labels:
            return self
        binary = self.sweep.hashes is not None and self.sweep.hashes.decision.get("kind") == "sign"
        named = name_decisions(labels, self.model.classes or (range(2) if binary else ()))
        return replace(self, model=replace(self.model, labels=named))

    @classmethod
    def read(cls, folder: Path) -> SweepResult:
        """What is in a folder that ``lcifr sweep`` wrote.

        Raises
        ------
        LcifrError
            If it is the folder of something else, or its cells are not those that were written.
        """
        from lcifr.certification.sweep.result import SweepLimit
        from lcifr.workflows.results import ModelSummary

        with fitting_together(folder):
            said = read_result(folder, "sweep")
            if said.get("format") != FORMAT:
                raise ArtefactError(
                    f"{folder} was written by another version of lcifr: {said.get('format')!r}, expected {FORMAT!r}",
                    fix="sweep again",
                )
            _refuse_changed(folder, CELLS, ENCODING)
            model = ModelSummary.from_dict(said)
            sweep = _read_cells(folder, said, model)
            if sweep.hash != said["sweep"]:
                raise ArtefactError(f"{folder / CELLS} does not hold the cells of this sweep", fix="sweep again")
            stopped, checked = said.get("stopped_by"), said["checked"]
            sweep = replace(sweep, limit=None if stopped is None else from_json(SweepLimit, stopped, "stopped_by"))
            worst = tuple(from_json(WorstPair, one, "worst") for one in said["worst"])
            exactly = None if checked is None else SweepCheck.from_dict(checked)
            return cls(model, sweep, SweptPeople.from_dict(said), worst, exactly)


def _refuse_changed(folder: Path, *names: str) -> None:
    from lcifr.data.files import sha256_of

    known = RunSettings.read(folder).files
    for name in names:
        if not (folder / name).is_file() or sha256_of(folder / name) != known.get(name):
            raise ArtefactError(f"{folder / name} is not what the sweep wrote", fix="get the whole folder again")


def _read_cells(folder: Path, said: Mapping[str, Any], model: ModelSummary) -> Sweep:
    import pyarrow.parquet as pq

    from lcifr.certification.subject import Hashes
    from lcifr.certification.sweep.result import from_table
    from lcifr.models.arithmetic import Arithmetic

    hashes = Hashes(**model.hashes.of_proofs(), decision=said["decision"], arithmetic=model.arithmetic)
    encoding = read_encoding(folder)
    if encoding.hash != hashes.encoding:
        raise ArtefactError(f"{folder / ENCODING} is not the encoding that was swept", fix="sweep again")
    table, whole = pq.read_table(folder / CELLS), said["universe"] == "whole"
    arithmetic = Arithmetic(model.arithmetic)
    return from_table(table, encoding.schema, whole=whole, arithmetic=arithmetic, hashes=hashes)


def read_encoding(folder: Path) -> Encoding:
    """The encoding, with its schema, of the people swept."""
    from lcifr.data import Encoding

    return Encoding.load(folder / ENCODING)


@dataclass(frozen=True, eq=False)
class SweepLookUp:
    """The strictly proved cells of a sweep's folder, for people who are to be certified."""

    folder: Path
    cells: ProvedCells

    @classmethod
    def read(cls, folder: Path | None) -> SweepLookUp | None:
        """None where there is not a folder."""
        from lcifr.certification.sweep.look_up import ProvedCells

        return (
            None if folder is None else cls(folder, ProvedCells.of(SweepResult.read(folder).sweep, _confirmed(folder)))
        )

    def summary(self, tally: Tally) -> LookUpSummary:
        """How many were found, of those who were counted."""
        from lcifr.workflows.results import LookUpSummary

        claimed = tally.looked_up - tally.in_checked
        return LookUpSummary(tally.looked_up, tally.in_checked, claimed, str(self.folder), self.cells.sweep)


def _confirmed(folder: Path) -> set[int]:
    """The numbers of proved cells that the exact checker has confirmed, by its report in the folder."""
    from lcifr.data.files import read_json

    if not (folder / CHECKED).exists():
        return set()
    _refuse_changed(folder, CHECKED)
    return {int(name) for name in read_json(folder / CHECKED)["names"].get("proved", ())}


# The work of ``lcifr sweep``: everyone who can exist, proved, violating or open; stopped and resumed at will.

SWEPT = "swept.parquet"
"""Cells of a sweep that is over, until the folder is complete: a resumed run does not begin to cut them again."""
KEPT_EVERY = 15.0
"""Seconds of work that a stopped sweep may lose."""
PERCENT = 100
"""Steps of the progress bar: how much of everyone is decided."""


@dataclass(frozen=True, kw_only=True)
class SweepRequest(SubjectOptions):
    """What to sweep, and how far to go: a model file with a table of its columns, or the folders of lcifr.

    ``table``, ``target``, ``id_column`` : of a model file, as for an audit; on the command line, the table is the only
    argument.
    """

    producer: Path | None = argument(
        "TABLE|PRODUCER", "With --model: a table with its columns. Else: the producer's folder.", None, is_needed=True
    )
    consumer: Path | None = argument("CONSUMER", "The folder that `lcifr consume` wrote.", None)
    table: Path | None = None
    target: str | None = None
    id_column: str | None = None
    universe: str = option(
        "whole",
        "whole: integer attributes take whole numbers. reals: they take any number.",
        choices=("whole", "reals"),
    )
    cells: int = option(10_000, "Stop after examining this many cells.", least=1)
    seconds: float | None = option(None, "Stop after this many seconds. (Default: no limit.)", least=1)
    nodes: int = option(200, "Search nodes per cell before it is split.", least=1)
    people: int = option(
        MOST,
        "After the cells, ask one by one about at most this many people of the table whom no cell decides.",
        least=0,
    )
    bundle: bool = option(False, "Also write the proofs to OUT/bundle and check them.")
    arithmetic: str | None = arithmetic_option(None, before="force")
    labels: Mapping[Any, str] = labels_option(before="force")

    @property
    def inputs(self) -> dict[str, Path]:
        """Files and folders that are read, by argument."""
        return self.files(table=self.table)


def sweep(request: SweepRequest, listener: Listener | None = None, *, argv: tuple[str, ...] = ()) -> SweepResult:
    """Prove or refute that similar people get the same decision, for everyone who could exist.

    Parameters
    ----------
    listener : receives events (:mod:`lcifr.workflows.events`). argv : the command line, to record in the settings.
    """
    if request.model is None and request.arithmetic is None:
        request = replace(request, arithmetic=Arithmetic.FLOAT64.value)
    with listening(listener):
        origin = open_origin(request, request.table)
        command = Command.of("sweep", request, argv, origin.libraries)
        with run_folder(command, request.out, force=request.force, inputs=request.inputs) as run:
            subject, people = origin.open(request, request.table, run.work, judged=False)
            return _sweep(run, subject, people, request)


def _sweep(run: Run, subject: Subject, people: PeopleSource, options: SweepRequest) -> SweepResult:
    from lcifr.certification.sweep.sweeper import Sweeper

    summary = _warned(named_summary(subject, options.labels), origin_of(subject).warnings(subject))
    whole = options.universe == "whole"
    run.lost = "A few seconds of work are lost."
    if run.steps.kept(SWEPT):
        found = _read(run.work / SWEPT, subject, whole)
    else:
        file = run.work / CELLS
        start = _read(file, subject, whole) if run.resumed and file.is_file() else None
        sweeper = Sweeper(subject, whole=whole, nodes=options.nodes, start=start)
        found = _run(run, sweeper, options, subject.schema)
        _keep(run, found, subject.schema, SWEPT)
        run.steps.keep(SWEPT)
    decided, found = decide_people(run.work, subject, found, people, options.people)
    _keep(run, found, subject.schema)
    found.counterexamples().to_csv(run.work / PAIRS, index=False)
    subject.encoder.encoding.save(run.work / ENCODING)
    worst = worst_pairs(subject, found.pairs)
    checked = write_and_check(run.work, subject, found, options.nodes) if options.bundle else None
    result = SweepResult(summary, found, decided, worst, checked)
    (run.work / SWEPT).unlink()
    run.finish(result.to_dict())
    return result


def _warned(model: ModelSummary, warnings: tuple[str, ...]) -> ModelSummary:
    """The model with what a reader of its cells has to know."""
    if model.origin is None or not warnings:
        return model
    return replace(model, origin=replace(model.origin, assumptions=(*model.origin.assumptions, *warnings)))


def _run(run: Run, sweeper: Sweeper, options: SweepRequest, schema: Schema) -> Sweep:
    """The sweep, kept from time to time, with a bar that says how much of everyone is decided."""
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


def _read(file: Path, subject: Subject, whole: bool) -> Sweep:
    import pyarrow.parquet as pq

    from lcifr.certification.sweep.result import from_table

    schema = subject.encoding.schema
    return from_table(pq.read_table(file), schema, whole=whole, arithmetic=subject.arithmetic, hashes=subject.hashes)
