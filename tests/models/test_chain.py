"""Chains of factors: exact values, forward passes and mergers against fractions; machines that divide and reorder."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lcifr.errors import LcifrError, NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.network import (
    Chain,
    DeployedNetworks,
    Network,
    Stage,
    chain_of,
    choose_for,
    evaluate,
    merge,
    merging_error,
)
from lcifr.regions.region import Region
from tests.models.cells import factors
from tests.models.exact import exactly
from tests.models.machines import Machine

FLOATS = (Arithmetic.FLOAT64, Arithmetic.FLOAT32)


WIDTHS = [[[3, 4], [4, 2]], [[3, 3], [3, 5], [5, 2], [2, 1]], [[3, 4, 3], [3, 3], [3, 5, 2]], [[2, 6], [6, 3, 3, 1]]]


def through(chain: tuple[Network, ...], point: list[float]) -> list[Fraction]:
    values = [Fraction(v) for v in point]
    for factor in chain:
        values = exactly(factor, values)
    return values


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_values_and_mergers_are_within_their_bounds(widths: list[list[int]], scale: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(5):
        chain = factors(rng, widths, scale)
        function, merged = Chain(chain), merge(*chain)
        middle = rng.normal(size=(1, chain[0].inputs)) * 10
        region = Region.from_arrays(middle - 1.0, middle + 1.0)
        room = merging_error(chain, region)[0]
        for point in region.sample(4)[0]:
            true = through(chain, point.tolist())
            assert list(function.exactly(point)) == true
            found = evaluate(chain, point)
            for output, y in enumerate(true):
                assert abs(Fraction(float(found.values[output])) - y) <= Fraction(float(found.error[output]))
                assert abs(exactly(merged, [Fraction(v) for v in point])[output] - y) <= Fraction(float(room[output]))
        assert np.array_equal(function(middle), evaluate(chain, middle).values)


def test_a_chain_has_factors_that_fit() -> None:
    one, other = factors(np.random.default_rng(0), [[3, 2], [3, 1]])
    with pytest.raises(NetworkError, match="factor 1 takes 3 values, factor 0 gives 2"):
        Chain((one, other))
    with pytest.raises(NetworkError, match="at least two"):
        Chain((one,))
    assert chain_of([one]) is one


def test_hashes_tell_chains_apart() -> None:
    one, other = factors(np.random.default_rng(0), [[3, 3], [3, 3]])
    assert Chain((one, other)).hash != Chain((other, one)).hash
    assert Chain((one, other)).hash != merge(one, other).hash


def test_exact_arithmetic_is_refused_where_a_step_divides() -> None:
    one, other = factors(np.random.default_rng(0), [[3, 3], [3, 1]])
    divides = replace(one, divides='step "scale"')
    assert choose_for(None, (divides, other)) is Arithmetic.FLOAT64
    assert choose_for("exact", (one, other)) is Arithmetic.EXACT
    with pytest.raises(LcifrError, match='step "scale" divides'):
        choose_for("exact", (other, divides))


@pytest.mark.parametrize("arithmetic", FLOATS)
def test_a_shift_may_be_made_behind_the_next_factor(arithmetic: Arithmetic) -> None:
    """PCA computes x @ W − mean @ W, where the factors are x − mean and W; x and mean may cancel."""
    rng, kind = np.random.default_rng(9), np.dtype(str(arithmetic))
    for seed in range(60):
        weight = rng.normal(size=(2, 4)).astype(kind).astype(np.float64)
        mean = (rng.normal(size=4) * 10.0 ** rng.integers(0, 6)).astype(kind).astype(np.float64)
        shift, matrix = Network.from_arrays([(np.eye(4), -mean)]), Network.from_arrays([(weight, np.zeros(2))])
        point = (mean + rng.normal(size=4) * 10.0 ** rng.integers(-6, 2)).astype(kind).astype(np.float64)
        deployment = DeployedNetworks.on_latents(Stage(shift, arithmetic), Stage(matrix, arithmetic))
        room = deployment.error_at(point[None])[0]
        machine = Machine.drawn(arithmetic, np.random.default_rng(seed))
        values, means = [Fraction(v) for v in point.tolist()], [Fraction(v) for v in mean.tolist()]
        here, there = machine.outputs(matrix, values), machine.outputs(matrix, means)
        for output, true in enumerate(through((shift, matrix), point.tolist())):
            found = machine.round(here[output] - there[output])
            assert abs(found - true) <= Fraction(float(room[output]))


@pytest.mark.parametrize("arithmetic", FLOATS)
def test_a_product_may_be_a_division(arithmetic: Arithmetic) -> None:
    rng, kind = np.random.default_rng(10), np.dtype(str(arithmetic))
    for seed in range(100):
        by = float(kind.type(rng.lognormal(sigma=5.0) + 1e-3))
        point = float(kind.type(rng.normal() * 10.0 ** rng.integers(-8, 8)))
        scale = Network.from_arrays([([[1.0 / by]], [0.0])])
        room = DeployedNetworks.on_latents(Stage(scale, arithmetic)).error_at(np.array([[point]]))[0, 0]
        machine = Machine.drawn(arithmetic, np.random.default_rng(seed))
        found = machine.round(Fraction(point) / Fraction(by))
        (true,) = exactly(scale, [Fraction(point)])
        assert abs(found - true) <= Fraction(float(room))
