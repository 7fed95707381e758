"""Searches over whole numbers: the largest value of everybody who can exist, and proofs that say so."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest

from lcifr.prove.gate import ask, build_question
from lcifr.prove.maximize import find_method
from lcifr.prove.question import Status
from lcifr.regions.region import Region, WholeColumn
from tests.prove.confirming import refusals
from tests.prove.instances import Instance, random_network

TOLERANCE = 1e-6
SHAPES = [[4], [6], [4, 3], [3, 3, 3]]


def encode(mean: float, sd: float, falling: bool, k: np.ndarray) -> np.ndarray:
    """One column's encoding, monotone."""
    value = (k - mean) / sd
    return -value if falling else value


def world(seed: int, rows: bool = False) -> Instance:
    """Two whole-number columns, one of them falling where the seed is odd, and a category."""
    rng = np.random.default_rng(seed)
    columns, lower, upper = [], [], []
    for column in range(2):
        code = partial(encode, float(rng.normal()), float(rng.uniform(0.5, 3.0)), bool(column and seed % 2))
        low, high = int(rng.integers(-4, 1)), int(rng.integers(1, 5))
        columns.append(WholeColumn(f"n{column}", column, low - 1, high + 1, code))
        ends = np.sort(code(np.array([low, high], dtype=float)))
        lower.append(ends[0])
        upper.append(ends[1])
    box = np.array([[*lower, 0.0, 0.0]]), np.array([[*upper, 1.0, 1.0]])
    cut = (rng.normal(size=(1, 4)) * [1, 1, 0, 0], rng.uniform(0.0, 1.0, size=(1, 1))) if rows else None
    region = replace(Region.from_arrays(*box, [([2, 3], [[True, True]])], cut), whole=tuple(columns))
    network = random_network(rng, [4, *SHAPES[seed % len(SHAPES)], 2])
    return Instance(network, region, np.round(rng.normal(size=(2, 2)) * 2) / 2)


def everybody(one: Instance) -> np.ndarray:
    """All whole points of the region."""
    values = [part.values for part in one.region.whole]
    points = np.array([[a, b, c, 1.0 - c] for a, b, c in product(*values, (0.0, 1.0))])
    return points[one.region.contains(points[None])[0]]


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_the_maximum_over_everybody_who_can_exist(seed: int, rows: bool) -> None:
    """Bound and point meet at the largest value of all whole points, and the checker confirms the bound.

    Proofs are about encodings that rise: the format of bundles has no others.
    """
    one = world(seed, rows)
    people = everybody(one)
    question = build_question(one.network, one.directions, one.region, tolerance=TOLERANCE, proof=True)
    found = ask(find_method("branch"), question)
    if not any(part.falling for part in one.region.whole):
        assert not refusals(one.network, question.directions, one.region, found)
    if len(people) == 0:
        return
    truth = (one.network(people) @ one.directions.T).max(0)
    assert (found.upper[0] >= truth - 1e-9).all()
    assert (found.upper[0] <= truth + TOLERANCE * (1 + np.abs(truth))).all()
    assert (found.status == Status.EXACT).all()
    for part in one.region.whole:
        assert np.isin(found.witness[0, :, part.column], part.values).all()


def test_the_reals_between_are_not_spoken_of() -> None:
    """Somewhere the bound over whole numbers is below what a fraction reaches; without ``whole`` it never is."""
    smaller = 0
    for seed in range(40):
        one = world(seed)
        reals = replace(one.region, whole=())
        about = partial(build_question, one.network, one.directions, tolerance=TOLERANCE)
        whole, real = (ask(find_method("branch"), about(region)) for region in (one.region, reals))
        assert (whole.upper <= real.upper + TOLERANCE * (1 + np.abs(real.upper))).all()
        smaller += int((whole.upper < real.best - 1e-3).any())
        points = reals.sample(200, seed=seed)[0]
        assert (real.upper[0] >= (one.network(points) @ one.directions.T).max(0)).all()
    assert smaller >= 10
