"""Downloads verified by SHA-256 and written atomically, and the folder that holds them."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from lcifr.data.files import sha256_of
from lcifr.errors import DatasetError

FOLDER_VARIABLE = "LCIFR_DATA"
CHUNK_BYTES = 1 << 16
TIMEOUT_SECONDS = 30.0  # of silence, not of the whole download


@dataclass(frozen=True)
class DataFile:
    """A published file.

    Parameters
    ----------
    name
        What it is called in the dataset's folder.
    sha256
        Its checksum in hexadecimal; None where none has been published, and then the file can only be placed by hand.
    urls
        Public addresses, tried in this order.
    """

    name: str
    sha256: str | None = None
    urls: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.urls and self.sha256 is None:
            raise DatasetError(
                f"{self.name}: an address without a checksum", fix="what is downloaded must be checkable"
            )


def data_folder(folder: str | Path | None = None) -> Path:
    """The folder of all datasets: the argument, else ``$LCIFR_DATA``, else the user's cache. It need not exist."""
    if folder is not None:
        return Path(folder).expanduser()
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named).expanduser()
    import platformdirs

    return platformdirs.user_cache_path("lcifr") / "data"


def download(file: DataFile, folder: Path, *, progress: bool = False) -> Path:
    """Download a file into a folder and verify its SHA-256.

    The bytes go to a temporary name and are renamed when they are right, so the file is there whole or not at all. A
    file that is there already is kept when it is right, and never overwritten when it is not.

    Parameters
    ----------
    file
        What to download.
    folder
        Where to put it; made if it is not there.
    progress
        Whether to draw a progress bar on stderr.

    Returns
    -------
    Path
        The file's place.

    Raises
    ------
    DatasetError
        When no address gives the right bytes. It says what went wrong with each and what to do by hand.
    """
    path = folder / file.name
    if path.exists():
        if sha256_of(path) == file.sha256:
            return path
        raise DatasetError(
            f"{path} already exists, but it is not the published file: its sha256 is {sha256_of(path)}, "
            f"the published one {file.sha256}",
            fix="move it away and fetch again",
        )
    failures = []
    with _folder_for(folder):
        for url in file.urls:
            try:
                _transfer(url, file, path, progress)
            except _TransferError as error:
                failures.append(f"{url}: {error}")
            else:
                return path
        raise DatasetError(
            "\n  - ".join([f"{file.name} could not be downloaded:", *(failures or ["no public address is known"])]),
            fix=f"get {file.name} by hand (sha256 {file.sha256}) and place it here: {path}",
        )


class _TransferError(Exception):
    """One URL failed; the message gives the reason in plain words."""


@contextmanager
def _folder_for(folder: Path) -> Iterator[None]:
    """Create the folder, and remove it again if the download fails."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatasetError(
            f"the folder {folder} cannot be made: {error.strerror}",
            fix=f"choose another folder, by argument or in ${FOLDER_VARIABLE}",
        ) from None
    try:
        yield
    except BaseException:
        for path in made:  # innermost first
            if any(path.iterdir()):
                break
            path.rmdir()
        raise


def _transfer(url: str, file: DataFile, path: Path, progress: bool) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer, open(part, "wb") as stream:
                total = answer.headers.get("Content-Length")
                received = _copy(answer, stream, file.name, int(total) if total else None, progress)
        except Exception as error:  # urllib's failures have no common class: OSError, HTTPException, ValueError, …
            raise _TransferError(_in_plain_words(error)) from None
        found = sha256_of(part)
        if found != file.sha256:
            raise _TransferError(
                f"refused, these {received} bytes are not the published ones (sha256 {found}, expected {file.sha256})"
            )
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


class _Readable(Protocol):
    def read(self, amount: int, /) -> bytes: ...


def _copy(source: _Readable, target: IO[bytes], name: str, total: int | None, progress: bool) -> int:
    """Copy everything, with a progress bar if asked for; returns the number of bytes."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    received = 0
    with Progress(*columns, console=Console(stderr=True), disable=not progress) as bar:
        task = bar.add_task(name, total=total)
        while chunk := source.read(CHUNK_BYTES):
            target.write(chunk)
            received += len(chunk)
            bar.update(task, advance=len(chunk))
    return received


def _in_plain_words(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        status = error.code
        error.close()
        return f"the source is gone (HTTP {status})" if status in (404, 410) else f"the server answered HTTP {status}"
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, TimeoutError):
        return f"no answer within {TIMEOUT_SECONDS:.0f} seconds"
    if isinstance(reason, ConnectionError):
        return f"the connection was refused or broke off ({reason})"
    if isinstance(reason, OSError):
        return f"cannot be reached: the network is closed, or the address is gone ({reason})"
    return f"the download failed ({reason})"
