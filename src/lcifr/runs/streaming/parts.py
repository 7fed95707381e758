"""Parts of a large run: a file for each chunk, named by all it was made from and by its content, and joined at the end.

A part is used again only if both names fit: the first says that the very same would be computed, the second that nobody
changed it. All that is not finished lies among the parts, in one folder, which is removed when the whole is there.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import final

from lcifr.data.files import StoragePlace, fresh_folder, locked
from lcifr.errors import ArtefactError

NAMED = "named"
"""A file among the parts, once the whole is ready to get its name: whoever finds both may remove the parts."""
DIGITS = 24
"""Of each hash in the name of a part."""
NAME = re.compile(rf"part-(\d{{8,}})-v(\d+)-([0-9a-f]{{{DIGITS}}})-([0-9a-f]{{{DIGITS}}})\.[a-z]+")


class PartsWarning(UserWarning):
    """Something that a stopped run left is not used, and made again."""


class OtherVersionWarning(PartsWarning):
    """It was made by another version of lcifr."""


class ChangedPartWarning(PartsWarning):
    """It is not what that run has written."""


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
        (parts / NAMED).unlink(missing_ok=True)  # what bears the name may be somebody else's: the parts are needed
        raise
    discard(parts)


def discard(parts: Path) -> None:
    """Parts are not needed once the whole is written."""
    shutil.rmtree(parts, ignore_errors=True)


# -- parts in an object store: kept where the result will be, so that another machine can go on with them --------------

KEPT = ".parts/"
"""Where parts lie in the place of a result."""
_place: ContextVar[StoragePlace | None] = ContextVar("place", default=None)


@contextmanager
def keeping_parts(place: StoragePlace) -> Iterator[None]:
    """Parts that are stored inside are kept in this place as well, until the result is there."""
    before = _place.set(place)
    try:
        yield
    finally:
        _place.reset(before)


def fetch_parts(folder: Path) -> None:
    """Copy parts that another machine made into this folder; :meth:`PartFiles.find` refuses what does not fit."""
    if (place := _place.get()) is None:
        return
    for name in place.files():
        local = folder / name.removeprefix(KEPT)
        if name.startswith(KEPT) and "/" not in name.removeprefix(KEPT) and not local.exists():
            local.write_bytes(place.read(name))


def keep_part(path: Path) -> None:
    """Keep a part that was just stored."""
    if (place := _place.get()) is not None:
        place.upload(path, f"{KEPT}{path.name}")
