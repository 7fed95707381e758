"""Files and folders, local or in an object store: written whole or not at all, hashed, locked, listed in manifests.

The lock of ``OUT`` is the file ``.OUT.lock`` beside it, which names its holder for whoever has to wait. The operating
system releases it when the process ends: a file that a killed run left behind locks nothing.

Places are local paths, or URIs of Arrow's filesystems such as ``s3://bucket/folder``. Credentials come from the
environment, as Arrow and the tools of the store read them, and are never written down. A URI that holds some is
refused: URIs are written into settings and messages.

A folder with a manifest is represented by the manifest, which holds the hashes of its files.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import socket
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, final
from urllib.parse import parse_qsl, unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import ArtefactError, LcifrError, no_such_file

if TYPE_CHECKING:
    from pyarrow import fs


# Files written whole or not at all, their checksums and dates, and locks of folders: one run at a time.
#
# The lock of ``OUT`` is the file ``.OUT.lock`` beside it, which names its holder for whoever has to wait. The operating
# system releases it when the process ends: a file that a killed run left behind locks nothing.


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
        with suppress(OSError):  # before it is given back: afterwards it may be someone else's. Windows refuses
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


# Places of tables and results: local paths, and URIs of Arrow's filesystems such as ``s3://bucket/folder``.
#
# Credentials come from the environment, as Arrow and the tools of the store read them, and are never written down. A
# URI that holds some is refused: URIs are written into settings and messages.

REMOTE = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):/+(.+)$")
"""Two letters at least: one is a drive of Windows. One slash is enough, as ``pathlib`` folds two of them."""
BLOCK = 1 << 22
"""Bytes of a file that are copied at a time."""
ENDPOINT = "AWS_ENDPOINT_URL"
"""Where an S3 server is that is not Amazon's, as for the tools of Amazon."""
SECRET = re.compile(r"secret|password|token|_?key$|credential|^sig$|signature", re.IGNORECASE)
"""Names in a query that stand before what no one else may know: keys of S3, of Azure, and its signatures."""


def is_remote(path: str | Path) -> bool:
    """Whether this names something on a filesystem of Arrow's, and not a local path."""
    return REMOTE.match(str(path)) is not None


@final
@dataclass(frozen=True)
class StoragePlace:
    """A file or a folder somewhere.

    Parameters
    ----------
    text : a local path, or a URI with both slashes.
    """

    text: str

    @classmethod
    def of(cls, path: str | Path) -> StoragePlace:
        """The place that a path names; refused where it holds credentials."""
        found = REMOTE.match(str(path))
        if found is None:
            return cls(str(path))
        uri = f"{found[1].lower()}://{found[2]}"
        parts = urlsplit(uri)
        if parts.password or parts.username or any(SECRET.search(name) for name, _ in parse_qsl(parts.query)):
            raise LcifrError(
                f"{found[1]}://…: the URI holds credentials, and URIs are written into results",
                fix="give credentials in the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), not in the URI",
            )
        if "#" in uri:
            raise LcifrError(f"{uri}: what follows the # would be left aside", fix="write %23 for a # in a name")
        return cls(uri)

    def __str__(self) -> str:
        return self.text

    @property
    def filesystem(self) -> fs.FileSystem:
        return _opened(self.text)[0]

    @property
    def path(self) -> str:
        """On its filesystem."""
        return str(_opened(self.text)[1])

    def at(self, name: str) -> str:
        """The path of a file in this folder."""
        return f"{self.path.rstrip('/')}/{name}"

    def open(self) -> Any:
        """The file, to be read at any place."""
        return self.filesystem.open_input_file(self.path)

    def files(self) -> dict[str, fs.FileInfo]:
        """The files in this folder and below, by their path in it; none where there is no such folder."""
        from pyarrow import fs

        selector = fs.FileSelector(self.path, allow_not_found=True, recursive=True)
        found = [info for info in self.filesystem.get_file_info(selector) if info.type == fs.FileType.File]
        start = len(self.path.rstrip("/")) + 1
        return {info.path[start:]: info for info in sorted(found, key=lambda info: info.path)}

    def kind(self) -> str:
        """``file``, ``folder`` or ``nothing``."""
        from pyarrow import fs

        names = {fs.FileType.File: "file", fs.FileType.Directory: "folder"}
        return names.get(self.filesystem.get_file_info(self.path).type, "nothing")

    def read(self, name: str) -> bytes:
        """A whole file of this folder."""
        with self.filesystem.open_input_stream(self.at(name)) as file:
            return bytes(file.read())

    def upload(self, file: Path, name: str) -> None:
        """Copy a local file into this folder, some of it at a time."""
        with file.open("rb") as source, self.filesystem.open_output_stream(self.at(name)) as target:
            while block := source.read(BLOCK):
                target.write(block)

    def delete(self, name: str) -> None:
        """Remove a file of this folder."""
        self.filesystem.delete_file(self.at(name))

    def digest(self) -> str:
        """A hash of what is there: of the bytes of local files; of a store's objects by name, size and date."""
        if self.kind() == "nothing":
            raise no_such_file(self.text)
        if is_remote(self.text):
            return self.stamp()
        if self.kind() == "file":
            return sha256_of(self.text)
        return _hash_of(f"{name} {sha256_of(info.path)}\n" for name, info in self.files().items())

    def stamp(self) -> str:
        """A hash of names, sizes and dates: what changes when someone writes there. Nothing is read."""
        files = self.files() if self.kind() == "folder" else {"": self.filesystem.get_file_info(self.path)}
        return _hash_of(f"{name} {info.size} {info.mtime_ns}\n" for name, info in files.items())


def _hash_of(lines: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode())
    return digest.hexdigest()


def _opened(text: str) -> tuple[Any, str]:
    """The filesystem of a place, and the path there."""
    from pyarrow import fs

    if not is_remote(text):
        return fs.LocalFileSystem(), str(Path(text).absolute())
    return _remote(text, os.environ.get(ENDPOINT))


@cache
def _remote(text: str, endpoint: str | None) -> tuple[Any, str]:
    import pyarrow as pa
    from pyarrow import fs

    parts = urlsplit(text)
    try:
        if parts.scheme == "s3" and endpoint and "endpoint_override" not in parts.query:
            server = urlsplit(endpoint)
            found = fs.S3FileSystem(endpoint_override=server.netloc, scheme=server.scheme or "https")
            return found, f"{parts.netloc}{unquote(parts.path)}".rstrip("/")
        return fs.FileSystem.from_uri(text)  # type: ignore[no-any-return]
    except (pa.ArrowException, ValueError, OSError) as problem:
        raise LcifrError(
            f"{text}: {problem}", fix="give a local path, or a URI that Arrow knows, such as s3://bucket/people"
        ) from None


# Folders of artifacts: written atomically, read only if every file matches the manifest, and seen to have changed.
#
# A folder with a manifest is represented by the manifest, which holds the hashes of its files.

MANIFEST = "manifest.json"
LARGEST_JSON = 1 << 30
"""Bytes of a JSON file: ids of tens of millions of people fit, a bomb does not."""


@contextmanager
def fresh_folder(path: str | Path, among: Path | None = None) -> Iterator[Path]:
    """A temporary folder, renamed to ``path`` once everything in it is written; nothing is overwritten.

    ``among`` : where the temporary folder is created, on the same disk; beside ``path`` by default.
    """
    target = Path(path)
    if target.exists():
        raise ArtefactError(f"{target} already exists", fix="choose another name, or remove it yourself")
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=among or target.parent))
    try:
        yield beside
        for file in beside.rglob("*"):
            sync(file)
        beside.chmod(0o755)
        _rename_to(beside, target)
        sync(target.parent)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def _rename_to(beside: Path, target: Path) -> None:
    """Rename, without replacing a folder that has appeared meanwhile, even between this check and the renaming."""
    if target.exists() or target.is_symlink():
        raise _appeared(target)
    try:
        os.rename(beside, target)
    except OSError:
        if target.exists():
            raise _appeared(target) from None
        raise


def _appeared(target: Path) -> ArtefactError:
    return ArtefactError(
        f"{target} has appeared while it was being written: it is left as it is",
        fix="choose another name, or remove it yourself",
    )


def describe_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Size and hash of every file, by its path in the folder, for the manifest."""
    return {
        file.relative_to(folder).as_posix(): {"sha256": sha256_of(file), "bytes": file.stat().st_size}
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file != folder / MANIFEST
    }


def write_manifest(folder: Path, about: Mapping[str, Any]) -> None:
    """Write the manifest of a folder, dated."""
    write_json(folder / MANIFEST, {**about, "written": now()})


def read_json(path: Path) -> Any:
    """Read a JSON file of bounded size; NaN and infinity are refused."""

    def refuse(word: str) -> Any:
        raise ArtefactError(f"{path} holds {word}, which is not JSON", fix="get the file again")

    _require_plain_file(path)
    if path.stat().st_size > LARGEST_JSON:
        raise ArtefactError(
            f"{path} is larger than {LARGEST_JSON} bytes", fix="lcifr did not write it; get the right file"
        )
    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise ArtefactError(f"{path} is not JSON", fix="get the file again") from None


def _require_plain_file(path: Path) -> None:
    if path.is_symlink() or not path.is_file():
        raise ArtefactError(f"{path} is missing, or is not a regular file", fix="get the whole folder again")


def open_folder(folder: str | Path, form: str, names: Sequence[str]) -> dict[str, Any]:
    """The manifest of a folder that lists exactly these files, whose sizes and hashes all match.

    In place of a file there may be a folder of that name, all of whose files are listed.
    """
    root = Path(folder)
    if not root.is_dir():
        raise ArtefactError(f"{root} is not a folder", fix="give the folder that was handed over")
    manifest = read_json(root / MANIFEST)
    if not isinstance(manifest, dict) or manifest.get("format") != form:
        found = manifest.get("format") if isinstance(manifest, dict) else type(manifest).__name__
        raise ArtefactError(
            f"{root / MANIFEST} has the format {found!r}, this version reads {form!r}",
            fix="use the version of lcifr that wrote it, or have it written again",
        )
    files = manifest.get("files")
    below = [f"{name}/{file.name}" for name in names if (root / name).is_dir() for file in (root / name).iterdir()]
    expected = {*below, *(name for name in names if not (root / name).is_dir())}
    if not isinstance(files, dict) or set(files) != expected:
        raise ArtefactError(f"{root / MANIFEST} does not list exactly the files {', '.join(names)}")
    for name, entry in files.items():
        _check_file(root / name, entry)
    return manifest


def check_listed(root: Path) -> None:
    """Check the size and hash of every file that the manifest lists, whatever its format."""
    manifest = read_json(root / MANIFEST)
    files = manifest.get("files") if isinstance(manifest, dict) else None
    for name, entry in files.items() if isinstance(files, dict) else ():
        path = Path(name)
        _check_file(root / (path if not path.is_absolute() and ".." not in path.parts else path.name), entry)


def _check_file(path: Path, entry: Any) -> None:
    _require_plain_file(path)
    if not isinstance(entry, Mapping) or path.stat().st_size != entry.get("bytes"):
        raise ArtefactError(f"{path} is not as long as the manifest says: truncated?", fix="get the file again")
    if sha256_of(path) != entry.get("sha256"):
        raise ArtefactError(f"{path} does not match the manifest: its hash differs")


def read_arrays(path: Path, shapes: Mapping[str, tuple[type, tuple[int, ...]]]) -> dict[str, NDArray[Any]]:
    """Exactly these arrays of a safetensors file, with these types and shapes; floats must be finite."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    _require_plain_file(path)
    try:
        found = load_file(path)
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as problem:
        raise ArtefactError(f"{path} is not a safetensors file: {problem}", fix="get the file again") from None
    if set(found) != set(shapes):
        raise ArtefactError(f"{path} holds {sorted(found)}, expected {sorted(shapes)}")
    for name, (kind, shape) in shapes.items():
        array = found[name]
        if array.dtype != np.dtype(kind) or array.shape != shape:
            raise ArtefactError(
                f"{path}: {name} is {array.dtype} {array.shape}, expected {np.dtype(kind)} {shape}",
            )
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ArtefactError(f"{path}: {name} holds NaN or infinity")
    return found


NAMED = ("lcifr", "numpy", "torch", "highspy")


def versions() -> dict[str, str]:
    """The versions of the packages that take part in a proof."""
    return dict(_versions())


@cache
def _versions() -> tuple[tuple[str, str], ...]:  # looking them up takes longer than many a proof
    found = []
    for name in NAMED:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return tuple(found)


def describe_contents(root: Path, *names: str) -> dict[str, str]:
    """SHA-256 of every file by its path below ``root``; hidden files are skipped.

    Parameters
    ----------
    names : files and folders of ``root``; all of them by default.
    """
    there = [root / name for name in names] if names else sorted(root.iterdir())
    files = sorted(file for one in there for file in _files(one))
    return {file.relative_to(root).as_posix(): sha256_of(file) for file in files}


def _files(path: Path) -> Iterator[Path]:
    if path.name.startswith("."):
        return
    if not path.is_dir():
        yield path
    elif (path / MANIFEST).is_file():
        yield path / MANIFEST
    else:
        for below in path.iterdir():
            yield from _files(below)


def first_change(root: Path, described: Mapping[str, str]) -> str | None:
    """The first file that is missing or has changed; None where there is none."""
    for name, expected in described.items():
        file = root / name
        if file.is_symlink() or not file.is_file() or sha256_of(file) != expected:
            return name
        if file.name == MANIFEST:
            try:
                check_listed(file.parent)
            except ArtefactError as problem:
                return f"{name} ({str(problem).splitlines()[0]})"
    return None
