"""PackedWork: a job on people as hashed bytes, and the one function over Arrow record batches that it is.

    work = audit_work(encoder, model)                    # where the models are
    data = work.data                                     # bytes; work.sha256 names them
    answer = PackedWork(data).function()                 # on any machine, in any engine
    verdicts = answer(people)                            # a record batch in, a record batch out

``lcifr.runs`` has examples with a plain loop and with Spark.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, final

from lcifr.certification.handover import freeze
from lcifr.data.files import versions
from lcifr.errors import ArtefactError, LcifrError
from lcifr.models.arithmetic import Arithmetic, choose_arithmetic
from lcifr.models.loading import read_model
from lcifr.models.network import choose_for
from lcifr.runs.executors.batch_function import BatchFunction
from lcifr.runs.executors.library_file import open_library
from lcifr.runs.executors.packing import Luggage, unpack_encoder, unpack_model
from lcifr.runs.streaming.audited import AuditJob
from lcifr.runs.streaming.handovers import CertifyJob, RepresentJob
from lcifr.runs.streaming.job import Job

FORMAT = "lcifr-work-1"
KEY = "lcifr"


class OtherVersionsError(LcifrError):
    """The machine that is to work computes with other packages than the one that asks: results might differ."""


@final
@dataclass(frozen=True)
class PackedWork:
    """A job with everything it needs (models, φ, encoding, settings) as bytes.

    Nothing in them is run when they are read: they are a safetensors file, plain values and arrays.
    """

    data: bytes

    @classmethod
    def of(cls, job: Job) -> PackedWork:
        """Pack a job."""
        from safetensors.numpy import save

        luggage = Luggage()
        said = {"format": FORMAT, "run": job.run_hash(), "versions": versions(), **job.pack(luggage)}
        text = json.dumps(said, ensure_ascii=False, allow_nan=False)
        return cls(save(luggage.arrays, metadata={KEY: text}))

    @cached_property
    def sha256(self) -> str:
        """The name of this work."""
        return hashlib.sha256(self.data).hexdigest()

    def job(self) -> Job:
        """The job, once it is known to be the very one that was packed: weights, φ, settings, versions.

        Raises
        ------
        OtherVersionsError
            If this machine computes with other versions of packages.
        """
        return _job(self.data)

    def function(self, id_column: str = "id") -> BatchFunction:
        """The work as a function of record batches; ``id_column`` holds people's names in them."""
        return BatchFunction(self.job(), id_column)


@lru_cache(maxsize=4)
def _job(data: bytes) -> Job:
    """Opened once a process, whatever number of chunks it gets."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        held = Luggage(dict(load(data)))
        (length,) = struct.unpack("<Q", data[:8])
        said = json.loads(json.loads(data[8 : 8 + length])["__metadata__"][KEY])
    except (SafetensorError, ValueError, KeyError, struct.error):
        raise ArtefactError("these bytes are no packed work, or not all of it", fix="send PackedWork.data") from None
    if said.get("format") != FORMAT:
        raise ArtefactError(f"work of the format {said.get('format')!r}, this version reads {FORMAT!r}")
    if said["versions"] != versions():
        raise _other_versions(said["versions"])
    job = _unpacked(said, held)
    if job.run_hash() != said["run"]:
        raise ArtefactError(
            "the work that was unpacked is not the one that was packed: the hashes of weights, φ or settings differ",
            fix="run it where the models are, without --executor",
        )
    return job


def _other_versions(asked: dict[str, str]) -> OtherVersionsError:
    here = versions()
    apart = [f"{name} {asked.get(name)} there, {here.get(name)} here" for name in sorted({*asked, *here})]
    odd = [text for text, name in zip(apart, sorted({*asked, *here}), strict=True) if asked.get(name) != here.get(name)]
    return OtherVersionsError(
        f"a worker computes with other packages than the run was started with: {'; '.join(odd)}",
        fix="install the same versions on all machines, so that results are the same bytes wherever they are made",
    )


def _unpacked(said: dict[str, Any], held: Luggage) -> Job:
    if said["job"] == "certify":
        computed = Arithmetic(said["arithmetic"]), Arithmetic(said["handover_arithmetic"])
        return CertifyJob(unpack_model(said["model"], held), said["on"], *computed, said.get("device"))
    if said["job"] == "represent":
        return RepresentJob(unpack_encoder(said["encoder"], held), said["options"])
    if said["library"] is not None:
        library = open_library(said["library"], held)
        return AuditJob(library.encoder, said["options"], library.model, library)
    return AuditJob(unpack_encoder(said["encoder"], held), said["options"], unpack_model(said["model"], held))


def audit_work(
    encoder: Any,
    model: Any,
    *,
    groups: Sequence[Sequence[Any]] | None = None,
    tolerance: float | None = None,
    modular: bool = False,
    budget: int | None = None,
    arithmetic: str | None = None,
) -> PackedWork:
    """From end to end: people in, verdicts out. Parameters as for :func:`lcifr.audit`."""
    frozen, known = freeze(encoder), read_model(model, groups, tolerance)
    deployed = choose_for(arithmetic, (frozen.function, *known.computed))
    options = {"modular": modular, "budget": budget, "arithmetic": str(deployed)}
    return PackedWork.of(AuditJob(frozen, options, known))


def represent_work(
    encoder: Any, *, tolerance: float = 1e-6, budget: int | None = None, arithmetic: str | None = None
) -> PackedWork:
    """The producer's: people in, z with radius and box out. Parameters as for :func:`lcifr.represent`."""
    frozen = freeze(encoder)
    deployed = choose_arithmetic(arithmetic, frozen.native)
    return PackedWork.of(RepresentJob(frozen, {"tolerance": tolerance, "budget": budget, "arithmetic": str(deployed)}))


def certify_work(
    model: Any,
    *,
    on: Literal["ball", "box"] = "ball",
    tolerance: float | None = None,
    arithmetic: str | None = None,
    handover_arithmetic: str = "float64",
) -> PackedWork:
    """The consumer's: what :func:`represent_work` gives in, certificates out. Parameters as for :func:`lcifr.certify`.

    ``handover_arithmetic`` : in which the encoder is computed.
    """
    known = read_model(model, tolerance=tolerance)
    deployed = choose_for(arithmetic, known.computed)
    return PackedWork.of(CertifyJob(known, on, deployed, Arithmetic(handover_arithmetic)))
