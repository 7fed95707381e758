"""An audit of a whole file, read back as :class:`Audit`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from lcifr.artifacts.folder import MANIFEST, describe_files, fresh_folder, open_folder
from lcifr.certification.bundles.manifest import Hashes
from lcifr.certification.verdicts import Audit, Reason, Verdict, arithmetic_of
from lcifr.data import Individuals
from lcifr.data.io.files import write_json
from lcifr.data.io.stream import parquet_batches
from lcifr.errors import ArtefactError
from lcifr.models.model import Model
from lcifr.runs.streaming.audit_job import AUDITED, FORMAT
from lcifr.runs.streaming.parts import ParquetAppender


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
    for frame, some in _frames(folder, people, about):
        yield _audit(frame, some, model)


def read_audited_rows(
    folder: str | Path, people: Iterator[Individuals], model: Model, about: Hashes, rows: NDArray[np.int64]
) -> Audit:
    """Some of them, by their rows in rising order; only these are in memory at once."""
    import pandas as pd

    frames, chosen, start = [], [], 0
    for frame, some in _frames(folder, people, about):
        first, last = np.searchsorted(rows, [start, start + len(some)])
        here = rows[first:last] - start
        frames.append(frame.iloc[here])
        chosen.append(some.take(here))
        start += len(some)
    return _audit(pd.concat(frames, ignore_index=True), Individuals.joined(chosen), model)


def _frames(folder: str | Path, people: Iterator[Individuals], about: Hashes) -> Iterator[tuple[Any, Individuals]]:
    """The next people, and their rows of the file, once all of it is known to be about the same."""
    root = Path(folder)
    about.refuse_others(open_folder(root, FORMAT, (AUDITED,)), root)
    rows = _AuditedRows(root / AUDITED)
    for some in people:
        frame = rows.take(len(some))
        if len(frame) != len(some):
            raise _about_others(root)
        yield frame, some
    if len(rows.take(1)):
        raise _about_others(root)


def _about_others(folder: Path) -> ArtefactError:
    return ArtefactError(f"{folder} is about other people", fix="give those who were audited, in the same order")


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
        write_json(fresh / MANIFEST, manifest | {"files": describe_files(fresh)})
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


class _AuditedRows:
    """The next rows of a Parquet file, as many as one asks for."""

    def __init__(self, path: Path) -> None:
        from pyarrow import parquet

        self._batches = parquet_batches(path)
        self._waiting: pa.Table = parquet.read_schema(path).empty_table()

    def take(self, count: int) -> Any:
        """A pandas frame; shorter where the file ends."""
        while len(self._waiting) < count and (batch := next(self._batches, None)) is not None:
            self._waiting = pa.concat_tables([self._waiting, pa.Table.from_batches([batch])])
        rows, self._waiting = self._waiting.slice(0, count), self._waiting.slice(count)
        return rows.to_pandas()


def _audit(frame: Any, people: Individuals, known: Model) -> Audit:
    verdict = np.array([Verdict(word) for word in frame["verdict"]], dtype=object)
    return Audit(
        ids=tuple(str(name) for name in frame["id"]),
        people=people,
        verdict=verdict,
        reason=np.array([Reason(word) for word in frame["reason"]], dtype=object),
        prediction=frame["prediction"].to_numpy(),
        margin=frame["margin"].to_numpy(np.float64),
        vacuous=frame["vacuous"].to_numpy(np.bool_),
        alone=frame["alone"].to_numpy(np.bool_),
        others=_others(people, frame, verdict == Verdict.COUNTEREXAMPLE),
        ball=_mask(frame, "certified_on_ball"),
        box=_mask(frame, "certified_on_box"),
        model=known,
        arithmetic=arithmetic_of(frame["arithmetic"]),
    )


def _mask(frame: Any, name: str) -> Any:
    return frame[name].to_numpy(np.bool_) if name in frame.columns else None


def _others(people: Individuals, frame: Any, violated: Any) -> Individuals:
    """The similar people as the file writes them; whoever has none stands for themselves."""
    numbers, codes = people.numbers.copy(), people.codes.copy()
    for j, numeric in enumerate(people.schema.numeric):
        numbers[violated, j] = frame.loc[violated, f"similar:{numeric.name}"].astype(np.float64)
    for j, categorical in enumerate(people.schema.categorical):
        texts = frame.loc[violated, f"similar:{categorical.name}"]
        codes[violated, j] = [categorical.values.index(text) for text in texts]
    return Individuals(people.schema, numbers, codes)
