"""What was proved of whom? A hand-over that may not fit in memory: some people at a time, and its figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certificates.folder import MANIFEST, read_json
from lcifr.certificates.handover import LATENT, FloatArray

ROWS = 1 << 16
DIGITS, PASSES = 16, 4
"""Bits of a number that are settled at a time, and how often all are read until none is left."""


def read_rows(path: Path, name: str, size: int = ROWS) -> Iterator[NDArray[Any]]:
    """One array of a safetensors file in pieces. Read, not mapped: what was mapped stays in memory for long."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as opened:  # refuses a file that is none
        kind, shape = opened.get_slice(name).get_dtype(), opened.get_slice(name).get_shape()
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        file.seek(8 + length + json.loads(file.read(length))[name]["data_offsets"][0])
        each = int(np.prod(shape[1:], dtype=np.int64))
        for start in range(0, shape[0], size):
            count = min(size, shape[0] - start)
            dtype = {"F64": np.float64, "BOOL": np.bool_}[kind]
            yield np.fromfile(file, dtype, count * each).reshape(count, *shape[1:])


def radius_summary(folder: Path) -> dict[str, Any]:
    """What is said of the radii of a hand-over in every result."""
    manifest = read_json(folder / MANIFEST)
    counts, people = manifest["counts"], int(manifest["people"])

    def radii() -> Iterator[FloatArray]:
        return read_rows(folder / LATENT, "radius")

    return {
        "median": median(radii, people),
        "largest": float(max(some.max() for some in radii())),
        "exact": int(counts["exact"]),
        "vacuous": int(counts["vacuous"]),
    }


def median(read: Callable[[], Iterator[FloatArray]], count: int) -> float:
    """The median of numbers from 0 on that are read again and again, and never all in memory; that of numpy."""
    if count % 2:
        return _kth(read, count // 2)
    return float(np.mean([_kth(read, count // 2 - 1), _kth(read, count // 2)]))


def _kth(read: Callable[[], Iterator[FloatArray]], k: int) -> float:
    """The number with k others before it in order, sixteen bits at a time: such numbers are ordered as their bits."""
    known, rest = np.uint64(0), k
    for done in range(PASSES):
        shift = np.uint64(64 - DIGITS * (done + 1))
        counts = np.zeros(1 << DIGITS, np.int64)
        for some in read():
            bits = (some + 0.0).view(np.uint64)  # −0 is 0
            mine = bits if done == 0 else bits[bits >> (shift + np.uint64(DIGITS)) == known]
            counts += np.bincount((mine >> shift) & np.uint64((1 << DIGITS) - 1), minlength=1 << DIGITS)
        place = int(np.searchsorted(counts.cumsum(), rest, side="right"))
        rest -= int(counts[:place].sum())
        known = known << np.uint64(DIGITS) | np.uint64(place)
    return float(np.array(known, np.uint64).view(np.float64))
