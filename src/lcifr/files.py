"""Files written whole or not at all, whoever stops the process or the machine; and JSON as people can read it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


class ChangedFileWarning(UserWarning):
    """A file that an earlier run left was changed since, so it is not used."""


def write_atomic(path: str | Path, data: bytes) -> None:
    """A file that is there with all its bytes or not at all: written beside, brought to the disk, then renamed."""
    path = Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        sync(beside)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_json(path: str | Path, values: Any) -> None:
    """JSON that people can read, keys in the order given: that of a schema is the order of the feature columns."""
    write_atomic(path, json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n")


def json_value(value: Any) -> Any:
    """A number of NumPy's as one of Python's, which JSON knows; everything else as it is."""
    return value.item() if hasattr(value, "item") else value


def sync(path: Path) -> None:
    """Bring a file, or the names in a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
