"""Warm start: boosting goes on from a model that was learned before, perhaps under another promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lcifr.learn.trees.additive import AdditiveModel
from lcifr.learn.trees.attribute_bins import AttributeBins
from lcifr.learn.trees.terms import GrowingModel


def refined(bins: Sequence[AttributeBins], model: AdditiveModel) -> tuple[AttributeBins, ...]:
    """The bins, divided at the model's thresholds too, so that its shape functions can be written down in them."""
    known = {shape.bins.attribute: shape.bins for shape in model.shapes}
    found = []
    for one in bins:
        old = known.get(one.attribute)
        if one.thresholds is not None and old is not None and old.thresholds is not None:
            one = replace(one, thresholds=np.union1d(one.thresholds, old.thresholds))
        found.append(one)
    return tuple(found)


def resume(grown: GrowingModel, model: AdditiveModel, unread: Sequence[str] = ()) -> None:
    """Let a growing model, whose terms are attributes with refined bins, be a model; pairs are added as terms.

    What is not to be read any more, or no longer varies, is left out.
    """
    sd = grown.unit.sd
    places = {bins.axes[0].attribute: term for term, bins in enumerate(grown.bins)}
    for shape in model.shapes:
        if (term := places.get(shape.bins.attribute)) is not None:
            (new,) = grown.bins[term].axes
            where = shape.bins.find(_insides(new)) if new.thresholds is not None else np.arange(new.count)
            grown.keep(grown.loss.after(term, values := shape.values[where] / sd), values)
    for pair in model.pairs:
        if not set(pair.bins.attributes) & set(unread):
            grown.add(pair.bins)
            values = pair.values.reshape(pair.bins.count, -1) / sd
            grown.keep(grown.loss.after(len(grown.bins) - 1, values), values)


def _insides(bins: AttributeBins) -> np.ndarray:
    """(bins,) a number in each bin: its upper end, which belongs to it; beyond the last threshold any."""
    assert bins.thresholds is not None
    return np.append(bins.thresholds, np.inf)
