"""What was proved of whom? Whole files of people: a hand-over or an audit of a table that does not fit in memory."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from lcifr.certificates import handover
from lcifr.certificates.auditor import audit
from lcifr.certificates.decision import Model, read_model
from lcifr.certificates.encoder import FrozenEncoder, freeze
from lcifr.certificates.folder import MANIFEST, describe_files, fresh_folder, write_json
from lcifr.certificates.large import CHUNK, Job, discard, parts_beside, run_parts
from lcifr.certificates.latent import provenance_of, represent, versions
from lcifr.certificates.stream import Chunk
from lcifr.data import Schema
from lcifr.errors import ArtefactError

AUDITED = "audit.parquet"


@final
@dataclass(frozen=True)
class _Represent(Job):
    encoder: FrozenEncoder
    options: dict[str, Any]
    suffix = ".safetensors"

    @property
    def schema(self) -> Schema:  # type: ignore[override]
        return self.encoder.encoding.schema

    def key(self) -> str:
        return _key(handover.FORMAT, self.encoder, self.options)

    def work(self, chunk: Chunk) -> bytes:
        from safetensors.numpy import save

        found = represent(self.encoder, chunk.people, chunk.ids, **self.options)
        return save(
            {name: np.ascontiguousarray(array) for name, array in found.arrays().items()},
            metadata={"ids": json.dumps(found.ids)},
        )


def _key(form: str, encoder: FrozenEncoder, options: dict[str, Any]) -> str:
    hashes = (encoder.network.hash, encoder.similarity.hash, encoder.encoding.hash)
    return repr((form, hashes, sorted(options.items()), sorted(versions().items())))


def represent_file(
    encoder: Any,
    source: str | Path,
    folder: str | Path,
    *,
    id_column: str | None = None,
    chunk: int = CHUNK,
    workers: int | None = None,
    progress: bool = False,
    share_formula: bool = True,
    tolerance: float = 1e-6,
    budget: int | None = None,
) -> None:
    """Write the hand-over of a Parquet or CSV file. Killed at any moment, the next call goes on where it stopped.

    Parameters
    ----------
    id_column : the column with the ids; row numbers if None.
    chunk : people per part. workers : processes; all cores if None. progress : whether to show a bar on stderr.
    share_formula, tolerance, budget : as for :func:`lcifr.certificates.latent.represent`.
    """
    target = Path(folder)
    parts = parts_beside(target)
    frozen = freeze(encoder)
    job = _Represent(frozen, {"tolerance": tolerance, "budget": budget})
    found = run_parts(job, source, parts, id_column=id_column, chunk=chunk, workers=workers, progress=progress)
    with fresh_folder(target) as fresh:
        shape, counts = _join(found, fresh)
        provenance = provenance_of(frozen, share_formula, tolerance)
        write_json(fresh / MANIFEST, handover.manifest_of(provenance, describe_files(fresh), shape, counts))
    discard(parts)


def _join(parts: Sequence[Path], fresh: Path) -> tuple[tuple[int, int], dict[str, int]]:
    """All parts as one safetensors file and one list of ids; one array of one part in memory at a time."""
    from safetensors import safe_open

    people, seen = 0, set()
    with (fresh / handover.IDS).open("w", encoding="utf-8") as file:
        for part in parts:
            with safe_open(part, framework="numpy") as opened:
                ids = json.loads(opened.metadata()["ids"])
            for name in ids:
                if str(name) in seen:
                    raise ArtefactError(f"the id {name!r} is there twice", fix="every person needs an id of their own")
                seen.add(str(name))
                file.write(("[" if people == 0 else ",\n ") + json.dumps(name))
                people += 1
        file.write("]")
    with safe_open(parts[0], framework="numpy") as opened:
        first = {name: opened.get_tensor(name) for name in sorted(opened.keys())}
    kinds = {"float64": "F64", "bool": "BOOL"}
    header: dict[str, Any] = {}
    end = 0
    # As the library would write it: wide types first, so that every tensor stays aligned.
    order = sorted(first, key=lambda name: (-first[name].itemsize, name))
    for name in order:
        size = people * first[name][:1].nbytes
        header[name] = {
            "dtype": kinds[str(first[name].dtype)],
            "shape": [people, *first[name].shape[1:]],
            "data_offsets": [end, end + size],
        }
        end += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    sums = {"exact": 0, "vacuous": 0}
    with (fresh / handover.LATENT).open("wb") as whole:
        whole.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            for part in parts:
                with safe_open(part, framework="numpy") as opened:
                    array = opened.get_tensor(name)
                whole.write(np.ascontiguousarray(array).tobytes())
                if name in sums:
                    sums[name] += int(array.sum())
    counts = {"exact": sums["exact"], "not_exact": people - sums["exact"], "vacuous": sums["vacuous"]}
    return (people, first["latent"].shape[1]), counts


@final
@dataclass(frozen=True)
class _AuditJob(Job):
    encoder: FrozenEncoder
    model: Model
    options: dict[str, Any]
    suffix = ".parquet"

    @property
    def schema(self) -> Schema:  # type: ignore[override]
        return self.encoder.encoding.schema

    def key(self) -> str:
        model = (self.model.network.hash, self.model.decision)
        return _key("lcifr-audit-part-2", self.encoder, self.options) + repr(model)

    def work(self, chunk: Chunk) -> bytes:
        import pandas as pd

        modular, budget = self.options["modular"], self.options["budget"]
        handed = represent(self.encoder, chunk.people, budget=budget) if modular else None
        found = audit(self.encoder, self.model, chunk.people, chunk.ids, budget=budget, modular=handed or False)
        frame = found.frame()
        frame["id"] = frame["id"].astype("string")
        frame["alone"] = found.alone
        if handed is not None:
            frame["radius"] = handed.radius
        others = found.others.to_pandas().astype(object)
        others[~found.violated] = None
        for name in others.columns:  # text, so that all parts have the same types
            texts = [None if value is None else str(value) for value in others[name]]
            frame[f"similar:{name}"] = pd.array(texts, dtype="string")
        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False)
        return buffer.getvalue()


def audit_file(
    encoder: Any,
    model: Any,
    source: str | Path,
    folder: str | Path,
    *,
    id_column: str | None = None,
    chunk: int = CHUNK,
    workers: int | None = None,
    progress: bool = False,
    groups: Sequence[Sequence[Any]] | None = None,
    tolerance: float | None = None,
    modular: bool = True,
    budget: int | None = None,
) -> None:
    """Audit a Parquet or CSV file into ``folder/audit.parquet``: a verdict per person, and whoever refutes it.

    Parameters are those of :func:`represent_file` and :func:`audit`.
    """
    from pyarrow import parquet

    target = Path(folder)
    parts = parts_beside(target)
    frozen = freeze(encoder)
    job = _AuditJob(frozen, read_model(model, groups, tolerance), {"modular": modular, "budget": budget})
    found = run_parts(job, source, parts, id_column=id_column, chunk=chunk, workers=workers, progress=progress)
    with fresh_folder(target) as fresh:
        schema = parquet.read_schema(found[0]).remove_metadata()
        with parquet.ParquetWriter(fresh / AUDITED, schema) as writer:
            for part in found:
                writer.write_table(parquet.read_table(part).cast(schema))
        write_json(
            fresh / MANIFEST,
            {
                "format": "lcifr-audited-1",
                "encoder": frozen.network.hash,
                "model": job.model.network.hash,
                "similarity": frozen.similarity.hash,
                "decision": job.model.decision.to_dict(),
                "run": hashlib.sha256(job.key().encode()).hexdigest(),
                "files": describe_files(fresh),
            },
        )
    discard(parts)
