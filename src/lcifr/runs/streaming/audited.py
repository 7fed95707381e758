"""An audit of a whole file: written part by part, and read back as :class:`Audit`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from lcifr.certification.audit import audit_looked_up, audit_region
from lcifr.certification.handover import freeze, represent_lowered
from lcifr.certification.subject import Hashes, LibraryModel
from lcifr.certification.sweep.look_up import ProvedCells
from lcifr.certification.verdicts import Audit, Reason, Verdict
from lcifr.data import Individuals
from lcifr.data.files import describe_files, fresh_folder, open_folder, write_manifest
from lcifr.data.ingest import Chunk, TableSource, parquet_batches
from lcifr.data.store import ScannedTable
from lcifr.errors import ArtefactError, LcifrError
from lcifr.models.arithmetic import read_arithmetic
from lcifr.models.loading import read_model
from lcifr.models.model import Model
from lcifr.models.network import choose_for
from lcifr.runs.executors.crew import Workers
from lcifr.runs.executors.library_file import LibraryFile
from lcifr.runs.executors.packing import Luggage, pack_encoder, pack_model
from lcifr.runs.streaming.large import CHUNK, Done, EncoderJob
from lcifr.runs.streaming.parquet_files import ParquetAppender, ParquetRows, join_tables
from lcifr.runs.streaming.parts import assembled, parts_beside
from lcifr.runs.streaming.verdict_rows import audit_rows, audit_schema, parquet_bytes, read_audit

AUDITED = "audit.parquet"
FORMAT = "lcifr-audited-4"


@final
@dataclass(frozen=True)
class AuditJob(EncoderJob):
    """The audit of a chunk.

    Parameters
    ----------
    options : ``modular``, ``budget`` and ``arithmetic``, as for :func:`audit_file`; and ``device``, where bounds from
        end to end are not the CPU's. A hand-over is always the CPU's: whoever is certified on it depends on its digits.
    library : of a model from elsewhere; compared on every chunk, and no counterexample counts without its word.
    proved : cells of a sweep, whose people need no search; not with ``modular``.
    file : where that model comes from, for other machines to read it.
    """

    model: Model
    library: LibraryModel | None = None
    proved: ProvedCells | None = None
    file: LibraryFile | None = None
    version = 8
    suffix = ".parquet"

    def settings(self) -> str:
        source = None if self.library is None else self.library.source
        known = "" if self.proved is None else self.proved.name
        return super().settings() + repr(self.model.identity) + ("" if source is None else repr(source.runtime)) + known

    def pack(self, into: Luggage) -> dict[str, Any]:
        said = {"job": "audit", "options": self.options}
        if self.proved is not None:
            raise LcifrError(
                "cells of a sweep are not sent to other machines yet", fix="leave --sweep or --executor out"
            )
        if self.library is None:
            encoder, model = pack_encoder(self.encoder, into), pack_model(self.model, into)
            return {**said, "encoder": encoder, "model": model, "library": None}
        if self.file is None:
            raise LcifrError(
                "a model that is not in a file cannot be sent to other machines", fix="save it, and give its file"
            )
        return {**said, "library": self.file.pack(into)}

    @property
    def rows(self) -> pa.Schema:
        """The columns of every part."""
        modular = bool(self.options["modular"])
        return audit_schema(self.schema, self.model, modular=modular, radius=modular, swept=self.proved is not None)

    def work(self, chunk: Chunk) -> bytes:
        return parquet_bytes(self.answer(chunk))

    def answer(self, chunk: Chunk) -> pa.Table:
        """The verdicts about the people of a chunk."""
        encoder, people = self.encoder, chunk.people
        arithmetic = read_arithmetic(self.options["arithmetic"])
        said = dict[str, Any](budget=self.options["budget"], arithmetic=arithmetic)
        decided = None if self.library is None else self.library.decisions_about(people, ids=chunk.ids)
        lowered, handed = encoder.region(people), None  # once, for the hand-over and from end to end
        if self.options["modular"]:
            handed = represent_lowered(encoder, people, lowered, **said)
        said |= {"modular": handed or False, "library": decided, "device": self.options.get("device")}
        if self.proved is None:
            found = audit_region(encoder, self.model, people, lowered, chunk.ids, **said)
        else:
            found = audit_looked_up(encoder, self.model, people, lowered, chunk.ids, self.proved, **said)
        return audit_rows(found, None if handed is None else handed.radius, swept=self.proved is not None)

    def audit(
        self, source: TableSource | ScannedTable, folder: Path, id_column: str | None, chunk: int, workers: Workers
    ) -> Done:
        """Everybody of a file, into ``folder/audit.parquet``."""
        with parts_beside(folder, "audit_file") as parts:
            found, done = self.run(source, id_column, chunk, parts, workers)
            with assembled(folder, parts) as fresh:
                join_tables(found, fresh / AUDITED)
                hashes = Hashes.of(self.encoder, self.model, self.options["arithmetic"])
                about = {"format": FORMAT, **asdict(hashes), "run": self.run_hash()}
                write_manifest(fresh, {**about, "files": describe_files(fresh)})
        return done


def audit_file(
    encoder: Any,
    model: Any,
    source: TableSource,
    folder: str | Path,
    *,
    id_column: str | None = None,
    chunk: int = CHUNK,
    workers: Workers = None,
    groups: Sequence[Sequence[Any]] | None = None,
    tolerance: float | None = None,
    modular: bool = True,
    budget: int | None = None,
    arithmetic: str | None = None,
) -> Done:
    """Audit a Parquet or CSV file into ``folder/audit.parquet``: a verdict per person, and whoever refutes it.

    Parameters are those of :func:`represent_file` and :func:`audit`.
    """
    frozen, known = freeze(encoder), read_model(model, groups, tolerance)
    options = {"modular": modular, "budget": budget}
    deployed = choose_for(arithmetic, (frozen.function, *known.computed))
    job = AuditJob(frozen, {**options, "arithmetic": str(deployed)}, known)
    return job.audit(source, Path(folder), id_column, chunk, workers)


def read_audited(folder: str | Path, people: Individuals, model: Model, about: Hashes) -> Audit:
    """What :func:`audit_file` wrote, about these people and this model.

    Parameters
    ----------
    people : those who were audited, in this order. model : what decided.
    about : the weights, formula and rule that the verdicts must be about; refused where they are about others.
    """
    [found] = read_audited_chunks(folder, iter([people]), model, about)
    return found


def read_audited_chunks(
    folder: str | Path, people: Iterator[Individuals], model: Model, about: Hashes
) -> Iterator[Audit]:
    """The same chunk by chunk: the next of the people who were audited, in order, until there are no more."""
    for table, some in _tables(folder, people, about):
        yield read_audit(table, some, model)


def read_audited_rows(
    folder: str | Path, people: Iterator[Individuals], model: Model, about: Hashes, rows: NDArray[np.int64]
) -> Audit:
    """Some of them, by their rows in rising order; only these are in memory at once."""
    tables, chosen, start = [], [], 0
    for table, some in _tables(folder, people, about):
        first, last = np.searchsorted(rows, [start, start + len(some)])
        here = rows[first:last] - start
        tables.append(table.take(here))
        chosen.append(some.take(here))
        start += len(some)
    return read_audit(pa.concat_tables(tables), Individuals.joined(chosen), model)


def _tables(folder: str | Path, people: Iterator[Individuals], about: Hashes) -> Iterator[tuple[Any, Individuals]]:
    """The next people, and their rows of the file, once all of it is known to be about the same."""
    root = Path(folder)
    about.refuse_others(open_folder(root, FORMAT, (AUDITED,)), root)
    rows = ParquetRows(root / AUDITED)
    for some in people:
        table = rows.take(len(some))
        if len(table) != len(some):
            raise _about_others(root)
        yield table, some
    if len(rows.take(1)):
        raise _about_others(root)


def _about_others(folder: Path) -> ArtefactError:
    return ArtefactError(f"{folder} is about different people", fix="give those who were audited, in the same order")


def revise_audited(folder: str | Path, unproved: set[str]) -> None:
    """Make those of these ids UNDECIDED who are CERTIFIED in the folder: their proof stopped short of it."""
    root = Path(folder)
    manifest = open_folder(root, FORMAT, (AUDITED,))
    if not any(_certified(batch, unproved).any() for batch in parquet_batches(root / AUDITED)):
        return
    aside = root.with_name(f".{root.name}.revised")
    shutil.rmtree(aside, ignore_errors=True)  # of a run that was killed here
    with fresh_folder(aside) as fresh:
        with ParquetAppender(fresh / AUDITED) as rows:
            for batch in parquet_batches(root / AUDITED):
                rows.add(_revised(batch, unproved))
        write_manifest(fresh, manifest | {"files": describe_files(fresh)})
    shutil.rmtree(root)
    aside.rename(root)


def _certified(batch: pa.RecordBatch, ids: set[str]) -> NDArray[np.bool_]:
    frame = batch.select(["id", "verdict"]).to_pandas()
    return np.asarray((frame["verdict"] == str(Verdict.CERTIFIED)) & frame["id"].isin(ids))


def _revised(batch: pa.RecordBatch, ids: set[str]) -> pa.Table:
    rows, table = pa.array(_certified(batch, ids)), pa.Table.from_batches([batch])
    new = {"verdict": str(Verdict.UNDECIDED), "reason": str(Reason.UNPROVED)}
    new["margin"] = compute.min_element_wise(table["margin"], 0.0)
    for name, value in new.items():
        field = table.schema.field(name)
        values = compute.if_else(rows, value, table[name]).cast(field.type)
        table = table.set_column(table.schema.get_field_index(name), field, values)
    return table
