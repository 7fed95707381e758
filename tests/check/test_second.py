"""Two checkers, one page: whatever ours confirms, a second one written from the page alone confirms, too."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcifr.check.bundle import check_bundle
from tests.certification.made_bundles import (
    ARITHMETICS,
    KINDS,
    PARTS,
    SCENES,
    bundle,
    changed,
    confirmed_in,
    contents,
    judge_of,
    judged_by,
    said_of,
)
from tests.check.second import name_of_handover
from tests.check.second.asking import refused, second_of
from tests.effort import sampled

ABOUT: list[dict[str, str]] = [{}, {}, {"arithmetic": "float64"}, {"arithmetic": "float32"}, {"universe": "whole"}]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", range(len(SCENES)))
def test_both_confirm_what_is_right(number: int, kind: str) -> None:
    plain = contents(number, kind)
    second = second_of(plain)
    assert [refused(second, line) for line in plain["lines"]] == [""] * 4


@sampled(120)
@given(
    st.integers(0, len(SCENES) - 1),
    st.sampled_from(KINDS),
    st.sampled_from(PARTS),
    st.integers(0, 2**32),
    st.sampled_from(ABOUT),
)
def test_what_ours_confirms_after_a_change_the_second_confirms(
    number: int, kind: str, where: str, change: int, about: dict[str, str]
) -> None:
    plain = changed(number, kind, where, change, **about)
    for line, _ in confirmed_in(plain):
        assert not refused(second_of(plain), line)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", range(len(SCENES)))
def test_both_agree_about_machines(number: int, kind: str) -> None:
    """Radii have room for float64; whoever is confirmed, or not, is so by both."""
    for arithmetic in ARITHMETICS:
        plain = said_of(contents(number, kind), arithmetic=arithmetic)
        judge, second = judge_of(plain), second_of(plain)
        ours = [not judged_by(judge, line).rejected for line in plain["lines"]]
        assert ours == [not refused(second, line) for line in plain["lines"]]
        assert all(ours) or arithmetic == "float32"


def test_the_second_one_is_no_rubber_stamp() -> None:
    """A radius a tenth smaller, somebody else's proofs, the other decision: refused."""
    plain = copy.deepcopy(contents(0, "whole"))
    second = second_of(plain)
    for line in plain["lines"]:
        for change in (
            {"latent": line["latent"] | {"radius": 0.9 * line["latent"]["radius"]}},
            {"latent": line["latent"] | {"proofs": []}},
            {"decision": line["decision"] | {"prediction": 1 - line["decision"]["prediction"]}},
        ):
            assert refused(second, line | change)


@pytest.mark.parametrize("number", range(len(SCENES)))
def test_both_give_a_hand_over_the_same_name(number: int) -> None:
    assert check_bundle(bundle(number, "box")).hashes["hand-over"] == name_of_handover(contents(number, "box")["lines"])
