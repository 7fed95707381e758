"""The auditor's side of an audit by sample: a challenge to a commitment, and the check of what is opened."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.check.exact import MOST, Limit, Rejected
from lcifr.check.openings import LARGEST, at_least, check_opening, read_part
from lcifr.data.files import now, write_json
from lcifr.errors import ArtefactError, LcifrError
from lcifr.runs.events import StepKind, step

if TYPE_CHECKING:
    from lcifr.check.openings import OpeningReport

SEED = 32
"""Bytes of a seed."""


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
class Challenged:
    """A challenge on file; of : committed lines. at_best : what will be shown if every drawn line is confirmed."""

    challenge: Challenge
    of: int
    at_best: int
    file: str

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        return {"format": "lcifr-evidence-challenged-1", "command": "evidence challenge", **asdict(self)}


def challenge(
    commitment: Path,
    out: Path,
    *,
    people: int,
    confidence: str = "0.95",
    seed: str | None = None,
    after: Sequence[Path] = (),
) -> Challenged:
    """Draw a seed and fix sample size and confidence, after the commitment was received.

    Parameters
    ----------
    seed : 64 hexadecimal digits from dice or a public draw; None for the operating system's randomness.
    after : challenges to earlier commitments of the same producer: a new commitment is a new audit, both are reported.
    """
    said, root = _read(commitment, "commitment")
    lines, announced = _announced(commitment, said)
    if out.exists():
        raise LcifrError(f"{out} already exists: a challenge is not replaced", fix="choose another --out")
    if not 1 <= people <= min(lines, LARGEST):
        raise LcifrError(f"--people {people}: {lines} lines are committed", fix=f"draw 1 to {min(lines, LARGEST)}")
    asked = Challenge(root, _seed(seed, root), people, _confidence(confidence), _earlier(after))
    write_json(out, {"format": "lcifr-challenge-1", "written": now(), **asdict(asked)})
    best = at_least(lines, people, people, 1 - Fraction(asked.confidence))
    return Challenged(asked, lines, min(best, announced), str(out))


def check_opened(commitment: Path, challenge: Path, opening: Path, patience: int = 1) -> OpeningReport:
    """Confirm an opening against one's own copies of commitment and challenge."""
    try:
        with step("Checking", StepKind.COUNT) as progress:
            return check_opening(commitment, challenge, opening, progress=progress, patience=patience)
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
            f"{path}: the verdicts do not add up to 1 to {MOST:,} lines", fix="ask the producer for the file anew"
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
            "--seed is made from the commitment, so the producer knew whom it draws", fix="leave it out, or throw dice"
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
            f"--after: a challenge lacks {problem}", fix="give challenges as they were written"
        ) from None
