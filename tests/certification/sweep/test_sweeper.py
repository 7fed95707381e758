"""A sweep of a universe that can be tried out: the same people, exactly, are violating, and all others are proved."""

from __future__ import annotations

import pytest

from lcifr.certification.sweep.result import Standing, Sweep
from lcifr.certification.sweep.sweeper import Sweeper
from lcifr.models.rule import Rule
from tests.certification.sweep.tiny import TinyUniverse, everybody


def assert_is_the_truth(universe: TinyUniverse, found: Sweep) -> None:
    violating = universe.violating()
    standing = found.locate(everybody())
    assert found.share(Standing.OPEN) == 0
    assert found.share(Standing.VIOLATING) == universe.share()
    assert ((standing == Standing.VIOLATING) == violating).all()
    assert ((standing == Standing.PROVED) == ~violating).all()


def assert_pairs_are_real(universe: TinyUniverse, found: Sweep) -> None:
    rule, network = universe.rule, universe.function
    for pair in found.pairs:
        assert universe.similarity.holds(pair.x, pair.other).all()
        encoding = universe.swept.encoding
        one, other = (rule.decide(network(encoding.encode(person))) for person in (pair.x, pair.other))
        assert (rule.group_of[one] != rule.group_of[other]).all()


@pytest.mark.parametrize("seed", range(6))
def test_two_classes_against_trying_everybody(seed: int):
    universe = TinyUniverse.with_network(seed)
    found = Sweeper(universe.swept).run()
    assert_is_the_truth(universe, found)
    assert_pairs_are_real(universe, found)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6, 80))
def test_more_of_them(seed: int):
    universe = TinyUniverse.with_network(seed, outputs=1 if seed % 3 else 3)
    found = Sweeper(universe.swept).run()
    assert_is_the_truth(universe, found)
    assert_pairs_are_real(universe, found)


@pytest.mark.parametrize("seed", [2, 5])
def test_three_classes_against_trying_everybody(seed: int):
    universe = TinyUniverse.with_network(seed, outputs=3)
    assert_is_the_truth(universe, Sweeper(universe.swept).run())


def test_numbers_against_trying_everybody():
    one = TinyUniverse.with_network(1)
    universe = TinyUniverse(one.text, one.function, Rule.of(1, tolerance=0.5))
    assert 0 < universe.share() < 1
    assert_is_the_truth(universe, Sweeper(universe.swept).run())


def test_what_a_stopped_sweep_knows_is_true_and_the_rest_is_open():
    universe = TinyUniverse.with_network(5)
    sweeper = Sweeper(universe.swept)
    early = sweeper.run(cells=3)
    violating, standing = universe.violating(), early.locate(everybody())
    assert early.share(Standing.OPEN) > 0
    assert sum(early.share(one) for one in Standing) == 1
    assert not (violating & (standing == Standing.PROVED)).any()
    assert not (~violating & (standing == Standing.VIOLATING)).any()
    assert_is_the_truth(universe, sweeper.run())
