"""Networks drawn by seed, and their outputs in rational numbers, computed apart from the source."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

import numpy as np

from lcifr.models.network import Network


def random_network(seed: int, sizes: list[int], scale: float = 1.0) -> Network:
    rng = np.random.default_rng(seed)
    return Network.from_arrays([(rng.normal(size=(b, a)) * scale, rng.normal(size=b)) for a, b in pairwise(sizes)])


def exactly(network: Network, point: Iterable[float | Fraction]) -> list[Fraction]:
    value = [Fraction(x) for x in point]
    for index, layer in enumerate(network.layers):
        rows = zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
        value = [sum((Fraction(w) * v for w, v in zip(row, value, strict=True)), Fraction(b)) for row, b in rows]
        if index < network.depth:
            value = [max(v, Fraction(0)) for v in value]
    return value
