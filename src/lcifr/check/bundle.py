"""A whole audit bundle: its files and hashes first, then person by person, and the sum of it."""

from __future__ import annotations

import gzip
import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lcifr.check.exact import Rejected, number, numbers, reading
from lcifr.check.judge import Judge, Report
from lcifr.check.proof import Network, read_network
from lcifr.check.similar import Formula, Table

FORMAT, NETWORK = "lcifr-audit-3", "lcifr-network-1"
MANIFEST, PEOPLE, SIMILARITY, ENCODING = "manifest.json", "people.jsonl.gz", "similarity.json", "encoding.json"
LARGEST = 256 << 20  # bytes of a JSON file, and of one person's line: more is not an honest proof


def check_bundle(folder: str | Path, progress: Callable[[int], None] | None = None) -> Report:
    """Check everything in a bundle. Raises Rejected where it cannot be read at all."""
    root, seen, digest = Path(folder), set(), hashlib.sha256()
    manifest = read_manifest(root)
    judge = read_judge(root, manifest)
    report = Report(decision=manifest["decision"], hashes=manifest["hashes"])
    for line in read_people(root):
        with reading(f"line {report.people} of {PEOPLE}"):
            if str(line["id"]) in seen:
                raise Rejected(f"{line['id']} is there twice")
            seen.add(str(line["id"]))
            digest.update(latent_bytes(line))
            judge.judge(line, report)
        if progress:
            progress(report.people)
    if report.people != manifest["people"]:
        raise Rejected(f"{PEOPLE} holds {report.people} people, {MANIFEST} says {manifest['people']}")
    if "latent" in manifest["hashes"]:
        report.latent_hash = digest.hexdigest()
        _same_hash(manifest, "latent", report.latent_hash)
    return report


def _plain_file(path: Path) -> Path:
    if path.is_symlink() or not path.is_file():
        raise Rejected(f"{path.name} is not there, or not a plain file")
    return path


def _json(data: bytes, what: str) -> Any:
    """JSON without what Python allows beyond it, and without a key that is there twice: nobody may read another one."""

    def strict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise Rejected(f"{what} names a key twice")
        return dict(pairs)

    def refuse(word: str) -> Any:
        raise Rejected(f"{what} holds {word}")

    if len(data) > LARGEST:
        raise Rejected(f"{what} is longer than {LARGEST} bytes")
    with reading(what):
        return json.loads(data, parse_constant=refuse, object_pairs_hook=strict)


def _file(root: Path, name: str) -> Any:
    with _plain_file(root / name).open("rb") as file:
        return _json(file.read(LARGEST + 1), name)


def read_manifest(root: Path) -> Any:
    """The manifest, once every file of the bundle is what it says."""
    plain = _file(root, MANIFEST)
    with reading(MANIFEST):
        if plain["format"] != FORMAT:
            raise Rejected(f"{MANIFEST} has the format {plain['format']!r}, this checker reads {FORMAT!r}")
        named = {"similarity", "encoding", "encoder", *(["model"] if plain["decision"] is not None else [])}
        needed = {PEOPLE, *(f"{name}.json" for name in named)}
        if set(plain["files"]) != needed or not set(plain["hashes"]) <= {"latent", *named}:
            raise Rejected(f"{MANIFEST} does not list exactly the files {', '.join(sorted(needed))} and their hashes")
        for name in needed:
            with _plain_file(root / name).open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != plain["files"][name]["sha256"]:
                    raise Rejected(f"{name} is not the file that {MANIFEST} speaks about: its hash differs")
    return plain


def _same_hash(manifest: Any, what: str, found: str) -> None:
    if manifest["hashes"].get(what) != found:
        raise Rejected(f"{MANIFEST} names another {what} than the one that is there: the hashes differ")


def read_judge(root: Path, manifest: Any) -> Judge:
    """Everything but the people, with the hashes by which other files name it."""
    encoding, similarity = _file(root, ENCODING), _file(root, SIMILARITY)
    # The order of attributes is the order of feature columns, so it is part of an encoding's name.
    _same_hash(manifest, "encoding", hashlib.sha256(json.dumps(encoding).encode()).hexdigest())
    _same_hash(manifest, "similarity", hashlib.sha256(json.dumps(similarity, sort_keys=True).encode()).hexdigest())
    encoder = _network(root, "encoder", manifest)
    model = None if manifest["decision"] is None else _network(root, "model", manifest)
    with reading(f"{ENCODING} or {SIMILARITY}"):
        if similarity["format"] != 1:
            raise Rejected(f"{SIMILARITY} is not of format 1")
        return Judge(Formula(similarity["formula"], Table(encoding)), encoder, model, manifest["decision"])


def _network(root: Path, what: str, manifest: Any) -> Network:
    """[[W by rows, b], …] in hexadecimal floats; the name of a network is the hash of its shapes and numbers."""
    with reading(f"{what}.json"):
        layers, digest = [], hashlib.sha256(NETWORK.encode())
        for rows, bias in _file(root, f"{what}.json"):
            weight = [numbers(row, len(rows[0])) for row in rows]
            layers.append((weight, numbers(bias, len(rows))))
            digest.update(struct.pack("<QQ", len(weight), len(weight[0])))
            digest.update(b"".join(_bytes(values) for values in (*weight, layers[-1][1])))
        _same_hash(manifest, what, digest.hexdigest())
        return read_network(layers)


def _bytes(values: list[float]) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


def read_people(root: Path) -> Iterator[Any]:
    """One JSON value per person."""
    try:
        with gzip.open(_plain_file(root / PEOPLE), "rb") as file:
            count = 0
            while line := file.readline(LARGEST + 1):
                yield _json(line, f"line {count} of {PEOPLE}")
                count += 1
    except (OSError, EOFError, zlib.error):
        raise Rejected(f"{PEOPLE} is not a whole gzip file") from None


def latent_bytes(line: Any) -> bytes:
    """A person's part of the hash that names a hand-over."""
    latent = line.get("latent")
    if latent is None:
        return b""
    values = [*latent["z"], latent["radius"], *latent["lower"], *latent["upper"]]
    return json.dumps(line["id"]).encode() + b"\n" + _bytes([number(value) for value in values])
