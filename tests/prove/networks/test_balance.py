"""Networks balanced by powers of two: the same function, and only where layers are tiny."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.models.network import Network
from lcifr.prove.networks.rounding import SMALL, balance
from tests.prove.instances import random_network
from tests.prove.worlds import World


def test_ordinary_networks_stay_as_they_are() -> None:
    network = random_network(np.random.default_rng(0), [4, 5, 5, 2])
    assert balance(network).network is network
    assert (balance(network).factor == 1.0).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_balanced_network_is_the_same_function(seed: int) -> None:
    network = World(seed, (2, 3, 2), "scaled").build().network
    found, begin = balance(network), 0
    point = np.random.default_rng(seed).normal(size=2).tolist()
    assert found.network.exactly(point) == network.exactly(point)
    for layer, scaled in zip(network.layers[:-1], found.network.layers, strict=False):
        factor = found.factor[begin : begin + len(layer.bias)]
        assert np.array_equal(scaled.bias, layer.bias * factor)
        begin += len(layer.bias)


def test_tiny_layers_are_made_larger() -> None:
    tiny = [(np.full((2, 2), 1e-9), np.full(2, 1e-9)), (np.full((1, 2), 1e9), np.zeros(1))]
    found = balance(Network.from_arrays(tiny))
    assert SMALL < np.abs(found.network.layers[0].weight).max() <= 1.0
    assert (np.log2(found.factor) % 1.0 == 0.0).all()


def test_what_would_underflow_stays_as_it_is() -> None:
    """The smallest numbers have no halves."""
    layers = [(np.full((1, 1), 1e-3 * SMALL), np.zeros(1)), (np.full((1, 1), 5e-324), np.zeros(1))]
    network = Network.from_arrays(layers)
    assert balance(network).network is network
