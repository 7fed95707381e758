"""Networks with a planted pocket: a decision that is the same everywhere but in a tiny place, at any depth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcifr.models.network import Network
from lcifr.regions.region import Region
from tests.prove.instances import random_network

HEIGHT = 2.0
"""Outside the pocket the output lies between ½ and 1½, in its middle it is lower by this much."""


@dataclass(frozen=True)
class Pocket:
    """A network whose output is negative within ``width`` of a plane only, and the same one without the pocket."""

    network: Network
    without: Network
    middle: np.ndarray
    region: Region


def plant(seed: int, depth: int, width: float, features: int = 3) -> Pocket:
    """A tent across a random direction, passed on by one neuron a layer, beside a network that has no part in it."""
    rng = np.random.default_rng([seed, depth])
    direction = rng.normal(size=features)
    direction /= np.abs(direction).max()
    middle = rng.uniform(-0.9, 0.9, size=features)
    other = random_network(rng, [features, *[4] * depth, 1])
    region = Region.from_arrays(-np.ones((1, features)), np.ones((1, features)))
    seen = other(region.sample(2000, seed=seed)[0])
    calm = _rescale(other, float(seen.mean()), 0.25 / max(1e-9, float(np.abs(seen - seen.mean()).max())))
    hidden = tent(direction, middle, width, depth)
    return Pocket(_beside(calm, hidden, -HEIGHT), _beside(calm, hidden, 0.0), middle, region)


def flat_but_for_a_pocket(direction: np.ndarray, middle: np.ndarray, width: float) -> Network:
    """1 everywhere, 1 − HEIGHT in the middle of the pocket; one hidden layer."""
    first, last = tent(direction, middle, width, 1).layers
    return Network.from_arrays([(first.weight, first.bias), (-HEIGHT * last.weight, [1.0])])


def tent(direction: np.ndarray, middle: np.ndarray, width: float, depth: int) -> Network:
    """relu(t − w) − 2·relu(t) + relu(t + w), over w, with t = direction · (x − middle): height 1, and 0 outside.

    It is flat there, so that no gradient leads to it. Further layers pass it on.
    """
    level = -direction @ middle + np.array([-width, 0.0, width])
    last = np.array([[1.0, -2.0, 1.0]]) / width
    passed = [(np.eye(1), np.zeros(1))] * (depth - 1)
    return Network.from_arrays([(np.tile(direction, (3, 1)), level), (last, np.zeros(1)), *passed])


def _rescale(network: Network, level: float, size: float) -> Network:
    """The same with an output of 1 + size·(output − level)."""
    *hidden, last = ((layer.weight, layer.bias) for layer in network.layers)
    return Network.from_arrays([*hidden, (size * last[0], 1.0 + size * (last[1] - level))])


def _beside(one: Network, other: Network, times: float) -> Network:
    """one + times · other: both networks side by side, of the same depth."""
    layers = []
    for index, (a, b) in enumerate(zip(one.layers, other.layers, strict=True)):
        if index == 0:
            weight = np.vstack([a.weight, b.weight])
        else:
            weight = np.block(
                [
                    [a.weight, np.zeros((len(a.weight), b.weight.shape[1]))],
                    [np.zeros((len(b.weight), a.weight.shape[1])), b.weight],
                ]
            )
        layers.append((weight, np.concatenate([a.bias, b.bias])))
    weight, bias = layers.pop()
    sums = np.array([[1.0, times]])
    return Network.from_arrays([*layers, (sums @ weight, sums @ bias)])
