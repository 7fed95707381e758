"""Atomic, durable writes of files, JSON output, and checksums."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any


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
