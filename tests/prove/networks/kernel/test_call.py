"""The compiled kernel: as exact as enumeration, equal to the search of any depth, and never beaten by a point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import torch

from lcifr.prove import Budget, Radius, Status, maximize, radius
from lcifr.prove.networks.kernel.call import covers
from lcifr.prove.question import Answer
from lcifr.regions.region import Region
from tests.effort import spread
from tests.models.exact import exactly
from tests.prove.hard_numbers import corners, networks, regions
from tests.prove.instances import Instance, corpus, largest_sampled, random_instance, random_network, wild
from tests.prove.people import people

TOLERANCE = 1e-6
SEEDS = spread(range(40), quick=4, long=16)


@cache
def instance(seed: int) -> Instance:
    """One hidden layer, no rows: boxes, choices, several cells, ties and zeros."""
    one = random_instance(seed, people=3, hidden=[3 + seed % 6], k=3)
    cells = tuple(replace(cell, rows=None) for cell in one.region.cells)
    return Instance(one.network, replace(one.region, cells=cells), one.directions)


def ask(one: Instance, method: str, **options: object) -> Answer:
    assert covers(one.network, one.region)
    return maximize(one.network, one.directions, one.region, method=method, tolerance=TOLERANCE, **options)  # type: ignore[arg-type]


def close(a: np.ndarray, b: np.ndarray) -> bool:
    there = np.isfinite(b)
    return bool((there == np.isfinite(a)).all() and (abs(a[there] - b[there]) <= TOLERANCE * (1 + abs(b[there]))).all())


@pytest.mark.parametrize("block", SEEDS)
def test_exact_like_enumeration_and_the_solver(block: int) -> None:
    for seed in range(10 * block, 10 * block + 10):
        one, truth = instance(seed), ask(instance(seed), "enumerate").upper
        for method in ("branch", "cascade"):
            found = ask(one, method)
            assert (found.upper >= truth).all(), seed
            assert close(found.upper, truth), (seed, method)
            assert (found.best <= truth).all(), seed
            assert np.isin(found.status, [Status.EXACT, Status.EMPTY]).all(), seed
        bounds = ask(one, "bounds").upper
        assert (bounds >= truth).all(), seed
        assert (bounds >= largest_sampled(one, seed, 100) - 1e-12).all(), seed
        if seed % 5 == 0:
            assert close(ask(one, "milp").upper, truth), seed


@pytest.mark.parametrize("block", SEEDS)
def test_the_search_of_any_depth_says_the_same(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(1000 + 10 * block, 1010 + 10 * block):
        one = instance(seed)
        fast, quick = ask(one, "branch"), ask(one, "bounds")
        with monkeypatch.context() as without:
            without.setattr("lcifr.prove.networks.kernel.call._goes_deep", lambda request: True)
            slow = maximize(one.network, one.directions, one.region, method="branch", tolerance=TOLERANCE)
        assert close(fast.upper, slow.upper), seed
        assert (fast.upper >= slow.best).all(), seed
        assert (slow.upper >= fast.best).all(), seed
        assert (quick.upper >= slow.best).all(), seed


def test_hand_computed_answers() -> None:
    for known in corpus():
        one = known.instance
        if covers(one.network, one.region):
            found = ask(one, "branch")
            assert found.upper[0, 0] >= known.answer, known.name
            assert close(found.upper, np.array([[known.answer]])), known.name


@pytest.mark.parametrize("shape", regions())
@pytest.mark.parametrize("kind", [kind for kind, network in networks().items() if network.depth == 1])
def test_no_exact_value_exceeds_a_bound(kind: str, shape: str) -> None:
    network, region = networks()[kind], regions()[shape]
    directions = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, -1.0], [1e-8, 1e8]])
    for method in ("bounds", "branch"):
        one = Instance(network, region, directions)
        assert list(exceeded(one, ask(one, method, budget=50))) == []


def exceeded(one: Instance, answer: Answer) -> Iterator[tuple[int, int, np.ndarray]]:
    """Person, question and point wherever the exact rational value at a corner is above what is proved."""
    for person in range(one.region.people):
        for point in corners(one.region, person):
            value = exactly(one.network, point)
            for k, direction in enumerate(one.directions.tolist()):
                true = sum((Fraction(d) * v for d, v in zip(direction, value, strict=True)), Fraction(0))
                if answer.upper[person, k] != np.inf and not true <= Fraction(float(answer.upper[person, k])):
                    yield person, k, point


@pytest.mark.parametrize("seed", range(60))
def test_wild_numbers(seed: int) -> None:
    """Huge, tiny, denormal and zero weights, twin neurons, and people whose numbers are just as bad."""
    rng = np.random.default_rng(seed)
    network = wild(rng, random_network(rng, [3, 6, 2]))
    center = rng.choice([0.0, -0.0, 1.0, -0.5, 1e6, 1e-6, 1e-310], size=(3, 3))
    width = rng.choice([0.0, 0.0, 1.0, 1e-6, 5e-324, 1e3], size=(3, 3))
    region = Region.from_arrays(center - width, center + width)
    one = Instance(network, region, np.array([[1.0, 0.0], [-1.0, 1e-8], [1e6, 1.0]]))
    for method in ("bounds", "branch"):
        assert list(exceeded(one, ask(one, method, budget=50))) == []


def same_radius(a: Radius, b: Radius) -> bool:
    return bool((abs(a.radius - b.radius) <= TOLERANCE * (1 + b.attained)).all() and (a.exact == b.exact).all())


@pytest.mark.parametrize("seed", range(8))
def test_radii_with_and_without(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    network, x, region = people(seed, 20)
    fast = radius(network, x, region)
    target = fast.radius * np.linspace(0.5, 1.5, 20)
    side = radius(network, x, region, target=target)
    monkeypatch.setattr("lcifr.prove.networks.kernel.call._goes_deep", lambda request: True)
    slow = radius(network, x, region)
    assert same_radius(fast, slow)
    assert fast.exact.all()
    below, above = slow.radius < target * (1 - 1e-6), slow.attained > target * (1 + 1e-6)
    assert (side.radius < target)[below].all()
    assert (side.attained > target)[above].all()
    points = region.sample(100, seed=seed)
    values = network(points)
    assert (values <= fast.upper[:, None]).all()
    assert (values >= fast.lower[:, None]).all()


def hard() -> Instance:
    """People whose trees have hundreds of nodes."""
    rng = np.random.default_rng(5)
    network, center = random_network(rng, [14, 24, 2]), rng.normal(size=(4, 14))
    center[:, 10:] = [1.0, 0.0, 0.0, 0.0]
    lower, upper = center - 0.6, center + 0.6
    lower[:, 10:], upper[:, 10:] = 0.0, 1.0
    region = Region.from_arrays(lower, upper, [(range(10, 14), np.ones((4, 4), bool))])
    return Instance(network, region, np.array([[1.0, 0.0], [0.5, -1.0]]))


def test_a_tree_that_outgrows_its_room_starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    one = hard()
    before = ask(one, "branch")
    assert before.nodes.max() > 50
    monkeypatch.setattr("lcifr.prove.networks.kernel.call.NODES", 1)
    after = ask(one, "branch")
    assert close(after.upper, before.upper)
    assert (after.status == Status.EXACT).all()
    assert not np.isnan(after.witness).any()


def test_threads_change_nothing() -> None:
    one, threads = hard(), torch.get_num_threads()
    before = ask(one, "branch")
    try:
        torch.set_num_threads(3)
        after = ask(one, "branch")
    finally:
        torch.set_num_threads(threads)
    assert (after.upper == before.upper).all()
    assert (after.nodes == before.nodes).all()


def test_budgets_end_the_work_and_the_bound_still_holds() -> None:
    one = hard()
    best = ask(one, "branch")
    for budget in (Budget(nodes=5), Budget(seconds=0.0)):
        found = ask(one, "branch", budget=budget)
        assert (found.upper >= best.best).all()
        assert (found.status == Status.BUDGET).any()
    assert (ask(one, "branch", budget=5).nodes <= 5).all()


def test_a_target_spares_work() -> None:
    one = hard()
    whole = ask(one, "branch")
    for target in (whole.upper + 0.5, whole.best - 0.5):
        found = ask(one, "branch", target=target)
        assert (found.status == Status.TARGET_REACHED).all()
        assert found.nodes.sum() < whole.nodes.sum() / 4


def test_one_kernel_serves_every_call() -> None:
    """Other kinds of arrays would be compiled anew, for half a minute each."""
    from lcifr.prove.networks.kernel.call import one_layer_kernel

    one, (network, x, region) = hard(), people(1)
    ask(one, "branch", target=0.0, budget=3)
    ask(one, "bounds", target=np.zeros((4, 2)))
    every = np.broadcast_to(one.directions, (4, *one.directions.shape)).copy()
    maximize(one.network, np.asfortranarray(every), one.region, tolerance=1, budget=3)
    radius(network, np.asfortranarray(x), region, target=np.float32(0.1))
    radius(network, x[::2], region.take(slice(None, None, 2)), target=0.1)
    assert len(one_layer_kernel().signatures) == 1  # type: ignore[attr-defined]


def test_it_answers_only_what_it_covers() -> None:
    network, _, region = people(0)
    cell = region.cells[0]
    rows = [(np.full((1, 3), size), np.ones((12, 1))) for size in (1.0, 1e200)]
    row, giant = (Region.from_arrays(cell.lower, cell.upper, rows=part) for part in rows)
    deep = random_network(np.random.default_rng(0), [8, 4, 4, 2])
    assert covers(network, region)
    assert covers(deep, region)
    assert not covers(random_network(np.random.default_rng(0), [8, 2]), region)
    assert covers(random_network(np.random.default_rng(0), [3, 4, 2]), row)
    assert not covers(random_network(np.random.default_rng(0), [3, 4, 2]), giant)
