"""Chunked runs: a part per chunk, named by its inputs and its content, from which a killed run resumes."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

from threadpoolctl import threadpool_limits

from lcifr.certification.handover import FrozenEncoder
from lcifr.data import Schema
from lcifr.data.codec import Arrays
from lcifr.data.files import fresh_folder, is_remote, locked, versions, write_atomic
from lcifr.data.ingest import Chunk, DuplicateIds, TableSource, count_people, hash_id, read_chunks
from lcifr.data.store import RowRange, ScannedTable
from lcifr.errors import ArtefactError
from lcifr.workflows.events import counting_people, note
from lcifr.workflows.executors import LocalPool, Piece, RayCluster, WorkerPool, Workers
from lcifr.workflows.folders import ChangedPartWarning, OtherVersionWarning, fetch_parts, keep_part

# Parts of a large run: a file for each chunk, named by all it was made from and by its content, and joined at the end.
#
# A part is used again only if both names fit: the first says that the very same would be computed, the second that
# no one changed it. All that is not finished lies among the parts, in one folder, which is removed when the whole is
# there.

NAMED = "named"
"""A file among the parts, once the whole is ready to get its name: whoever finds both may remove the parts."""
DIGITS = 24
"""Digits of each hash in the name of a part."""
NAME = re.compile(rf"part-(\d{{8,}})-v(\d+)-([0-9a-f]{{{DIGITS}}})-([0-9a-f]{{{DIGITS}}})\.[a-z]+")


@final
class PartFiles:
    """The parts in a folder.

    Parameters
    ----------
    version : that of the parts that are meant; others are removed. suffix : how their names end.
    """

    def __init__(self, folder: Path, version: int, suffix: str) -> None:
        self.folder, self._version, self._suffix = folder, version, suffix
        folder.mkdir(parents=True, exist_ok=True)
        fetch_parts(folder)
        self._there: dict[str, list[Path]] = {}
        self._tidy()

    def find(self, number: int, inputs: str) -> Path | None:
        """The part of this chunk made from these inputs; None where there is none, or it was changed since."""
        for path in self._there.get(self._stem(number, inputs), ()):
            if path == self.path(number, inputs, path.read_bytes()):
                return path
            path.unlink()
            text = f"{path} has changed since the last run wrote it: these people are done again"
            warnings.warn(text, ChangedPartWarning, stacklevel=3)
        return None

    def path(self, number: int, inputs: str, content: bytes) -> Path:
        """Where the part of this chunk lies if this is its content."""
        digest = hashlib.sha256(content).hexdigest()[:DIGITS]
        return self.folder / f"{self._stem(number, inputs)}-{digest}{self._suffix}"

    def _stem(self, number: int, inputs: str) -> str:
        return f"part-{number:08d}-v{self._version}-{inputs[:DIGITS]}"

    def _tidy(self) -> None:
        """Remove what a killed run left half done, and parts that mean something else now."""
        (self.folder / NAMED).unlink(missing_ok=True)
        for folder in [one for one in self.folder.iterdir() if one.is_dir()]:  # a whole that did not get its name
            shutil.rmtree(folder)
        others = 0
        for part in sorted(self.folder.glob("part-*")):
            fits = NAME.fullmatch(part.name)
            if fits is None or int(fits[2]) != self._version:
                part.unlink()
                others += 1
            else:
                self._there.setdefault(self._stem(int(fits[1]), fits[3]), []).append(part)
        if others:
            text = f"{self.folder} held {others} part(s) of another version: not used, these people are done again"
            warnings.warn(text, OtherVersionWarning, stacklevel=5)


@contextmanager
def parts_beside(folder: Path, command: str) -> Iterator[Path]:
    """The folder of the parts until all are there; ``folder`` stays locked meanwhile.

    Parameters
    ----------
    command : what is done, for other runs that find the lock.
    """
    with locked(folder, command):
        parts = folder.with_name(f".{folder.name}.parts")
        if folder.exists():
            if (parts / NAMED).exists():  # killed when the whole had its name, and before the parts were removed
                discard(parts)
            raise ArtefactError(f"{folder} already exists", fix="choose another name, or remove it yourself")
        yield parts


@contextmanager
def assembled(folder: Path, parts: Path) -> Iterator[Path]:
    """A folder among the parts that gets its name when everything in it was written; then the parts are removed."""
    try:
        with fresh_folder(folder, among=parts) as fresh:
            yield fresh
            (parts / NAMED).touch()
    except BaseException:
        (parts / NAMED).unlink(missing_ok=True)  # what bears the name may be someone else's: the parts are needed
        raise
    discard(parts)


def discard(parts: Path) -> None:
    """Parts are not needed once the whole is written."""
    shutil.rmtree(parts, ignore_errors=True)


# Work on one chunk at a time, whose result depends on nothing but what its parts are named by.


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

    @final
    def part(self, piece: Any) -> bytes:
        """The content of a piece's part; the piece is read where it is worked on. Empty if it contains no one.

        Matrix products take one thread, here as in worker processes: sums are the same wherever a part is made, and
        threads of BLAS that wait for the next small product would keep a core busy with nothing.
        """
        with threadpool_limits(1, user_api="blas"):
            chunk = self.read(piece) if isinstance(piece, RowRange) else piece
            return self.work(chunk) if len(chunk.ids) else b""

    def read(self, rows: RowRange) -> Chunk:
        """The people of some rows, for jobs on tables."""
        raise NotImplementedError

    @abstractmethod
    def work(self, chunk: Any) -> bytes:
        """The content of the part of a piece of the kind that the job is for."""

    @property
    def device(self) -> str | None:
        """Where it computes bounds, as torch names it; None for the CPU."""
        return None

    @abstractmethod
    def pack(self, into: Arrays) -> dict[str, Any]:
        """All of the job as plain values and arrays, to be sent to other machines."""


# Large runs: a part per chunk, all cores, and a killed run resumes where it stopped.
#
# A part is named by everything it depends on (weights, formula, settings, and the very people in it) and by its
# content, and gets its name only when it is complete. So a part that is there and fits its name is right, however often
# the run was killed.

CHUNK = 8192
"""People in a part: seconds of work, so that little is lost by a kill."""
QUICK = 1 << 16
"""The same for verdicts alone, which take microseconds per person."""
AHEAD = 2
"""Pieces for each worker that are worked on or wait."""


@dataclass(frozen=True)
class Done:
    """What a large run did: ``people`` in all, and how many of them an earlier run that was stopped had ``found``."""

    people: int
    found: int


def run_parts(
    job: Job,
    pieces: Callable[[], Iterator[Piece]],
    parts: Path,
    *,
    people: int | None,
    named: bool,
    workers: Workers,
) -> tuple[list[Path], Done]:
    """Do the job on every piece, and return the parts in order. No id may occur twice.

    Parameters
    ----------
    pieces : reads them, the same ones every time; or says which rows they are, for workers to read.
    people : how many there will be, if that is known.
    named : whether ids are more than the numbers of rows, which differ anyway, and no one has compared them yet.
    workers : processes; all cores if None, once that is worth their start; or a cluster.
    """
    known = PartFiles(parts, job.version, job.suffix)
    found: dict[int, Path] = {}
    count = before = 0
    pending: deque[_Pending] = deque()

    def store() -> None:
        done = pending.popleft()
        content = done.content()
        if done.table is not None and not is_remote(done.table.path):
            done.table.refuse_changed()  # a part is named by the table that was scanned
        found[done.number] = _store(known, done, content)
        advance(done.people, workers=pool.size)

    with _pool(job, workers) as pool, counting_people(people) as advance, DuplicateIds(parts) as names:
        for piece in pieces():
            if named:
                names.add(piece.ids)
            inputs, size = _inputs(job, piece), piece.size
            count += size
            if (path := known.find(piece.number, inputs)) is not None:
                found[piece.number] = path
                before += size
                advance(size, worked=False)
                continue
            while len(pending) >= AHEAD * pool.size:  # a few wait at most: memory stays flat
                store()
            left = None if people is None else people - count + size
            table = piece.table if isinstance(piece, RowRange) else None
            pending.append(_Pending(pool.submit(piece, left), piece.number, inputs, size, table))
        while pending:
            store()
        if (twice := names.repeated()) is not None:
            raise _twice(pieces, twice)
    return [found[number] for number in sorted(found)], Done(count, before)


def _pool(job: Job, workers: Workers) -> AbstractContextManager[WorkerPool]:
    if isinstance(workers, RayCluster):
        from lcifr.workflows.ray import RayPool  # Ray is imported only for a cluster

        return RayPool(job, workers)
    return LocalPool(job, workers)


def _twice(pieces: Callable[[], Iterator[Piece]], twice: bytes) -> ArtefactError:
    name = next(one for piece in pieces() for one in piece.ids if hash_id(one) == twice)  # only hashes were kept
    return ArtefactError(f"the id {name!r} occurs twice", fix="give every person a unique id")


@dataclass(frozen=True)
class _Pending:
    """A piece that is being worked on: the hash of what its part is made from, and how many people are in it.

    table : that workers read it from, if they do.
    """

    content: Callable[[], bytes]
    number: int
    inputs: str
    people: int
    table: ScannedTable | None


def _store(parts: PartFiles, done: _Pending, content: bytes) -> Path:
    path = parts.path(done.number, done.inputs, content)
    write_atomic(path, content)
    keep_part(path)
    return path


def _inputs(job: Job, piece: Piece) -> str:
    """The hash of everything that a part depends on."""
    digest = hashlib.sha256(job.key().encode() + json.dumps([piece.start, *piece.ids]).encode())
    for content in piece.content():
        digest.update(content)
    return digest.hexdigest()


class EncoderJob(Job):
    """Its schema reads the table; the hashes of its encoder and the versions name the run."""

    @property
    @abstractmethod
    def about(self) -> FrozenEncoder:
        """The encoder, with φ and the schema of the table."""

    @property
    def schema(self) -> Schema:
        return self.about.encoding.schema

    def settings(self) -> str:
        about = self.about
        hashes = (about.function.hash, about.similarity.hash, about.encoding.hash)
        return repr((hashes, about.whole_numbers, sorted(versions().items())))

    def read(self, rows: RowRange) -> Chunk:
        return rows.read(self.schema)

    def run(
        self, source: TableSource | ScannedTable, id_column: str | None, chunk: int, parts: Path, workers: Workers
    ) -> tuple[list[Path], Done]:
        """Do it for everyone in a file; the rows of a scanned table are read where they are worked on."""
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
