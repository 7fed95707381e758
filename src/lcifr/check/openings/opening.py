"""An opening checked: whether its lines are the drawn ones of the committed tree, and what the sample then shows."""

import gzip
import hashlib
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

from lcifr.check.bundle import HANDOVER, PEOPLE, _json, check_bundle
from lcifr.check.exact import BYTES, LONGER, MOST, Limit, Rejected, ensure, reading
from lcifr.check.openings.sample import at_least, drawn, leaf_of, root_over
from lcifr.check.report.opening_report import OpeningReport

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
