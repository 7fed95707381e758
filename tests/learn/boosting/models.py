"""Additive models with arbitrary shape functions, and people with regions for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lcifr.models.additive import (
    AdditiveModel,
    AttributeBins,
    PairBins,
    PairFunction,
    ShapeFunction,
    choose_bins,
    coarser,
)
from lcifr.regions.region import Region
from tests.learn.boosting.reference import encoded


def random_model(
    formula: str, *, outputs: int = 1, seed: int = 0, pairs: int = 0
) -> tuple[AdditiveModel, np.ndarray, Region]:
    """A model with arbitrary shape functions, and people with regions for it."""
    encoding, _, people = encoded(25, formula, seed=seed)
    draw = np.random.default_rng(seed)
    bins = choose_bins(encoding, people.x, people.region, 12)
    shapes = tuple(ShapeFunction(one, draw.normal(size=(one.count, outputs))) for one in bins)
    base = draw.normal(size=outputs)
    both = tuple(
        PairFunction(grid, draw.normal(size=(grid.first.count, grid.second.count, outputs)))
        for grid in pair_bins(bins, people.x)[:pairs]
    )
    return AdditiveModel(base, shapes, people.x.shape[1], both), people.x, people.region


def pair_bins(bins: Sequence[AttributeBins], x: np.ndarray) -> list[PairBins]:
    """Grids of two numbers, of a number and a category, and of two categories, in this order."""
    coarse = [coarser(one, x, 5) for one in bins]
    return [PairBins(coarse[a], coarse[b]) for a, b in ((0, 1), (3, 0), (2, 3))]
