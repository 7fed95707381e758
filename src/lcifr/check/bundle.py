"""A whole audit bundle: its files and hashes first, then person by person, and the sum of it."""

import gzip
import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from lcifr.check.exact import Rejected, ensure, number, reading
from lcifr.check.judge import CheckReport, Judge
from lcifr.check.limits import BYTES, LETTERS, LONGER, MOST, VALUES, Limit, at_most
from lcifr.check.network import read_network
from lcifr.check.similar import Formula
from lcifr.check.table import AttributeTable

FORMAT = "lcifr-audit-7"
MANIFEST, PEOPLE, SIMILARITY, ENCODING = "manifest.json", "people.jsonl.gz", "similarity.json", "encoding.json"
ENCODER, MODEL, HANDOVER, SCHEMA = "encoder.json", "model.json", "hand-over", "schema"


def check_bundle(
    folder: str | Path, progress: Callable[[int, int], None] | None = None, patience: int = 1
) -> CheckReport:
    """Check everything in a bundle. Raises Rejected where it cannot be read at all, or goes beyond a limit.

    ``progress`` hears how many of how many people are done; ``patience`` is how many times the work is allowed.
    """
    root, seen, latents, report = Path(folder), set(), hashlib.sha256(), CheckReport()
    try:
        judge, report, people = read_judge(root)
        judge.steps *= patience
        for line in islice(read_people(root, report.hashes[PEOPLE]), people + 1):
            with reading(f"line {report.people} of {PEOPLE}"):
                latents.update(latent_bytes(line))
                judge.judge(line, report)
                seen.add(str(line["id"]))
                ensure(len(seen) == report.people, f"{line['id']} is there twice")
            if progress:
                progress(report.people, people)
    except Limit as limit:
        raise Rejected(f"{limit} (person {report.people})" if report.people else str(limit)) from None
    ensure(report.people == people, f"{PEOPLE} holds {report.people} people or more, {MANIFEST} says {people}")
    if latents.digest() != hashlib.sha256().digest():
        report.hashes[HANDOVER] = latents.hexdigest()
    return report


class _Hashed:
    """A file that is hashed as it is read, so that nothing else is judged than what was hashed."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.hash = file, hashlib.sha256()

    def read(self, size: int) -> bytes:
        data = self.file.read(size)
        self.hash.update(data)
        return data


def _open(root: Path, name: str) -> BinaryIO:
    plain = (root / name).is_file() and not (root / name).is_symlink()
    ensure(plain, f"{name} is not there, or not a plain file")
    return (root / name).open("rb")


def _is_named(name: str, found: Any, sha256: Any) -> None:
    ensure(found.hexdigest() == sha256, f"{name} is not the file that {MANIFEST} speaks about: its hash differs")


def _file(root: Path, name: str, sha256: Any = None) -> Any:
    """The JSON of a file, if it is the one that the manifest names."""
    with _open(root, name) as file:
        data = file.read(BYTES + 1)
    if name != MANIFEST:
        _is_named(name, hashlib.sha256(data), sha256)
    return _json(data, name)


def _json(data: bytes, what: str, values: int = VALUES) -> Any:
    """JSON without a key that is there twice: nobody may read another one."""
    at_most(BYTES, len(data), f"bytes in {what}")
    at_most(values, sum(map(data.count, (b",", b":", b"[", b"{"))), f"values in {what}")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        ensure(len(dict(pairs)) == len(pairs), f"{what} names a key twice")
        return dict(pairs)

    with reading(what):
        return json.loads(data, object_pairs_hook=once)


def read_judge(root: Path) -> tuple[Judge, CheckReport, Any]:
    """Everything but the people, each file by its hash; an empty report; how many people there should be."""
    manifest = _file(root, MANIFEST)
    with reading(MANIFEST):
        named = manifest["format"]
        ensure(named == FORMAT, f"{MANIFEST} has the format {named!r:.60}, this checker reads {FORMAT!r}")
        rule, hashes = manifest["decision"], {name: about["sha256"] for name, about in manifest["files"].items()}
        people = int.__index__(manifest["people"])
        at_most(MOST, people, "people")
        needed = {PEOPLE, SIMILARITY, ENCODING, ENCODER, *([MODEL] if rule is not None else [])}
        ensure(set(hashes) == needed, f"{MANIFEST} does not list exactly the files {', '.join(sorted(needed))}")
        found = {name: _file(root, name, sha256) for name, sha256 in hashes.items() if name != PEOPLE}
    with reading(f"{ENCODING} or {SIMILARITY}"):
        formats = found[SIMILARITY]["format"], found[ENCODING]["format"]
        ensure(formats == (3, 2), f"{SIMILARITY} is not of format 3, or {ENCODING} not of format 2")
        formula = Formula(found[SIMILARITY]["formula"], AttributeTable(found[ENCODING]))
    hashes[SCHEMA] = hashlib.sha256(json.dumps(found[ENCODING]["schema"]).encode()).hexdigest()
    model = None if rule is None else read_network(found[MODEL])
    return Judge(formula, read_network(found[ENCODER]), model, rule), CheckReport(rule, hashes), people


def read_people(root: Path, sha256: str) -> Iterator[Any]:
    """One JSON value per person; it ends well only if all of them are what the manifest names."""
    try:
        with _open(root, PEOPLE) as plain, gzip.GzipFile(fileobj=(raw := _Hashed(plain))) as file:  # type: ignore[call-overload]
            for count, line in enumerate(iter(lambda: file.readline(BYTES + 1), b"")):
                yield _json(line, f"line {count} of {PEOPLE}", LONGER)
    except (OSError, EOFError, zlib.error):
        raise Rejected(f"{PEOPLE} is not a whole gzip file") from None
    _is_named(PEOPLE, raw.hash, sha256)


def latent_bytes(line: Any) -> bytes:
    """A person's part of the hash that names a hand-over."""
    ensure(type(line["id"]) in (str, int), f"{line['id']!r:.60} is no id")
    at_most(LETTERS, len(str(line["id"])), "letters of an id")
    if (latent := line.get("latent")) is None:
        return b""
    said = [line["id"], *(latent[key] for key in ("exact", "vacuous", "universe", "arithmetic"))]
    values = [number(v) for v in (*latent["z"], latent["radius"], *latent["lower"], *latent["upper"])]
    return json.dumps(said).encode() + b"\n" + struct.pack(f"<{len(values)}d", *values)
