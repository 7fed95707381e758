"""Warm start: boosting goes on from a model that was learned before, perhaps under another promise."""

from __future__ import annotations

from collections.abc import Sequence

from lcifr.learn.trees.terms import GrowingModel
from lcifr.models.additive import AdditiveModel, AttributeBins, PairFunction, TreeFunction


def refined(bins: Sequence[AttributeBins], model: AdditiveModel) -> tuple[AttributeBins, ...]:
    """The bins, divided at the model's thresholds too, so that its shape functions can be written down in them."""
    known = {shape.bins.attribute: shape.bins for shape in model.shapes}
    return tuple(one.joined(known.get(one.attribute, one)) for one in bins)


def resume(grown: GrowingModel, model: AdditiveModel, unread: Sequence[str] = ()) -> None:
    """Let a growing model, whose terms are attributes with refined bins, be a model; other terms are added.

    What is not to be read any more, or no longer varies, is left out.
    """
    sd = grown.unit.sd
    places = {bins.axes[0].attribute: term for term, bins in enumerate(grown.bins)}
    for shape in model.shapes:
        if (term := places.get(shape.bins.attribute)) is not None:
            (new,) = grown.bins[term].axes
            grown.keep(grown.loss.after(term, values := shape.on(new) / sd), values)
    others: tuple[PairFunction | TreeFunction, ...] = (*model.pairs, *model.trees)
    for several in others:
        if not set(several.bins.attributes) & set(unread):
            term = grown.add(several.bins)
            values = several.values.reshape(several.bins.count, -1) / sd
            grown.keep(grown.loss.after(term, values), values)
