"""A whole hand-over certified part by part, however many people it is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

from lcifr.artifacts.folder import MANIFEST, describe_files, versions
from lcifr.artifacts.handover import Outline
from lcifr.artifacts.handover_chunks import HandoverChunk, read_handover_chunks
from lcifr.artifacts.joining import join_tables, table_part
from lcifr.certification.bundles.manifest import rule_of_bundle
from lcifr.certification.consumer import Where, certify
from lcifr.certification.verdicts import Certificates
from lcifr.data.io.stream import parquet_batches
from lcifr.errors import ArtefactError
from lcifr.files import sha256_of, write_json
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.chain import choose_for
from lcifr.models.load import read_model
from lcifr.models.model import Model
from lcifr.runs.streaming.large import CHUNK, Done, Job, run_parts
from lcifr.runs.streaming.parts import assembled, parts_beside

CERTIFIED = "certificates.parquet"


@final
@dataclass(frozen=True)
class _Certify(Job):
    model: Model
    on: Where
    arithmetic: Arithmetic
    handover_arithmetic: Arithmetic
    version = 3
    suffix = ".parquet"

    def settings(self) -> str:
        computed = (str(self.arithmetic), str(self.handover_arithmetic))
        return repr((self.model.identity, self.on, computed, sorted(versions().items())))

    def work(self, chunk: HandoverChunk) -> bytes:
        found = certify(chunk.representation, self.model, on=self.on, arithmetic=self.arithmetic)
        return table_part(found.frame())


def certify_folder(
    handover: str | Path,
    model: Any,
    folder: str | Path,
    *,
    on: Where = "ball",
    chunk: int = CHUNK,
    workers: int | None = None,
    tolerance: float | None = None,
    arithmetic: str | None = None,
) -> Done:
    """Certify everybody of a hand-over into ``folder/certificates.parquet``; killed, the next call goes on.

    Parameters
    ----------
    handover : the folder that the producer handed over. model, on, tolerance, arithmetic : as for
        :func:`lcifr.certify`.
    chunk, workers : as for :func:`lcifr.runs.streaming.file_runs.represent_file`.
    """
    source, target = Path(handover), Path(folder)
    known = read_model(model, tolerance=tolerance)
    with parts_beside(target, "certify_folder") as parts:
        outline = Outline.read(source)
        deployed = choose_for(arithmetic, known.factors)
        job = _Certify(known, on, deployed, outline.provenance.arithmetic)
        if outline.people == 0:
            raise ArtefactError(f"{source} is about nobody", fix="get the hand-over of somebody")
        read = partial(read_handover_chunks, source, chunk)
        found, done = run_parts(job, read, parts, people=outline.people, named=True, workers=workers)
        with assembled(target, parts) as fresh:
            join_tables(found, fresh / CERTIFIED)
            about = {"model": job.model.function.hash, "decision": rule_of_bundle(job.model.rule), "on": on}
            about |= {"arithmetic": str(deployed), "handover_arithmetic": str(outline.provenance.arithmetic)}
            about |= {"handover": sha256_of(source / MANIFEST), "run": job.run_hash(), "files": describe_files(fresh)}
            write_json(fresh / MANIFEST, {"format": "lcifr-certified-parts-3", **about})
    return done


def read_certified(path: Path, model: Any, *, on: str, tolerance: float | None = None) -> Iterator[Certificates]:
    """What :func:`certify_folder` wrote, some people at a time."""
    known = read_model(model, tolerance=tolerance)
    for batch in parquet_batches(path):
        yield Certificates.of_rows(batch.to_pandas(), known, on)
