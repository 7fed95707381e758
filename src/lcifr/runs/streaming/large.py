"""Large runs: a part per chunk, all cores, and a killed run goes on where it stopped.

A part is named by everything it depends on (weights, formula, settings, and the very people in it) and by its content,
and gets its name only when it is complete. So a part that is there and fits its name is right, however often the run
was killed.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from lcifr.certification.handover import FrozenEncoder
from lcifr.data import Schema
from lcifr.data.files import is_remote, versions, write_atomic
from lcifr.data.ingest import Chunk, DuplicateIds, TableSource, count_people, hash_id, read_chunks
from lcifr.data.store import RowRange, ScannedTable
from lcifr.errors import ArtefactError
from lcifr.runs.events import counting_people, note
from lcifr.runs.executors.crew import Crew, PendingPart, RayCluster, Workers
from lcifr.runs.executors.local import LocalCrew
from lcifr.runs.streaming.job import Job
from lcifr.runs.streaming.parts import PartFiles, keep_part

CHUNK = 8192
"""People in a part: seconds of work, so that little is lost by a kill."""
QUICK = 1 << 16
"""The same of verdicts alone, which take microseconds a person."""
AHEAD = 2
"""Pieces for each worker that are worked on or wait."""


@dataclass(frozen=True)
class Done:
    """What a large run did: ``people`` in all, and how many of them an earlier run that was stopped had ``found``."""

    people: int
    found: int


class Piece(Protocol):
    """Some people: the ``number`` of the piece and the row that it starts with."""

    @property
    def number(self) -> int: ...
    @property
    def start(self) -> int: ...
    def content(self) -> Iterator[bytes]:
        """All that is known of them."""


def run_parts(
    job: Job,
    pieces: Callable[[], Iterator[Piece]],
    parts: Path,
    *,
    people: int | None,
    named: bool,
    workers: Workers,
) -> tuple[list[Path], Done]:
    """Do the job on every piece, and return the parts in order. Nobody's id may be there twice.

    Parameters
    ----------
    pieces : reads them, the same ones every time; or says which rows they are, for workers to read.
    people : how many there will be, if that is known.
    named : whether ids are more than the numbers of rows, which differ anyway, and nobody has compared them yet.
    workers : processes; all cores if None, once that is worth their start; or a cluster.
    """
    known = PartFiles(parts, job.version, job.suffix)
    found: dict[int, Path] = {}
    count = before = 0
    pending: deque[_Pending] = deque()

    def store() -> None:
        done = pending.popleft()
        content = done.content.result()
        if done.table is not None and not is_remote(done.table.path):
            done.table.refuse_changed()  # a part is named by the table that was scanned
        found[done.number] = _store(known, done, content)
        advance(done.people, workers=crew.size)

    with _crew(job, workers) as crew, counting_people(people) as advance, DuplicateIds(parts) as names:
        for piece in pieces():
            if named:
                names.add(piece.ids)  # type: ignore[attr-defined]
            inputs, size = _inputs(job, piece), _people(piece)
            count += size
            if (path := known.find(piece.number, inputs)) is not None:
                found[piece.number] = path
                before += size
                advance(size, worked=False)
                continue
            while len(pending) >= AHEAD * crew.size:  # a few wait at most: memory stays flat
                store()
            left = None if people is None else people - count + size
            table = piece.table if isinstance(piece, RowRange) else None
            pending.append(_Pending(crew.submit(piece, left), piece.number, inputs, size, table))
        while pending:
            store()
        if (twice := names.repeated()) is not None:
            raise _twice(pieces, twice)
    return [found[number] for number in sorted(found)], Done(count, before)


def _crew(job: Job, workers: Workers) -> AbstractContextManager[Crew]:
    if isinstance(workers, RayCluster):
        from lcifr.runs.executors.ray import RayCrew  # Ray is imported only for a cluster

        return RayCrew(job, workers)
    return LocalCrew(job, workers)


def _twice(pieces: Callable[[], Iterator[Any]], twice: bytes) -> ArtefactError:
    name = next(one for piece in pieces() for one in piece.ids if hash_id(one) == twice)  # only hashes were kept
    return ArtefactError(f"the id {name!r} occurs twice", fix="give every person a unique id")


@dataclass(frozen=True)
class _Pending:
    """A piece that is being worked on: the hash of what its part is made from, and how many people are in it.

    table : that workers read it from, if they do.
    """

    content: PendingPart
    number: int
    inputs: str
    people: int
    table: ScannedTable | None


def _store(parts: PartFiles, done: _Pending, content: bytes) -> Path:
    path = parts.path(done.number, done.inputs, content)
    write_atomic(path, content)
    keep_part(path)
    return path


def _people(piece: Any) -> int:
    return int(piece.count) if isinstance(piece, RowRange) else len(piece.ids)


def _inputs(job: Job, piece: Any) -> str:
    """The hash of everything that a part depends on."""
    who = [] if isinstance(piece, RowRange) else piece.ids
    digest = hashlib.sha256(job.key().encode() + json.dumps([piece.start, *who]).encode())
    for content in piece.content():
        digest.update(content)
    return digest.hexdigest()


@dataclass(frozen=True)
class EncoderJob(Job):
    """Its schema reads the table; its hashes, the options and the versions name the run."""

    encoder: FrozenEncoder
    options: dict[str, Any]

    @property
    def schema(self) -> Schema:
        return self.encoder.encoding.schema

    @property
    def device(self) -> str | None:
        return self.options.get("device")

    def settings(self) -> str:
        hashes = (self.encoder.function.hash, self.encoder.similarity.hash, self.encoder.encoding.hash)
        about = (hashes, self.encoder.whole_numbers)
        return repr((about, sorted(self.options.items()), sorted(versions().items())))

    def read(self, rows: RowRange) -> Chunk:
        return rows.read(self.schema)

    def run(
        self, source: TableSource | ScannedTable, id_column: str | None, chunk: int, parts: Path, workers: Workers
    ) -> tuple[list[Path], Done]:
        """Do it for everybody of a file; the rows of a table that was scanned are read where they are worked on."""
        if isinstance(source, ScannedTable):
            ranges = partial(source.ranges, chunk)
            return run_parts(self, ranges, parts, people=source.rows, named=False, workers=workers)
        read = partial(read_chunks, source, self.schema, chunk, id_column)
        named = id_column is not None
        return run_parts(self, read, parts, people=count_people(source), named=named, workers=workers)


def note_resumed(done: Done) -> None:
    """Who was done before a run was stopped, and is not done again."""
    if done.found:
        note(f"{done.found:,} of {done.people:,} people were already done before the interruption; now all are")
