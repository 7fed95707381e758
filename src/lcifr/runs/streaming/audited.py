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

from lcifr.artifacts.folder import describe_files, fresh_folder, open_folder, write_manifest
from lcifr.certification.bundles.manifest import Hashes
from lcifr.certification.end_to_end import audit_region
from lcifr.certification.library.library_model import LibraryModel
from lcifr.certification.looked_up import LookedUp
from lcifr.certification.producer import freeze, represent_lowered
from lcifr.certification.sweep.look_up import ProvedCells, audit_looked_up
from lcifr.certification.verdicts import Audit, Reason, Verdict
from lcifr.data import Individuals
from lcifr.data.io.stream import Chunk, TableSource, parquet_batches
from lcifr.errors import ArtefactError
from lcifr.models.arithmetic import arithmetic_of, read_arithmetic
from lcifr.models.chain import choose_for
from lcifr.models.load import read_model
from lcifr.models.model import Model
from lcifr.runs.streaming.large import CHUNK, Done, EncoderJob
from lcifr.runs.streaming.parts import ParquetAppender, ParquetRows, assembled, join_tables, parts_beside, table_part

AUDITED = "audit.parquet"
FORMAT = "lcifr-audited-3"


@final
@dataclass(frozen=True)
class AuditJob(EncoderJob):
    """The audit of a chunk.

    Parameters
    ----------
    options : ``modular``, ``budget`` and ``arithmetic``, as for :func:`audit_file`.
    library : of a model from elsewhere; compared on every chunk, and no counterexample counts without its word.
    proved : cells of a sweep, whose people need no search; not with ``modular``.
    """

    model: Model
    library: LibraryModel | None = None
    proved: ProvedCells | None = None
    version = 5
    suffix = ".parquet"

    def settings(self) -> str:
        source = None if self.library is None else self.library.source
        known = "" if self.proved is None else self.proved.name
        return super().settings() + repr(self.model.identity) + ("" if source is None else repr(source.runtime)) + known

    def work(self, chunk: Chunk) -> bytes:
        import pandas as pd

        encoder, people = self.encoder, chunk.people
        arithmetic = read_arithmetic(self.options["arithmetic"])
        said = dict[str, Any](budget=self.options["budget"], arithmetic=arithmetic)
        decided = None if self.library is None else self.library.decisions_about(people, ids=chunk.ids)
        lowered, handed = encoder.region(people), None  # once, for the hand-over and from end to end
        if self.options["modular"]:
            handed = represent_lowered(encoder, people, lowered, **said)
        said |= {"modular": handed or False, "library": decided}
        if self.proved is None:
            found = audit_region(encoder, self.model, people, lowered, chunk.ids, **said)
        else:
            found = audit_looked_up(encoder, self.model, people, lowered, chunk.ids, self.proved, **said)
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

    def audit(self, source: TableSource, folder: Path, id_column: str | None, chunk: int, workers: int | None) -> Done:
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
    rows = ParquetRows(root / AUDITED)
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
        looked_up=LookedUp.of_rows(frame),
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
