"""Networks whose numbers leave every ordinary range, and what they really compute: the oracle is exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np

from lcifr.models.network import Network
from lcifr.regions.region import Region
from tests.models.exact import exactly

Layers = list[tuple[np.ndarray, np.ndarray]]
TINIEST, HUGEST = -300, 100
"""Powers of ten of single weights."""


def any_size(rng: np.random.Generator, sizes: list[int]) -> Layers:
    """Every weight has a size of its own, and some are 0."""
    return [
        (_numbers(rng, (wide, narrow), _powers(rng, (wide, narrow))), _numbers(rng, (wide,), _powers(rng, (wide,))))
        for narrow, wide in pairwise(sizes)
    ]


def that_come_back(rng: np.random.Generator, sizes: list[int]) -> Layers:
    """Layers of one size each, two of which make the signal vanish and the others make up for it, in any order.

    Few biases, and none larger than the signal: what a rounded computation loses decides what comes out.
    """
    away = rng.choice([rng.integers(40, 210), rng.integers(158, 166)])  # the squares of the latter just underflow
    powers = [-float(away)] * 2 + [float(rng.choice([15.0, 48.0, 98.0]))] * (len(sizes) - 3)
    powers = sorted(powers, reverse=True) if rng.random() < 0.5 else list(rng.permutation(powers))
    layers, signal = [], 0.0
    for (narrow, wide), power in zip(pairwise(sizes), powers, strict=False):
        signal += power
        bias = _numbers(rng, (wide,), np.clip(signal + rng.uniform(-3, 0, size=wide), TINIEST, HUGEST))
        weight = _numbers(rng, (wide, narrow), power + rng.uniform(-1, 1, size=(wide, narrow)))
        weight = np.where(rng.random(weight.shape) < 0.5, weight, np.abs(weight))  # so that some neurons are on
        layers.append((weight, bias * (rng.random(wide) < 0.3)))
    return layers


KINDS = {"any size": any_size, "that come back": that_come_back}


def sizes_of(rng: np.random.Generator, inputs: int | None = None, outputs: int | None = None) -> list[int]:
    """Depths 1 to 4, widths 1 to 4."""
    first = int(rng.integers(1, 5)) if inputs is None else inputs
    last = int(rng.integers(1, 3)) if outputs is None else outputs
    return [first, *(int(width) for width in rng.integers(1, 5, size=rng.integers(1, 5))), last]


def boxes(rng: np.random.Generator, people: int, features: int) -> Region:
    """Small and wide boxes around ordinary, tiny and gigantic people."""
    size = 10.0 ** rng.choice([0, 0, 0, 2, -12, -150, -300, 99, 140], size=(people, 1))
    middle = rng.normal(size=(people, features)) * size
    reach = np.abs(middle) * 10.0 ** rng.choice([-15, -3, 0, 1], size=(people, 1))
    return Region.from_arrays(middle - reach, middle + reach)


def some_points(rng: np.random.Generator, region: Region, person: int) -> list[np.ndarray]:
    """All corners of the person's box, and a few points inside."""
    low, high = region.cells[0].lower[person], region.cells[0].upper[person]
    inside = [np.clip(low + share * (high - low), low, high) for share in rng.random((4, len(low)))]
    return [np.array(corner) for corner in product(*zip(low, high, strict=True))] + inside


def reached(network: Network, directions: np.ndarray, points: list[np.ndarray]) -> list[Fraction]:
    """(k,) the largest exact value of each direction at the points."""
    values = [exactly(network, point) for point in points]
    return [max(_dot(direction.tolist(), value) for value in values) for direction in directions]


def _dot(weights: list[float], values: list[Fraction]) -> Fraction:
    return sum((Fraction(w) * v for w, v in zip(weights, values, strict=True)), Fraction(0))


def _powers(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.uniform(TINIEST, HUGEST, size=shape) * (rng.random(shape) < 0.8)


def _numbers(rng: np.random.Generator, shape: tuple[int, ...], powers: np.ndarray) -> np.ndarray:
    """±10^power, and 0 now and then."""
    return rng.choice([-1.0, 1.0], size=shape) * 10.0**powers * (rng.random(shape) < 0.85)
