"""Bundles of sweeps: honest ones are confirmed with the shares of trying everybody, and no others are."""

from __future__ import annotations

import pytest

from lcifr.check import check_bundle
from tests.certification.bundles.made_sweeps import UNIVERSES, shares_of, written


@pytest.mark.parametrize("name", UNIVERSES)
def test_shares_are_those_of_trying_everybody(name: str):
    report = check_bundle(written(name))
    assert not report.rejected
    assert report.shares == shares_of(UNIVERSES[name]())
    assert report.exit_code == report.strict_exit_code == 0


def test_trees_are_confirmed_too():
    report = check_bundle(written("tree"))
    assert not report.rejected
    assert set(report.shares) == {"proved", "violating"}
