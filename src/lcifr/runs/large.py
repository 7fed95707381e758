"""Large runs: a part per chunk, all cores, and a killed run goes on where it stopped.

A part is named by everything it depends on (weights, formula, settings, and the very people in it) and gets its name
only when it is complete. So a part that is there is right, whoever wrote it and however often the run was killed.
Everything that is not finished lies among the parts, in one folder, which is removed when the whole is there.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import threading
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, final

from lcifr.artifacts.folder import fresh_folder
from lcifr.data.io.duplicate_ids import DuplicateIds, hash_id
from lcifr.errors import ArtefactError
from lcifr.files import write_atomic
from lcifr.runs.events import counting_people

CHUNK = 8192
"""People in a part: seconds of work, so that little is lost by a kill."""
NAMED = "named"
"""A file among the parts, once the whole is ready to get its name: whoever finds both may remove the parts."""


class OtherVersionWarning(UserWarning):
    """A stopped run left parts that another version of lcifr made; they are not used."""


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
    """
    parts.mkdir(parents=True, exist_ok=True)
    _tidy(parts, job)
    found: list[Path] = []
    count = before = 0
    pending: list[tuple[Future[bytes], Path, int]] = []
    cores = workers or os.cpu_count() or 1
    with _pool(job, cores) as submit, counting_people(people) as advance, DuplicateIds(parts) as names:
        for piece in pieces():
            if named:
                names.add(piece.ids)
            path = parts / f"part-{piece.number:08d}{_version(job)}{_name(job, piece)}{job.suffix}"
            found.append(path)
            count += len(piece.ids)
            if path.is_file():
                before += len(piece.ids)
                advance(len(piece.ids), worked=False)
                continue
            while len(pending) >= 2 * cores:  # a few wait at most: memory stays flat
                _store(*pending.pop(0), advance)
            pending.append((submit(piece), path, len(piece.ids)))
        for waiting in pending:
            _store(*waiting, advance)
        if (twice := names.repeated()) is not None:
            name = next(
                one for piece in pieces() for one in piece.ids if hash_id(one) == twice
            )  # only hashes were kept
            raise ArtefactError(f"the id {name!r} is there twice", fix="every person needs an id of their own")
    return found, Done(count, before)


def _version(job: Job) -> str:
    return f"-v{job.version}-"


def _tidy(parts: Path, job: Job) -> None:
    """Remove what a killed run left half done, and parts that mean something else now."""
    (parts / NAMED).unlink(missing_ok=True)
    for folder in [one for one in parts.iterdir() if one.is_dir()]:  # a whole that did not get its name
        shutil.rmtree(folder)
    others = [part for part in parts.glob("part-*") if _version(job) not in part.name]
    for part in others:
        part.unlink()
    if others:
        text = f"{parts} held {len(others)} part(s) of another version: not used, these people are done again"
        warnings.warn(text, OtherVersionWarning, stacklevel=4)


def _store(future: Future[bytes], path: Path, people: int, advance: Any) -> None:
    write_atomic(path, future.result())
    advance(people)


def _name(job: Job, piece: Piece) -> str:
    digest = hashlib.sha256(job.key().encode() + json.dumps([piece.start, *piece.ids]).encode())
    for content in piece.content():
        digest.update(content)
    return digest.hexdigest()[:24]


@contextmanager
def _pool(job: Job, workers: int) -> Iterator[Any]:
    """Something to submit chunks to: this very process, or others. Each works on one core, so results are the same."""
    if workers == 1:
        with _one_thread():

            def submit(piece: Piece) -> Future[bytes]:
                done: Future[bytes] = Future()
                done.set_result(job.work(piece))
                return done

            yield submit
        return
    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    with ProcessPoolExecutor(workers, context, _begin, (job, os.getpid())) as pool:
        try:
            yield lambda piece: _deaf_to_ctrl_c(pool.submit, _work, piece)
        except BaseException:  # Ctrl-C above all: nobody waits for chunks that will not be stored
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(multiprocessing.active_children()) - before:
                worker.terminate()
            raise


def _deaf_to_ctrl_c(submit: Callable[..., Future[bytes]], *work: Any) -> Future[bytes]:
    """Submit: workers start here and inherit the mask, else Ctrl-C while they import would print their tracebacks."""
    if not hasattr(signal, "pthread_sigmask"):
        return submit(*work)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return submit(*work)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)  # what came meanwhile is delivered now


@contextmanager
def _one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


_JOB: Job | None = None  # of a worker process


def _begin(job: Job, parent: int) -> None:
    global _JOB
    import torch

    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who keeps what is finished
    _JOB = job
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: int) -> None:
    """A worker whose parent was killed would wait for ever."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _work(piece: Piece) -> bytes:
    assert _JOB is not None
    return _JOB.work(piece)


def parts_beside(folder: Path) -> Path:
    """Where parts wait until all are there."""
    parts = folder.with_name(f".{folder.name}.parts")
    if folder.exists():
        if (parts / NAMED).exists():  # killed when the whole had its name, and before the parts were removed
            discard(parts)
        raise ArtefactError(f"{folder} exists already", fix="choose another name, or remove it yourself")
    return parts


@contextmanager
def assembled(folder: Path, parts: Path) -> Iterator[Path]:
    """A folder among the parts that gets its name when everything in it was written; then the parts are removed."""
    with fresh_folder(folder, among=parts) as fresh:
        yield fresh
        (parts / NAMED).touch()
    discard(parts)


def discard(parts: Path) -> None:
    """Parts are not needed once the whole is written."""
    shutil.rmtree(parts, ignore_errors=True)
