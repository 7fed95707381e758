"""Networks and regions with numbers that floating point finds hard, and the points where extremes like to be."""

from __future__ import annotations

from itertools import product

import numpy as np

from lcifr.models.network import Network
from lcifr.regions.region import Region

DENORMAL = 5e-324


def networks() -> dict[str, Network]:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(4, 3)), rng.normal(size=(2, 4))
    zero = np.zeros(4)
    twin = np.vstack([first[:2], first[:2]])
    deep = [(first, zero), (rng.normal(size=(3, 4)), np.zeros(3)), (rng.normal(size=(2, 3)), np.zeros(2))]
    return {
        "large": Network.from_arrays([(first * 1e6, zero), (second * 1e6, np.zeros(2))]),
        "small": Network.from_arrays([(first * 1e-6, zero), (second * 1e-6, np.zeros(2))]),
        "mixed": Network.from_arrays([(first * 1e6, zero + 1e-6), (second * 1e-6, np.full(2, 1e6))]),
        "twins": Network.from_arrays([(twin, zero), (np.array([[1.0, 1, -1, -1], [1e8, 0, -1e8, 1]]), np.zeros(2))]),
        "at zero": Network.from_arrays([(np.round(first), zero), (np.round(second), np.zeros(2))]),
        "negative zero": Network.from_arrays([(first * -0.0, -zero), (second, -np.zeros(2))]),
        "denormal": Network.from_arrays([(first * 1e-310, zero + DENORMAL), (second, np.zeros(2))]),
        "cancelling": Network.from_arrays([(first, zero + 1e15), (second * [[1, -1, 1, -1]], np.full(2, -1e15))]),
        "deep": Network.from_arrays(deep),
        "linear": Network.from_arrays([(first[:2] * 1e6, np.zeros(2))]),
    }


def regions() -> dict[str, Region]:
    center = np.array([[0.0, 0.0, 0.0], [1.0, -1.0, 0.5], [1e6, -1e-6, 1e-300]])
    wide = np.array([[1.0, 1.0, 1.0]])
    return {
        "a point": Region.from_arrays(center, center),
        "a box": Region.from_arrays(center - wide, center + wide),
        "a line": Region.from_arrays(center, center + np.array([[1.0, 0.0, 0.0]])),
        "an ulp": Region.from_arrays(center, np.nextafter(center, np.inf)),
        "choices": Region.from_arrays(np.zeros((3, 3)), np.ones((3, 3)), choices=[(range(3), np.ones((3, 3), bool))]),
    }


def corners(region: Region, person: int) -> list[np.ndarray]:
    """Points of the region where extremes like to be: every corner of the box, every category, and the middle."""
    cell = region.cells[0]
    if cell.choices:
        return list(np.eye(3)[cell.choices[0].allowed[person]])
    low, high = cell.lower[person], cell.upper[person]
    middle = np.clip((low + high) / 2, low, high)
    return [np.array(corner) for corner in product(*zip(low, high, strict=True))] + [middle]
