"""The settings that several parts share: data, formula, networks; and people drawn by seed."""

from __future__ import annotations

import numpy as np
from benchmarks.engine.recipe import Case, Setting

SEED = 0

TWO_LAYERS = tuple(
    Setting(name, f"{name}/cat_noise", (20, 20), 20, fairness, epochs, 200, head=(20, 20))
    for name, epochs in (("compas", 20), ("adult", 3))
    for fairness in (0.0, 1.0)
)
"""Encoders with two hidden layers and 20 outputs, heads with two more."""

ONE_LAYER = tuple(
    Setting(name, f"{name}/cat_noise", (20,), 20, fairness, epochs, 200)
    for name, epochs in (("compas", 20), ("adult", 3))
    for fairness in (0.0, 1.0)
)


def draw(case: Case, people: int) -> np.ndarray:
    """(people,) of the test set, in random order, the same in every run; repeated where there are too few."""
    return np.resize(np.random.default_rng(SEED).permutation(len(case.x)), people)
