"""The compiled search through several hidden layers, against enumeration."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

from lcifr.prove import radius
from lcifr.prove.gate import ask, build_question
from lcifr.prove.maximize import find_method
from lcifr.prove.networks.kernel import call
from lcifr.prove.proof import NumericSplit
from lcifr.prove.question import Status
from lcifr.regions.region import Region
from tests.effort import spread
from tests.prove.confirming import refusals
from tests.prove.instances import Instance, largest_sampled, random_instance, random_network

TOLERANCE = 1e-6
SHAPES = [[3, 3], [4, 3], [2, 2, 2], [3, 2, 3], [5, 4], [2, 2, 2, 2]]
SEEDS = spread(range(40), quick=5, long=20)


def instance(seed: int) -> Instance:
    """With categories, rows and several cells, as the seed says."""
    return random_instance(seed, people=2, hidden=SHAPES[seed % len(SHAPES)])


@pytest.mark.parametrize("block", SEEDS)
def test_it_finds_the_maximum_alone(block: int) -> None:
    """Every answer is that of enumeration, with a point that reaches it."""
    for seed in range(6 * block, 6 * block + 6):
        one = instance(seed)
        question = build_question(one.network, one.directions, one.region, tolerance=TOLERANCE, resources=2000)
        truth = ask(find_method("enumerate"), question).upper
        found = ask(find_method("branch"), question)
        assert (found.upper >= truth).all(), seed
        there = np.isfinite(truth)
        assert (found.upper[there] - truth[there] <= TOLERANCE * (1 + np.abs(truth[there]))).all(), seed
        assert (found.status[there] == Status.EXACT).all(), seed


@pytest.mark.parametrize("seed", range(12))
def test_a_target_ends_the_search_on_the_right_side(seed: int) -> None:
    one = instance(seed)
    question = build_question(one.network, one.directions, one.region, tolerance=TOLERANCE)
    truth = ask(find_method("enumerate"), question).upper
    for shift in (-0.1, -1e-4, 1e-4, 0.1):
        target = np.where(np.isfinite(truth), truth, 0.0) + shift
        asked = build_question(one.network, one.directions, one.region, tolerance=TOLERANCE, target=target)
        found = ask(find_method("branch"), asked)
        there = np.isfinite(truth)
        assert ((found.upper < target) == (truth < target))[there].all()
        assert ((found.best > target) == (truth > target))[there].all()


@pytest.mark.parametrize("seed", range(0, 24, 2))
def test_the_radius_is_the_largest_direction(seed: int) -> None:
    """Directions that share one answer give the same as each by itself."""
    one = instance(seed)
    x = one.region.sample(1, seed=seed)[:, 0]
    rows = np.flatnonzero(one.region.nonempty & np.isfinite(x).all(1))
    if len(rows) == 0:
        pytest.skip("nobody has a point")
    region, x = one.region.take(rows), x[rows]
    found = radius(one.network, x, region, tolerance=TOLERANCE)
    signs = np.concatenate([np.eye(one.network.outputs), -np.eye(one.network.outputs)])
    truth = ask(find_method("enumerate"), build_question(one.network, signs, region)).upper
    apart = np.maximum((truth - one.network(x) @ signs.T).max(1), 0.0)
    assert found.exact.all()
    assert (found.radius >= apart).all()
    assert (found.radius - apart <= TOLERANCE * (1 + apart)).all()


@pytest.mark.parametrize("block", SEEDS)
def test_the_search_writes_its_own_proofs(block: int) -> None:
    """It finds the same with proofs and without, the exact checker confirms every bound, and nobody searches again."""
    for seed in range(6 * block, 6 * block + 6):
        one = random_instance(seed, people=2, hidden=[[4], *SHAPES][seed % (len(SHAPES) + 1)])
        question = build_question(
            one.network, one.directions, one.region, proof=True, tolerance=TOLERANCE, resources=2000
        )
        found = ask(find_method("branch"), question)
        plain = ask(find_method("branch"), replace(question, proof=False))
        assert not refusals(one.network, question.directions, one.region, found), seed
        there = np.isfinite(plain.upper)
        apart = np.abs(found.upper[there] - plain.upper[there])
        assert (apart <= TOLERANCE * (1 + np.abs(plain.upper[there]))).all(), seed


def deep_instance(seed: int) -> Instance:
    """Two numbers and four hidden layers: far more phases than a box of two sides has halves."""
    rng = np.random.default_rng(seed)
    network = random_network(rng, [2, 12, 12, 12, 12, 1])
    x = rng.normal(size=(1, 2))
    return Instance(network, Region.from_arrays(x - 0.7, x + 0.7), np.array([[1.0], [-1.0]]))


@pytest.mark.parametrize("seed", range(3))
def test_numbers_are_halved_where_that_gains_more(seed: int) -> None:
    """Proofs with both kinds of split are confirmed, and bound and point meet."""
    one = deep_instance(seed)
    question = build_question(one.network, one.directions, one.region, tolerance=1e-4, resources=2000, proof=True)
    found = ask(find_method("branch"), question)
    splits = {type(node) for part in found.proof[0] for cell in part for claim in cell.claims for node in claim.nodes}
    assert NumericSplit in splits
    assert not refusals(one.network, question.directions, one.region, found)
    assert (found.status == Status.EXACT).all()
    assert (found.upper[0] >= largest_sampled(one, seed)[0]).all()


def test_a_record_without_room_starts_again() -> None:
    """A record of a few nodes gives the same proofs, people kept in their order."""
    one = random_instance(6, people=7, hidden=[6, 5], k=3)
    question = build_question(one.network, one.directions, one.region, tolerance=TOLERANCE, proof=True)
    whole = ask(find_method("branch"), question)
    with patch.object(call, "RECORDED", 8), patch.object(call, "NODES", 4):
        small = ask(find_method("branch"), question)
    assert whole.nodes.max() > 8
    assert np.allclose(whole.upper, small.upper, rtol=TOLERANCE, atol=TOLERANCE)
    assert not refusals(one.network, question.directions, one.region, small)
