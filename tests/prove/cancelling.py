"""Networks whose large numbers cancel each other, and their maximum over a box without rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from lcifr.models.network import Network


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
