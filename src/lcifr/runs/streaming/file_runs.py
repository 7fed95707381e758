"""Whole files of people: a hand-over or an audit of a table that does not fit in memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np

from lcifr.artifacts import handover
from lcifr.artifacts.folder import MANIFEST, describe_files, versions
from lcifr.artifacts.joining import join_handover, join_tables, table_part
from lcifr.certification.auditor import audit_region
from lcifr.certification.bundles.manifest import Hashes
from lcifr.certification.producer import FrozenEncoder, freeze, provenance_of, represent, represent_lowered
from lcifr.data import Schema
from lcifr.data.io.stream import Chunk, TableSource, count_people, read_chunks
from lcifr.files import write_json
from lcifr.models.arithmetic import choose_arithmetic, read_arithmetic
from lcifr.models.chain import choose_for
from lcifr.models.load import read_model
from lcifr.models.model import Model
from lcifr.runs.streaming.large import CHUNK, Done, Job, run_parts
from lcifr.runs.streaming.parts import assembled, parts_beside

AUDITED = "audit.parquet"
FORMAT = "lcifr-audited-3"


@dataclass(frozen=True)
class _WithEncoder(Job):
    """Its schema reads the table; its hashes, the options and the versions name the run."""

    encoder: FrozenEncoder
    options: dict[str, Any]

    @property
    def schema(self) -> Schema:
        return self.encoder.encoding.schema

    def settings(self) -> str:
        hashes = (self.encoder.network.hash, self.encoder.similarity.hash, self.encoder.encoding.hash)
        about = (hashes, self.encoder.whole_numbers)
        return repr((about, sorted(self.options.items()), sorted(versions().items())))

    def run(
        self, source: TableSource, id_column: str | None, chunk: int, parts: Path, workers: int | None
    ) -> tuple[list[Path], Done]:
        """Do it for everybody of a file."""
        return run_parts(
            self,
            partial(read_chunks, source, self.schema, chunk, id_column),
            parts,
            people=count_people(source),
            named=id_column is not None,
            workers=workers,
        )


@final
@dataclass(frozen=True)
class _Represent(_WithEncoder):
    version = 3
    suffix = ".safetensors"

    def work(self, chunk: Chunk) -> bytes:
        from safetensors.numpy import save

        found = represent(self.encoder, chunk.people, chunk.ids, **self.options)
        return save(
            {name: np.ascontiguousarray(array) for name, array in found.arrays().items()},
            metadata={"ids": json.dumps(found.ids)},
        )


def represent_file(
    encoder: Any,
    source: TableSource,
    folder: str | Path,
    *,
    id_column: str | None = None,
    chunk: int = CHUNK,
    workers: int | None = None,
    share_formula: bool = True,
    tolerance: float = 1e-6,
    budget: int | None = None,
    arithmetic: str | None = None,
) -> Done:
    """Write the hand-over of a Parquet or CSV file. Killed at any moment, the next call goes on where it stopped.

    Parameters
    ----------
    source : the file; or an Arrow table, for people who are in memory anyway.
    id_column : the column with the ids; row numbers if None.
    chunk : people per part. workers : processes; one per core if None, where that is worth
        their start.
    share_formula, tolerance, budget, arithmetic : as for :func:`lcifr.certification.producer.represent`.
    """
    target, frozen = Path(folder), freeze(encoder)
    deployed = choose_arithmetic(arithmetic, frozen.native)
    job = _Represent(frozen, {"tolerance": tolerance, "budget": budget, "arithmetic": str(deployed)})
    with parts_beside(target, "represent_file") as parts:
        found, done = job.run(source, id_column, chunk, parts, workers)
        with assembled(target, parts) as fresh:
            shape, counts = join_handover(found, fresh)
            provenance = provenance_of(frozen, share_formula, tolerance, deployed)
            write_json(fresh / MANIFEST, handover.manifest_of(provenance, describe_files(fresh), shape, counts))
    return done


@final
@dataclass(frozen=True)
class _AuditJob(_WithEncoder):
    model: Model
    version = 5
    suffix = ".parquet"

    def settings(self) -> str:
        return super().settings() + repr(self.model.identity)

    def work(self, chunk: Chunk) -> bytes:
        import pandas as pd

        encoder, people = self.encoder, chunk.people
        said = {"budget": self.options["budget"], "arithmetic": read_arithmetic(self.options["arithmetic"])}
        lowered, handed = encoder.similarity.region(people), None  # once, for the hand-over and from end to end
        if self.options["modular"]:
            handed = represent_lowered(encoder, people, lowered, **said)
        found = audit_region(encoder, self.model, people, lowered, chunk.ids, modular=handed or False, **said)
        frame = found.frame()
        frame["alone"] = found.alone
        if handed is not None:
            frame["radius"] = handed.radius
        others = found.others.to_pandas().astype(object)
        others[~found.violated] = None
        for name in others.columns:  # text, so that all parts have the same types
            texts = [None if value is None else str(value) for value in others[name]]
            frame[f"similar:{name}"] = pd.array(texts, dtype="string")
        return table_part(frame)


def audit_file(
    encoder: Any,
    model: Any,
    source: TableSource,
    folder: str | Path,
    *,
    id_column: str | None = None,
    chunk: int = CHUNK,
    workers: int | None = None,
    groups: Sequence[Sequence[Any]] | None = None,
    tolerance: float | None = None,
    modular: bool = True,
    budget: int | None = None,
    arithmetic: str | None = None,
) -> Done:
    """Audit a Parquet or CSV file into ``folder/audit.parquet``: a verdict per person, and whoever refutes it.

    Parameters are those of :func:`represent_file` and :func:`audit`.
    """
    target, frozen = Path(folder), freeze(encoder)
    known = read_model(model, groups, tolerance)
    deployed = choose_for(arithmetic, (frozen.network, *known.factors))
    job = _AuditJob(frozen, {"modular": modular, "budget": budget, "arithmetic": str(deployed)}, known)
    with parts_beside(target, "audit_file") as parts:
        found, done = job.run(source, id_column, chunk, parts, workers)
        with assembled(target, parts) as fresh:
            join_tables(found, fresh / AUDITED)
            about = {"format": FORMAT, **asdict(Hashes.of(frozen, known, deployed)), "run": job.run_hash()}
            write_json(fresh / MANIFEST, {**about, "files": describe_files(fresh)})
    return done
