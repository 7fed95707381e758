"""Places of tables and results: local paths, and URIs of Arrow's filesystems such as ``s3://bucket/folder``.

Credentials come from the environment, as Arrow and the tools of the store read them, and are never written down. A URI
that holds some is refused: URIs are written into settings and messages.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, final
from urllib.parse import parse_qsl, unquote, urlsplit

from lcifr.data.io.files import sha256_of
from lcifr.errors import LcifrError, no_such_file

if TYPE_CHECKING:
    from pyarrow import fs

REMOTE = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):/+(.+)$")
"""Two letters at least: one is a drive of Windows. One slash is enough, as ``pathlib`` folds two of them."""
BLOCK = 1 << 22
"""Bytes of a file that are copied at a time."""
ENDPOINT = "AWS_ENDPOINT_URL"
"""Where an S3 server is that is not Amazon's, as for the tools of Amazon."""
SECRET = re.compile(r"secret|password|token|_?key$|credential|^sig$|signature", re.IGNORECASE)
"""Names in a query that stand before what nobody else may know: keys of S3, of Azure, and its signatures."""


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
        """A hash of names, sizes and dates: what changes when somebody writes there. Nothing is read."""
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
