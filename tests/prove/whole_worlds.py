"""People with whole numbers, and the oracle of their regions: every whole point by itself, the rest by enumeration."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from lcifr.data import Categorical, Encoding, Numeric, Schema
from lcifr.phi.similarity import Similarity
from lcifr.regions.region import Region

SCHEMA = Schema(
    (Numeric("a", integer=True), Numeric("b", integer=True), Numeric("c"), Categorical("s", ("u", "v", "w")))
)
FORMULAS = (
    "same(s) and a within 2.5 and b within 2 and c within 0.3 sd",
    "a within 2 and b within 1.5 and c within 0.2 sd",
    "same(s) and a within 2 and b within 2 and c within 0.3 sd and a' + b' <= a + b + 1",
    "same(s) and a' >= a and a' <= a + 3 and 2*b' - a' <= 2*b - a + 1 and b within 2 and c within 0.1 sd",
)
REACH = range(-3, 4)
"""How far from a person's own numbers a formula above can lead."""


def whole_people(seed: int, count: int = 2) -> tuple[pd.DataFrame, Encoding]:
    """A few people, and an encoding whose steps from one whole number to the next differ by attribute and seed."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.integers(-5, 20, count),
            "b": rng.integers(30, 60, count),
            "c": np.round(rng.normal(size=count), 2),
            "s": rng.choice(["u", "v", "w"], count),
        }
    )
    sds = np.array([10.0 ** rng.uniform(-0.3, 0.8), 10.0 ** rng.uniform(-0.3, 0.8), 1.0])
    return frame, Encoding(SCHEMA, np.array([rng.uniform(-3, 3), rng.uniform(30, 50), 0.0]), sds)


def whole_region(formula: str, frame: pd.DataFrame, encoding: Encoding) -> Region:
    """The region of those who can exist, as audits ask about it."""
    return Similarity(formula, SCHEMA, encoding).region(frame, whole_numbers=True)


def every_whole_point(region: Region, frame: pd.DataFrame, encoding: Encoding) -> Region:
    """The same people, one cell for each combination of whole numbers: what enumeration then finds is the truth."""
    own, cells = frame[["a", "b", "c"]].to_numpy(np.float64), []
    for cell in region.cells:
        for steps in product(REACH, REACH):
            numbers = own.copy()
            numbers[:, :2] += steps
            at = encoding.scale(numbers)
            there = ((at >= cell.lower) & (at <= cell.upper))[:, :2].all(1)
            lower, upper = cell.lower.copy(), cell.upper.copy()
            lower[:, :2] = upper[:, :2] = at[:, :2]
            cells.append(replace(cell, lower=lower, upper=upper, present=cell.present & there))
    return Region(region.people, region.features, tuple(cells))
