"""Bundles of sweeps: honest ones are confirmed with the shares of trying everybody, and no others are."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcifr.certification.sweep.bundle import write_sweep_bundle
from lcifr.certification.sweep.result import CellStatus
from lcifr.certification.sweep.sweeper import Sweeper
from lcifr.check import Rejected, check_bundle
from lcifr.check.phi import Formula
from lcifr.check.sweep import SweepJudge
from lcifr.check.table import AttributeTable
from lcifr.data import Encoding
from lcifr.models.network import Network
from lcifr.models.rule import Rule
from tests.certification.made_sweeps import HARDER, UNIVERSES, lines_of, shares_of, written
from tests.certification.sweep.tiny import SCHEMA, TinyUniverse


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
    assert 0 < shares["proved"] <= found.share(CellStatus.PROVED)


def test_where_decisions_change_in_a_cell_both_of_a_pair_are_proved_together(tmp_path: Path):
    """From 2 years on it is yes, and sex counts for less than the half year that separates them from 1.5."""
    encoding = Encoding(SCHEMA, np.zeros(2), np.ones(2))
    weight = np.zeros((1, len(encoding.features)))
    weight[0, encoding.columns("age")], weight[0, encoding.columns("sex")] = 1.0, [0.0, 0.25]
    network = Network.from_arrays([(weight, np.array([-1.5]))])
    swept = TinyUniverse("same(all except sex)", network, Rule.of(1), encoding=encoding).swept
    found = Sweeper(swept).run()
    assert len(found.proved) == 1
    assert write_sweep_bundle(tmp_path / "bundle", swept, found) == {"proved": 1}
    (line,) = lines_of(tmp_path / "bundle")
    assert line["proofs"]
    assert "prediction" not in line
    assert check_bundle(tmp_path / "bundle").shares == {"proved": "1"}


def test_where_all_are_decided_alike_one_network_is_proved():
    assert any("prediction" in line and "proofs" in line for line in lines_of(written("one-sided")))


def test_of_trees_everybody_whom_the_pairs_reach_is_decided_alike():
    assert any("prediction" in line and "proofs" in line for line in lines_of(written("tree")))


def test_beyond_the_largest_number_nobody_is_moved_to():
    """2^53 + 1 is no float64, and the nearest one is 2^53, which somebody has: that is not who φ asks for."""
    last = 2.0**53
    attributes = {
        "age": {"kind": "numeric", "lower": last - 2, "upper": last, "integer": True},
        "sex": {"kind": "categorical", "values": ["female", "male"]},
    }
    table = AttributeTable({"schema": {"attributes": attributes}, "programs": {"age": []}, "outside": []})
    older = [["compare", "<=", [-s, 1], [[[s, 1], "other", "age"], [[-s, 1], "self", "age"]]] for s in (1, -1)]
    similar = Formula(["all", *older, ["category", "self", "sex", [0]], ["category", "other", "sex", [1]]], table)
    others = {"age": "age'", "sex": "sex'"}
    sweep = {"universe": "whole", "arithmetic": "exact", "others": others, "shares": {}}
    identity, accepts_women = {"kind": "network", "factors": []}, [[[0.0, 1.0, -1.0, 0.0]]]
    judge = SweepJudge(similar, identity, accepts_women, {"kind": "sign"}, sweep)

    def shows(sign: float) -> list[Any]:
        return [[["leaf", [], [[[[0, sign]], [], []]]]]]

    change = {"codes": {"sex": 1}, "shifts": {"age": 1.0}, "prediction": 0, "before": shows(-1.0), "after": shows(1.0)}
    female = judge.halves(judge.everybody, "sex", [0])[0]
    judge.part, oldest = judge.halves(female, "age", last - 1)
    judge._change(change, {"prediction": 1})
    judge.part = oldest
    with pytest.raises(Rejected, match="moved out"):
        judge._change(change, {"prediction": 1})
