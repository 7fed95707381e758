"""The compiled search through several hidden layers, against enumeration."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from lcifr.prove import radius
from lcifr.prove.answer import Status
from lcifr.prove.catalogue import find_method
from lcifr.prove.method import build_question
from lcifr.prove.networks.batched import engine
from tests.prove.instances import Instance, random_instance

TOLERANCE = 1e-6
SHAPES = [[3, 3], [4, 3], [2, 2, 2], [3, 2, 3], [5, 4], [2, 2, 2, 2]]
SEEDS = [pytest.param(block, marks=[pytest.mark.long] if block >= 5 else []) for block in range(40)]


def instance(seed: int) -> Instance:
    """With categories, rows and several cells, as the seed says."""
    return random_instance(seed, people=2, hidden=SHAPES[seed % len(SHAPES)])


@pytest.mark.parametrize("block", SEEDS)
def test_it_finds_the_maximum_alone(block: int) -> None:
    """Every answer is that of enumeration, with a point that reaches it, and no other engine is asked."""
    for seed in range(6 * block, 6 * block + 6):
        one = instance(seed)
        question = build_question(one.network, one.directions, one.region, tolerance=TOLERANCE, budget=2000)
        truth = find_method("enumerate").maximize(question).upper
        with patch.object(engine, "answer_people", side_effect=AssertionError("asked")):
            found = find_method("branch").maximize(question)
        assert (found.upper >= truth).all(), seed
        there = np.isfinite(truth)
        assert (found.upper[there] - truth[there] <= TOLERANCE * (1 + np.abs(truth[there]))).all(), seed
        assert (found.status[there] == Status.EXACT).all(), seed


@pytest.mark.parametrize("seed", range(12))
def test_a_target_ends_the_search_on_the_right_side(seed: int) -> None:
    one = instance(seed)
    question = build_question(one.network, one.directions, one.region, tolerance=TOLERANCE)
    truth = find_method("enumerate").maximize(question).upper
    for shift in (-0.1, -1e-4, 1e-4, 0.1):
        target = np.where(np.isfinite(truth), truth, 0.0) + shift
        asked = build_question(one.network, one.directions, one.region, tolerance=TOLERANCE, target=target)
        found = find_method("branch").maximize(asked)
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
    truth = find_method("enumerate").maximize(build_question(one.network, signs, region)).upper
    apart = np.maximum((truth - one.network(x) @ signs.T).max(1), 0.0)
    assert found.exact.all()
    assert (found.radius >= apart).all()
    assert (found.radius - apart <= TOLERANCE * (1 + apart)).all()
