"""Files written whole or not at all, their checksums and dates, and locks of folders: one run at a time.

The lock of ``OUT`` is the file ``.OUT.lock`` beside it, which names its holder for whoever has to wait. The operating
system releases it when the process ends: a file that a killed run left behind locks nothing.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import socket
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lcifr.errors import LcifrError


class ChangedFileWarning(UserWarning):
    """A file that an earlier run left was changed since, so it is not used."""


def write_atomic(path: str | Path, data: bytes) -> None:
    """Write a file atomically: to a temporary name, synced to disk, then renamed."""
    path = Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        sync(beside)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def sha256_of(path: str | Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_json(path: str | Path, values: Any) -> None:
    """Write indented JSON, keys in the order given (that of a schema is the order of the feature columns)."""
    write_atomic(path, json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n")


def json_value(value: Any) -> Any:
    """A NumPy scalar as a Python number, anything else unchanged."""
    return value.item() if hasattr(value, "item") else value


def sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def moment() -> datetime:
    """The current moment in UTC; SOURCE_DATE_EPOCH names another one, for results made again byte for byte."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(fixed), UTC) if fixed.isdecimal() else datetime.now(UTC)


def now() -> str:
    """The moment to the second, as ``2026-11-16T18:00:00+00:00``."""
    return moment().isoformat(timespec="seconds")


TAKEN = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)
BEYOND = 1 << 30
"""The byte that Windows locks. What is locked there cannot be read, so it is none of those that say who holds it."""


class NoLockWarning(UserWarning):
    """The disk knows no locks: nothing keeps two runs apart but the hashes of what they write."""


@dataclass(frozen=True)
class Holder:
    """A run that works on a folder: its process, since when (UTC), and what it was asked to do."""

    pid: int
    host: str
    since: str
    command: str

    @classmethod
    def this(cls, command: str) -> Holder:
        """This process."""
        return cls(os.getpid(), socket.gethostname(), now(), command)

    @classmethod
    def read(cls, path: Path) -> Holder | None:
        """The holder that a lock file names; None if it names none, as in the moment before it is written."""
        try:
            found = json.loads(path.read_bytes())
            return cls(int(found["pid"]), str(found["host"]), str(found["since"]), str(found["command"]))
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} since {self.since} (`{self.command}`)"


class LockedError(LcifrError):
    """Another run works on the same folder. ``holder`` is None where it did not say who it is."""

    def __init__(self, folder: Path, holder: Holder | None) -> None:
        self.holder = holder
        super().__init__(
            f"{folder} is being made by {holder or 'another process'}",
            fix="wait until that run has ended, or choose another folder",
        )


def lock_of(folder: Path) -> Path:
    """The lock file of ``folder``."""
    return folder.with_name(f".{folder.name}.lock")


@contextmanager
def locked(folder: Path, command: str) -> Iterator[None]:
    """Hold the lock of ``folder`` against all other runs; raises at once where another run holds it.

    Parameters
    ----------
    command : what this run was asked to do, for others to read.
    """
    path = lock_of(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = _acquire(folder, path)
    try:
        os.ftruncate(handle, 0)
        os.write(handle, json.dumps(asdict(Holder.this(command)), ensure_ascii=False).encode())
        yield
    finally:
        with suppress(OSError):  # before it is given back: afterwards it may be somebody else's. Windows refuses
            path.unlink()
        os.close(handle)
        if sys.platform == "win32":
            with suppress(OSError):
                path.unlink()


def _acquire(folder: Path, path: Path) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(handle)
        except OSError as problem:
            if problem.errno in TAKEN:
                os.close(handle)
                raise LockedError(folder, Holder.read(path)) from None
            text = f"the disk of {folder} knows no locks: do not start a second run on the same folder"
            warnings.warn(text, NoLockWarning, stacklevel=4)
            return handle
        if _is_still(path, handle):
            return handle
        os.close(handle)  # the holder of before has removed it between the two steps


def _is_still(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except OSError:
        return False


def _lock(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(handle, BEYOND, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
