"""A sweep of a universe that can be tried out: the same people, exactly, are violating, and all others are proved."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.subject import Subject
from lcifr.certification.sweep.result import CellStatus, Sweep
from lcifr.certification.sweep.sweeper import AT_LEAST, SuccessRate, Sweeper
from lcifr.data import Encoding, Numeric, Schema
from lcifr.models.model import Model
from lcifr.models.network import Network
from lcifr.models.rule import Rule
from lcifr.phi.similarity import Similarity
from tests.certification.sweep.tiny import ENCODING, SCHEMA, TinyUniverse, everybody


def assert_is_the_truth(universe: TinyUniverse, found: Sweep) -> None:
    violating = universe.violating()
    standing = found.locate(everybody())
    assert found.share(CellStatus.OPEN) == 0
    assert found.share(CellStatus.VIOLATING) == universe.share()
    assert ((standing == CellStatus.VIOLATING) == violating).all()
    assert ((standing == CellStatus.PROVED) == ~violating).all()


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
    assert early.share(CellStatus.OPEN) > 0
    assert sum(early.share(one) for one in CellStatus) == 1
    assert not (violating & (standing == CellStatus.PROVED)).any()
    assert not (~violating & (standing == CellStatus.VIOLATING)).any()
    assert_is_the_truth(universe, sweeper.run())


def decide_by_sex(text: str) -> TinyUniverse:
    """A model that decides by the sex alone: whoever has somebody similar of the other sex is violating."""
    weight = np.zeros((1, len(ENCODING.features)))
    weight[0, ENCODING.columns("sex")] = -1.0, 1.0
    return TinyUniverse(text, Network.from_arrays([(weight, np.zeros(1))]), Rule.of(1))


@pytest.mark.parametrize(
    "rank", ["|rank(age by race) - 1| <= 1", "|rank(age' by race') - 1| <= 1", "rank(age by race) >= 3"]
)
def test_a_change_is_admitted_only_where_the_ranks_are(rank: str):
    universe = decide_by_sex(f"same(all except sex) and {rank}")
    assert universe.share() == Fraction(1, 2)
    assert_is_the_truth(universe, Sweeper(universe.swept).run())


def test_where_all_classes_are_one_decision_all_is_proved():
    three = TinyUniverse.with_network(2, outputs=3)
    universe = TinyUniverse(three.text, three.function, Rule.of(3, groups=[[0, 1, 2]]))
    assert Sweeper(universe.swept).run().share(CellStatus.PROVED) == 1


def test_a_cell_between_two_neighbouring_floats_is_not_violating_by_a_pair_of_one_of_them():
    """At 1 the sex decides, one float further it does not, and no cut lies between."""
    last = float(np.nextafter(1.0, 2.0))
    schema = Schema((Numeric("n", lower=1.0, upper=last), SCHEMA["sex"]))
    encoding = Encoding(schema, np.array([1.0]), np.array([last - 1.0]))
    network = Network.from_arrays([(np.array([[1.0, -0.5, 0.5]]), np.array([-0.1]))])
    encoder = FrozenEncoder(Network.from_arrays([(np.eye(3), np.zeros(3))]), Similarity("same(n)", schema, encoding))
    found = Sweeper(Subject(encoder, Model(network, Rule.of(1)))).run()
    assert found.refuted
    assert found.share(CellStatus.VIOLATING) == 0
    assert found.share(CellStatus.OPEN) == 1


def test_what_does_not_pay_is_done_rarely_and_what_pays_again_is_done_again():
    pays = SuccessRate()
    assert pays.of(160) == 160
    pays.learn(1_000, 0)
    assert pays.of(160) == 160 * AT_LEAST
    assert pays.of(1) == 1
    pays.learn(1_000, 900)
    assert 100 < pays.of(160) <= 160
