"""Rounding terms from a person's own intervals: never less than rounding, and no more than needed for raw columns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lcifr.models.chain import merge
from lcifr.models.network import Network
from lcifr.models.pairing import crossings, side_by_side
from lcifr.prove import maximize
from lcifr.prove.answer import Answer
from lcifr.regions.region import Region
from tests.prove.confirming import refusals


def stable_network(rng: np.random.Generator, hidden: int) -> Network:
    """Every neuron is on or off on the unit cube by its bias alone, which later layers take away again."""
    layers, width, before = [], 4, np.zeros(3)
    for _ in range(hidden):
        weight = rng.normal(size=(width, len(before))) * 10.0 ** rng.integers(-3, 4, size=(width, 1))
        room = 10.0 ** rng.integers(1, 16, size=width) * np.where(rng.random(width) < 0.7, 1.0, -1.0)
        size = np.abs(weight) @ (np.abs(before) + 10.0)
        bias = -weight @ before + np.copysign(np.maximum(np.abs(room), 2.0 * size), room)
        layers.append((weight, bias))
        before = np.maximum(weight @ before + bias, 0.0)
    last = rng.normal(size=(1, width))
    return Network.from_arrays([*layers, (last, -last @ before)])


def largest_exactly(network: Network, low: np.ndarray, high: np.ndarray) -> Fraction:
    """The maximum over a box on which every neuron is stable: that of one linear function, without rounding."""
    middle = [Fraction(float(x)) for x in (low + high) / 2]
    slopes = [[Fraction(int(i == j)) for j in range(len(low))] for i in range(len(low))]
    values, constants = middle, [Fraction(0)] * len(low)
    for number, layer in enumerate(network.layers):
        weight = [[Fraction(float(w)) for w in row] for row in layer.weight]
        bias = [Fraction(float(b)) for b in layer.bias]
        add = [
            sum((w * c for w, c in zip(row, constants, strict=True)), b) for row, b in zip(weight, bias, strict=True)
        ]
        lines = [
            [sum((w * s[i] for w, s in zip(row, slopes, strict=True)), Fraction(0)) for i in range(len(low))]
            for row in weight
        ]
        values = [
            c + sum((a * x for a, x in zip(line, middle, strict=True)), Fraction(0))
            for c, line in zip(add, lines, strict=True)
        ]
        on = [value > 0 or number == len(network.layers) - 1 for value in values]
        constants = [c if keep else Fraction(0) for c, keep in zip(add, on, strict=True)]
        slopes = [line if keep else [Fraction(0)] * len(low) for line, keep in zip(lines, on, strict=True)]
    ends = zip(slopes[0], low.tolist(), high.tolist(), strict=True)
    return constants[0] + sum((a * Fraction(end if a > 0 else start) for a, start, end in ends), Fraction(0))


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
    product = merge(side_by_side(network, own, np.array([0, 1, 2, 3, 4, 6]), 7), crossings(np.ones((1, 1))))
    return maximize(product, np.eye(2), Region.from_arrays(low, high), method="branch", tolerance=1e-7)


def test_deep_networks_on_raw_columns_are_answered_exactly() -> None:
    for seed in range(8):
        answer = ask_about_a_pair(seed)
        assert (answer.upper - answer.best <= 1e-6 * (1.0 + np.abs(answer.best))).all(), seed
