"""Ties and strict bounds: sweeps of small universes are what trying everybody finds, by the rule, exactly."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lcifr.certification.sweep.pair_question import ExactComparison, Settled, everyone_similar, settle
from lcifr.certification.sweep.result import CellStatus
from lcifr.certification.sweep.sweeper import Sweeper
from lcifr.data import Encoding
from lcifr.data.program import Operation, Program, ProgramStep, StepFormat
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.network import Network
from lcifr.models.rule import Kind, Rule
from tests.certification.sweep.tiny import ENCODING, FORMULAS, SCHEMA, TinyUniverse, everybody


def assert_is_the_truth(universe: TinyUniverse) -> None:
    found = Sweeper(universe.swept).run()
    violating, standing = universe.violating(), found.locate(everybody())
    assert found.share(CellStatus.OPEN) == found.share(CellStatus.CROSSINGS) == 0
    assert ((standing == CellStatus.VIOLATING) == violating).all()
    assert ((standing == CellStatus.PROVED) == ~violating).all()


def has_ties(universe: TinyUniverse) -> bool:
    values = universe.function(universe.encoding.encode(everybody()))
    if universe.rule.kind is Kind.SIGN:
        return bool((values == 0).any())
    top = np.sort(values, axis=1)
    return bool((top[:, -1] == top[:, -2]).any())


@pytest.mark.parametrize("seed", [1, 5, 7])
def test_ties_of_two_classes_against_trying_everybody(seed: int):
    universe = TinyUniverse.with_ties(seed)
    assert has_ties(universe)
    assert_is_the_truth(universe)


@pytest.mark.parametrize("seed", [1, 9])
def test_ties_of_three_classes_against_trying_everybody(seed: int):
    universe = TinyUniverse.with_ties(seed, outputs=3)
    assert has_ties(universe)
    assert_is_the_truth(universe)


def test_differences_of_just_the_tolerance_against_trying_everybody():
    for universe in (TinyUniverse.with_ties(7, tolerance=2.0), TinyUniverse.with_ties(24, outputs=3, tolerance=2.0)):
        assert 0 < universe.share() < 1
        assert_is_the_truth(universe)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 70))
def test_more_of_them(seed: int):
    assert_is_the_truth(
        TinyUniverse.with_ties(seed, outputs=1 if seed % 3 else 3, tolerance=2.0 if seed % 5 == 0 else None)
    )


@pytest.mark.parametrize("seed", [5])
def test_strict_bounds_and_inequalities_of_whole_numbers_leave_nobody_open(seed: int):
    one = TinyUniverse.with_network(seed)
    for text in (FORMULAS[3], FORMULAS[4]):
        for arithmetic in (Arithmetic.EXACT, Arithmetic.FLOAT64):
            universe = replace(one, text=text, arithmetic=arithmetic)
            assert 0 < universe.share() < 1
            assert_is_the_truth(universe)


def test_on_machines_a_tie_may_fall_either_way_and_the_label_says_so():
    """Everybody's score is 0: no two decisions differ strictly, and what a machine makes of it is not said."""
    network = Network.from_arrays([(np.zeros((1, len(ENCODING.features))), np.zeros(1))])
    exact = TinyUniverse(FORMULAS[0], network, Rule.of(1))
    assert Sweeper(exact.swept).run().share(CellStatus.PROVED) == 1
    found = Sweeper(replace(exact, arithmetic=Arithmetic.FLOAT64).swept).run()
    assert found.share(CellStatus.CROSSINGS) == 1
    assert "strict crossings only: 100.0 %" in str(found)


def test_a_model_that_reads_nothing_that_may_differ_is_proved_everywhere():
    """Blind to the sex, with φ = all the same but for the sex: the two outputs are one, wherever the boundary is."""
    weight = np.zeros((1, len(ENCODING.features)))
    weight[:, ENCODING.columns("age")] = 1.0
    blind = TinyUniverse(FORMULAS[0], Network.from_arrays([(weight, np.zeros(1))]), Rule.of(1))
    assert Sweeper(blind.swept, whole=False).run(cells=1).share(CellStatus.PROVED) == 1
    found = Sweeper(replace(blind, arithmetic=Arithmetic.FLOAT64).swept, whole=False).run(cells=40)
    assert found.share(CellStatus.PROVED) + found.share(CellStatus.CROSSINGS) == 1
    assert 0 < found.share(CellStatus.CROSSINGS) < 0.5
    assert not replace(blind, text=FORMULAS[1]).swept.ignores_changes


@pytest.mark.parametrize("text", FORMULAS)
def test_everyone_similar_is_found(text: str):
    universe = TinyUniverse.with_ties(1)
    swept = replace(universe, text=text).swept
    people = everybody()
    for row in range(0, len(people), 7):
        person = people.take([row])
        found = everyone_similar(swept, person)
        assert found is not None
        alike = swept.similarity.holds(people.take(np.full(len(people), row)), people)
        names = {tuple(values) for values in found.to_pandas().itertuples(index=False)}
        assert len(names) == len(found)
        assert names == {tuple(values) for values in people.take(alike).to_pandas().itertuples(index=False)}


def test_those_whom_an_encoding_clips_to_one_number_are_all_tried():
    """Ages from 1 on are encoded as 1, and φ asks for 3: whoever is 0 has a tie, and everybody similar is accepted."""
    clip = Program((ProgramStep(Operation.CLIP, StepFormat.FLOAT64, (0.0, 1.0)),))
    encoding = Encoding(SCHEMA, np.zeros(2), np.ones(2), programs=(clip, Program()))
    weight = np.zeros((1, len(encoding.features)))
    weight[:, encoding.columns("age")] = 1.0
    network = Network.from_arrays([(weight, np.zeros(1))])
    universe = TinyUniverse("same(all except age) and age' = 3", network, Rule.of(1), encoding=encoding)
    assert universe.share() == Fraction(1, 4)
    assert_is_the_truth(universe)


def test_who_cannot_be_counted_stays_open(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lcifr.certification.sweep.pair_question.MOST", 1)
    swept = TinyUniverse.with_ties(2).swept
    assert settle(swept, everybody().take([0])) == Settled(CellStatus.OPEN)


@pytest.mark.parametrize(
    ("one", "other", "strictly", "by_rule"),
    [((1,), (-1,), True, True), ((0,), (1,), False, True), ((0,), (-1,), False, False), ((0,), (0,), False, False)],
)
def test_a_tie_counts_as_the_rule_has_it(one: tuple[int], other: tuple[int], strictly: bool, by_rule: bool):
    first, second = (tuple(map(Fraction, value)) for value in (one, other))
    plain = ExactComparison(Rule.of(1)).differ(first, second)
    assert (plain.strictly, plain.by_rule) == (strictly, by_rule)
    assert bool(np.diff(Rule.of(1).decide(np.array([one, other], dtype=np.float64)))[0]) == by_rule
    banded = ExactComparison(Rule(Kind.SIGN, 1, band=(-0.5, 0.5))).differ(first, second)
    assert banded.by_rule is (None if Fraction(0) in (first[0], second[0]) else by_rule)
