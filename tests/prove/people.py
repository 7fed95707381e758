"""A population for radii: numbers that move a little, one free and one settled category, some people without a cell."""

from __future__ import annotations

import numpy as np

from lcifr.models.network import Network
from lcifr.regions.region import Region
from tests.prove.instances import random_network


def people(seed: int, count: int = 12) -> tuple[Network, np.ndarray, Region]:
    """Three numerics that move a little, one free and one settled category, some people without any cell."""
    rng = np.random.default_rng(seed)
    network = random_network(rng, [8, 9, 3])
    x = np.zeros((count, 8))
    x[:, :3] = rng.normal(size=(count, 3))
    chosen = rng.integers(3, size=count)
    x[np.arange(count), 3 + chosen] = 1
    x[:, 6] = 1
    lower, upper = x.copy(), x.copy()
    lower[:, :3] -= 0.4
    upper[:, :3] += 0.4
    lower[:, 3:], upper[:, 3:] = 0, 1
    settled = np.zeros((count, 2), bool)
    settled[:, 0] = True
    region = Region.from_arrays(
        lower, upper, choices=[(range(3, 6), np.ones((count, 3), bool)), (range(6, 8), settled)]
    )
    return network, x, region
