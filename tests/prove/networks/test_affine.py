"""Networks without hidden layers: as enumeration says, with rows, categories and whole numbers; proofs confirmed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lcifr.errors import UntrustedResultError
from lcifr.prove import maximize, radius
from lcifr.prove.networks import closed_form
from lcifr.prove.question import Status
from lcifr.regions.region import Region
from tests.prove.confirming import refusals, refusals_of_radius
from tests.prove.instances import Instance, random_network
from tests.prove.laws import broken_by_answer, broken_by_radius
from tests.prove.people import people
from tests.prove.whole_worlds import FORMULAS, every_whole_point, whole_people, whole_region
from tests.prove.worlds import World

TOLERANCE = 1e-6
WORLDS = [
    World(
        seed, (), trait, numerics=seed % 4, groups=(3, 2)[: 1 + seed % 2], rows=seed % 3, cells=1 + seed % 2, people=2
    )
    for seed in range(12)
    for trait in ("plain", "ties", "zeros")
]


@pytest.mark.parametrize("world", WORLDS, ids=str)
@pytest.mark.parametrize("proof", [False, True])
def test_exact_like_enumeration(world: World, proof: bool) -> None:
    one = world.build()
    truth = maximize(one.network, one.directions, one.region, method="enumerate").upper
    found = maximize(one.network, one.directions, one.region, method="branch", tolerance=TOLERANCE, proof=proof)
    assert broken_by_answer(one, found, truth, TOLERANCE) == []
    assert np.isin(found.status, (Status.EXACT, Status.EMPTY)).all()
    everybody = np.broadcast_to(one.directions, (one.region.people, *one.directions.shape))
    assert refusals(one.network, everybody, one.region, found) == []


@pytest.mark.parametrize("world", WORLDS[::3], ids=str)
def test_radii(world: World) -> None:
    one = world.build()
    x = np.nan_to_num(one.region.sample(1, seed=world.seed)[:, 0])
    truth = radius(one.network, x, one.region, method="enumerate")
    found = radius(one.network, x, one.region, proof=True)
    assert broken_by_radius(found, truth, TOLERANCE) == []
    assert refusals_of_radius(one.network, one.region, found) == []


@pytest.mark.parametrize("formula", FORMULAS)
def test_whole_numbers(formula: str) -> None:
    frame, encoding = whole_people(1)
    region = whole_region(formula, frame, encoding)
    network = random_network(np.random.default_rng(1), [region.features, 2])
    truth = maximize(network, np.eye(2), every_whole_point(region, frame, encoding), method="enumerate").upper
    found = maximize(network, np.eye(2), region, method="branch", tolerance=TOLERANCE)
    assert broken_by_answer(Instance(network, region, np.eye(2)), found, truth, TOLERANCE) == []


def test_one_giant_costs_nobody_else_any_precision() -> None:
    network, row = random_network(np.random.default_rng(2), [2, 1]), np.array([[1.0, 0.5]])
    lower, upper = np.array([[-1.0, -1.0], [-1e90, -1.0]]), np.array([[1.0, 1.0], [1e90, 1.0]])
    both = Region.from_arrays(lower, upper, rows=(row, np.full((2, 1), 0.25)))
    found = maximize(network, [[1.0], [-1.0]], both, method="branch")
    truth = maximize(network, [[1.0], [-1.0]], both, method="enumerate").upper
    assert (found.upper >= truth).all()
    assert (found.status[0] == Status.EXACT).all()


@pytest.mark.parametrize("hidden", [(), (3,), (3, 2)], ids=len)
def test_rows_with_giants_are_bounded_and_left_open(hidden: tuple[int, ...]) -> None:
    network = random_network(np.random.default_rng(3), [2, *hidden, 1])
    region = Region.from_arrays([[-1.0, -1.0]], [[1.0, 1.0]], rows=(np.array([[1e200, 5e199]]), [[1e199]]))
    truth = maximize(network, [[1.0], [-1.0]], region, method="enumerate").upper
    found = maximize(network, [[1.0], [-1.0]], region, method="branch", proof=True)
    assert (found.upper >= truth).all()
    assert refusals(network, np.array([[[1.0], [-1.0]]]), region, found) == []
    assert not ((found.status == Status.EXACT) & (found.upper > truth + 1e-3)).any()


@pytest.mark.parametrize("world", WORLDS[::3], ids=str)
def test_a_target_changes_no_bound_and_whoever_passes_it_has_a_point(world: World) -> None:
    one = world.build()
    truth = maximize(one.network, one.directions, one.region, method="branch", tolerance=TOLERANCE)
    middle = np.where(np.isfinite(truth.upper), truth.upper, 0.0).mean(0)
    target = np.broadcast_to(middle, truth.upper.shape)
    found = maximize(one.network, one.directions, one.region, method="branch", tolerance=TOLERANCE, target=target)
    beyond = truth.best > target + TOLERANCE
    assert (found.upper >= truth.best).all()
    assert ((found.upper < target) == (truth.upper < target))[~np.isclose(truth.upper, target)].all()
    assert (found.best[beyond] > target[beyond]).all()


def test_lying_bounds_that_certify_everybody_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    network, region = random_network(np.random.default_rng(3), [8, 1]), people(7, count=3)[2]
    true = closed_form.bound_affine
    monkeypatch.setattr(closed_form, "bound_affine", lambda *a, **b: replace(f := true(*a, **b), upper=f.upper - 0.1))
    with pytest.raises(UntrustedResultError, match="no result of this run can be trusted"):
        maximize(network, np.ones((1, 1)), region, method="branch", target=np.full((3, 1), 1e6))
