"""The radius: covers everything sampled and x itself, is exact where it says so, and stops where a target allows it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lcifr.errors import LcifrError, UntrustedResultError
from lcifr.models.network import Network
from lcifr.prove import Radius, radius
from lcifr.prove.networks import closed_form
from lcifr.regions.region import Region
from tests.prove.confirming import refusals_of_radius
from tests.prove.instances import random_network
from tests.prove.people import people

METHODS = ["cascade", "branch", "bounds", "interval", "milp"]


def distance(network: Network, found: Radius, points: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(network(points) - found.latent[:, None]).max((1, 2)))


@pytest.mark.parametrize("method", METHODS)
def test_no_sample_leaves_the_ball_or_the_box(method: str) -> None:
    network, x, region = people(0)
    found = radius(network, x, region, method=method)
    points = region.sample(200, seed=1)
    assert (distance(network, found, points) <= found.radius).all()
    values = network(points)
    assert (values <= found.upper[:, None]).all()
    assert (values >= found.lower[:, None]).all()
    assert (found.latent <= found.upper).all()
    assert (found.latent >= found.lower).all()
    assert (found.attained <= found.radius).all()


def test_all_exact_methods_agree() -> None:
    network, x, region = people(1)
    found = {method: radius(network, x, region, method=method) for method in ("cascade", "branch", "milp")}
    assert found["cascade"].exact.all()
    for other in found.values():
        assert np.allclose(other.radius, found["cascade"].radius, atol=4e-6)


def test_the_witness_is_a_point_of_the_region_at_the_attained_distance() -> None:
    network, x, region = people(2)
    found = radius(network, x, region)
    assert region.contains(found.witness).all()
    assert np.allclose(distance(network, found, found.witness[:, None]), found.attained, atol=1e-9)


def test_an_empty_region_and_a_region_without_x_still_cover_x() -> None:
    network, x, region = people(3, count=4)
    nobody = Region.union([region.take(slice(0, 4))])
    cell = nobody.cells[0]
    nobody = Region(
        4, 8, (type(cell)(cell.numeric, cell.lower, cell.upper, cell.choices, cell.rows, np.zeros(4, bool)),)
    )
    found = radius(network, x, nobody)
    assert found.exact.all()
    assert (found.radius < 1e-9).all()
    assert (found.radius > 0).all()
    elsewhere = radius(network, x + 5.0, region)
    assert (elsewhere.radius >= distance(network, elsewhere, region.sample(50, seed=0))).all()


@pytest.mark.parametrize("share", [0.5, 0.99, 1.01, 2.0])
def test_a_target_is_decided_as_the_exact_radius_decides_it(share: float) -> None:
    network, x, region = people(4)
    exact = radius(network, x, region).radius
    found = radius(network, x, region, target=share * exact)
    assert ((found.radius < share * exact) == (share > 1)).all()
    assert ((found.attained > share * exact) == (share < 1)).all()


def test_results_do_not_depend_on_who_else_is_asked_about() -> None:
    network, x, region = people(5)
    together = radius(network, x, region)
    for person in range(len(x)):
        alone = radius(network, x[[person]], region.take([person]))
        assert abs(alone.radius[0] - together.radius[person]) <= 4e-6


def test_proofs_of_both_sides_are_confirmed_exactly() -> None:
    network, x, region = people(6, count=4)
    found = radius(network, x, region, proof=True)
    assert found.proof is not None
    assert refusals_of_radius(network, region, found) == []


def test_lying_bounds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network without hidden layers is bounded in closed form."""
    _, x, region = people(7, count=3)
    network = random_network(np.random.default_rng(7), [8, 3])
    true = closed_form.bound_affine
    monkeypatch.setattr(closed_form, "bound_affine", lambda *a, **b: replace(f := true(*a, **b), upper=f.upper - 0.1))
    with pytest.raises(UntrustedResultError, match="no result of this run can be trusted"):
        radius(network, x, region)


def test_a_lying_kernel_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from lcifr.prove.networks.kernel import call

    network, x, region = people(7, count=3)
    true = call.answer_chunk
    monkeypatch.setattr(call, "answer_chunk", lambda *a, **b: (f := true(*a, **b))._replace(upper=f.upper - 0.1))
    with pytest.raises(UntrustedResultError, match="no result of this run can be trusted"):
        radius(network, x, region)


def test_a_box_that_a_witness_leaves_is_refused_even_where_the_radius_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    from lcifr.prove.networks.kernel import call

    network, x, region = people(7, count=3)
    true = call.answer_chunk

    def liar(*question: Any) -> Any:
        found = true(*question)
        decides = (found.upper + question[0].offset).argmax(1)
        false = found.upper - 10.0
        false[np.arange(3), decides] = found.upper[np.arange(3), decides]
        return found._replace(upper=false)

    monkeypatch.setattr(call, "answer_chunk", liar)
    with pytest.raises(UntrustedResultError, match="is reached"):
        radius(network, x, region)


def test_bounds_that_are_no_numbers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from lcifr.prove.networks.kernel import call

    network, x, region = people(7, count=3)
    true = call.answer_chunk
    monkeypatch.setattr(call, "answer_chunk", lambda *a: (f := true(*a))._replace(upper=f.upper * np.nan))
    with pytest.raises(UntrustedResultError, match="NaN"):
        radius(network, x, region)


def test_target_and_tolerance_are_checked_as_for_maximize() -> None:
    network, x, region = people(8, count=2)
    with pytest.raises(LcifrError, match="target holds NaN"):
        radius(network, x, region, target=np.nan)
    with pytest.raises(LcifrError, match="tolerance"):
        radius(network, x, region, tolerance=0.0)


def test_wrong_shapes_and_numbers_are_refused() -> None:
    network, x, region = people(8, count=2)
    with pytest.raises(LcifrError, match="shape"):
        radius(network, x[:1], region)
    with pytest.raises(LcifrError, match="NaN"):
        radius(network, x * np.nan, region)


def test_a_spent_budget_is_said_and_no_solver_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A radius says only that it is proved, not by whom: so it never rests on a solver's word."""
    network, x, region = people(9)
    whole = radius(network, x, region)

    def refuse(*_: object) -> None:
        raise AssertionError("a solver was asked")

    monkeypatch.setattr("lcifr.prove.oracles.milp.Milp.answer", refuse)
    for proof in (False, True):
        found = radius(network, x, region, budget=1, proof=proof)
        assert (found.radius >= whole.attained).all()
        assert (found.exact <= (found.radius - found.attained <= 2e-6 * (1 + found.attained))).all()
        assert not found.exact.all()
