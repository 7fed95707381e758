"""Additive models with arbitrary shape functions, and people with regions for them."""

from __future__ import annotations

import numpy as np

from lcifr.learn.trees.additive import AdditiveModel, ShapeFunction
from lcifr.learn.trees.attribute_bins import choose_bins
from lcifr.regions.region import Region
from tests.learn.trees.reference import encoded


def random_model(formula: str, *, outputs: int = 1, seed: int = 0) -> tuple[AdditiveModel, np.ndarray, Region]:
    """A model with arbitrary shape functions, and people with regions for it."""
    encoding, _, people = encoded(25, formula, seed=seed)
    draw = np.random.default_rng(seed)
    shapes = tuple(
        ShapeFunction(bins, draw.normal(size=(bins.count, outputs)))
        for bins in choose_bins(encoding, people.x, people.region, 12)
    )
    return AdditiveModel(draw.normal(size=outputs), shapes, people.x.shape[1]), people.x, people.region
