"""Claims about people of random universes: what is confirmed is true of everybody who can exist."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from lcifr.check.exact import Limit
from lcifr.check.judge import CheckReport
from tests.check.claimant import Claimant
from tests.check.random_formulas import true_of
from tests.effort import sampled


def claims_of(seed: int) -> list[tuple[str, bool, bool]]:
    """Of a few claims the verdict, whether they are confirmed, and whether they are true."""
    one, found = Claimant(seed), []
    for x in one.dice.sample(one.people, min(3, len(one.people))):
        line, report = one.line(x), CheckReport()
        try:
            one.judge.judge(line, report)
        except Limit:
            continue
        decision = line["decision"]
        found.append((decision["verdict"], not report.rejected, one.is_true(x, decision)))
    return found


@sampled(400)
@given(st.integers(0, 2**32))
def test_what_is_confirmed_of_people_is_true(seed: int) -> None:
    assert all(true or not confirmed for _, confirmed, true in claims_of(seed))


@sampled(200)
@given(st.integers(0, 2**32))
def test_phi_is_true_of_the_pairs_that_the_page_says(seed: int) -> None:
    one = Claimant(seed)
    for x in one.people[::3]:
        for other in one.people:
            assert one.judge.formulas["whole"].holds(x, other) == true_of(one.formula, x, other)


def test_right_claims_are_confirmed_and_wrong_ones_are_made() -> None:
    """So the property above could fail."""
    found = Counter(claim for seed in range(60) for claim in claims_of(seed))
    assert found["certified", True, True] > 20
    assert found["counterexample", True, True] > 3
    assert found["certified", False, False] > 5
    assert found["counterexample", False, False] > 5
