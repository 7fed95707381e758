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

from lcifr.check.exact import Rejected, number, reading
from lcifr.check.judge import Judge, Report
from lcifr.check.proof import read_network
from lcifr.check.similar import Formula, Table

FORMAT = "lcifr-audit-6"
MANIFEST, PEOPLE, SIMILARITY, ENCODING = "manifest.json", "people.jsonl.gz", "similarity.json", "encoding.json"
ENCODER, MODEL, HANDOVER = "encoder.json", "model.json", "hand-over"
LARGEST = 64 << 20  # bytes of a file other than people's, and of one person's line


def check_bundle(folder: str | Path, progress: Callable[[int], None] | None = None) -> Report:
    """Check everything in a bundle. Raises Rejected where it cannot be read at all."""
    root, seen, latents = Path(folder), set(), hashlib.sha256()
    judge, report, people = read_judge(root)
    for line in read_people(root):
        with reading(f"line {report.people} of {PEOPLE}"):
            latents.update(latent_bytes(line))
            judge.judge(line, report)
            seen.add(str(line["id"]))
            if len(seen) < report.people:
                raise Rejected(f"{line['id']} is there twice")
        if progress:
            progress(report.people)
    if report.people != people:
        raise Rejected(f"{PEOPLE} holds {report.people} people, {MANIFEST} says {people}")
    report.hashes[HANDOVER] = latents.hexdigest()
    return report


def _file(root: Path, name: str, sha256: Any = None) -> Path:
    """A file of the bundle, if it is the one that the manifest names."""
    path = root / name
    if path.is_symlink() or not path.is_file() or (name != PEOPLE and path.stat().st_size > LARGEST):
        raise Rejected(f"{name} is not there, not a plain file, or longer than {LARGEST} bytes")
    with path.open("rb") as file:
        if name != MANIFEST and hashlib.file_digest(file, "sha256").hexdigest() != sha256:
            raise Rejected(f"{name} is not the file that {MANIFEST} speaks about: its hash differs")
    return path


def _json(data: bytes, what: str) -> Any:
    """JSON without a key that is there twice: nobody may read another one."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise Rejected(f"{what} names a key twice")
        return dict(pairs)

    with reading(what):
        return json.loads(data, object_pairs_hook=once)


def read_judge(root: Path) -> tuple[Judge, Report, Any]:
    """Everything but the people, each file by its hash; an empty report; how many people there should be."""
    manifest = _json(_file(root, MANIFEST).read_bytes(), MANIFEST)
    with reading(MANIFEST):
        if manifest["format"] != FORMAT:
            raise Rejected(f"{MANIFEST} has the format {manifest['format']!r}, this checker reads {FORMAT!r}")
        rule, hashes = manifest["decision"], {name: about["sha256"] for name, about in manifest["files"].items()}
        needed = {PEOPLE, SIMILARITY, ENCODING, ENCODER, *([MODEL] if rule is not None else [])}
        if set(hashes) != needed:
            raise Rejected(f"{MANIFEST} does not list exactly the files {', '.join(sorted(needed))}")
        files = {name: _file(root, name, sha256) for name, sha256 in hashes.items()}
        found = {name: _json(path.read_bytes(), name) for name, path in files.items() if name != PEOPLE}
    with reading(f"{ENCODING} or {SIMILARITY}"):
        if found[SIMILARITY]["format"] != 3 or found[ENCODING]["format"] != 2:
            raise Rejected(f"{SIMILARITY} is not of format 3, or {ENCODING} not of format 2")
        formula = Formula(found[SIMILARITY]["formula"], Table(found[ENCODING]))
    model = None if rule is None else read_network(found[MODEL])
    return Judge(formula, read_network(found[ENCODER]), model, rule), Report(rule, hashes), manifest.get("people")


def read_people(root: Path) -> Iterator[Any]:
    """One JSON value per person; of a line that is too long only the beginning, which is none."""
    try:
        with gzip.open(root / PEOPLE) as file:
            for count, line in enumerate(iter(lambda: file.readline(LARGEST), b"")):
                yield _json(line, f"line {count} of {PEOPLE}")
    except (OSError, EOFError, zlib.error):
        raise Rejected(f"{PEOPLE} is not a whole gzip file") from None


def latent_bytes(line: Any) -> bytes:
    """A person's part of the hash that names a hand-over."""
    if (latent := line.get("latent")) is None:
        return b""
    values = [number(v) for v in (*latent["z"], latent["radius"], *latent["lower"], *latent["upper"])]
    return json.dumps(line["id"]).encode() + b"\n" + struct.pack(f"<{len(values)}d", *values)
