"""Jobs on people: audit, represent and certify, of a chunk, of a whole file, and as bytes for other machines."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from lcifr.certification.audit import audit_region
from lcifr.certification.consumer import CertifyOn, certify
from lcifr.certification.handover import (
    TOLERANCE,
    FrozenEncoder,
    HandoverChunk,
    Outline,
    Provenance,
    Representation,
    freeze,
    join_handover,
    manifest_of,
    provenance_of,
    read_handover_chunks,
    represent,
    represent_lowered,
)
from lcifr.certification.saved_models import encoder_arrays, read_encoder
from lcifr.certification.subject import Hashes, Subject, rule_of_bundle
from lcifr.certification.sweep.look_up import ProvedCells
from lcifr.certification.verdicts import (
    Audit,
    Certificates,
    Reason,
    Verdict,
    audit_schema,
    certificate_schema,
    parquet_bytes,
)
from lcifr.data import Individuals
from lcifr.data.codec import Arrays, TensorFile
from lcifr.data.files import MANIFEST, describe_files, fresh_folder, open_folder, sha256_of, versions, write_manifest
from lcifr.data.ingest import Chunk, TableSource, read_ids, read_individuals
from lcifr.data.parquet import ParquetAppender, ParquetTable, RowReader, join_parts, repeated_texts
from lcifr.data.store import ScannedTable
from lcifr.errors import ArtefactError, LcifrError
from lcifr.models.arithmetic import Arithmetic, choose_arithmetic
from lcifr.models.loading import read_model
from lcifr.models.model import Model
from lcifr.models.network import choose_for
from lcifr.prove import Resources
from lcifr.workflows.executors import Workers
from lcifr.workflows.parts import (
    CHUNK,
    Done,
    EncoderJob,
    Job,
    assembled,
    parts_beside,
    run_parts,
)
from lcifr.workflows.subjects import pack_subject, unpack_subject

# An audit of a whole file: written part by part, and read back as :class:`Audit`.

AUDITED = "audit.parquet"
AUDITED_FORMAT = "lcifr-audited-4"


@final
@dataclass(frozen=True)
class AuditJob(EncoderJob):
    """The audit of a chunk.

    Parameters
    ----------
    subject : the model with φ. Of a model of another library, every chunk is compared with the library.
    modular : whether to say also who is certified from the hand-over alone, which is always the CPU's: who is certified
        on it depends on its digits.
    device : where bounds from end to end are computed; None for the CPU.
    proved : cells of a sweep, whose people need no search; not with ``modular``.
    """

    subject: Subject
    modular: bool = False
    budget: int | None = None
    device: str | None = None
    proved: ProvedCells | None = None
    version = 9
    suffix = ".parquet"

    @property
    def about(self) -> FrozenEncoder:
        return self.subject.encoder

    def settings(self) -> str:
        reference, proved = self.subject.reference, self.proved
        how = (self.modular, self.budget, str(self.subject.arithmetic), self.device)
        runtime, cells = "" if reference is None else reference.runtime, "" if proved is None else proved.name
        return super().settings() + repr((how, self.subject.model.identity, runtime, cells))

    def pack(self, into: Arrays) -> dict[str, Any]:
        if self.proved is not None:
            raise LcifrError(
                "cells of a sweep are not sent to other machines yet", fix="leave --sweep or --executor out"
            )
        how = {"modular": self.modular, "budget": self.budget, "device": self.device}
        return {"job": "audit", **how, "subject": pack_subject(self.subject, into)}

    @property
    def rows(self) -> pa.Schema:
        """The columns of every part."""
        modular = self.modular
        return audit_schema(
            self.schema, self.subject.model, modular=modular, radius=modular, swept=self.proved is not None
        )

    def work(self, chunk: Chunk) -> bytes:
        return parquet_bytes(self.answer(chunk))

    def answer(self, chunk: Chunk) -> pa.Table:
        """The verdicts about the people of a chunk."""
        subject, people = self.subject, chunk.people
        predicted = subject.predicted(people, ids=chunk.ids)
        lowered, handed = subject.region(people), None  # once, for the hand-over and from end to end
        if self.modular:
            handed = represent_lowered(
                subject.encoder, people, lowered, budget=self.budget, arithmetic=subject.arithmetic
            )
        found = audit_region(
            subject,
            people,
            lowered,
            chunk.ids,
            budget=Resources.of(self.budget, self.device),
            modular=handed or False,
            predicted=predicted,
            proved=self.proved,
        )
        return replace(found, radius=None if handed is None else handed.radius).to_arrow()

    def audit(
        self, source: TableSource | ScannedTable, folder: Path, id_column: str | None, chunk: int, workers: Workers
    ) -> Done:
        """Audit everyone in a file, into ``folder/audit.parquet``."""
        with parts_beside(folder, "audit_file") as parts:
            found, done = self.run(source, id_column, chunk, parts, workers)
            with assembled(folder, parts) as fresh:
                join_parts(found, fresh / AUDITED)
                about = {"format": AUDITED_FORMAT, **asdict(self.subject.hashes), "run": self.run_hash()}
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
    job = AuditJob(Subject.of(encoder, model, groups, tolerance, arithmetic), modular, budget)
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
        yield Audit.from_arrow(table, some, model)


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
    return Audit.from_arrow(pa.concat_tables(tables), Individuals.joined(chosen), model)


def _tables(folder: str | Path, people: Iterator[Individuals], about: Hashes) -> Iterator[tuple[Any, Individuals]]:
    """The next people, and their rows of the file, once all of it is known to be about the same."""
    root = Path(folder)
    about.refuse_others(open_folder(root, AUDITED_FORMAT, (AUDITED,)), root)
    joined = ParquetTable.open(root / AUDITED)
    rows = RowReader(joined.batches(dictionaries=repeated_texts(joined.schema)))
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
    """Make the people with these ids UNDECIDED if they are CERTIFIED in the folder: their proofs stop short."""
    root = Path(folder)
    manifest = open_folder(root, AUDITED_FORMAT, (AUDITED,))
    if not any(_certified(batch, unproved).any() for batch in ParquetTable.open(root / AUDITED).batches()):
        return
    aside = root.with_name(f".{root.name}.revised")
    shutil.rmtree(aside, ignore_errors=True)  # left by a run that was killed here
    with fresh_folder(aside) as fresh:
        for name in manifest["files"]:
            (fresh / name).parent.mkdir(exist_ok=True)
            with ParquetAppender(fresh / name) as rows:
                for batch in ParquetTable.open(root / name).batches():
                    rows.add(_revised(batch, unproved))
        write_manifest(fresh, manifest | {"files": describe_files(fresh)})
    shutil.rmtree(root)
    aside.rename(root)


def _certified(batch: pa.RecordBatch, ids: set[str]) -> NDArray[np.bool_]:
    frame = batch.select(["id", "verdict"]).to_pandas()
    return np.asarray((frame["verdict"] == str(Verdict.CERTIFIED)) & frame["id"].isin(ids))


def _revised(batch: pa.RecordBatch, ids: set[str]) -> pa.Table:
    """The rows, with the certified people among ``ids`` made undecided: their proofs stop short."""
    rows, table = pa.array(_certified(batch, ids)), pa.Table.from_batches([batch])
    new = {"verdict": str(Verdict.UNDECIDED), "reason": str(Reason.UNPROVED)}
    new["margin"] = compute.min_element_wise(table["margin"], 0.0)
    for name, value in new.items():
        field = table.schema.field(name)
        values = compute.if_else(rows, value, table[name]).cast(field.type)
        table = table.set_column(table.schema.get_field_index(name), field, values)
    return table


# Hand-overs of whole files: written part by part, and certified part by part.


@final
@dataclass(frozen=True)
class RepresentJob(EncoderJob):
    """The hand-over of a chunk; see :func:`lcifr.certification.handover.represent`."""

    encoder: FrozenEncoder
    arithmetic: Arithmetic
    tolerance: float = TOLERANCE
    budget: int | None = None
    device: str | None = None
    version = 4
    suffix = ".safetensors"

    @property
    def about(self) -> FrozenEncoder:
        return self.encoder

    @property
    def how(self) -> dict[str, Any]:
        """The options of :func:`represent`."""
        names = ("tolerance", "budget", "device")
        return {name: getattr(self, name) for name in names} | {"arithmetic": str(self.arithmetic)}

    def settings(self) -> str:
        return super().settings() + repr(self.how)

    def pack(self, into: Arrays) -> dict[str, Any]:
        return {"job": "represent", **self.how, "encoder": encoder_arrays(self.encoder, into)}

    def answer(self, chunk: Chunk) -> Representation:
        """The hand-over of the people of a chunk."""
        return represent(self.encoder, chunk.people, chunk.ids, **self.how)

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
    """Write the hand-over of a Parquet or CSV file. If interrupted, the next call resumes where it stopped.

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
    job = RepresentJob(frozen, deployed, tolerance, budget, device)
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
    on: CertifyOn
    arithmetic: Arithmetic
    handover_arithmetic: Arithmetic
    device: str | None = None
    version = 5
    suffix = ".parquet"

    def settings(self) -> str:
        computed = (str(self.arithmetic), str(self.handover_arithmetic), *filter(None, [self.device]))
        return repr((self.model.identity, self.on, computed, sorted(versions().items())))

    def pack(self, into: Arrays) -> dict[str, Any]:
        computed = {"arithmetic": str(self.arithmetic), "handover_arithmetic": str(self.handover_arithmetic)}
        computed |= {} if self.device is None else {"device": self.device}
        return {"job": "certify", "model": self.model.to_arrays(into), "on": self.on, **computed}

    def work(self, chunk: HandoverChunk) -> bytes:
        return parquet_bytes(self.answer(chunk.representation))

    def answer(self, handed: Representation) -> pa.Table:
        """The certificates of the people of a hand-over."""
        found = certify(handed, self.model, on=self.on, arithmetic=self.arithmetic, device=self.device)
        return found.to_arrow()


def certify_folder(
    handover: str | Path,
    model: Any,
    folder: str | Path,
    *,
    on: CertifyOn = "ball",
    chunk: int = CHUNK,
    workers: Workers = None,
    tolerance: float | None = None,
    arithmetic: str | None = None,
    device: str | None = None,
) -> Done:
    """Certify everyone in a hand-over into ``folder/certificates.parquet``; if interrupted, the next call resumes.

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
        deployed = choose_for(arithmetic, (known.function,))
        job = CertifyJob(known, on, deployed, outline.provenance.arithmetic, device)
        if outline.people == 0:
            raise ArtefactError(f"{source} contains no people", fix="get a hand-over that contains people")
        read = partial(read_handover_chunks, source, chunk)
        found, done = run_parts(job, read, parts, people=outline.people, named=True, workers=workers)
        with assembled(target, parts) as fresh:
            join_parts(found, fresh / CERTIFIED)
            about = {"model": job.model.function.hash, "decision": rule_of_bundle(job.model.rule), "on": on}
            about |= {"arithmetic": str(deployed), "handover_arithmetic": str(outline.provenance.arithmetic)}
            about |= {"handover": sha256_of(source / MANIFEST), "run": job.run_hash(), "files": describe_files(fresh)}
            write_manifest(fresh, {"format": "lcifr-certified-parts-3", **about})
    return done


def read_certified(path: Path, model: Any, *, on: str, tolerance: float | None = None) -> Iterator[Certificates]:
    """What :func:`certify_folder` wrote, some people at a time."""
    known = read_model(model, tolerance=tolerance)
    for batch in ParquetTable.open(path).batches():
        yield Certificates.from_arrow(pa.Table.from_batches([batch]), known, on)


# BatchFunction: the work of represent, certify and audit as one function over Arrow record batches, for any engine.

NAMED = "the record batch"


def handover_schema(width: int) -> pa.Schema:
    """The columns of a hand-over with so many numbers in z."""
    several = pa.list_(pa.float64(), width)
    kinds = {"latent": several, "radius": pa.float64(), "lower": several, "upper": several}
    return pa.schema([("id", pa.string()), *kinds.items(), ("exact", pa.bool_()), ("vacuous", pa.bool_())])


@final
class BatchFunction:
    """People in, answers about them out; equal people give equal answers, on every machine.

    Parameters
    ----------
    id_column : of the record batches: people's names, text or whole numbers. Their being different is the caller's to
        see to, as no one sees all of them here.
    """

    def __init__(self, job: Job, id_column: str = "id") -> None:
        self._job, self._id = job, id_column

    @property
    def columns(self) -> tuple[str, ...]:
        """What a record batch must have; more is left aside."""
        if isinstance(self._job, CertifyJob):
            return tuple(handover_schema(1).names)
        assert isinstance(self._job, AuditJob | RepresentJob)
        return (self._id, *(name for name in self._job.schema.names if name != self._id))

    @property
    def schema(self) -> pa.Schema:
        """The schema of every record batch that comes out."""
        if isinstance(self._job, CertifyJob):
            return certificate_schema(self._job.model)
        if isinstance(self._job, AuditJob):
            return self._job.rows
        assert isinstance(self._job, RepresentJob)
        return handover_schema(self._job.encoder.function.outputs)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The answers about the people of a record batch, in their order.

        Raises
        ------
        LcifrError
            For a column that is missing, and whatever the gate says of a value, by its row in the batch.
        """
        missing = [name for name in self.columns if name not in batch.schema.names]
        if missing:
            raise LcifrError(f"{NAMED} has no column {', '.join(missing)}", fix=f"give it {', '.join(self.columns)}")
        if not len(batch):
            return _empty(self.schema)
        found = self._answer(pa.Table.from_batches([batch])).cast(self.schema).combine_chunks()
        return found.to_batches()[0]

    def map(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One after the other, as Spark's ``mapInArrow`` asks for it."""
        return map(self, batches)

    def _answer(self, table: pa.Table) -> pa.Table:
        if isinstance(self._job, CertifyJob):
            return self._job.answer(_handed(table, self._job.handover_arithmetic))
        assert isinstance(self._job, AuditJob | RepresentJob)
        schema, rows = self._job.schema, range(len(table))
        ids = read_ids(table, NAMED, self._id, rows, texts=True)
        people = read_individuals(table.select(list(schema.names)), NAMED, schema, rows)
        chunk = Chunk(0, 0, people, ids)
        return self._job.answer(chunk) if isinstance(self._job, AuditJob) else _rows(self._job.answer(chunk))


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _rows(found: Representation) -> pa.Table:
    columns: dict[str, Any] = {"id": [str(name) for name in found.ids], **found.arrays()}
    schema = handover_schema(found.latent.shape[1])
    several = {
        name: pa.FixedSizeListArray.from_arrays(pa.array(columns[name].reshape(-1)), columns[name].shape[1])
        for name in ("latent", "lower", "upper")
    }
    return pa.table([several.get(name, columns[name]) for name in schema.names], schema=schema)


def _handed(table: pa.Table, arithmetic: Arithmetic) -> Representation:
    """What :func:`_rows` gave; who proved it is not said in a record batch."""

    def matrix(name: str) -> Any:
        return np.array(table[name].to_pylist(), dtype=np.float64).reshape(len(table), -1)

    unsaid = Provenance("", "", "", "", None, 0.0, "", arithmetic=arithmetic)
    return Representation(
        ids=tuple(table["id"].to_pylist()),
        latent=matrix("latent"),
        radius=table["radius"].to_numpy(),
        lower=matrix("lower"),
        upper=matrix("upper"),
        exact=table["exact"].to_numpy(),
        vacuous=table["vacuous"].to_numpy(),
        provenance=unsaid,
    )


# PackedWork: a job on people as hashed bytes, and the one function over Arrow record batches that it is.
#
#     work = audit_work(encoder, model)                    # where the models are
#     data = work.data                                     # bytes; work.sha256 names them
#     answer = PackedWork(data).function()                 # on any machine, in any engine
#     verdicts = answer(people)                            # a record batch in, a record batch out
#
# ``lcifr.workflows`` has examples with a plain loop and with Spark.

WORK_FORMAT = "lcifr-work-2"
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
        held = Arrays()
        said = {"format": WORK_FORMAT, "run": job.run_hash(), "versions": versions(), **job.pack(held)}
        text = json.dumps(said, ensure_ascii=False, allow_nan=False)
        return cls(TensorFile(held.arrays, {KEY: text}).to_bytes())

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
    try:
        file = TensorFile.from_bytes(data)
        held, said = Arrays(file.arrays), json.loads(file.texts[KEY])
    except (ValueError, KeyError):
        raise ArtefactError("these bytes are no packed work, or not all of it", fix="send PackedWork.data") from None
    if said.get("format") != WORK_FORMAT:
        raise ArtefactError(f"work of the format {said.get('format')!r}, this version reads {WORK_FORMAT!r}")
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


def _unpacked(said: dict[str, Any], held: Arrays) -> Job:
    if said["job"] == "certify":
        computed = Arithmetic(said["arithmetic"]), Arithmetic(said["handover_arithmetic"])
        return CertifyJob(Model.read_arrays(said["model"], held), said["on"], *computed, said.get("device"))
    if said["job"] == "represent":
        encoder, names = read_encoder(said["encoder"], held), ("tolerance", "budget", "device")
        return RepresentJob(encoder, Arithmetic(said["arithmetic"]), *(said[name] for name in names))
    return AuditJob(unpack_subject(said["subject"], held), said["modular"], said["budget"], said["device"])


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
    return PackedWork.of(AuditJob(Subject.of(encoder, model, groups, tolerance, arithmetic), modular, budget))


def represent_work(
    encoder: Any, *, tolerance: float = 1e-6, budget: int | None = None, arithmetic: str | None = None
) -> PackedWork:
    """The producer's: people in, z with radius and box out. Parameters as for :func:`lcifr.represent`."""
    frozen = freeze(encoder)
    deployed = choose_arithmetic(arithmetic, frozen.native)
    return PackedWork.of(RepresentJob(frozen, deployed, tolerance, budget))


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
    deployed = choose_for(arithmetic, (known.function,))
    return PackedWork.of(CertifyJob(known, on, deployed, Arithmetic(handover_arithmetic)))
