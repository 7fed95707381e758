"""A whole audit bundle: its files and hashes first, then person by person, and the sum of it."""

import gzip
import hashlib
import io
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from lcifr.check.exact import BYTES, LETTERS, LONGER, MOST, VALUES, Limit, Rejected, at_most, ensure, number, reading
from lcifr.check.judge import CheckReport, Judge
from lcifr.check.phi import Formula
from lcifr.check.sweep import SweepJudge
from lcifr.check.table import AttributeTable

FORMAT, SWEEP = "lcifr-audit-10", "lcifr-sweep-2"
MANIFEST, PEOPLE, SIMILARITY, ENCODING = "manifest.json", "people.jsonl.gz", "similarity.json", "encoding.json"
DIFFERS = f"is not the file that {MANIFEST} speaks about: its hash differs"
ENCODER, MODEL, HANDOVER, SCHEMA, LARGER = "encoder.json", "model.json", "hand-over", "schema", 16


def check_bundle(root: str | Path, progress: Callable[[int, int], Any] | None = None, patience: int = 1) -> CheckReport:
    """Check everything in a bundle. Raises Rejected where it cannot be read at all, or goes beyond a limit.

    ``progress`` hears how many of how many people are done; ``patience`` is how many times the work is allowed, and
    the size of an encoder or a model, up to LARGER times: forests are large.
    """
    seen, latents, report = set(), hashlib.sha256(), CheckReport()
    try:
        judge, report, people = read_judge(Path(root), patience)
        judge.steps *= patience
        for line in islice(read_people(Path(root) / PEOPLE, report.hashes[PEOPLE]), people + 1):
            with reading(f"line {report.people} of {PEOPLE}"):
                latents.update(latent_bytes(line))
                judge.judge(line, report)
                seen.add(str(line["id"]))
                ensure(len(seen) == report.people, f"{line['id']} occurs twice")
            if progress:
                progress(report.people, people)
    except Limit as limit:
        raise Rejected(f"{limit} (person {report.people})" if report.people else str(limit)) from None
    judge.finish(report)
    ensure(report.people == people, f"{PEOPLE} holds {report.people} people or more, {MANIFEST} says {people}")
    if latents.digest() != hashlib.sha256().digest():
        report.hashes[HANDOVER] = latents.hexdigest()
    return report


class _Hashed(io.FileIO):
    """A plain file that is hashed as it is read, so that nothing else is judged than what was hashed."""

    def __init__(self, path: Path) -> None:
        ensure(path.is_file() and not path.is_symlink(), f"{path.name} is not there, or not a plain file")
        super().__init__(path)
        self.hash = hashlib.sha256()

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size) or b""
        self.hash.update(data)
        return data


def _file(path: Path, sha256: Any, patience: int = 1) -> Any:
    """The JSON of a file, if it is the one that the manifest names; nothing names the manifest itself."""
    with _Hashed(path) as file:
        data = file.read(BYTES + 1)
    ensure(path.name == MANIFEST or file.hash.hexdigest() == sha256, f"{path.name} {DIFFERS}")
    return _json(data, path.name, VALUES * (min(patience, LARGER) if path.name in (ENCODER, MODEL) else 1))


def _json(data: bytes, what: str, values: int = VALUES) -> Any:
    """JSON without repeated keys, because another reader could take the other value."""
    at_most(BYTES, len(data), f"bytes in {what}")
    at_most(values, sum(map(data.count, (b",", b":", b"[", b"{"))), f"values in {what}")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        ensure(len(dict(pairs)) == len(pairs), f"{what} names a key twice")
        return dict(pairs)

    with reading(what):
        return json.loads(data, object_pairs_hook=once)


def read_judge(root: Path, patience: int = 1) -> tuple[Judge, CheckReport, Any]:
    """Everything but the people, each file by its hash; an empty report; how many people there should be."""
    manifest = _file(root / MANIFEST, None)
    with reading(MANIFEST):
        named = manifest["format"]
        known = named == FORMAT or (named == SWEEP and manifest["decision"] is not None)
        ensure(known, f"{MANIFEST} has the format {named!r:.60}, this checker reads {FORMAT!r} and {SWEEP!r}")
        rule, hashes = manifest["decision"], {name: about["sha256"] for name, about in manifest["files"].items()}
        people = manifest["people"]
        ensure(type(people) is int and people >= 0, "{} is no number of people", people)
        at_most(MOST, people, "people")
        needed = {PEOPLE, SIMILARITY, ENCODING, ENCODER, *([MODEL] if rule is not None else [])}
        ensure(set(hashes) == needed, f"{MANIFEST} does not list exactly the files {', '.join(sorted(needed))}")
        found = {name: _file(root / name, hashes[name], patience) for name in sorted(needed - {PEOPLE})}
    with reading(f"{ENCODING} or {SIMILARITY}"):
        formats = found[SIMILARITY]["format"], found[ENCODING]["format"]
        ensure(formats == (4, 3), f"{SIMILARITY} is not of format 4, or {ENCODING} not of format 3")
        formula = Formula(found[SIMILARITY]["formula"], AttributeTable(found[ENCODING]))
    hashes[SCHEMA] = hashlib.sha256(json.dumps(found[ENCODING]["schema"]).encode()).hexdigest()
    with reading(f"{ENCODER} or {MODEL}"):
        given, more = (formula, found[ENCODER], found.get(MODEL), rule), manifest.get("sweep")
        return SweepJudge(*given, more) if named == SWEEP else Judge(*given), CheckReport(rule, hashes), people


def read_people(path: Path, sha256: str) -> Iterator[Any]:
    """One JSON value per person; raises at the end unless the file has the hash in the manifest."""
    try:
        with _Hashed(path) as raw, gzip.GzipFile(fileobj=raw) as file:
            for count, line in enumerate(iter(lambda: file.readline(BYTES + 1), b"")):
                yield _json(line, f"line {count} of {PEOPLE}", LONGER)
    except (OSError, EOFError, zlib.error):
        raise Rejected(f"{PEOPLE} is not a whole gzip file") from None
    ensure(raw.hash.hexdigest() == sha256, f"{PEOPLE} {DIFFERS}")


def latent_bytes(line: Any) -> bytes:
    """A person's part of the hash that names a hand-over."""
    ensure(type(line["id"]) in (str, int), f"{line['id']!r:.60} is no id")
    at_most(LETTERS, len(str(line["id"])), "letters of an id")
    if (latent := line.get("latent")) is None:
        return b""
    said = [line["id"], *(latent[key] for key in ("exact", "vacuous", "universe", "arithmetic"))]
    values = [number(v) for v in (*latent["z"], latent["radius"], *latent["lower"], *latent["upper"])]
    return json.dumps(said).encode() + b"\n" + struct.pack(f"<{len(values)}d", *values)
