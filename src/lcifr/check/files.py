"""The files of an audit bundle, read strictly: fixed names, sizes and hashes as the manifest says, nothing executed."""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path

from lcifr.check.exact import Rejected, number
from lcifr.check.read import fields, items

FORMAT = "lcifr-audit-1"
MANIFEST = "manifest.json"
PEOPLE, SIMILARITY, ENCODING = "people.jsonl.gz", "similarity.json", "encoding.json"
ENCODER, MODEL = "encoder.safetensors", "model.safetensors"
LARGEST_TEXT = 64 << 20  # bytes of a JSON file, of a header, and of one person's line: more is not an honest proof
LARGEST_WEIGHTS = 1 << 30

Rows = list[list[float]]


def read_json(data: bytes | str, what: str) -> object:
    """JSON without the extensions that Python allows."""

    def refuse(word: str) -> object:
        raise Rejected(f"{what} holds {word}")

    try:
        return json.loads(data, parse_constant=refuse)
    except (ValueError, RecursionError):
        raise Rejected(f"{what} is not JSON") from None


def read_file(folder: Path, name: str, most: int = LARGEST_TEXT) -> bytes:
    """The bytes of a plain file of the bundle."""
    path = folder / name
    if path.is_symlink() or not path.is_file():
        raise Rejected(f"{name} is not there, or is not a plain file")
    if path.stat().st_size > most:
        raise Rejected(f"{name} is larger than {most} bytes")
    return path.read_bytes()


def read_manifest(folder: Path) -> dict[str, object]:
    """The manifest, once every file of the bundle is what it says."""
    known = ("format", "people", "files", "hashes", "decision", "versions")
    plain = fields(read_json(read_file(folder, MANIFEST), MANIFEST), MANIFEST, *known)
    if plain.get("format") != FORMAT:
        raise Rejected(f"{MANIFEST} has the format {plain.get('format')!r}, this checker reads {FORMAT!r}")
    files = plain.get("files")
    needed = {PEOPLE, SIMILARITY, ENCODING, ENCODER} | ({MODEL} if plain.get("decision") is not None else set())
    if not isinstance(files, dict) or set(files) != needed:
        raise Rejected(f"{MANIFEST} does not list exactly the files {', '.join(sorted(needed))}")
    for name, found in files.items():
        path, entry = folder / name, fields(found, f"the entry of {name}", "sha256", "bytes")
        if path.is_symlink() or not path.is_file() or path.stat().st_size != entry.get("bytes"):
            raise Rejected(f"{name} is not there, or is not as long as {MANIFEST} says")
        if _sha256(path) != entry.get("sha256"):
            raise Rejected(f"{name} is not the file that {MANIFEST} speaks about: its hash differs")
    return plain


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def canonical_hash(plain: object) -> str:
    """The hash that names a formula or an encoding in other files."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def read_lines(folder: Path) -> Iterator[object]:
    """One JSON value per person."""
    try:
        with gzip.open(folder / PEOPLE, "rb") as file:
            count = 0
            while line := file.readline(LARGEST_TEXT + 1):
                if len(line) > LARGEST_TEXT:
                    raise Rejected(f"line {count} of {PEOPLE} is longer than {LARGEST_TEXT} bytes")
                yield read_json(line, f"line {count} of {PEOPLE}")
                count += 1
    except (OSError, EOFError):
        raise Rejected(f"{PEOPLE} is not a whole gzip file") from None


def latent_bytes(line: object) -> bytes:
    """A person's part of the hash that names a hand-over; empty where the line does not hold a whole latent."""
    plain = line if isinstance(line, dict) else {}
    latent = plain.get("latent")
    if not isinstance(latent, dict):
        return b""
    parts = [latent.get("z"), [latent.get("radius")], latent.get("lower"), latent.get("upper")]
    values = [number(value, "a latent") for part in parts for value in items(part, "a latent")]
    return json.dumps(plain.get("id")).encode() + b"\n" + _little(array("d", values)).tobytes()


def read_weights(folder: Path, name: str) -> tuple[list[tuple[Rows, list[float]]], str]:
    """(W, b) per layer of a saved network, and the hash that names exactly these weights in other files."""
    data = read_file(folder, name, LARGEST_WEIGHTS)
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > min(LARGEST_TEXT, len(data) - 8):
        raise Rejected(f"{name} is cut short, or not safetensors")
    header, body = read_json(data[8 : 8 + size], name), memoryview(data)[8 + size :]
    if not isinstance(header, dict):
        raise Rejected(f"{name} is not safetensors")
    about = fields(header.pop("__metadata__", {}), f"the header of {name}", "format", "layers", "hash")
    tensors = {key: _tensor(entry, body, f"{key} of {name}") for key, entry in header.items()}
    if sum(len(values) for _, values in tensors.values()) * 8 != len(body):
        raise Rejected(f"{name} holds bytes that belong to no tensor, or to two")
    layers, digest = [], hashlib.sha256(str(about.get("format")).encode())
    for place in range(len(tensors) // 2):
        (shape, weight), (height, bias) = (
            tensors.get(f"{place}.{part}", ([], array("d"))) for part in ("weight", "bias")
        )
        if len(shape) != 2 or height != shape[:1]:
            raise Rejected(f"layer {place} of {name} is not a matrix and its bias")
        for side in shape:
            digest.update(side.to_bytes(8, "little"))
        digest.update(_little(weight).tobytes() + _little(bias).tobytes())
        rows = [weight[row * shape[1] : (row + 1) * shape[1]].tolist() for row in range(shape[0])]
        layers.append((rows, bias.tolist()))
    if not layers or len(tensors) != 2 * len(layers) or about.get("hash") != digest.hexdigest():
        raise Rejected(f"{name} is not a saved network, or its numbers are not those that were saved")
    return layers, digest.hexdigest()


def _tensor(entry: object, body: memoryview, what: str) -> tuple[list[int], array[float]]:
    plain = fields(entry, what, "dtype", "shape", "data_offsets")
    shape, ends = items(plain.get("shape"), what), items(plain.get("data_offsets"), what, 2)
    sizes = [n for n in (*shape, *ends) if type(n) is int and n >= 0]
    count = 1
    for n in sizes[: len(shape)]:
        count *= n
    if (
        plain.get("dtype") != "F64"
        or len(sizes) != len(shape) + 2
        or not 0 <= sizes[-1] - sizes[-2] == 8 * count <= len(body)
    ):
        raise Rejected(f"{what} is not a float64 tensor")
    values = array("d", body[sizes[-2] : sizes[-1]].tobytes())
    if len(values) != count:
        raise Rejected(f"{what} is cut short")
    return sizes[: len(shape)], _little(values)


def _little(values: array[float]) -> array[float]:
    """Between this machine's byte order and the files', which is little-endian."""
    if sys.byteorder == "big":
        values = array("d", values)
        values.byteswap()
    return values
