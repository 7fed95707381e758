"""Every shape a region can have: only categories, none free, dozens with 46 values, one person, nobody, many cells."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.models.network import Network
from lcifr.prove import maximize
from lcifr.prove.question import Answer, Status
from lcifr.regions.region import Region
from tests.prove.confirming import refusals
from tests.prove.instances import Instance, largest_sampled, random_network

METHODS = ["interval", "bounds", "branch", "cascade"]


def broken_laws(one: Instance, answer: Answer, seed: int = 0) -> list[str]:
    """Which of the laws that hold for every answer, whatever the shape, this one breaks."""
    there = np.isfinite(answer.best)
    points = np.where(there[..., None], answer.witness, 0.0)
    laws = {
        "a bound is above every sampled value": answer.upper >= largest_sampled(one, seed),
        "a bound is above what was attained": answer.upper >= answer.best,
        "a witness is similar": one.region.contains(points, tolerance=1e-9) | ~there,
        "no question fails": answer.status != Status.FAILED,
    }
    return [law for law, kept in laws.items() if not kept.all()]


def categories(rng: np.random.Generator, people: int, groups: int, values: int) -> Region:
    choices = []
    for group in range(groups):
        allowed = rng.random((people, values)) < 0.5
        allowed[np.arange(people), rng.integers(values, size=people)] = True
        choices.append((np.arange(group * values, (group + 1) * values), allowed))
    width = groups * values
    return Region.from_arrays(np.zeros((people, width)), np.ones((people, width)), choices)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("hidden", [[], [6], [4, 3], [3, 2, 2, 2]])
def test_only_categories(method: str, hidden: list[int]) -> None:
    rng = np.random.default_rng(len(hidden))
    one = Instance(random_network(rng, [9, *hidden, 2]), categories(rng, 4, 3, 3), np.eye(2))
    assert broken_laws(one, maximize(one.network, one.directions, one.region, method=method)) == []


@pytest.mark.parametrize("method", METHODS)
def test_dozens_of_categories_with_46_values(method: str) -> None:
    rng = np.random.default_rng(1)
    region = categories(rng, 3, 24, 46)
    network = random_network(rng, [24 * 46, 2])
    one = Instance(network, region, np.eye(2))
    exact = np.zeros((3, 2)) + network.layers[0].bias
    for choice in region.cells[0].choices:
        part = network.layers[0].weight[:, choice.columns]
        exact += np.where(choice.allowed[:, None], part, -np.inf).max(-1)
    found = maximize(network, one.directions, region, method=method)
    assert broken_laws(one, found) == []
    np.testing.assert_allclose(found.upper, exact, rtol=1e-9)
    deep = Instance(random_network(rng, [24 * 46, 8, 2]), region, np.eye(2))
    assert broken_laws(deep, maximize(deep.network, deep.directions, region, method=method, budget=3)) == []


@pytest.mark.parametrize("method", METHODS)
def test_no_free_category_and_nothing_that_moves(method: str) -> None:
    rng = np.random.default_rng(2)
    point = np.hstack([rng.normal(size=(3, 2)), np.eye(3)])
    region = Region.from_arrays(point, point, [(np.arange(2, 5), np.eye(3, dtype=bool))])
    one = Instance(random_network(rng, [5, 4, 3, 2]), region, np.vstack([np.eye(2), -np.eye(2)]))
    found = maximize(one.network, one.directions, region, method=method)
    assert broken_laws(one, found) == []
    np.testing.assert_allclose(found.upper, one.network(point) @ one.directions.T, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_one_person_is_like_the_same_person_among_many(method: str) -> None:
    rng = np.random.default_rng(3)
    center = rng.normal(size=(6, 3))
    region = Region.from_arrays(center - 0.3, center + 0.3)
    one = Instance(random_network(rng, [3, 5, 2]), region, np.eye(2))
    together = maximize(one.network, one.directions, region, method=method)
    alone = maximize(one.network, one.directions, region.take(slice(2, 3)), method=method)
    assert alone.upper.shape == (1, 2)
    np.testing.assert_allclose(alone.upper[0], together.upper[2], rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("hidden", [[], [5], [3, 2]])
def test_empty_regions_for_some_and_several_cells(method: str, hidden: list[int]) -> None:
    rng = np.random.default_rng(4)
    center = rng.normal(size=(5, 3))
    left = Region.from_arrays(center - 0.5, center + 0.5, rows=(np.ones((1, 3)), np.full((5, 1), 9.0)))
    lower = center + np.array([[1.0], [-1.0], [1.0], [-1.0], [-1.0]])  # above the upper end: nobody
    right = Region.from_arrays(np.minimum(lower, 8.0), np.where(lower > center, lower - 0.5, lower + 0.5))
    nobody = Region.from_arrays(center + 1.0, center)
    region = Region.union([left, right, nobody])
    one = Instance(random_network(rng, [3, *hidden, 2]), region, np.eye(2))
    found = maximize(one.network, one.directions, region, method=method, budget=60, proof=True)
    assert broken_laws(one, found) == []
    directions = np.broadcast_to(one.directions, (5, 2, 2))
    assert not refusals(one.network, directions, region, found)
    for part in (left, right):  # whoever has more cells reaches at least as far
        assert (found.upper >= largest_sampled(Instance(one.network, part, one.directions), 1)).all()
    empty = maximize(one.network, one.directions, nobody, method=method)
    assert np.isneginf(empty.upper).all()
    assert (empty.status == Status.EMPTY).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_single_output_and_an_idle_network(method: str) -> None:
    region = Region.from_arrays([[-1.0, 0.0]], [[1.0, 2.0]])
    idle = Network.from_arrays([(np.zeros((3, 2)), [-1.0, 0.0, 2.0]), (np.ones((1, 3)), [0.5])])
    found = maximize(idle, [[1.0], [-1.0]], region, method=method)
    np.testing.assert_allclose(found.upper, [[2.5, -2.5]], rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("hidden", [[], [4], [3, 2], [2, 2, 2, 2]])
def test_nobody_and_nothing_asked(method: str, hidden: list[int]) -> None:
    network = random_network(np.random.default_rng(5), [3, *hidden, 2])
    region = Region.from_arrays(-np.ones((2, 3)), np.ones((2, 3)))
    for proof in (False, True):
        nobody = maximize(network, np.eye(2), region.take(slice(0, 0)), method=method, proof=proof)
        assert nobody.upper.shape == (0, 2)
        nothing = maximize(network, np.zeros((0, 2)), region, method=method, proof=proof)
        assert nothing.upper.shape == (2, 0)
