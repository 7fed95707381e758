"""Audits by sample: the producer commits to every line of a bundle, and opens those that the auditor draws."""

from __future__ import annotations

import gzip
import hashlib
import hmac
import json
import re
import secrets
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from lcifr.check.bundle import FORMAT, HANDOVER, PEOPLE, read_judge
from lcifr.check.exact import MOST, Limit, Rejected
from lcifr.check.openings import LARGEST, SALT, at_least, check_opening, drawn, read_part
from lcifr.data.files import MANIFEST, describe_files, fresh_folder, now, sha256_of, write_json, write_manifest
from lcifr.errors import ArtefactError, LcifrError
from lcifr.workflows.events import StepKind, step
from lcifr.workflows.options import REQUIRED, argument, option
from lcifr.workflows.results import CommandResult

if TYPE_CHECKING:
    from lcifr.check.openings import OpeningReport


# Merkle trees as in RFC 6962: the root over all leaves, and the siblings that lead from one leaf to it.

LEAF, NODE = b"\0", b"\1"


def hash_leaf(data: bytes) -> bytes:
    """The hash of what a leaf holds."""
    return hashlib.sha256(LEAF + data).digest()


@final
class MerkleTree:
    """A tree over hashed leaves, kept level by level; the last node of an odd level goes up as it is.

    Parameters
    ----------
    leaves : their hashes, at least one.
    """

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self._levels = [list(leaves)]
        while len(self._levels[-1]) > 1:
            below = self._levels[-1]
            pairs = zip(below[::2], below[1::2], strict=False)
            above = [hashlib.sha256(NODE + left + right).digest() for left, right in pairs]
            self._levels.append(above + below[len(above) * 2 :])

    @property
    def root(self) -> bytes:
        """What binds all leaves and their order."""
        return self._levels[-1][0]

    def path(self, index: int) -> list[bytes]:
        """The siblings on the way from a leaf to the root, lowest first."""
        found = []
        for level in self._levels[:-1]:
            if (sibling := index ^ 1) < len(level):
                found.append(level[sibling])
            index >>= 1
        return found


# The producer's side of an audit by sample: committing to every line of a bundle, and opening those that are drawn.
#
# COMMITMENT/commitment.json   goes to the auditor: number of lines, verdicts, digests, and the root of the tree
# COMMITMENT/secret.json       stays: the order of the lines, and their salts
# OPENING/opening.json         places, salts and siblings of the lines that were drawn
# OPENING/bundle/              the bundle of just those people

COMMITMENT, SECRET, OPENING, BUNDLE = "commitment.json", "secret.json", "opening.json", "bundle"
KEY = 32  # bytes
PATIENCE = 100  # times the usual size of a model: the producer commits to a bundle of their own


@dataclass(frozen=True)
class CommitRequest:
    """Which bundle to commit to, and where the commitment goes."""

    bundle: Path = argument("BUNDLE", "The `bundle` folder of an audit.")
    out: Path = option(REQUIRED, "The new folder.", metavar="FOLDER")


@dataclass(frozen=True)
class OpenRequest:
    """Which bundle was committed to, and which challenge to answer."""

    bundle: Path = argument("BUNDLE", "The `bundle` folder of an audit.")
    commitment: Path = option(REQUIRED, "The folder that `commit` wrote.", metavar="FOLDER")
    challenge: Path = option(REQUIRED, "The auditor's challenge.json.", metavar="FILE")
    out: Path = option(REQUIRED, "The new folder, for the auditor.", metavar="FOLDER")


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
class Committed(CommandResult):
    """A commitment on file; root : the SHA-256 of its file."""

    format = "lcifr-evidence-committed-1"
    command = "evidence commit"

    commitment: Commitment
    root: str
    file: str


@dataclass(frozen=True)
class Opened(CommandResult):
    """An opening on file: how many of how many people it shows."""

    format = "lcifr-evidence-opened-1"
    command = "evidence open"

    people: int
    of: int
    folder: str


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
    """Pseudorandom bits (HMAC-SHA-256): indistinguishable from random ones without the key."""
    return hmac.digest(key, what + number.to_bytes(8, "big"), "sha256")


def commit(request: CommitRequest) -> Committed:
    """Commit to every line of a bundle, in random order, each with a secret salt."""
    bundle, out = request.bundle, request.out
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


def open_drawn(request: OpenRequest) -> Opened:
    """Show the people that a challenge draws, and only hashes of the others."""
    bundle, commitment, challenge, out = request.bundle, request.commitment, request.challenge, request.out
    try:
        (said, root), (asked, _) = read_part(commitment / COMMITMENT, "commitment"), read_part(challenge, "challenge")
        secret, _ = read_part(commitment / SECRET, "secret")
    except (Rejected, Limit) as problem:
        raise ArtefactError(str(problem), fix="give the folder of the commitment, and the auditor's file") from None
    _refuse_odd(challenge, asked, root, min(said["lines"], LARGEST))
    if secret["commitment"] != root or secret["people"] != sha256_of(bundle / PEOPLE):
        raise ArtefactError(
            f"{bundle} is not the bundle that was committed to", fix="give the unchanged bundle of the commitment"
        )
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
    """Refuse a challenge to another commitment, or one with an impossible number of lines or an invalid seed."""
    if asked.get("commitment") != root:
        raise ArtefactError(
            f"{path} is a challenge to another commitment, expected {root}", fix="ask the auditor for a new challenge"
        )
    if type(asked.get("people")) is not int or not 0 < asked["people"] <= most:
        raise ArtefactError(f"{path} does not draw 1 to {most} lines", fix="ask the auditor for a new challenge")
    if not re.fullmatch("[0-9a-f]{64}", str(asked.get("seed"))):
        raise ArtefactError(
            f"{path} contains no seed of 64 hexadecimal digits", fix="ask the auditor for a new challenge"
        )


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
        raise ArtefactError(
            "the verdicts are about several universes or arithmetics", fix="commit to a bundle for each of them"
        )
    if not found:
        raise ArtefactError("no verdict claims anything: there is nothing to commit to", fix="audit other people")
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


# The auditor's side of an audit by sample: a challenge to a commitment, and the check of what is opened.

SEED = 32
"""Bytes of a seed."""


@dataclass(frozen=True)
class ChallengeRequest:
    """Which commitment to challenge, and how many lines must be opened."""

    commitment: Path = argument("COMMITMENT", "The producer's commitment.json.")
    people: int = option(REQUIRED, "How many lines the producer must open.", metavar="COUNT", least=1)
    out: Path = option(REQUIRED, "The new file, for the producer.", metavar="FILE")
    confidence: str = option("0.95", "Confidence of the result, as a decimal.", metavar="SHARE")
    seed: str | None = option(None, "64 random hexadecimal digits. (Default: from the system.)", metavar="HEX")
    after: tuple[Path, ...] = option(
        (), "Your challenge to an earlier commitment; both are reported.", metavar="CHALLENGE"
    )


@dataclass(frozen=True)
class OpeningCheckRequest:
    """Which opening to check, against which commitment and challenge."""

    opening: Path = argument("OPENING", "The folder that the producer sent.")
    commitment: Path = option(REQUIRED, "Your copy of commitment.json.", metavar="FILE")
    challenge: Path = option(REQUIRED, "Your copy of challenge.json.", metavar="FILE")
    patience: int = option(1, "Allow this many times the usual work.", metavar="TIMES", least=1)


@dataclass(frozen=True)
class Challenge:
    """What the producer must open.

    Parameters
    ----------
    commitment : its root. seed : of the draw, in hexadecimal. people : how many lines. confidence : of the answer.
    earlier : roots of commitments that were challenged before this one, oldest first.
    """

    commitment: str
    seed: str
    people: int
    confidence: str
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True)
class Challenged(CommandResult):
    """A challenge on file; of : committed lines. at_best : what will be shown if every drawn line is confirmed."""

    format = "lcifr-evidence-challenged-1"
    command = "evidence challenge"

    challenge: Challenge
    of: int
    at_best: int
    file: str


def challenge(request: ChallengeRequest) -> Challenged:
    """Draw a seed and fix sample size and confidence, after the commitment was received."""
    commitment, people, out = request.commitment, request.people, request.out
    said, root = _read(commitment, "commitment")
    lines, announced = _announced(commitment, said)
    if out.exists():
        raise LcifrError(f"{out} already exists: a challenge is not replaced", fix="choose another --out")
    if not 1 <= people <= min(lines, LARGEST):
        raise LcifrError(f"--people {people}: {lines} lines are committed", fix=f"draw 1 to {min(lines, LARGEST)}")
    asked = Challenge(root, _seed(request.seed, root), people, _confidence(request.confidence), _earlier(request.after))
    write_json(out, {"format": "lcifr-challenge-1", "written": now(), **asdict(asked)})
    best = at_least(lines, people, people, 1 - Fraction(asked.confidence))
    return Challenged(asked, lines, min(best, announced), str(out))


def check_opened(request: OpeningCheckRequest) -> OpeningReport:
    """Confirm an opening against one's own copies of commitment and challenge."""
    opening, patience = request.opening, request.patience
    try:
        with step("Checking", StepKind.COUNT) as progress:
            return check_opening(request.commitment, request.challenge, opening, progress=progress, patience=patience)
    except (Rejected, RecursionError) as problem:
        raise ArtefactError(
            f"{opening}: {problem}", fix="nothing of it is confirmed; what is not opened counts as false"
        ) from None


def _read(path: Path, name: str) -> tuple[Any, str]:
    try:
        return read_part(path, name)
    except (Rejected, Limit) as problem:
        raise ArtefactError(f"{path}: {problem}", fix=f"give the file {name}.json") from None


def _announced(path: Path, said: Any) -> tuple[int, int]:
    """Of a producer's file, which may hold anything: how many lines there are, and how many are certified."""
    lines, verdicts = said.get("lines"), said.get("verdicts")
    counts = list(verdicts.values()) if isinstance(verdicts, dict) else []
    whole = type(lines) is int and 0 < lines <= MOST and all(type(one) is int and one >= 0 for one in counts)
    if not whole or sum(counts) != lines:
        raise ArtefactError(
            f"{path}: the verdicts do not add up to 1 to {MOST:,} lines", fix="ask the producer for the file again"
        )
    return lines, verdicts.get("certified", 0)


def _seed(given: str | None, root: str) -> str:
    if given is None:
        return secrets.token_hex(SEED)
    plain = given.lower()
    if len(plain) != 2 * SEED or not set(plain) <= set("0123456789abcdef"):
        raise LcifrError(
            f"--seed {given!r:.80} is not {2 * SEED} hexadecimal digits", fix="leave it out, or throw dice"
        )
    if plain in (root, hashlib.sha256(root.encode()).hexdigest(), hashlib.sha256(bytes.fromhex(root)).hexdigest()):
        raise LcifrError(
            "--seed is made from the commitment, so the producer could know which lines it draws",
            fix="leave it out, or throw dice",
        )
    return plain


def _confidence(given: str) -> str:
    plain = given.strip()
    if len(plain) >= 20 or not plain.replace(".", "", 1).isdecimal() or not 0 < Fraction(plain) < 1:
        raise LcifrError(f"--confidence {given!r:.40} is not a number between 0 and 1", fix="for example 0.95")
    return plain


def _earlier(after: Sequence[Path]) -> tuple[str, ...]:
    """Roots of the challenges before, and of those that came before them."""
    found = [_read(path, "challenge")[0] for path in after]
    try:
        roots = (root for one in found for root in (*map(str, one["earlier"]), str(one["commitment"])))
        return tuple(dict.fromkeys(roots))
    except (KeyError, TypeError) as problem:
        raise ArtefactError(
            f"--after: a challenge lacks {problem}", fix="give the unchanged files of the challenges"
        ) from None
