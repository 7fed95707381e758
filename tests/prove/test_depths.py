"""The ladder by depth: verdicts, bounds and radii of every engine equal the oracle's on worlds of depth 1 to 4."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lcifr.prove import maximize, radius
from lcifr.prove.question import Answer, Status
from tests.prove.confirming import refusals, refusals_of_radius
from tests.prove.instances import Instance
from tests.prove.laws import broken_by_answer, broken_by_radius, broken_by_verdict
from tests.prove.worlds import WIDTHS, World, tiny_worlds

TOLERANCE = 1e-6
NODES = 400
DEPTHS = (1, 2, 3, 4)
QUICK = settings(deadline=None, derandomize=True, max_examples=12, suppress_health_check=list(HealthCheck))
LONG = settings(deadline=None, max_examples=400, print_blob=True, suppress_health_check=list(HealthCheck))


def ask(one: Instance, method: str, **options: Any) -> Answer:
    options = {"tolerance": TOLERANCE, "budget": NODES, **options}
    return maximize(one.network, one.directions, one.region, method=method, **options)


def everybody(one: Instance) -> np.ndarray:
    return np.broadcast_to(one.directions, (one.region.people, *one.directions.shape))


def climb(world: World) -> None:
    """Every engine beside enumeration."""
    one = world.build()
    truth = ask(one, "enumerate").upper
    for method in ("bounds", "branch", "cascade"):
        assert broken_by_answer(one, ask(one, method), truth, TOLERANCE) == [], (method, world)
    proved = ask(one, "branch", proof=True)
    assert broken_by_answer(one, proved, truth, TOLERANCE) == [], ("with proofs", world)
    refused = refusals(one.network, everybody(one), one.region, proved)
    assert all(np.isposinf(proved.upper[r.person, r.direction]) for r in refused), (refused, world)


def judge(world: World, share: float) -> None:
    """Targets near the truth, on either side."""
    one = world.build()
    truth = ask(one, "enumerate").upper
    size = np.where(np.isfinite(truth), 1 + np.abs(truth), 1.0)
    for side in (-1.0, 1.0):
        target = np.where(np.isfinite(truth), truth, 0.0) + side * share * size
        for proof in (False, True):
            found = ask(one, "branch", target=target, proof=proof)
            broken = broken_by_verdict(found, truth, target, decided=world.trait != "sizes")
            assert broken == [], (proof, side, world)


def reach(world: World) -> None:
    """Directions that share one answer: the radius around a point of the region, or of none."""
    one = world.build()
    x = one.region.sample(1, seed=world.seed)[:, 0]
    x = np.where(np.isnan(x), 0.0, x)
    truth = radius(one.network, x, one.region, method="enumerate", tolerance=TOLERANCE)
    for proof in (False, True):
        found = radius(one.network, x, one.region, tolerance=TOLERANCE, budget=NODES, proof=proof)
        assert broken_by_radius(found, truth, TOLERANCE) == [], (proof, world)
    assert refusals_of_radius(one.network, one.region, found) == [], world
    level = truth.radius * 1.01 + 1e-3
    found = radius(one.network, x, one.region, target=level, budget=NODES)
    assert ((found.radius < level) | ~found.exact).all(), world


@pytest.mark.parametrize("depth", DEPTHS)
@QUICK
@given(data=st.data())
def test_every_engine_equals_enumeration(depth: int, data: st.DataObject) -> None:
    climb(data.draw(tiny_worlds(depth)))


@pytest.mark.parametrize("depth", DEPTHS)
@QUICK
@given(data=st.data())
def test_verdicts_equal_the_oracles(depth: int, data: st.DataObject) -> None:
    judge(data.draw(tiny_worlds(depth)), data.draw(st.sampled_from([1e-3, 0.3])))


@pytest.mark.parametrize("depth", DEPTHS)
@QUICK
@given(data=st.data())
def test_radii_equal_the_oracles(depth: int, data: st.DataObject) -> None:
    reach(data.draw(tiny_worlds(depth)))


@pytest.mark.long
@pytest.mark.parametrize("depth", DEPTHS)
@LONG
@given(data=st.data())
def test_every_engine_equals_enumeration_in_many_worlds(depth: int, data: st.DataObject) -> None:
    world = data.draw(tiny_worlds(depth))
    climb(world)
    judge(world, 1e-3)
    reach(world)


SIZES = {1: (10,), 2: (8, 6), 3: (5, 5, 5), 4: (4, 4, 4, 4)}


@pytest.mark.parametrize("rows", [0, 2])
@pytest.mark.parametrize("depth", DEPTHS)
def test_larger_networks_equal_the_mixed_integer_program(depth: int, rows: int) -> None:
    """What enumeration cannot do; a solver is exact to its own tolerance only, so both sides leave room for that."""
    decided = []
    for seed in range(4):
        world = World(seed, SIZES[depth], numerics=4, groups=(3, 2), rows=rows, people=2)
        one = world.build()
        mine, solver = ask(one, "branch"), ask(one, "milp")
        there = np.isfinite(solver.best)
        room = 1e-5 * (1 + np.abs(np.where(there, solver.best, 0.0)))
        assert (mine.upper >= np.where(there, solver.best - 1e-7, -np.inf)).all(), world
        assert (solver.upper >= mine.best - room).all(), world
        exact = mine.status == Status.EXACT
        assert (mine.upper <= solver.upper + room)[exact].all(), world
        decided.append(np.isin(mine.status, (Status.EXACT, Status.EMPTY)))
    assert np.mean(decided) >= 0.9, "most of them are decided within a few hundred nodes"


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("hidden", [(6,), (5, 4), (4, 3, 3), (3, 3, 3, 3, 3)], ids=len)
def test_every_proof_is_confirmed(hidden: tuple[int, ...], rows: int) -> None:
    for seed in range(6):
        world = World(seed, hidden, numerics=3, groups=(3,), rows=rows, cells=1 + seed % 2, people=2)
        one = world.build()
        found = ask(one, "branch", proof=True, budget=100)
        assert np.isfinite(found.best).any() or (found.status == Status.EMPTY).all(), world
        assert refusals(one.network, everybody(one), one.region, found) == [], world


def test_layers_of_tiny_values_are_searched_like_others() -> None:
    """Values of 1e-12 in a hidden layer once were 0 to the programs of the search."""
    world = World(208, (1, 1, 3), "scaled", numerics=1, groups=(3,), rows=2)
    assert (ask(world.build(), "branch").status == Status.EXACT).all()
    climb(world)
    judge(world, 1e-3)
    reach(world)


def test_laws_notice_what_is_wrong() -> None:
    one = World(3, (4, 3), numerics=3).build()
    truth, found = ask(one, "enumerate").upper, ask(one, "branch")
    assert broken_by_answer(one, found, truth, TOLERANCE) == []
    lies = {
        "no bound is below the maximum": replace(found, upper=truth - 1e-5),
        "no value is above the maximum": replace(found, best=truth + 1e-5),
        "what is called exact is": replace(found, upper=truth + 1e-3),
        "a witness is a point of the region": replace(found, witness=found.witness + 10.0),
        "nobody is called empty who is not": replace(found, status=np.full_like(found.status, Status.EMPTY)),
    }
    for law, lie in lies.items():
        assert law in broken_by_answer(one, lie, truth, TOLERANCE)


def test_most_tiny_worlds_are_decided() -> None:
    """A ladder on which everybody is undecided would climb nowhere."""
    status = []
    for depth in DEPTHS:
        for seed in range(6):
            world = World(seed, (WIDTHS[depth],) * depth, ("plain", "ties", "dead", "twins")[seed % 4], groups=(2,))
            status.append(ask(world.build(), "branch").status)
    assert np.mean(np.isin(status, (Status.EXACT, Status.EMPTY))) >= 0.95
