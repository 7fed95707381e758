"""Archives of skops files: everything in them, read within limits, and arrays that are what they say."""

from __future__ import annotations

import io
import math
import zipfile
from dataclasses import dataclass
from pathlib import Path

from numpy.lib import format as npy

from lcifr.errors import NetworkError
from lcifr.models.skops.trees import check_records, is_record

SCHEMA = "schema.json"
MOST_ENTRIES = 20_000
MOST_BYTES = 1 << 28
"""Of all entries together, unpacked."""
MOST_SCHEMA_BYTES = 1 << 26
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
KINDS = "biufUS"
"""Kinds of numpy arrays that are plain values."""


@dataclass(frozen=True)
class Archive:
    """schema : the text that describes the objects. files : all other entries by their names."""

    schema: bytes
    files: dict[str, bytes]


def read_archive(path: Path) -> Archive:
    """All entries of a skops file.

    Raises
    ------
    NetworkError
        For what is no archive, or is larger than the limits when unpacked.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_ENTRIES:
                raise _broken(path, f"it has {len(entries):,} entries, more than {MOST_ENTRIES:,}")
            found = _read_entries(path, archive, entries)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, OSError, EOFError, ValueError, NotImplementedError) as problem:
        if isinstance(problem, NetworkError):
            raise
        raise _broken(path, f"{type(problem).__name__}: {problem}") from None
    except Exception as problem:  # zlib.error and whatever else an unpacker raises at garbage
        raise _broken(path, f"{type(problem).__name__}: {problem}") from None
    if SCHEMA not in found:
        raise _broken(path, f"there is no {SCHEMA} in it")
    schema = found.pop(SCHEMA)
    if len(schema) > MOST_SCHEMA_BYTES:
        raise _broken(path, f"its {SCHEMA} has more than {MOST_SCHEMA_BYTES:,} bytes")
    return Archive(schema, found)


def _read_entries(path: Path, archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    for entry in entries:
        if entry.filename in found:
            raise _broken(path, f"it has two entries {entry.filename!r:.80}")
        if entry.flag_bits & 1 or entry.compress_type not in COMPRESSIONS:
            raise _broken(path, f"{entry.filename!r:.80} is encrypted, or packed in an unknown way")
        with archive.open(entry) as file:
            data = file.read(left + 1)  # what an entry says of its size may be wrong
        left -= len(data)
        if left < 0:
            raise _broken(path, f"unpacked it has more than {MOST_BYTES:,} bytes")
        found[entry.filename] = data
    return found


def check_array(name: str, data: bytes) -> None:
    """Refuse what is no array in numpy's format, is not as long as it says, or holds other things than plain values."""
    file = io.BytesIO(data)
    try:
        version = npy.read_magic(file)
        header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"version {version}")
        shape, _, dtype = header(file)
    except Exception as problem:
        raise NetworkError(f"{name!r:.80} is no array: {problem!s:.200}") from None
    if dtype.hasobject or not (dtype.kind in KINDS or is_record(dtype)):
        raise NetworkError(f"{name!r:.80} is an array of {dtype!s:.80}, not of plain values")
    if any(size < 0 for size in shape) or math.prod(shape) * dtype.itemsize != len(data) - file.tell():
        raise NetworkError(f"{name!r:.80} says that its shape is {shape!s:.80}, but it has another length")
    if dtype.names is not None:
        check_records(name, data)


def _broken(path: Path, what: str) -> NetworkError:
    return NetworkError(f"{path} is no skops file that can be read: {what}", fix="get the file again, or save it anew")
