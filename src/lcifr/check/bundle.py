"""A whole audit bundle: its files and hashes first, then person by person, and the sum of it."""

from __future__ import annotations

import gzip
import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lcifr.check.exact import Rejected, number, numbers, printable, reading
from lcifr.check.judge import Judge
from lcifr.check.proof import Network, read_network
from lcifr.check.similar import Formula
from lcifr.check.table import read_attributes

FORMAT, NETWORK = "lcifr-audit-2", "lcifr-network-1"
MANIFEST, PEOPLE, SIMILARITY, ENCODING = "manifest.json", "people.jsonl.gz", "similarity.json", "encoding.json"
ENCODER, MODEL = "encoder.json", "model.json"
LARGEST = 256 << 20  # bytes of a JSON file, and of one person's line: more is not an honest proof


@dataclass
class Report:
    """What was confirmed, about which files and rule of decision.

    ``rejected`` names people with reasons; ``trusted`` people rest on a solver's word.
    """

    people: int = 0
    radius_confirmed: list[str] = field(default_factory=list)
    certified: int = 0
    vacuous: int = 0
    counterexamples: int = 0
    undecided: int = 0
    trusted: list[str] = field(default_factory=list)
    rejected: dict[str, str] = field(default_factory=dict)
    latent_hash: str = ""
    decision: Any = None
    hashes: dict[str, str] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """0 all confirmed, 1 something is not, 3 all but what rests on a solver's word."""
        return 1 if self.rejected else 3 if self.trusted else 0

    def lines(self) -> list[str]:
        """For people to read."""
        claimed = self.people - len(self.rejected) - len(self.trusted)
        found = [
            f"{claimed} of {self.people} people: everything that is claimed of them is confirmed in exact arithmetic",
            f"  radius confirmed     {len(self.radius_confirmed)}",
            f"  CERTIFIED confirmed  {self.certified} (of them vacuous, nobody is similar: {self.vacuous})",
            f"  COUNTEREXAMPLE confirmed  {self.counterexamples}",
            f"  UNDECIDED, nothing claimed  {self.undecided}",
            f"  on a solver's word alone  {len(self.trusted)}",
        ]
        found += [f"  what must agree: {json.dumps(self.decision)}"] if self.decision else []
        found += [f"  {what} {value}" for what, value in self.hashes.items()]
        return found + [f"NOT confirmed: {printable(name)}: {reason}" for name, reason in self.rejected.items()]


def check_bundle(folder: str | Path, progress: Callable[[int], None] | None = None) -> Report:
    """Check everything in a bundle. Raises Rejected where it cannot be read at all."""
    root = Path(folder)
    with reading(MANIFEST):
        manifest = read_manifest(root)
        judge = read_judge(root, manifest)
        report = Report(decision=manifest["decision"], hashes=manifest["hashes"])
    seen, digest = set(), hashlib.sha256()
    for line in read_people(root):
        with reading(f"line {report.people} of {PEOPLE}"):
            judged = judge.judge(line)
            digest.update(latent_bytes(line))
        report.people += 1
        if judged.name in seen:
            raise Rejected(f"{judged.name} is there twice")
        seen.add(judged.name)
        if judged.rejected:
            report.rejected[judged.name] = "; ".join(judged.rejected)
            continue
        if judged.radius == "confirmed":
            report.radius_confirmed.append(judged.name)
        if "trusted" in (judged.radius, judged.verdict):
            report.trusted.append(judged.name)
        elif judged.verdict == "confirmed":
            report.certified += judged.verdict_claimed == "certified"
            report.vacuous += judged.vacuous and judged.verdict_claimed == "certified"
            report.counterexamples += judged.verdict_claimed == "counterexample"
        report.undecided += judged.verdict_claimed == "undecided"
        if progress:
            progress(report.people)
    if report.people != manifest["people"]:
        raise Rejected(f"{PEOPLE} holds {report.people} people, {MANIFEST} says {manifest['people']}")
    if "latent" in manifest["hashes"]:
        report.latent_hash = digest.hexdigest()
        _same_hash(manifest, "latent", report.latent_hash)
    return report


def _read(path: Path) -> bytes:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
        raise Rejected(f"{path.name} is not there, not a plain file, or larger than {LARGEST} bytes")
    return path.read_bytes()


def _json(data: bytes, what: str) -> Any:
    """JSON without what Python allows beyond it, and without a key that is there twice: nobody may read another one."""

    def strict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise Rejected(f"{what} names a key twice")
        return dict(pairs)

    def refuse(word: str) -> Any:
        raise Rejected(f"{what} holds {word}")

    with reading(what):
        return json.loads(data, parse_constant=refuse, object_pairs_hook=strict)


def read_manifest(root: Path) -> Any:
    """The manifest, once every file of the bundle is what it says."""
    plain = _json(_read(root / MANIFEST), MANIFEST)
    if plain["format"] != FORMAT:
        raise Rejected(f"{MANIFEST} has the format {plain['format']!r}, this checker reads {FORMAT!r}")
    needed, named = {PEOPLE, SIMILARITY, ENCODING, ENCODER}, {"latent", "similarity", "encoding", "encoder"}
    if plain["decision"] is not None:
        needed, named = needed | {MODEL}, named | {"model"}
    if set(plain["files"]) != needed or not set(plain["hashes"]) <= named:
        raise Rejected(f"{MANIFEST} does not list exactly the files {', '.join(sorted(needed))} and their hashes")
    for name in needed:
        path, entry = root / name, plain["files"][name]
        if path.is_symlink() or not path.is_file() or path.stat().st_size != entry["bytes"]:
            raise Rejected(f"{name} is not there, or is not as long as {MANIFEST} says")
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != entry["sha256"]:
                raise Rejected(f"{name} is not the file that {MANIFEST} speaks about: its hash differs")
    return plain


def _same_hash(manifest: Any, what: str, found: str) -> None:
    if manifest["hashes"].get(what) != found:
        raise Rejected(f"{MANIFEST} names another {what} than the one that is there: the hashes differ")


def read_judge(root: Path, manifest: Any) -> Judge:
    """Everything but the people, with the hashes by which other files name it."""
    encoding, similarity = (_json(_read(root / name), name) for name in (ENCODING, SIMILARITY))
    # The order of attributes is the order of feature columns, so it is part of an encoding's name.
    _same_hash(manifest, "encoding", hashlib.sha256(json.dumps(encoding).encode()).hexdigest())
    _same_hash(manifest, "similarity", hashlib.sha256(json.dumps(similarity, sort_keys=True).encode()).hexdigest())
    decision = manifest["decision"]
    encoder = _network(root / ENCODER, manifest, "encoder")
    model = None if decision is None else _network(root / MODEL, manifest, "model")
    with reading(f"{ENCODING} or {SIMILARITY}"):
        if similarity["format"] != 1:
            raise Rejected(f"{SIMILARITY} is not of format 1")
        return Judge(Formula(similarity["formula"], read_attributes(encoding)), encoder, model, decision)


def _network(path: Path, manifest: Any, what: str) -> Network:
    """[[W by rows, b], …] in hexadecimal floats; the name of a network is the hash of its shapes and numbers."""
    with reading(path.name):
        layers, digest = [], hashlib.sha256(NETWORK.encode())
        for rows, bias in _json(_read(path), path.name):
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
        with gzip.open(root / PEOPLE, "rb") as file:
            count = 0
            while line := file.readline(LARGEST + 1):
                if len(line) > LARGEST:
                    raise Rejected(f"line {count} of {PEOPLE} is longer than {LARGEST} bytes")
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
