"""A producer with false certificates is found out as often as the mathematics says, over 1,000 random challenges."""

from __future__ import annotations

import secrets
from fractions import Fraction
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from lcifr.check.bundle import PEOPLE, check_bundle, read_people
from lcifr.check.openings import at_least, chance, check_opening, drawn, leaf_of, root_over
from lcifr.data.files import sha256_of
from lcifr.evidence.sampling import CommitRequest, OpenRequest, SaltedLines, commit, open_drawn
from tests.check.opening_producers import bundle_of, write_challenge

CHALLENGES, LINES, DRAWN = 1000, 200, 20
SHARES = (0.01, 0.05, 0.20)
ALPHA = Fraction(1, 20)


def random_seeds(count: int) -> tuple[int, list[bytes]]:
    """Seeds that are new every time, and the number that makes them again."""
    number = secrets.randbits(64)
    rng = np.random.default_rng(number)
    return number, [rng.bytes(32) for _ in range(count)]


def within(found: int, expected: Fraction, times: int) -> bool:
    """Whether a count is within 4 standard errors of its expectation."""
    share = float(expected)
    return abs(found - times * share) <= 4 * sqrt(times * share * (1 - share)) + 1e-9


@pytest.mark.parametrize("share", SHARES)
def test_false_certificates_are_found_as_often_as_they_must(tmp_path: Path, share: float) -> None:
    """Every line is judged once by the exact checker; membership, draw and bound are those of every challenge."""
    false = round(share * LINES)
    bundle = bundle_of(tmp_path, LINES, false)
    bad = set(check_bundle(bundle).rejected)
    assert len(bad) == false
    lines = [line["id"] for line in read_people(bundle / PEOPLE, sha256_of(bundle / PEOPLE))]
    salted = SaltedLines.of(secrets.token_bytes(32), [name.encode() for name in lines])
    number, seeds = random_seeds(CHALLENGES)
    found, wrong = 0, 0
    for seed in seeds:
        good = 0
        for entry in map(salted.entry, drawn(seed, salted.tree.root, LINES, DRAWN)):
            name = lines[salted.order[entry["index"]]]
            leaf = leaf_of(bytes.fromhex(entry["salt"]), name.encode())
            assert root_over(leaf, entry["index"], LINES, bytes.fromhex(entry["path"])) == salted.tree.root
            good += name not in bad
        found += good < DRAWN
        wrong += at_least(LINES, DRAWN, good, ALPHA) > LINES - false
    print(f"seed {number}: {found} of {CHALLENGES} found out, {wrong} bounds too large")
    expected = 1 - chance(LINES, LINES - false, DRAWN, DRAWN)
    assert within(found, expected, CHALLENGES), f"seed {number}: {found}, expected {float(expected * CHALLENGES):.1f}"
    assert wrong <= CHALLENGES * ALPHA + 4 * sqrt(CHALLENGES * ALPHA * (1 - ALPHA)), f"seed {number}: {wrong}"


@pytest.mark.parametrize(
    ("challenges", "share"),
    [
        *((4, share) for share in SHARES),
        pytest.param(CHALLENGES, 0.05, marks=pytest.mark.long),
        *(pytest.param(CHALLENGES, share, marks=pytest.mark.nightly) for share in (0.01, 0.20)),
    ],
)
def test_the_same_through_files(tmp_path: Path, challenges: int, share: float) -> None:
    """Commit, challenge, open and check, all of it, for every challenge."""
    false = round(share * LINES)
    bundle = bundle_of(tmp_path, LINES, false)
    done = commit(CommitRequest(bundle, tmp_path / "commitment"))
    number, seeds = random_seeds(challenges)
    found = 0
    for place, seed in enumerate(seeds):
        asked = write_challenge(tmp_path / f"{place}.json", done.root, seed, DRAWN)
        open_drawn(OpenRequest(bundle, tmp_path / "commitment", asked, tmp_path / f"opening{place}"))
        report = check_opening(tmp_path / "commitment/commitment.json", asked, tmp_path / f"opening{place}")
        assert report.good + len(report.problems) == DRAWN
        assert set(report.problems) <= {f"person {one}" for one in range(false)}
        assert report.at_least == at_least(LINES, DRAWN, report.good, ALPHA)
        found += report.exit_code
    print(f"seed {number}: {found} of {challenges} found out")
    expected = 1 - chance(LINES, LINES - false, DRAWN, DRAWN)
    assert within(found, expected, challenges) or challenges < 100, f"seed {number}: {found}"
