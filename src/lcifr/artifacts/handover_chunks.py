"""Hand-overs in bounded memory: read in chunks, joined from parts, with exact statistics of their radii."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.artifacts.folder import MANIFEST, read_json
from lcifr.artifacts.handover import FloatArray, Representation
from lcifr.artifacts.provenance import IDS, LATENT, Outline
from lcifr.errors import ArtefactError

ROWS = 1 << 16
BLOCK, LONGEST = 1 << 16, 1 << 20
"""Letters of a list of ids that are read at a time, and more than any id has."""
DECODER, WHITE, AFTER = json.JSONDecoder(), re.compile(r"\s*"), re.compile(r"\s*([,\]])\s*")
TYPES: dict[str, type] = {"F64": np.float64, "BOOL": np.bool_}
DIGITS, PASSES = 16, 4
"""Bits of a number that are settled at a time, and how often all are read until none is left."""


@dataclass(frozen=True)
class HandoverChunk:
    """Consecutive people of a hand-over, from row ``start`` on."""

    number: int
    start: int
    representation: Representation

    @property
    def ids(self) -> tuple[str | int, ...]:
        return self.representation.ids

    def content(self) -> Iterator[bytes]:
        """Everything about these people except their ids."""
        for _, array in sorted(self.representation.arrays().items()):
            yield array.tobytes(order="C")


def read_handover_chunks(folder: Path, size: int) -> Iterator[HandoverChunk]:
    """The people of a hand-over in chunks of ``size``; an inconsistent file is an error that names it.

    That no id occurs twice is left to whoever reads: it cannot be seen in one piece.
    """
    outline = Outline.read(folder)
    _check_names(folder / LATENT, set(outline.shapes()))
    columns = {name: read_rows(folder / LATENT, name, size, shape) for name, shape in outline.shapes().items()}
    ids, counts = stream_ids(folder / IDS), Counter[str]()
    for number, start in enumerate(range(0, outline.people, size)):
        arrays = {name: next(column) for name, column in columns.items()}
        names = tuple(islice(ids, size))
        if len(names) != len(arrays["latent"]):
            raise outline.no_ids(folder)
        found = Representation(names, **arrays, provenance=outline.provenance)
        counts.update(found.counts)
        yield HandoverChunk(number, start, found)
    if next(ids, None) is not None:
        raise outline.no_ids(folder)
    outline.check_counts(folder, {name: counts[name] for name in ("exact", "not_exact", "vacuous")})


def _check_names(path: Path, expected: set[str]) -> None:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as opened:
            found = set(opened.keys())
    except (SafetensorError, OSError) as problem:
        raise ArtefactError(f"{path} is not a safetensors file: {problem}", fix="get the file again") from None
    if found != expected:
        raise ArtefactError(f"{path} holds {sorted(found)}, expected {sorted(expected)}")


def read_rows(
    path: Path, name: str, size: int = ROWS, expected: tuple[type, tuple[int, ...]] | None = None
) -> Iterator[NDArray[Any]]:
    """One array of a safetensors file, chunk by chunk. Read rather than mapped: mapped pages stay in memory."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as opened:
        kind, shape = opened.get_slice(name).get_dtype(), tuple(opened.get_slice(name).get_shape())
    dtype = TYPES.get(kind)
    if dtype is None or (expected is not None and expected != (dtype, shape)):
        raise ArtefactError(f"{path}: {name} is {kind} {shape}, expected {expected}")
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        file.seek(8 + length + json.loads(file.read(length))[name]["data_offsets"][0])
        each = int(np.prod(shape[1:], dtype=np.int64))
        for start in range(0, shape[0], size):
            count = min(size, shape[0] - start)
            yield np.fromfile(file, dtype, count * each).reshape(count, *shape[1:])


def stream_ids(path: Path) -> Iterator[str | int]:
    """The ids of a hand-over, parsed incrementally from JSON in bounded memory."""
    wrong = ArtefactError(f"{path} is not a list of ids (text or whole numbers)", fix="get the file again")
    with path.open(encoding="utf-8") as file:
        text, at = file.read(BLOCK), 1
        closed = text.split() == ["[", "]"] or text.strip() == "[]"
        if not text.startswith("["):
            raise wrong
        while not closed:
            value, after = _id_at(text, at)
            if value is None or after is None:  # it may go on in what was not read yet
                more = file.read(BLOCK)
                if not more or len(text) - at > LONGEST:
                    raise wrong
                text, at = text[at:] + more, 0
                continue
            yield value
            closed, at = after.group(1) == "]", after.end()
            if closed and (text[at:].strip() or file.read(BLOCK).strip()):
                raise wrong


def _id_at(text: str, at: int) -> tuple[str | int | None, re.Match[str] | None]:
    """An id and the comma or bracket after it; None where there is none, or not all of it."""
    begin = WHITE.match(text, at)
    try:
        value, end = DECODER.raw_decode(text, begin.end() if begin else at)
    except (ValueError, RecursionError):
        return None, None
    return (value, AFTER.match(text, end)) if type(value) in (str, int) else (None, None)


@dataclass(frozen=True)
class RadiusSummary:
    """Statistics of the radii of a hand-over: how many are exact, and how many belong to empty regions."""

    median: float
    largest: float
    exact: int
    vacuous: int


def radius_summary(folder: Path) -> RadiusSummary:
    """Median, maximum and counts of the radii of a hand-over."""
    manifest = read_json(folder / MANIFEST)
    counts, people = manifest["counts"], int(manifest["people"])

    def radii() -> Iterator[FloatArray]:
        return read_rows(folder / LATENT, "radius")

    return RadiusSummary(
        median=median(radii, people),
        largest=float(max(some.max() for some in radii())),
        exact=int(counts["exact"]),
        vacuous=int(counts["vacuous"]),
    )


def median(read: Callable[[], Iterator[FloatArray]], count: int) -> float:
    """The median of non-negative numbers, as numpy defines it, in bounded memory; calls ``read`` repeatedly."""
    if count % 2:
        return _kth(read, count // 2)
    return float(np.mean([_kth(read, count // 2 - 1), _kth(read, count // 2)]))


def _kth(read: Callable[[], Iterator[FloatArray]], k: int) -> float:
    """The k-th smallest number, counted from 0, by radix selection: non-negative floats sort as their bits do."""
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


KINDS = {"float64": "F64", "bool": "BOOL"}  # as safetensors calls them


def join_handover(parts: Sequence[Path], fresh: Path) -> tuple[tuple[int, int], dict[str, int]]:
    """All parts as one safetensors file and one list of ids; returns (people, width) and the counts."""
    from safetensors import safe_open

    people = _join_ids(parts, fresh / IDS)
    with safe_open(parts[0], framework="numpy") as opened:
        first = {name: opened.get_tensor(name) for name in sorted(opened.keys())}
    # As the library would write it: wide types first, so that every tensor stays aligned.
    order = sorted(first, key=lambda name: (-first[name].itemsize, name))
    sums = dict.fromkeys(order, 0)
    with (fresh / LATENT).open("wb") as whole:
        whole.write(_header({name: first[name] for name in order}, people))
        for name in order:
            for part in parts:
                with safe_open(part, framework="numpy") as opened:
                    array = opened.get_tensor(name)
                whole.write(np.ascontiguousarray(array).tobytes())
                sums[name] += int(array.sum()) if array.dtype == np.bool_ else 0
    counts = {"exact": sums["exact"], "not_exact": people - sums["exact"], "vacuous": sums["vacuous"]}
    return (people, first["latent"].shape[1]), counts


def _join_ids(parts: Sequence[Path], path: Path) -> int:
    from safetensors import safe_open

    people = 0
    with path.open("w", encoding="utf-8") as file:
        for part in parts:
            with safe_open(part, framework="numpy") as opened:
                ids = json.loads(opened.metadata()["ids"])
            for name in ids:
                file.write(("[" if people == 0 else ",\n ") + json.dumps(name))
                people += 1
        file.write("]")
    return people


def _header(arrays: dict[str, Any], people: int) -> bytes:
    """The header of a safetensors file with these arrays for ``people`` rows."""
    header: dict[str, Any] = {}
    end = 0
    for name, array in arrays.items():
        size = people * array[:1].nbytes
        kind, shape = KINDS[str(array.dtype)], [people, *array.shape[1:]]
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text
