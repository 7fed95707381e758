"""The mixed-integer program: the budget, several cells, and the paper's way to a radius."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.engine.paper import paper_radius

from lcifr.models.network import Network
from lcifr.prove.gate import ask, build_question
from lcifr.prove.oracles.enumerate import Enumerate
from lcifr.prove.oracles.milp import Milp
from lcifr.prove.question import Budget, Status
from lcifr.regions.region import Region
from tests.prove.instances import random_instance, random_network, random_region, wild


@pytest.mark.parametrize("seed", range(60))
def test_wild_numbers_never_give_a_bound_below_the_truth(seed: int) -> None:
    one = random_instance(seed, people=1)
    network = wild(np.random.default_rng(seed), one.network)
    asked = build_question(network, one.directions, one.region)
    truth = ask(Enumerate(), asked).upper
    assert (ask(Milp(), asked).upper >= truth - 1e-6 * (1 + np.abs(np.nan_to_num(truth, neginf=0.0)))).all()


def test_a_spent_budget_leaves_a_bound_and_says_so() -> None:
    rng = np.random.default_rng(3)
    network = random_network(rng, [4, 12, 8, 1])
    region = Region.from_arrays(-np.ones((1, 4)), np.ones((1, 4)))
    answer = ask(Milp(), build_question(network, [[1.0]], region, resources=Budget(nodes=1)))
    whole = ask(Milp(), build_question(network, [[1.0]], region))
    assert answer.status[0, 0] in (Status.BUDGET, Status.EXACT)
    assert answer.upper[0, 0] >= whole.upper[0, 0] - 1e-6
    if answer.status[0, 0] == Status.BUDGET:
        assert "stopped at a limit" in answer.methods[answer.method[0, 0]]


def test_an_empty_cell_beside_a_full_one_does_not_count() -> None:
    full = Region.from_arrays([[0.0, 0.0]], [[1.0, 1.0]])
    cut = Region.from_arrays([[5.0, 5.0]], [[6.0, 6.0]], rows=([[1.0, 1.0]], [[0.0]]))
    network = Network.from_arrays([([[1.0, 1.0]], [0.0])])
    answer = ask(Milp(), build_question(network, [[1.0]], Region.union([full, cut])))
    assert answer.upper[0, 0] == pytest.approx(2.0, abs=1e-5)
    alone = ask(Milp(), build_question(network, [[1.0]], cut))
    assert alone.status[0, 0] == Status.EMPTY


@pytest.mark.parametrize("seed", range(6))
def test_the_papers_radius_is_the_largest_distance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, [5, 4, 3, 2])
    region = random_region(rng, 3, 3, [2], 0, 1, coarse=False)
    x = region.sample(1, seed=seed)[:, 0]
    found = paper_radius(network, x, region)
    both = np.concatenate([np.eye(2), -np.eye(2)])
    truth = ask(Enumerate(), build_question(network, both, region)).upper - network(x) @ both.T
    assert np.allclose(found.radius, truth.max(1), atol=1e-6)
    assert (found.seconds > 0).all()
