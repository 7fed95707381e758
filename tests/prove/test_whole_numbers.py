"""Whole numbers in the search: what is proved of people who can exist equals looking at every whole number."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.prove import maximize, radius
from lcifr.prove.question import Status
from lcifr.regions.region import Region
from tests.prove.instances import Instance, random_network
from tests.prove.laws import broken_by_answer, broken_by_radius, broken_by_verdict
from tests.prove.pockets import flat_but_for_a_pocket
from tests.prove.whole_worlds import FORMULAS, every_whole_point, whole_people, whole_region

TOLERANCE = 1e-6
HIDDEN = [(4,), (3, 3), (3, 2, 2)]


def splits_whole_numbers(region: Region) -> bool:
    """Whether the engine may split between k and k + 1."""
    return getattr(region, "universe", "reals") == "whole"


def scene(seed: int, formula: str, hidden: tuple[int, ...]) -> tuple[Instance, Region, np.ndarray]:
    """The question, the same people one whole point at a time, and the people encoded."""
    rng = np.random.default_rng(seed)
    frame, encoding = whole_people(seed)
    region = whole_region(formula, frame, encoding)
    network = random_network(rng, [region.features, *hidden, 2])
    return Instance(network, region, np.eye(2)), every_whole_point(region, frame, encoding), encoding.encode(frame)


@pytest.mark.parametrize("hidden", HIDDEN, ids=len)
@pytest.mark.parametrize("formula", FORMULAS)
def test_bounds_and_verdicts_equal_looking_at_everybody(formula: str, hidden: tuple[int, ...]) -> None:
    for seed in range(3):
        one, points, _ = scene(seed, formula, hidden)
        truth = maximize(one.network, one.directions, points, method="enumerate").upper
        found = maximize(one.network, one.directions, one.region, method="branch", tolerance=TOLERANCE)
        assert (found.upper >= truth).all(), seed
        if not splits_whole_numbers(one.region):
            continue
        assert broken_by_answer(one, found, truth, TOLERANCE) == [], seed
        assert np.isin(found.status, (Status.EXACT, Status.EMPTY)).all(), seed
        for side in (-1.0, 1.0):
            target = np.where(np.isfinite(truth), truth, 0.0) + side * 1e-3
            asked = maximize(one.network, one.directions, one.region, target=target, method="branch")
            assert broken_by_verdict(asked, truth, target, decided=True) == [], (seed, side)


@pytest.mark.parametrize("hidden", HIDDEN[:2], ids=len)
@pytest.mark.parametrize("formula", FORMULAS)
def test_radii_cover_everybody_who_can_exist(formula: str, hidden: tuple[int, ...]) -> None:
    for seed in range(3):
        one, points, x = scene(seed, formula, hidden)
        truth = radius(one.network, x, points, method="enumerate")
        found = radius(one.network, x, one.region, tolerance=TOLERANCE)
        assert (found.radius >= truth.attained).all(), seed
        if splits_whole_numbers(one.region):
            assert broken_by_radius(found, truth, TOLERANCE) == [], seed


def test_a_pocket_between_two_whole_numbers_is_certified_and_one_on_a_number_is_not() -> None:
    """Over the reals both are there. Over whole numbers the first cannot be met by anybody who exists."""
    frame, encoding = whole_people(0, count=1)
    region = whole_region(FORMULAS[0], frame, encoding)
    own, step, along = encoding.encode(frame)[0], 1.0 / encoding.sds[0], np.eye(region.features)[0]
    for away, exists in ((0.5, False), (1.0, True)):
        network = flat_but_for_a_pocket(along, own + away * step * along, 0.2 * step)
        found = maximize(network, [[-1.0]], region, target=0.0, method="branch")
        certified = bool(found.upper[0, 0] < 0)
        assert not (certified and exists)
        if splits_whole_numbers(region):
            assert certified != exists


def test_this_engine_splits_whole_numbers() -> None:
    """So that it can be seen in a run of the tests whether the laws above were asked for in full."""
    frame, encoding = whole_people(0)
    if not splits_whole_numbers(whole_region(FORMULAS[0], frame, encoding)):
        pytest.skip("regions do not say yet which columns are whole: only soundness was asked for")
    assert splits_whole_numbers(whole_region(FORMULAS[1], frame, encoding))
