"""Committing and opening: what others learn of people who were not drawn is hashes and counts, and nothing else."""

from __future__ import annotations

import gzip
import json
import re
import stat
from pathlib import Path

import pytest

from lcifr.check.openings import check_opening, drawn
from lcifr.data.files import sha256_of
from lcifr.errors import LcifrError
from lcifr.evidence.sampling import (
    ChallengeRequest,
    CommitRequest,
    OpenRequest,
    SaltedLines,
    challenge,
    commit,
    open_drawn,
)
from tests.certification.made_bundles import bundle, contents
from tests.check.opening_producers import audited, bundle_of, write_challenge

HASH = re.compile(r"[0-9a-f]{64}")


def test_of_others_an_opening_holds_hashes_and_the_commitment_counts(tmp_path: Path) -> None:
    """Two producers whose people differ in everybody who was not drawn: what they publish differs in hashes alone."""
    published = []
    for name, change in (("one", b"person "), ("two", b"nobody ")):
        place = tmp_path / name
        one = audited(place, _with_others(place, change), 3)
        plain = json.loads((one.commitment / "commitment.json").read_text())
        opened = json.loads((one.opening / "opening.json").read_text())
        texts = [json.dumps(part) for part in (plain, opened)]
        published.append([re.sub(r"[0-9a-f]{32,}|\d\d:\d\d:\d\d|\"index\": \d+", "", text) for text in texts])
        shown = {json.loads(line)["id"] for line in _lines(one.opening / "bundle")}
        everything = b"".join(path.read_bytes() for path in (one.opening).rglob("*.json")) + b"".join(
            _lines(one.opening / "bundle")
        )
        everything += (one.commitment / "commitment.json").read_bytes()
        others = {json.loads(line)["id"] for line in _lines(one.bundle)} - shown
        assert len(shown) == 3
        assert not [other for other in others if f'"{other}"'.encode() in everything]
    assert [len(text) for text in published[0]] == [len(text) for text in published[1]]
    assert published[0] == published[1]


def _lines(folder: Path) -> list[bytes]:
    return gzip.decompress((folder / "people.jsonl.gz").read_bytes()).splitlines()


def _with_others(place: Path, word: bytes) -> Path:
    made = bundle_of(place, 16)
    data = b"".join(line + b"\n" for line in _lines(made)).replace(b"person ", word)
    (made / "people.jsonl.gz").write_bytes(gzip.compress(data))
    manifest = json.loads((made / "manifest.json").read_text())
    manifest["files"]["people.jsonl.gz"]["sha256"] = sha256_of(made / "people.jsonl.gz")
    (made / "manifest.json").write_text(json.dumps(manifest))
    return made


def test_an_opening_has_as_many_siblings_as_the_tree_is_high_and_no_other_key(tmp_path: Path) -> None:
    one = audited(tmp_path, bundle_of(tmp_path, 16), 3)
    opened = json.loads((one.opening / "opening.json").read_text())
    assert set(opened) == {"format", "written", "commitment", "lines"}
    for entry in opened["lines"]:
        assert set(entry) == {"index", "salt", "path"}
        assert len(entry["path"]) == 4 * 64
    manifest = json.loads((one.opening / "bundle/manifest.json").read_text())
    assert set(manifest) == {"format", "people", "decision", "files", "written"}
    assert {path.name for path in one.opening.rglob("*") if path.is_file()} == {
        "opening.json",
        "manifest.json",
        *manifest["files"],
    }


def test_the_same_people_are_committed_to_in_another_order_with_other_salts(tmp_path: Path) -> None:
    made = bundle_of(tmp_path, 16)
    roots = {commit(CommitRequest(made, tmp_path / str(number))).commitment.tree for number in range(3)}
    assert len(roots) == 3
    lines = _lines(made)
    orders = [tuple(SaltedLines.of(bytes([number]) * 32, lines).order) for number in range(20)]
    assert len(set(orders)) == 20
    assert all(sorted(order) == list(range(16)) for order in orders)
    salts = [SaltedLines.of(bytes(32), lines).entry(leaf)["salt"] for leaf in range(16)]
    assert len(set(salts)) == 16
    assert {len(salt) for salt in salts} == {32}


def test_the_secret_is_for_nobody_else(tmp_path: Path) -> None:
    commit(CommitRequest(bundle_of(tmp_path, 4), tmp_path / "commitment"))
    assert stat.S_IMODE((tmp_path / "commitment/secret.json").stat().st_mode) == 0o600
    secret = json.loads((tmp_path / "commitment/secret.json").read_text())["key"]
    assert secret not in (tmp_path / "commitment/commitment.json").read_text()


def test_opening_refuses_other_bundles_and_other_challenges(tmp_path: Path) -> None:
    made, other = bundle_of(tmp_path, 8), bundle_of(tmp_path / "other", 9)
    done = commit(CommitRequest(made, tmp_path / "commitment"))
    asked = write_challenge(tmp_path / "asked.json", done.root, bytes(32), 3)
    with pytest.raises(LcifrError, match="not the bundle that was committed to"):
        open_drawn(OpenRequest(other, tmp_path / "commitment", asked, tmp_path / "opening"))
    foreign = write_challenge(tmp_path / "foreign.json", "0" * 64, bytes(32), 3)
    with pytest.raises(LcifrError, match="challenge to another commitment"):
        open_drawn(OpenRequest(made, tmp_path / "commitment", foreign, tmp_path / "opening"))
    for people in (0, -1, 9, 10**9, "3", None):  # nobody waits for ever for the ninth of eight
        endless = write_challenge(tmp_path / "endless.json", done.root, bytes(32), people)  # type: ignore[arg-type]
        with pytest.raises(LcifrError, match="does not draw 1 to 8 lines"):
            open_drawn(OpenRequest(made, tmp_path / "commitment", endless, tmp_path / "opening"))
    odd = write_challenge(tmp_path / "odd.json", done.root, b"short", 3)
    with pytest.raises(LcifrError, match="no seed of 64"):
        open_drawn(OpenRequest(made, tmp_path / "commitment", odd, tmp_path / "opening"))
    assert not (tmp_path / "opening").exists()


def test_bundles_without_verdicts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LcifrError, match="is not a bundle"):
        commit(CommitRequest(tmp_path, tmp_path / "commitment"))
    assert contents(0, "whole")["manifest"]["decision"]
    folder = tmp_path / "radii"
    folder.mkdir()
    for file in bundle(0, "whole").iterdir():
        if file.name != "model.json":
            (folder / file.name).write_bytes(file.read_bytes())
    manifest = json.loads((folder / "manifest.json").read_text()) | {"decision": None}
    del manifest["files"]["model.json"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(LcifrError, match="claims no verdicts"):
        commit(CommitRequest(folder, tmp_path / "commitment"))


def test_a_challenge_draws_a_fresh_seed_and_says_what_it_can_show(tmp_path: Path) -> None:
    done = commit(CommitRequest(bundle_of(tmp_path, 12), tmp_path / "commitment"))
    file = tmp_path / "commitment/commitment.json"
    asked = [challenge(ChallengeRequest(file, out=tmp_path / f"{number}.json", people=5)) for number in range(2)]
    assert asked[0].challenge.seed != asked[1].challenge.seed
    assert HASH.fullmatch(asked[0].challenge.seed)
    assert asked[0].at_best == 8
    assert asked[0].challenge.commitment == done.root
    seed = bytes.fromhex(asked[0].challenge.seed)
    open_drawn(OpenRequest(tmp_path / "bundle", tmp_path / "commitment", tmp_path / "0.json", tmp_path / "opening"))
    opened = json.loads((tmp_path / "opening/opening.json").read_text())["lines"]
    assert [entry["index"] for entry in opened] == drawn(seed, bytes.fromhex(done.root), 12, 5)


def test_a_new_commitment_after_a_challenge_is_a_new_audit_and_both_are_reported(tmp_path: Path) -> None:
    made, roots = bundle_of(tmp_path, 8), []
    for number in range(3):
        roots.append(commit(CommitRequest(made, tmp_path / f"commitment{number}")).root)
        after = [tmp_path / f"challenge{number - 1}.json"] if number else []
        file = tmp_path / f"commitment{number}/commitment.json"
        challenge(ChallengeRequest(file, out=tmp_path / f"challenge{number}.json", people=4, after=after))
    open_drawn(OpenRequest(made, tmp_path / "commitment2", tmp_path / "challenge2.json", tmp_path / "opening"))
    report = check_opening(file, tmp_path / "challenge2.json", tmp_path / "opening")
    assert report.earlier == roots[:2]
    assert all(any(root in line for line in report.text()) for root in roots[:2])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"people": 0}, "4 lines are committed"),
        ({"people": 5}, "4 lines are committed"),
        ({"confidence": "95"}, "not a number between 0 and 1"),
        ({"confidence": "high"}, "not a number between 0 and 1"),
        ({"seed": "1234"}, "not 64 hexadecimal digits"),
        ({"seed": "ROOT"}, "made from the commitment"),
    ],
)
def test_odd_challenges_are_refused(tmp_path: Path, options: dict[str, str], words: str) -> None:
    done = commit(CommitRequest(bundle_of(tmp_path, 4), tmp_path / "commitment"))
    asked = {"people": 2, **options}
    if asked.get("seed") == "ROOT":
        asked["seed"] = done.root
    with pytest.raises(LcifrError, match=f"{words}(.|\n)*Fix: "):
        challenge(ChallengeRequest(tmp_path / "commitment/commitment.json", out=tmp_path / "challenge.json", **asked))  # type: ignore[arg-type]
    assert not (tmp_path / "challenge.json").exists()


def test_a_challenge_is_never_replaced(tmp_path: Path) -> None:
    commit(CommitRequest(bundle_of(tmp_path, 4), tmp_path / "commitment"))
    challenge(ChallengeRequest(tmp_path / "commitment/commitment.json", out=tmp_path / "challenge.json", people=2))
    with pytest.raises(LcifrError, match="a challenge is not replaced"):
        challenge(ChallengeRequest(tmp_path / "commitment/commitment.json", out=tmp_path / "challenge.json", people=2))


@pytest.mark.parametrize(
    "change",
    [
        {"lines": "4"},
        {"lines": 10**400},
        {"lines": None},
        {"verdicts": []},
        {"verdicts": {"certified": "4"}},
        {"verdicts": {"certified": 5}},
    ],
)
def test_a_commitment_that_is_none_is_refused_before_it_is_challenged(
    tmp_path: Path, change: dict[str, object]
) -> None:
    commit(CommitRequest(bundle_of(tmp_path, 4), tmp_path / "commitment"))
    file = tmp_path / "commitment/commitment.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(LcifrError, match=r"do not add up(.|\n)*Fix: "):
        challenge(ChallengeRequest(file, out=tmp_path / "challenge.json", people=2))


def test_an_earlier_challenge_that_is_none_is_refused(tmp_path: Path) -> None:
    commit(CommitRequest(bundle_of(tmp_path, 4), tmp_path / "commitment"))
    (tmp_path / "before.json").write_text('{"format": "lcifr-challenge-1"}')
    with pytest.raises(LcifrError, match=r"lacks 'earlier'(.|\n)*Fix: "):
        challenge(
            ChallengeRequest(
                tmp_path / "commitment/commitment.json",
                out=tmp_path / "c.json",
                people=2,
                after=[tmp_path / "before.json"],
            )
        )
