"""Hand-overs of whole files: written part by part, and certified part by part."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np
import pyarrow as pa

from lcifr.certification.consumer import Where, certify
from lcifr.certification.handover import (
    HandoverChunk,
    Outline,
    Representation,
    freeze,
    join_handover,
    manifest_of,
    provenance_of,
    read_handover_chunks,
    represent,
)
from lcifr.certification.subject import rule_of_bundle
from lcifr.certification.verdicts import Certificates
from lcifr.data.files import MANIFEST, describe_files, sha256_of, versions, write_manifest
from lcifr.data.ingest import Chunk, TableSource, parquet_batches
from lcifr.data.store import ScannedTable
from lcifr.errors import ArtefactError
from lcifr.models.arithmetic import Arithmetic, choose_arithmetic
from lcifr.models.loading import read_model
from lcifr.models.model import Model
from lcifr.models.network import choose_for
from lcifr.runs.executors.crew import Workers
from lcifr.runs.executors.packing import Luggage, pack_encoder, pack_model
from lcifr.runs.streaming.job import Job
from lcifr.runs.streaming.large import CHUNK, Done, EncoderJob, run_parts
from lcifr.runs.streaming.parquet_files import join_tables
from lcifr.runs.streaming.parts import assembled, parts_beside
from lcifr.runs.streaming.verdict_rows import certificate_rows, parquet_bytes


@final
@dataclass(frozen=True)
class RepresentJob(EncoderJob):
    version = 3
    suffix = ".safetensors"

    def pack(self, into: Luggage) -> dict[str, Any]:
        return {"job": "represent", "options": self.options, "encoder": pack_encoder(self.encoder, into)}

    def answer(self, chunk: Chunk) -> Representation:
        """The hand-over of the people of a chunk."""
        return represent(self.encoder, chunk.people, chunk.ids, **self.options)

    def work(self, chunk: Chunk) -> bytes:
        from safetensors.numpy import save

        found = self.answer(chunk)
        return save(
            {name: np.ascontiguousarray(array) for name, array in found.arrays().items()},
            metadata={"ids": json.dumps(found.ids)},
        )


def represent_file(
    encoder: Any,
    source: TableSource | ScannedTable,
    folder: str | Path,
    *,
    id_column: str | None = None,
    chunk: int = CHUNK,
    workers: Workers = None,
    share_formula: bool = True,
    tolerance: float = 1e-6,
    budget: int | None = None,
    arithmetic: str | None = None,
    device: str | None = None,
) -> Done:
    """Write the hand-over of a Parquet or CSV file. Killed at any moment, the next call goes on where it stopped.

    Parameters
    ----------
    source : the file; or an Arrow table, for people who are in memory anyway.
    id_column : the column with the ids; row numbers if None.
    chunk : people per part. workers : processes; one per core if None, where that is worth
        their start.
    share_formula, tolerance, budget, arithmetic, device : as for :func:`lcifr.certification.handover.represent`.
    """
    target, frozen = Path(folder), freeze(encoder)
    deployed = choose_arithmetic(arithmetic, frozen.native)
    options = {"tolerance": tolerance, "budget": budget, "arithmetic": str(deployed)}
    options |= {} if device is None else {"device": device}  # parts of the CPU are named as ever
    job = RepresentJob(frozen, options)
    with parts_beside(target, "represent_file") as parts:
        found, done = job.run(source, id_column, chunk, parts, workers)
        with assembled(target, parts) as fresh:
            shape, counts = join_handover(found, fresh)
            provenance = provenance_of(frozen, share_formula, tolerance, deployed)
            write_manifest(fresh, manifest_of(provenance, describe_files(fresh), shape, counts))
    return done


CERTIFIED = "certificates.parquet"


@final
@dataclass(frozen=True)
class CertifyJob(Job):
    model: Model
    on: Where
    arithmetic: Arithmetic
    handover_arithmetic: Arithmetic
    device: str | None = None
    version = 5
    suffix = ".parquet"

    def settings(self) -> str:
        computed = (str(self.arithmetic), str(self.handover_arithmetic), *filter(None, [self.device]))
        return repr((self.model.identity, self.on, computed, sorted(versions().items())))

    def pack(self, into: Luggage) -> dict[str, Any]:
        computed = {"arithmetic": str(self.arithmetic), "handover_arithmetic": str(self.handover_arithmetic)}
        computed |= {} if self.device is None else {"device": self.device}
        return {"job": "certify", "model": pack_model(self.model, into), "on": self.on, **computed}

    def work(self, chunk: HandoverChunk) -> bytes:
        return parquet_bytes(self.answer(chunk.representation))

    def answer(self, handed: Representation) -> pa.Table:
        """The certificates of the people of a hand-over."""
        return certificate_rows(certify(handed, self.model, on=self.on, arithmetic=self.arithmetic, device=self.device))


def certify_folder(
    handover: str | Path,
    model: Any,
    folder: str | Path,
    *,
    on: Where = "ball",
    chunk: int = CHUNK,
    workers: Workers = None,
    tolerance: float | None = None,
    arithmetic: str | None = None,
    device: str | None = None,
) -> Done:
    """Certify everybody of a hand-over into ``folder/certificates.parquet``; killed, the next call goes on.

    Parameters
    ----------
    handover : the folder that the producer handed over. model, on, tolerance, arithmetic, device : as for
        :func:`lcifr.certify`.
    chunk, workers : as for :func:`represent_file`.
    """
    source, target = Path(handover), Path(folder)
    known = read_model(model, tolerance=tolerance)
    with parts_beside(target, "certify_folder") as parts:
        outline = Outline.read(source)
        deployed = choose_for(arithmetic, known.computed)
        job = CertifyJob(known, on, deployed, outline.provenance.arithmetic, device)
        if outline.people == 0:
            raise ArtefactError(f"{source} contains nobody", fix="get the hand-over of somebody")
        read = partial(read_handover_chunks, source, chunk)
        found, done = run_parts(job, read, parts, people=outline.people, named=True, workers=workers)
        with assembled(target, parts) as fresh:
            join_tables(found, fresh / CERTIFIED)
            about = {"model": job.model.function.hash, "decision": rule_of_bundle(job.model.rule), "on": on}
            about |= {"arithmetic": str(deployed), "handover_arithmetic": str(outline.provenance.arithmetic)}
            about |= {"handover": sha256_of(source / MANIFEST), "run": job.run_hash(), "files": describe_files(fresh)}
            write_manifest(fresh, {"format": "lcifr-certified-parts-3", **about})
    return done


def read_certified(path: Path, model: Any, *, on: str, tolerance: float | None = None) -> Iterator[Certificates]:
    """What :func:`certify_folder` wrote, some people at a time."""
    known = read_model(model, tolerance=tolerance)
    for batch in parquet_batches(path):
        yield Certificates.of_rows(batch.to_pandas(), known, on)
