"""Large runs: a part per chunk, all cores, and a killed run goes on where it stopped.

A part is named by everything it depends on (weights, formula, settings, and the very people in it) and by its content,
and gets its name only when it is complete. So a part that is there and fits its name is right, however often the run
was killed.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, final

from lcifr.artifacts.folder import versions
from lcifr.certification.producer import FrozenEncoder
from lcifr.data import Schema
from lcifr.data.io.files import write_atomic
from lcifr.data.io.ids import DuplicateIds, hash_id
from lcifr.data.io.stream import TableSource, count_people, read_chunks
from lcifr.errors import ArtefactError
from lcifr.runs.events import counting_people, note
from lcifr.runs.streaming.parts import PartFiles
from lcifr.runs.streaming.workers import Crew

CHUNK = 8192
"""People in a part: seconds of work, so that little is lost by a kill."""


@dataclass(frozen=True)
class Done:
    """What a large run did: ``people`` in all, and how many of them an earlier run that was stopped had ``found``."""

    people: int
    found: int


class Piece(Protocol):
    """Some people: the ``number`` of the piece, the row that it starts with, and who is in it."""

    @property
    def number(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def ids(self) -> tuple[str | int, ...]: ...
    def content(self) -> Iterator[bytes]:
        """All that is known of them."""


class Job(ABC):
    """Work on one chunk at a time. It travels to other processes, so it holds plain, frozen things.

    ``version`` is that of a part: whoever changes what a part holds or means raises it, so that parts of before are not
    taken for parts of now.
    """

    version: int
    suffix: str

    @final
    def key(self) -> str:
        """Everything that a part depends on, besides its people."""
        return f"{type(self).__name__} {self.version} {self.settings()}"

    @final
    def run_hash(self) -> str:
        """The same as a hash, by which a manifest names the run that wrote it."""
        return hashlib.sha256(self.key().encode()).hexdigest()

    @abstractmethod
    def settings(self) -> str:
        """Weights, formula, options, versions of what computes: whatever the job itself depends on."""

    @abstractmethod
    def work(self, chunk: Any) -> bytes:
        """The content of the part of a piece of the kind that the job is for."""


def run_parts(
    job: Job,
    pieces: Callable[[], Iterator[Piece]],
    parts: Path,
    *,
    people: int | None,
    named: bool,
    workers: int | None,
) -> tuple[list[Path], Done]:
    """Do the job on every piece, and return the parts in order. Nobody's id may be there twice.

    Parameters
    ----------
    pieces : reads them, the same ones every time. people : how many there will be, if that is known.
    named : whether ids are more than the numbers of rows, which differ anyway.
    workers : processes; all cores if None, once that is worth their start.
    """
    known = PartFiles(parts, job.version, job.suffix)
    found: dict[int, Path] = {}
    count = before = 0
    pending: list[_Pending] = []

    def store() -> None:
        done = pending.pop(0)
        found[done.number] = _store(known, done, advance)

    with Crew(job, workers) as crew, counting_people(people) as advance, DuplicateIds(parts) as names:
        for piece in pieces():
            if named:
                names.add(piece.ids)
            inputs = _inputs(job, piece)
            count += len(piece.ids)
            if (path := known.find(piece.number, inputs)) is not None:
                found[piece.number] = path
                before += len(piece.ids)
                advance(len(piece.ids), worked=False)
                continue
            while len(pending) >= 2 * crew.size:  # a few wait at most: memory stays flat
                store()
            left = None if people is None else people - count + len(piece.ids)
            pending.append(_Pending(crew.submit(piece, left), piece.number, inputs, len(piece.ids)))
        while pending:
            store()
        if (twice := names.repeated()) is not None:
            name = next(
                one for piece in pieces() for one in piece.ids if hash_id(one) == twice
            )  # only hashes were kept
            raise ArtefactError(f"the id {name!r} is there twice", fix="every person needs an id of their own")
    return [found[number] for number in sorted(found)], Done(count, before)


@dataclass(frozen=True)
class _Pending:
    """A piece that is being worked on: the hash of what its part is made from, and how many people are in it."""

    content: Future[bytes]
    number: int
    inputs: str
    people: int


def _store(parts: PartFiles, done: _Pending, advance: Any) -> Path:
    content = done.content.result()
    path = parts.path(done.number, done.inputs, content)
    write_atomic(path, content)
    advance(done.people)
    return path


def _inputs(job: Job, piece: Piece) -> str:
    """The hash of everything that a part depends on."""
    digest = hashlib.sha256(job.key().encode() + json.dumps([piece.start, *piece.ids]).encode())
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

    def settings(self) -> str:
        hashes = (self.encoder.function.hash, self.encoder.similarity.hash, self.encoder.encoding.hash)
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


def note_resumed(done: Done) -> None:
    """Who was done before a run was stopped, and is not done again."""
    if done.found:
        note(f"{done.found:,} of {done.people:,} people were done before it was stopped; now all are")
