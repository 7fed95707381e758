"""Openings: honest ones are confirmed, by Python alone too; whatever a producer changes counts as false."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lcifr.check.bundle import SWEEP, check_bundle
from lcifr.check.exact import Rejected
from lcifr.check.openings import check_opening
from lcifr.data.files import sha256_of
from lcifr.evidence.sampling import CommitRequest, OpenRequest, commit, open_drawn
from tests.check.opening_producers import MIXED, Audited, audited, bundle_of, write_challenge

PEOPLE = "people.jsonl.gz"


@pytest.fixture
def honest(tmp_path: Path) -> Audited:
    return audited(tmp_path, bundle_of(tmp_path, 12), 5)


def test_an_honest_opening_is_confirmed(honest: Audited) -> None:
    report = check_opening(*honest.files)
    assert (report.lines, report.drawn, report.good, report.exit_code) == (12, 5, 5, 0)
    assert report.opened == {"certified": 5}
    assert report.at_least == 8  # of 7 good lines 5 are drawn in 21 of 792 ways (2.7 %), of 8 in 56 (7.1 %)
    text = "\n".join(report.text())
    assert "with confidence 0.95 at least 8 of the 12 committed lines are certified and confirmed" in text
    assert "not shown: that the people are real, that they are different people, or that they are all" in text


def test_python_alone_says_the_same(honest: Audited) -> None:
    words = [sys.executable, "-m", "lcifr.check.openings", *map(str, honest.files)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == check_opening(*honest.files).text()
    wrong = subprocess.run(words[:-1], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "use: python -m" in wrong.stderr
    code = "import sys, lcifr.check.openings; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {name.split(".")[0] for name in loaded} & {"numpy", "pandas", "cryptography", "typer", "scipy"}


def test_counterexamples_and_undecided_people_are_opened_and_not_counted(tmp_path: Path) -> None:
    one = audited(tmp_path, bundle_of(tmp_path, 12, scene=MIXED), 12)
    report = check_opening(*one.files)
    assert report.opened == {"certified": 9, "counterexample": 3} == report.announced
    assert (report.good, report.at_least, report.exit_code) == (9, 9, 0)


def test_a_false_certificate_is_found_and_named(tmp_path: Path) -> None:
    one = audited(tmp_path, bundle_of(tmp_path, 8, false=3), 8)
    report = check_opening(*one.files)
    assert set(report.problems) == {"person 0", "person 1", "person 2"}
    assert (report.good, report.at_least, report.exit_code) == (5, 5, 1)


def rewrite(one: Audited, change: Callable[[dict[str, Any], list[bytes]], Any]) -> None:
    """Change an opening, hashes of its bundle redone."""
    opening, people = one.opening / "opening.json", one.opening / "bundle" / PEOPLE
    plain, lines = json.loads(opening.read_text()), gzip.decompress(people.read_bytes()).splitlines()
    change(plain, lines)
    opening.write_text(json.dumps(plain))
    people.write_bytes(gzip.compress(b"".join(line + b"\n" for line in lines)))
    manifest = json.loads((one.opening / "bundle/manifest.json").read_text())
    manifest["files"][PEOPLE] = {"sha256": sha256_of(people), "bytes": people.stat().st_size}
    manifest["people"] = len(lines)
    (one.opening / "bundle/manifest.json").write_text(json.dumps(manifest))


def drop(plain: dict[str, Any], lines: list[bytes]) -> None:
    del plain["lines"][0], lines[0]


def swap(plain: dict[str, Any], lines: list[bytes]) -> None:
    lines[0], lines[1] = lines[1], lines[0]


def edit(plain: dict[str, Any], lines: list[bytes]) -> None:
    lines[0] = lines[0].replace(b"person ", b"Person ")


def space(plain: dict[str, Any], lines: list[bytes]) -> None:
    lines[0] = lines[0].replace(b": ", b":  ", 1)


def salt(plain: dict[str, Any], lines: list[bytes]) -> None:
    plain["lines"][0]["salt"] = "00" * 16


def place(plain: dict[str, Any], lines: list[bytes]) -> None:
    plain["lines"][0]["index"] += 1


def short(plain: dict[str, Any], lines: list[bytes]) -> None:
    plain["lines"][0]["path"] = plain["lines"][0]["path"][64:]


@pytest.mark.parametrize(
    ("change", "lost"), [(drop, 1), (swap, 2), (edit, 1), (space, 1), (salt, 1), (place, 1), (short, 1)]
)
def test_what_is_not_opened_as_committed_counts_as_false(honest: Audited, change: Any, lost: int) -> None:
    rewrite(honest, change)
    report = check_opening(*honest.files)
    assert report.good == 5 - lost
    assert report.exit_code == 1
    assert f"{lost} drawn lines" in report.problems
    assert report.at_least < 8


def test_nobody_can_be_opened_instead_of_somebody_else(tmp_path: Path) -> None:
    """Lines of the tree that were not drawn, with all that belongs to them, do not count."""
    one = audited(tmp_path, bundle_of(tmp_path, 12), 5)
    root = sha256_of(one.commitment / "commitment.json")
    other = write_challenge(tmp_path / "other.json", root, b"\1" * 32, 5)
    report = check_opening(one.commitment / "commitment.json", other, one.opening)
    asked = {entry["index"] for entry in json.loads((one.opening / "opening.json").read_text())["lines"]}
    assert 0 < len(report.problems) - 1 == 5 - report.good  # each by name, and the sum of them
    assert len(asked) == 5
    assert "this place was not drawn" in "".join(report.problems.values())


def test_a_line_opened_twice_counts_once(honest: Audited) -> None:
    def twice(plain: dict[str, Any], lines: list[bytes]) -> None:
        plain["lines"][1], lines[1] = plain["lines"][0], lines[0]

    rewrite(honest, twice)
    with pytest.raises(Rejected, match="occurs twice"):
        check_opening(*honest.files)


def test_another_model_rule_or_formula_than_committed_is_refused(honest: Audited) -> None:
    file = honest.commitment / "commitment.json"
    plain = json.loads(file.read_text())
    for name in plain["digests"]:
        refused(honest, plain | {"digests": plain["digests"] | {name: "0" * 64}}, f"{name} is not the one")
        less = {key: value for key, value in plain["digests"].items() if key != name}
        refused(honest, plain | {"digests": less}, f"{name} is not the one")
    refused(honest, plain | {"decision": {"kind": "sign", "band": [0.0, 1.0]}}, "decision is not the one")
    refused(honest, plain | {"verdicts": {"certified": 13}}, "do not add up")
    refused(honest, plain | {"verdicts": {"certified": 13, "undecided": -1}}, "do not add up")


def refused(one: Audited, commitment: dict[str, Any], words: str) -> None:
    """A commitment with other content, and a challenge to it."""
    changed = one.bundle.with_name("changed.json")
    changed.write_text(json.dumps(commitment))
    asked = json.loads(one.challenge.read_text()) | {"commitment": sha256_of(changed)}
    one.bundle.with_name("asked.json").write_text(json.dumps(asked))
    with pytest.raises(Rejected, match=words):
        check_opening(changed, one.bundle.with_name("asked.json"), one.opening)


@pytest.mark.parametrize("what", ["universe", "arithmetic"])
def test_claims_of_another_universe_or_arithmetic_count_as_false(tmp_path: Path, what: str) -> None:
    bundle = bundle_of(tmp_path, 4)
    commit(CommitRequest(bundle, tmp_path / "commitment"))
    file = tmp_path / "commitment" / "commitment.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {what: "reals" if what == "universe" else "exact"}))
    secret = tmp_path / "commitment" / "secret.json"
    secret.write_text(json.dumps(json.loads(secret.read_text()) | {"commitment": sha256_of(file)}))
    challenge = write_challenge(tmp_path / "challenge.json", sha256_of(file), bytes(32), 4)
    open_drawn(OpenRequest(bundle, tmp_path / "commitment", challenge, tmp_path / "opening"))
    report = check_opening(file, challenge, tmp_path / "opening")
    assert (report.good, report.at_least, len(report.problems)) == (0, 0, 4)


def test_announced_counts_that_the_sample_contradicts_are_false(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, 12, scene=MIXED)
    commit(CommitRequest(bundle, tmp_path / "commitment"))
    file = tmp_path / "commitment" / "commitment.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"verdicts": {"certified": 12}}))
    secret = tmp_path / "commitment" / "secret.json"
    secret.write_text(json.dumps(json.loads(secret.read_text()) | {"commitment": sha256_of(file)}))
    challenge = write_challenge(tmp_path / "challenge.json", sha256_of(file), bytes(32), 11)
    open_drawn(OpenRequest(bundle, tmp_path / "commitment", challenge, tmp_path / "opening"))
    report = check_opening(file, challenge, tmp_path / "opening")
    assert "the announced counts" in report.problems
    assert report.exit_code == 1


def test_an_earlier_audit_is_reported_beside_this_one(honest: Audited) -> None:
    plain = json.loads(honest.challenge.read_text()) | {"earlier": ["a" * 64]}
    honest.challenge.write_text(json.dumps(plain))
    assert f"earlier audit, with an answer of its own: commitment {'a' * 64}" in check_opening(*honest.files).text()


@pytest.mark.parametrize(
    "change",
    [
        {"people": 0},
        {"people": 13},
        {"people": "5"},
        {"people": 10**9},
        {"confidence": "1"},
        {"confidence": "1e-999999999"},
        {"confidence": 0.95},
        {"seed": "00"},
        {"seed": "x" * 64},
        {"commitment": "0" * 64},
        {"format": "lcifr-opening-1"},
        {"earlier": None},
    ],
)
def test_odd_challenges_are_refused(honest: Audited, change: dict[str, Any]) -> None:
    honest.challenge.write_text(json.dumps(json.loads(honest.challenge.read_text()) | change))
    with pytest.raises(Rejected):
        check_opening(*honest.files)


@pytest.mark.parametrize("name", ["opening.json", "bundle/manifest.json", f"bundle/{PEOPLE}", "bundle/model.json"])
def test_broken_files_of_an_opening_are_refused(honest: Audited, name: str) -> None:
    data = (honest.opening / name).read_bytes()
    for broken in (b"", data[:-9], b"[]", b'{"format": "lcifr-opening-1"}'):
        (honest.opening / name).write_bytes(broken)
        with pytest.raises(Rejected):
            check_opening(*honest.files)


def test_people_who_are_opened_as_cells_of_a_sweep_are_refused(tmp_path: Path) -> None:
    """A sweep has one arithmetic of its own for all cells: a claim in another one must not be confirmed by it."""
    bundle = bundle_of(tmp_path, 3, arithmetic="made up", cuts=[], standing="open")
    one = audited(tmp_path, bundle, 1)
    assert check_opening(*one.files).good == 0
    file = one.opening / "bundle" / "manifest.json"
    attributes = json.loads((bundle / "encoding.json").read_text())["schema"]["attributes"]
    sweep = {"universe": "whole", "arithmetic": "exact", "shares": {"open": "1"}}
    sweep["others"] = {name: f"{name} of the other" for name in attributes}
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": SWEEP, "sweep": sweep}))
    assert check_bundle(one.opening / "bundle").exit_code == 0
    with pytest.raises(Rejected, match="cells of a sweep"):
        check_opening(*one.files)


def test_no_verdict_that_a_producer_makes_up_is_printed_as_it_is(tmp_path: Path) -> None:
    one = audited(tmp_path, bundle_of(tmp_path, 2), 1)
    plain = json.loads((one.commitment / "commitment.json").read_text())
    changed, asked = tmp_path / "changed.json", tmp_path / "asked.json"
    changed.write_text(json.dumps(plain | {"verdicts": {"\x1b[2Kgood\nwith confidence 1": 2}}))
    write_challenge(asked, sha256_of(changed), bytes(32), 1)
    assert all(line.isprintable() for line in check_opening(changed, asked, one.opening).text())
