"""Rounding terms from a person's own intervals: never less than rounding, and no more than needed for raw columns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lcifr.models.network import Network, crossings, merge
from lcifr.prove import maximize
from lcifr.prove.question import Answer
from lcifr.regions.region import Region
from tests.prove.cancelling import largest_exactly, stable_network
from tests.prove.confirming import refusals


@pytest.mark.parametrize("hidden", [2, 3, 4, 6])
def test_rounding_never_takes_a_bound_below_the_maximum(hidden: int) -> None:
    """Numbers up to 1e15 that later layers cancel: what is left is rounding for the most part."""
    for seed in range(25):
        rng = np.random.default_rng(1000 * hidden + seed)
        network = stable_network(rng, hidden)
        low = rng.uniform(-1.0, 1.0, size=(1, 3))
        high = low + rng.uniform(0.0, 1.0, size=(1, 3))
        region = Region.from_arrays(low, high)
        answer = maximize(network, np.array([[1.0], [-1.0]]), region, method="branch", proof=True)
        assert largest_exactly(network, low[0], high[0]) <= Fraction(float(answer.upper[0, 0])), seed
        flipped = Network.from_arrays(
            [*((x.weight, x.bias) for x in network.layers[:-1]), (-network.layers[-1].weight, -network.layers[-1].bias)]
        )
        assert largest_exactly(flipped, low[0], high[0]) <= Fraction(float(answer.upper[0, 1])), seed
        assert not refusals(network, np.array([[[1.0], [-1.0]]]), region, answer), seed


def ask_about_a_pair(seed: int) -> Answer:
    """Two people equal but for one column, raw columns up to 1,100, four hidden layers: both orders of a crossing."""
    rng, layers, before = np.random.default_rng(seed), [], 6
    for width in (24, 12, 8, 4, 1):
        layers.append((rng.normal(size=(width, before)) * np.sqrt(2.0 / before), 0.1 * rng.normal(size=width)))
        before = width
    low, high = np.array([[0.0, 0, 0, 0, 1000, 0, 1]]), np.array([[10.0, 50, 3, 2, 1100, 0, 1]])
    inside = rng.uniform(low[:, :6], high[:, :6], size=(200, 6))
    (weight, bias), middle = layers[-1], np.median(Network.from_arrays(layers)(inside))
    network = Network.from_arrays([*layers[:-1], (weight, bias - 1.05 * middle)])
    own = np.arange(6)
    product = merge(network.twice(own, np.array([0, 1, 2, 3, 4, 6]), 7), crossings(np.ones((1, 1))))
    return maximize(product, np.eye(2), Region.from_arrays(low, high), method="branch", tolerance=1e-7)


def test_deep_networks_on_raw_columns_are_answered_exactly() -> None:
    for seed in range(8):
        answer = ask_about_a_pair(seed)
        assert (answer.upper - answer.best <= 1e-6 * (1.0 + np.abs(answer.best))).all(), seed
