"""Bundles of sweeps: honest ones are confirmed with the shares of trying everybody, and no others are."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from lcifr.certification.bundles.sweep_writer import write_sweep_bundle
from lcifr.certification.sweep.result import Standing
from lcifr.certification.sweep.sweeper import Sweeper
from lcifr.check import check_bundle
from tests.certification.bundles.made_sweeps import HARDER, UNIVERSES, lines_of, shares_of, written


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


@pytest.mark.parametrize("name", HARDER)
def test_what_no_proof_shows_is_open_and_the_rest_is_true(name: str):
    report, truth = check_bundle(written(name)), HARDER[name]().share()
    assert not report.rejected
    assert sum(map(Fraction, report.shares.values())) == 1
    assert Fraction(report.shares.get("violating", 0)) <= truth
    assert Fraction(report.shares.get("proved", 0)) <= 1 - truth


def test_over_the_reals_borders_are_shared_and_shares_are_lengths(tmp_path: Path):
    swept = UNIVERSES["one-sided"]().swept
    found = Sweeper(swept, whole=False).run(cells=150)
    shares = write_sweep_bundle(tmp_path / "bundle", swept, found)
    report = check_bundle(tmp_path / "bundle")
    assert not report.rejected
    assert report.shares == {standing: str(share) for standing, share in shares.items()}
    assert 0 < shares["proved"] <= found.share(Standing.PROVED)


def test_of_trees_everybody_whom_the_pairs_reach_is_decided_alike():
    assert any("prediction" in line and "proofs" in line for line in lines_of(written("tree")))
