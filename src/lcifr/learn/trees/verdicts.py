"""Verdicts in closed form: whose decision an additive model keeps over the whole region."""

from __future__ import annotations

import numpy as np

from lcifr.learn.trees.directions import Directions
from lcifr.models.additive import AdditiveModel
from lcifr.models.network import gamma
from lcifr.models.rule import Kind, Rule
from lcifr.regions.region import BoolArray, FloatArray, Region


def certified_by_bounds(
    model: AdditiveModel, rule: Rule, x: FloatArray, region: Region, tolerance: float = 0.0
) -> BoolArray:
    """(people,) who keeps the decision for everybody similar: exact for cells without linear rows, up to rounding.

    Parameters
    ----------
    x : (people, features) encoded. tolerance : for numbers, how far apart counts as another decision.
    """
    scores = model(x)
    directions = Directions(rule.kind, rule.outputs)
    largest = model.largest(region, directions.matrix)
    rounding = gamma(len(model.terms) + 2) * model.sizes
    if rule.kind is Kind.NUMBER:
        farthest = np.maximum(largest[:, 0] - scores[:, 0], largest[:, 1] + scores[:, 0])
        kept = farthest + 2 * rounding[0] < tolerance
    elif rule.kind is Kind.SIGN:
        kept = np.where(scores[:, 0] > 0, largest[:, 1], largest[:, 0]) < 0
        kept &= np.abs(scores[:, 0]) > rounding[0]
    else:
        decision = rule.decide(scores)
        slots = directions.slots(decision.astype(np.float64))
        leads = np.take_along_axis(largest, slots, axis=1)
        leads[np.arange(len(x)), decision] = -np.inf
        own = np.partition(scores, -2, axis=1)
        kept = (leads.max(1) < 0) & (own[:, -1] - own[:, -2] > 2 * rounding.max())
    return np.asarray(kept | ~region.nonempty)
