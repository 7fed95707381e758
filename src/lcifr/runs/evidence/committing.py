"""The producer's side of an audit by sample: committing to every line of a bundle, and opening those that are drawn.

COMMITMENT/commitment.json   goes to the auditor: number of lines, verdicts, digests, and the root of the tree
COMMITMENT/secret.json       stays: the order of the lines, and their salts
OPENING/opening.json         places, salts and siblings of the lines that were drawn
OPENING/bundle/              the bundle of just those people
"""

from __future__ import annotations

import gzip
import hashlib
import hmac
import json
import re
import secrets
import shutil
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lcifr.artifacts.merkle_tree import MerkleTree, hash_leaf
from lcifr.check.bundle import FORMAT, HANDOVER, PEOPLE, read_judge
from lcifr.check.exact import Limit, Rejected
from lcifr.check.openings import LARGEST, SALT, drawn, read_part
from lcifr.data.files import MANIFEST, describe_files, fresh_folder, now, sha256_of, write_json, write_manifest
from lcifr.errors import ArtefactError, LcifrError
from lcifr.runs.events import step

COMMITMENT, SECRET, OPENING, BUNDLE = "commitment.json", "secret.json", "opening.json", "bundle"
KEY = 32  # bytes
PATIENCE = 100  # times the usual size of a model: whoever commits wrote the bundle


@dataclass(frozen=True)
class Commitment:
    """What an auditor gets; its SHA-256 is the root that a challenge names.

    Parameters
    ----------
    lines : how many people. tree : the root over their lines. verdicts : lines by verdict.
    universe, arithmetic : of every claim. decision : the rule. digests : files of the bundle but the people, by name.
    """

    lines: int
    tree: str
    verdicts: dict[str, int]
    universe: str
    arithmetic: str
    decision: Any
    digests: dict[str, str]


@dataclass(frozen=True)
class Committed:
    """A commitment on file; root : the SHA-256 of its file."""

    commitment: Commitment
    root: str
    file: str

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        return {"format": "lcifr-evidence-committed-1", "command": "evidence commit", **asdict(self)}


@dataclass(frozen=True)
class Opened:
    """An opening on file: how many of how many people it shows."""

    people: int
    of: int
    folder: str

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        return {"format": "lcifr-evidence-opened-1", "command": "evidence open", **asdict(self)}


@dataclass(frozen=True)
class SaltedLines:
    """What only the producer knows: which line is which leaf, and every leaf's salt; both follow from one key.

    Parameters
    ----------
    key : 256 random bits. order : for each leaf the number of its line. tree : over all leaves.
    """

    key: bytes
    order: list[int]
    tree: MerkleTree

    @classmethod
    def of(cls, key: bytes, lines: list[bytes]) -> SaltedLines:
        """The same for the same key and lines."""
        order = sorted(range(len(lines)), key=lambda line: _keyed(key, b"order", line))
        return cls(
            key, order, MerkleTree([hash_leaf(_salt(key, leaf) + lines[line]) for leaf, line in enumerate(order)])
        )

    def entry(self, leaf: int) -> dict[str, Any]:
        """What opens a leaf: its place, its salt, and the siblings up to the root."""
        return {"index": leaf, "salt": _salt(self.key, leaf).hex(), "path": b"".join(self.tree.path(leaf)).hex()}


def _salt(key: bytes, leaf: int) -> bytes:
    return _keyed(key, b"salt", leaf)[:SALT]


def _keyed(key: bytes, what: bytes, number: int) -> bytes:
    """Bits that nobody can tell from random ones, whatever others of them are known (HMAC-SHA-256)."""
    return hmac.digest(key, what + number.to_bytes(8, "big"), "sha256")


def commit(bundle: Path, out: Path) -> Committed:
    """Commit to every line of a bundle, in random order, each with a secret salt."""
    with step("Reading the bundle"):
        decision, digests = _about(bundle)
        lines = _lines(bundle)
    universe, arithmetic = _one_claim(lines)
    salted = SaltedLines.of(secrets.token_bytes(KEY), lines)
    verdicts = dict(sorted(Counter(_verdict(line) for line in lines).items()))
    said = Commitment(len(lines), salted.tree.root.hex(), verdicts, universe, arithmetic, decision, digests)
    with fresh_folder(out) as fresh:
        write_json(fresh / COMMITMENT, {"format": "lcifr-commitment-1", "written": now(), **asdict(said)})
        root = sha256_of(fresh / COMMITMENT)
        kept = {"commitment": root, "people": sha256_of(bundle / PEOPLE), "key": salted.key.hex()}
        write_json(fresh / SECRET, {"format": "lcifr-secret-1", **kept})
        (fresh / SECRET).chmod(0o600)
    return Committed(said, root, str(out / COMMITMENT))


def open_drawn(bundle: Path, commitment: Path, challenge: Path, out: Path) -> Opened:
    """Show the people whom a challenge draws, and of the others only the hashes that lead to the root.

    Parameters
    ----------
    bundle : the one that was committed to. commitment : the folder that :func:`commit` wrote. out : the new folder.
    """
    try:
        (said, root), (asked, _) = read_part(commitment / COMMITMENT, "commitment"), read_part(challenge, "challenge")
        secret, _ = read_part(commitment / SECRET, "secret")
    except (Rejected, Limit) as problem:
        raise ArtefactError(str(problem), fix="give the folder of the commitment, and the auditor's file") from None
    _refuse_odd(challenge, asked, root, min(said["lines"], LARGEST))
    if secret["commitment"] != root or secret["people"] != sha256_of(bundle / PEOPLE):
        raise ArtefactError(f"{bundle} is not the bundle that was committed to", fix="give that one, as it was written")
    lines = _lines(bundle)
    salted = SaltedLines.of(bytes.fromhex(secret["key"]), lines)
    if salted.tree.root.hex() != said["tree"]:
        raise ArtefactError(f"{commitment} does not lead to the root that was committed to")
    places = drawn(bytes.fromhex(asked["seed"]), bytes.fromhex(root), said["lines"], asked["people"])
    with fresh_folder(out) as fresh:
        _write_part(bundle, fresh / BUNDLE, [lines[salted.order[i]] for i in places])
        opening = {
            "format": "lcifr-opening-1",
            "written": now(),
            "commitment": root,
            "lines": [*map(salted.entry, places)],
        }
        write_json(fresh / OPENING, opening)
    return Opened(len(places), said["lines"], str(out))


def _refuse_odd(path: Path, asked: Any, root: str, most: int) -> None:
    """An auditor's file may be anything; nobody searches for the ninth of eight lines."""
    if asked.get("commitment") != root:
        raise ArtefactError(f"{path} is a challenge to another commitment than {root}", fix="ask the auditor anew")
    if type(asked.get("people")) is not int or not 0 < asked["people"] <= most:
        raise ArtefactError(f"{path} does not draw 1 to {most} lines", fix="ask the auditor anew")
    if not re.fullmatch("[0-9a-f]{64}", str(asked.get("seed"))):
        raise ArtefactError(f"{path} holds no seed of 64 hexadecimal digits", fix="ask the auditor anew")


def _about(bundle: Path) -> tuple[Any, dict[str, str]]:
    """The rule of decision, and the digests of everything but the people."""
    if not (bundle / MANIFEST).is_file():
        raise LcifrError(f"{bundle} is not a bundle", fix="give the folder `bundle` of an audit")
    try:
        _, report, _ = read_judge(bundle, PATIENCE)
    except (Rejected, Limit) as problem:
        raise ArtefactError(f"{bundle}: {problem}", fix="audit again") from None
    if report.decision is None:
        raise LcifrError(f"{bundle} claims no verdicts, only radii", fix="give the bundle of an audit")
    return report.decision, {name: sha for name, sha in report.hashes.items() if name not in (PEOPLE, HANDOVER)}


def _lines(bundle: Path) -> list[bytes]:
    """The lines of a bundle, byte for byte."""
    manifest = json.loads((bundle / MANIFEST).read_bytes())
    data = (bundle / PEOPLE).read_bytes()
    if hashlib.sha256(data).hexdigest() != manifest["files"][PEOPLE]["sha256"]:
        raise ArtefactError(f"{bundle / PEOPLE} does not match the manifest", fix="audit again")
    return gzip.decompress(data).removesuffix(b"\n").split(b"\n")


def _verdict(line: bytes) -> str:
    return str((json.loads(line).get("decision") or {"verdict": "unclaimed"})["verdict"])


def _one_claim(lines: list[bytes]) -> tuple[str, str]:
    """The universe and the arithmetic of all verdicts that claim something."""
    claims = (json.loads(line).get("decision") or {} for line in lines)
    found = {(str(one["universe"]), str(one["arithmetic"])) for one in claims if "universe" in one}
    if len(found) > 1:
        raise ArtefactError("the verdicts are about several universes or arithmetics", fix="commit to each of them")
    if not found:
        raise ArtefactError("nothing is claimed of anybody: there is nothing to commit to", fix="audit other people")
    return found.pop()


def _write_part(bundle: Path, part: Path, lines: list[bytes]) -> None:
    """The bundle of some people: the same files, other people, and nothing that the others left in the manifest."""
    manifest = json.loads((bundle / MANIFEST).read_bytes())
    part.mkdir()
    for name in manifest["files"]:
        if name != PEOPLE:
            shutil.copyfile(bundle / name, part / name)
    (part / PEOPLE).write_bytes(gzip.compress(b"".join(line + b"\n" for line in lines), mtime=0))
    about = {"format": FORMAT, "people": len(lines), "decision": manifest["decision"]}
    write_manifest(part, {**about, "files": describe_files(part)})
