"""Planted pockets: a place of a millionth of the region where the decision flips; no engine ever certifies it away."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.prove import maximize, radius
from tests.prove.pockets import Pocket, plant

WIDTHS = [1e-1, 1e-3, 1e-6]
DEPTHS = [1, 2, 3, 4]
METHODS = ["bounds", "branch", "cascade", "interval"]
AWAY = np.array([[-1.0]])


def certified(one: Pocket, method: str, proof: bool = False) -> bool:
    """Whether the output is proved to be positive everywhere: exactly what a verdict asks."""
    network = one.network
    answer = maximize(network, AWAY, one.region, target=0.0, method=method, proof=proof, budget=200)
    return bool(answer.upper[0, 0] < 0)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("depth", DEPTHS)
def test_a_pocket_is_never_certified(depth: int, width: float) -> None:
    look_for(range(2), depth, width)


@pytest.mark.long
@pytest.mark.parametrize("width", [*WIDTHS, 1e-5, 1e-8])
@pytest.mark.parametrize("depth", DEPTHS)
def test_none_of_many_pockets_is_certified(depth: int, width: float) -> None:
    look_for(range(2, 30), depth, width)


def look_for(seeds: range, depth: int, width: float) -> None:
    for seed in seeds:
        one = plant(seed, depth, width)
        assert one.network(one.middle)[0] < 0, "the pocket is there"
        for method in METHODS:
            assert not certified(one, method), (seed, method)
        assert not certified(one, "branch", proof=True), seed


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("depth", DEPTHS)
def test_its_depth_is_within_radius_and_bound(depth: int, width: float) -> None:
    one = plant(0, depth, width)
    x = np.zeros((1, one.network.inputs))
    away = abs(one.network(one.middle)[0] - one.network(x)[0, 0])
    for proof in (False, True):
        assert radius(one.network, x, one.region, budget=50, proof=proof).radius[0] >= away
    bound = maximize(one.network, AWAY, one.region, method="branch", budget=50).upper[0, 0]
    assert bound >= -one.network(one.middle)[0]


@pytest.mark.parametrize("depth", DEPTHS)
def test_without_the_pocket_the_same_network_is_certified(depth: int) -> None:
    """So that the tests above say something: it is the pocket that is not certified, not the rest."""
    found = []
    for seed in range(4):
        one = plant(seed, depth, 1e-3)
        answer = maximize(one.without, AWAY, one.region, target=0.0, method="branch", budget=2000)
        found.append(answer.upper[0, 0] < 0)
        assert answer.best[0, 0] < 0
    assert np.mean(found) >= 0.75


@pytest.mark.parametrize("depth", DEPTHS)
def test_branching_finds_a_wide_pocket(depth: int) -> None:
    found = [
        maximize((one := plant(seed, depth, 1e-1)).network, AWAY, one.region, target=0.0, method="branch").best[0, 0]
        for seed in range(3)
    ]
    assert np.mean(np.array(found) > 0) >= 2 / 3
