"""Choice of the pairs of attributes that a model reads together: those whose first step promises most."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from lcifr.learn.trees.bins.places import TermPlaces
from lcifr.learn.trees.steps.term_search import Derivatives
from lcifr.learn.trees.terms import GrowingModel
from lcifr.models.additive import AttributeBins, PairBins, coarser
from lcifr.regions.region import FloatArray

GRID = 16
"""Bins of a number in a pair at most: shape functions of single attributes are finer."""
CONSIDERED = 16
"""Attributes whose pairs are considered: those whose own shape functions move scores most."""


def choose_pairs(grown: GrowingModel, most: int, x: FloatArray) -> list[PairBins]:
    """New pairs, so that there are at most ``most``: those whose best step lowers the loss most as the model now is.

    Steps are those of boosting, so under a promise they are taken at the worst similar person here, too: a pair that
    tells people apart only where similar people differ promises nothing.

    Parameters
    ----------
    x : (people, features) whose shares the bins of a grid hold.
    """
    axes = {term: _axis(grown, term, x) for term in _considered(grown)}
    known = {frozenset(bins.attributes) for bins in grown.bins if isinstance(bins, PairBins)}
    pairs = [
        (first, second)
        for first, second in combinations(axes.values(), 2)
        if {first[0].attribute, second[0].attribute} not in known
    ]
    by = [grown.derivatives(output) for output in range(grown.target.outputs)]
    gains = list(grown.pool.map(lambda pair: _gain(grown, by, *pair), pairs))
    ranked = sorted(range(len(pairs)), key=lambda number: -gains[number])
    return [
        PairBins(*(bins for bins, _ in pairs[number]))
        for number in ranked[: max(0, most - len(known))]
        if gains[number] > 0.0
    ]


def drop_pairs(grown: GrowingModel) -> None:
    """Leave out the pairs without which validation people are no worse off, the least useful first."""
    pairs = {term for term, bins in enumerate(grown.bins) if isinstance(bins, PairBins) and grown.values[term].any()}
    while pairs:
        without = {term: grown.checked.after(term, np.zeros_like(grown.values[term])).point.loss for term in pairs}
        idle = min(without, key=lambda term: (without[term], term))
        if without[idle] > grown.checked.loss:
            return
        values = np.zeros_like(grown.values[idle])
        grown.keep(grown.loss.after(idle, values), values)
        pairs.remove(idle)


def _considered(grown: GrowingModel) -> list[int]:
    """The numbers of the terms whose shape functions vary most among the people, in the order of the terms."""
    spreads = []
    for term, bins in enumerate(grown.bins):
        if not isinstance(bins, AttributeBins):
            break  # pairs and trees come after all attributes
        own = grown.values[term][bins.of_points(grown.near.x)]
        spreads.append(float(np.average(own.std(0))))
    return sorted(np.argsort(-np.array(spreads), kind="stable")[:CONSIDERED].tolist())


def _axis(grown: GrowingModel, term: int, x: FloatArray) -> tuple[AttributeBins, TermPlaces]:
    bins = grown.bins[term]
    assert isinstance(bins, AttributeBins)
    coarse = coarser(bins, x, GRID)
    return coarse, grown.loss.places.along(coarse)


def _gain(
    grown: GrowingModel,
    by: Sequence[Derivatives],
    first: tuple[AttributeBins, TermPlaces],
    second: tuple[AttributeBins, TermPlaces],
) -> float:
    """By how much the best step of a pair should lower the loss, summed over the outputs."""
    bins = PairBins(first[0], second[0])
    search = grown.search_of(bins, grown.loss.places.across(first[1], second[1], bins.second.count))
    values = np.zeros((bins.count, len(grown.directions.matrix)))
    found = (search.search(values, output) for output in by)
    return sum(step.gain for step in found if step is not None)
