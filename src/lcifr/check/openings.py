"""Openings of an audit by sample, checked: ``python -m lcifr.check.openings COMMITMENT CHALLENGE OPENING``.

Whether the lines are the drawn ones of the committed Merkle tree (RFC 6962), whether they are confirmed, and what the
sample then shows. Exit codes: 0 everything that was drawn is opened, belongs to the committed tree and is confirmed,
1 something is not, 2 a file cannot be read, or wrong use.
"""

from __future__ import annotations

import gzip
import hashlib
import sys
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

from lcifr.check.bundle import HANDOVER, PEOPLE, _json, check_bundle
from lcifr.check.exact import BYTES, LONGER, MOST, Limit, Rejected, ensure, printable, reading
from lcifr.check.judge import CheckReport

# The report on an opening: what of the sample is confirmed, what is false, and what that shows of all lines.

SHOWN = """{drawn} of {lines} committed lines were drawn; {good} are certified and confirmed
with confidence {confidence} at least {at_least} of the {lines} committed lines are certified and confirmed
  opened: {opened}, {alone} of them have no one similar
  announced of all: {announced}
  not shown: that the people are real, that they are different people, or that they are all there are"""


@dataclass
class OpeningReport:
    """How many of the drawn lines are certified and confirmed, what is false about the others, and the bound.

    Parameters
    ----------
    lines : committed. drawn : of them. announced, opened : lines by verdict, of all and of the sample.
    earlier : commitments that were challenged before; each of those audits has an answer of its own.
    good : drawn lines that are certified and confirmed. at_least : so many of all lines are, with ``confidence``.
    problems : what is false, and why. checked : the exact checker's report on the opened people.
    """

    lines: int
    drawn: int
    confidence: str
    announced: dict[str, int]
    earlier: list[str]
    opened: dict[str, int] = field(default_factory=dict)
    good: int = 0
    at_least: int = 0
    problems: dict[str, str] = field(default_factory=dict)
    checked: CheckReport = field(default_factory=CheckReport)

    @property
    def exit_code(self) -> int:
        """0 everything that was drawn is opened, belongs to the tree and is confirmed; 1 something is not."""
        return 1 if self.problems else 0

    def text(self) -> list[str]:
        """For people to read."""
        kinds = {key: vars(self)[key] for key in ("opened", "announced")}
        said = {key: ", ".join(f"{n} {printable(kind)}" for kind, n in found.items()) for key, found in kinds.items()}
        return [
            *SHOWN.format(**vars(self) | said, alone=len(self.checked.names["vacuous"])).splitlines(),
            *(f"earlier audit, with an answer of its own: commitment {printable(one)}" for one in self.earlier),
            *(f"FALSE: {printable(what)}: {printable(why)}" for what, why in self.problems.items()),
        ]


# What an opening rests on: membership in a Merkle tree (RFC 6962), whom a challenge draws, what a sample shows.

SALT, HASH, DRAW = 16, 32, b"lcifr-challenge-1"


def leaf_of(salt: bytes, line: bytes) -> bytes:
    """The hash of one line; without its salt nobody can try out whose line it is."""
    ensure(len(salt) == SALT, f"a salt does not have {SALT} bytes")
    return hashlib.sha256(b"\0" + salt + line).digest()


def root_over(leaf: bytes, index: int, size: int, path: bytes) -> bytes:
    """The root of the tree of ``size`` leaves in which this leaf has this place and these siblings, lowest first."""
    ensure(0 <= index < size and (size > 1) == (len(path) >= HASH), "the tree is not as high as there are siblings")
    if size == 1:
        return leaf
    half = 1 << (size - 1).bit_length() - 1  # the largest power of two below the size is what lies on the left
    below, sibling = path[:-HASH], path[-HASH:]
    if index < half:
        return hashlib.sha256(b"\1" + root_over(leaf, index, half, below) + sibling).digest()
    return hashlib.sha256(b"\1" + sibling + root_over(leaf, index - half, size - half, below)).digest()


def drawn(seed: bytes, root: bytes, size: int, count: int) -> list[int]:
    """``count`` different places of ``size``, rising: SHA-256 of seed, root and 0, 1, 2, …, where it is not too large.

    Too large is what would make the first places more likely than the last ones.
    """
    places, number, limit = set[int](), 0, 2**256 - 2**256 % size
    while len(places) < count:
        value = int.from_bytes(hashlib.sha256(DRAW + seed + root + number.to_bytes(8, "big")).digest(), "big")
        places |= {value % size} if value < limit else set()
        number += 1
    return sorted(places)


def chance(size: int, good: int, count: int, found: int) -> Fraction:
    """That ``count`` of ``size`` lines, of which so many are good, hold ``found`` good ones or more."""
    least = max(found, count - (size - good))
    term, total = comb(good, least) * comb(size - good, count - least), 0
    for j in range(least, min(count, good) + 1):
        total += term
        term = term * (good - j) * (count - j) // ((j + 1) * (size - good - count + j + 1))
    return Fraction(total, comb(size, count))


def at_least(size: int, count: int, found: int, alpha: Fraction) -> int:
    """The least number of good lines with which so many, or more, are found with a chance above alpha."""
    candidates = range(found, size - (count - found))  # with one more than these, so many are found for sure
    first = bisect_right(candidates, alpha, key=lambda good: chance(size, good, count, found))
    return found + first if found else 0


# An opening checked: whether its lines are the drawn ones of the committed tree, and what the sample then shows.

LARGEST = 10_000  # lines that a challenge may draw


def read_part(path: str | Path, name: str) -> tuple[Any, str]:
    """The content of a commitment, challenge or opening, and its SHA-256."""
    with open(path, "rb") as file, reading(name):
        data = file.read(BYTES + 1)
        found = _json(data, name, LONGER)
        ensure(found["format"] == f"lcifr-{name}-1", f"this is no {name}: its format is {found['format']!r:.60}")
    return found, hashlib.sha256(data).hexdigest()


def check_opening(commitment: str | Path, challenge: str | Path, opening: str | Path, **how: Any) -> OpeningReport:
    """Check an opening against the reader's own copies of commitment and challenge; Rejected if it cannot be read.

    ``how`` : progress and patience, as for :func:`lcifr.check.check_bundle`.
    """
    try:
        (said, root), (asked, _) = read_part(commitment, "commitment"), read_part(challenge, "challenge")
        with reading("the commitment or the challenge"):
            report, places = _begin(said, root, asked)
        found, _ = read_part(Path(opening) / "opening.json", "opening")
        report.checked = check_bundle(Path(opening) / "bundle", **how)
        ensure(not report.checked.shares, "the opened bundle is about cells of a sweep, not about people")
        with reading("the opening"):
            lines = _lines(Path(opening) / "bundle" / PEOPLE, report, said)
            kinds = [_examined(*pair, said, places, report) for pair in zip(found["lines"], lines, strict=True)]
    except Limit as limit:
        raise Rejected(str(limit)) from None
    report.opened = dict(Counter(kind for kind in kinds if kind))
    if places:
        report.problems[f"{len(places)} drawn lines"] = "not opened, or not in the tree: they count as false"
    for kind, number in report.announced.items():
        if not 0 <= number - report.opened.get(kind, 0) <= report.lines - sum(report.opened.values()):
            report.problems["the announced counts"] = f"not {number} of {report.lines} lines are {kind}"
    shown = at_least(report.lines, report.drawn, report.good, 1 - Fraction(report.confidence))
    report.at_least = min(shown, report.announced.get("certified", 0))
    return report


def _begin(said: Any, root: str, asked: Any) -> tuple[OpeningReport, list[int]]:
    """What was announced and asked, and the places that are drawn."""
    size, count, sure = int.__index__(said["lines"]), int.__index__(asked["people"]), asked["confidence"]
    announced = {kind: int.__index__(number) for kind, number in said["verdicts"].items()}
    ensure(sum(announced.values()) == size <= MOST and min(announced.values()) >= 0, "the verdicts do not add up")
    ensure(0 < count <= min(size, LARGEST), f"a challenge draws 1 to {LARGEST} lines, and no more than there are")
    ensure(len(sure) < 20 and sure.replace(".", "", 1).isdecimal() and 0 < Fraction(sure) < 1, "there is no confidence")
    ensure(asked["commitment"] == root and len(asked["seed"]) == 64, "the challenge is to another commitment")
    places = drawn(bytes.fromhex(asked["seed"]), bytes.fromhex(root), size, count)
    return OpeningReport(size, count, sure, announced, [*map(str, asked["earlier"])]), places


def _lines(path: Path, report: OpeningReport, said: Any) -> list[bytes]:
    """The very bytes of the people who were checked, by the files and the rule that the root names."""
    found = {**report.checked.hashes, "decision": report.checked.decision}
    named = {**said["digests"], "decision": said["decision"]}
    for name in (found.keys() | named.keys()) - {PEOPLE, HANDOVER}:
        ensure(found.get(name, 0) == named.get(name, 0), f"{name} is not the one that was committed to")
    ensure(report.checked.people <= report.drawn, "more people are opened than were drawn")
    data = path.read_bytes()
    ensure(hashlib.sha256(data).hexdigest() == report.checked.hashes[PEOPLE], f"{PEOPLE} has changed meanwhile")
    return [line for line in gzip.decompress(data).split(b"\n") if line]


def _examined(entry: Any, line: bytes, said: Any, places: list[int], report: OpeningReport) -> str | None:
    """The verdict of a line, if it is a drawn one of the tree; whether it is good is counted on the way."""
    person = _json(line, "a line", LONGER)
    name, decision = str(person["id"]), person.get("decision") or {"verdict": "unclaimed"}
    try:
        index, path = int.__index__(entry["index"]), bytes.fromhex(entry["path"])
        root = root_over(leaf_of(bytes.fromhex(entry["salt"]), line), index, report.lines, path)
        ensure(root.hex() == said["tree"], "this line is not in the committed tree")
        ensure(index in places, "this place was not drawn, or is opened twice")
    except Rejected as problem:
        report.problems[name] = str(problem)
        return None
    places.remove(index)
    same = all(decision.get(what, said[what]) == said[what] for what in ("universe", "arithmetic"))
    if name in report.checked.rejected or not same:
        report.problems[name] = report.checked.rejected.get(name, "of another universe or arithmetic than committed to")
    report.good += decision["verdict"] == "certified" and name not in report.problems
    return str(decision["verdict"])


# The command ``python -m lcifr.check.openings``: what it takes, prints and ends with.
#
# Exit codes: 0 everything that was drawn is opened, belongs to the committed tree and is confirmed, 1 something is not,
# 2 a file cannot be read, or wrong use.


def main(paths: list[str]) -> int:
    """Check one opening; the report goes to stdout."""
    try:
        ensure(len(paths) == 3, "use: python -m lcifr.check.openings COMMITMENT CHALLENGE OPENING")
        report = check_opening(*paths)
    except (Rejected, OSError) as problem:
        print(f"nothing is confirmed: {problem}", file=sys.stderr)
        return 2
    print("\n".join(report.text()))
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
