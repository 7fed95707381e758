"""Bounds of affine chains as linear functions: never below the recursions that they replace, and not far above."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lcifr.data import Categorical, Numeric, Schema
from lcifr.data.encoding import FeatureColumns
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.function import REFUSED
from lcifr.models.network import DeployedNetworks, Network, Stage, merging_error
from tests.models.cells import CATEGORIES, NUMBERS, factors, groups_of, region
from tests.models.rational_bound import bound

COLUMNS = FeatureColumns(
    Schema(
        (
            *(Numeric(f"n{i}") for i in range(NUMBERS)),
            *(Categorical(f"c{i}", tuple(f"v{j}" for j in range(count))) for i, count in enumerate(CATEGORIES)),
        )
    )
)
FEATURES = NUMBERS + sum(CATEGORIES)


def deployment(chain: tuple[Network, ...], flushed: float = 1e-250) -> DeployedNetworks:
    stages = tuple(Stage(factor, Arithmetic.FLOAT64) for factor in chain)
    return DeployedNetworks(stages, NUMBERS + len(CATEGORIES), flushed, COLUMNS)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e-20])
@pytest.mark.parametrize("widths", [[[FEATURES, 4]], [[FEATURES, 6], [6, 1]], [[FEATURES, 5], [5, 5], [5, 3], [3, 2]]])
def test_they_are_never_below_the_recursion_and_not_far_above(widths: list[list[int]], scale: float) -> None:
    rng = np.random.default_rng(4)
    for seed in range(5):
        chain = factors(rng, widths, scale)
        linear = deployment(chain)
        general = replace(linear, columns=None)
        people = region(np.random.default_rng(seed), 4, size=10.0 ** rng.integers(-3, 4))
        points = people.sample(1, seed=seed)[:, 0]
        rows = [([factor.rows()[0]], "float64") for factor in chain]
        over, at = linear.error_over(people), linear.error_at(points)
        for person in range(people.people):
            for output, true in enumerate(bound(rows, groups_of(people, person), Fraction(1e-250))):
                assert true <= Fraction(float(over[person, output]))
        assert (at >= general.error_at(points) * (1 - 1e-9)).all()
        assert scale != 1.0 or (over <= 30 * general.error_over(people)).all()
        assert (linear.room_over(people) >= merging_error(chain, people) * (1 - 1e-9)).all() or len(chain) == 1


def test_numbers_beyond_the_limit_and_unknown_flushing_take_the_recursion() -> None:
    chain = factors(np.random.default_rng(0), [[FEATURES, 3], [3, 1]])
    people = region(np.random.default_rng(1), 3, size=1e60, width=1e50)
    linear = deployment(chain)
    assert np.array_equal(linear.error_over(people), replace(linear, columns=None).error_over(people))
    assert (deployment(chain, np.inf).error_over(region(np.random.default_rng(1), 3)) == REFUSED).all()
    weight = chain[0].layers[0].weight
    unread = Network.from_arrays([(np.zeros_like(weight), np.zeros(len(weight)))])  # infinity times 0 is no number
    found = deployment((unread, *chain[1:]), np.inf)
    assert (found.error_over(region(np.random.default_rng(1), 3)) == REFUSED).all()
    assert (found.error_at(np.zeros((2, weight.shape[1]))) == REFUSED).all()
