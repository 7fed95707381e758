"""BatchFunction: the work of represent, certify and audit as one function over Arrow record batches, for any engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, final

import numpy as np
import pyarrow as pa

from lcifr.certification.handover import Provenance, Representation
from lcifr.data.ingest import Chunk, read_ids, read_individuals
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic
from lcifr.runs.streaming.audited import AuditJob
from lcifr.runs.streaming.handovers import CertifyJob, RepresentJob
from lcifr.runs.streaming.job import Job
from lcifr.runs.streaming.verdict_rows import certificate_schema

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
        see to, as nobody sees all of them here.
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
        """Of every record batch that comes out."""
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
