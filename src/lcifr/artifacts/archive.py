"""Zip archives of evidence: the same files give the same bytes, and only such archives are read.

Entries are stored, not compressed (compressed bytes differ from one zlib to the next), sorted, and dated 1980. An
archive is read only if writing its files again gives the very same bytes: then every tool unpacks the same.
"""

from __future__ import annotations

import io
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from lcifr.artifacts.signed_files import plain_name
from lcifr.data.files import write_atomic
from lcifr.errors import ArtefactError, no_such_file

EPOCH = (1980, 1, 1, 0, 0, 0)
MODE = 0o100644 << 16
LARGEST = 2 << 30
"""Bytes of an archive: it is held in memory."""


def write_archive(path: Path, files: Mapping[str, bytes]) -> None:
    """Write these files, by their names, whole or not at all."""
    write_atomic(path, archive_bytes(files))


def archive_bytes(files: Mapping[str, bytes]) -> bytes:
    """The one archive of these files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(plain_name(name), EPOCH)
            entry.create_system, entry.external_attr = 3, MODE
            archive.writestr(entry, files[name])
    return made.getvalue()


def read_archive(path: Path) -> dict[str, bytes]:
    """The files of an archive that :func:`write_archive` wrote.

    Raises
    ------
    ArtefactError
        For every other archive, however small the difference.
    """
    if not path.is_file():
        raise no_such_file(path)
    if path.stat().st_size > LARGEST:
        raise ArtefactError(f"{path} has more than {LARGEST:,} bytes", fix="unzip it, and give the folder")
    return read_archive_bytes(path.read_bytes(), str(path))


def read_archive_bytes(data: bytes, name: str) -> dict[str, bytes]:
    """The same, of bytes."""
    other = ArtefactError(
        f"{name} is not an archive as `lcifr evidence pack` writes it: damaged, changed or packed by another tool",
        fix="get it again; of what another tool packed, give the unpacked folder",
    )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            sizes = sum(entry.file_size for entry in entries)
            if sizes > len(data) or any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
                raise other  # before anything is unpacked: nothing here is compressed
            files = {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, zlib.error, ValueError, RuntimeError, NotImplementedError, EOFError, OSError):
        raise other from None
    except (KeyError, IndexError, OverflowError, MemoryError, UnicodeError):
        raise other from None
    try:
        same = archive_bytes(files) == data and not _clash(files)
    except (ArtefactError, ValueError, OverflowError, UnicodeError):
        same = False
    if not same:
        raise other
    return files


def _clash(names: Iterable[str]) -> bool:
    """Whether a disk that ignores case, or Unicode's forms, keeps one file of two; or one is a folder of another."""
    known = (unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold()) for name in names)
    ordered = sorted(name.replace("/", "\0") for name in known)  # so that what is in a folder comes right after it
    return any(other == name or other.startswith(f"{name}\0") for name, other in pairwise(ordered))
