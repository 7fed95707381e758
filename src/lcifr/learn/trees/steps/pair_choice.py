"""Choice of the pairs of attributes that a model reads together: those whose first step promises most."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np

from lcifr.learn.trees.attribute_bins import AttributeBins
from lcifr.learn.trees.pair_bins import PairBins, coarser
from lcifr.learn.trees.places import TermPlaces
from lcifr.learn.trees.steps.term_search import Derivatives
from lcifr.learn.trees.terms import GrowingModel

GRID = 16
"""Bins of a number in a pair at most: shape functions of single attributes are finer."""
CONSIDERED = 16
"""Attributes whose pairs are considered: those whose own shape functions move scores most."""


def choose_pairs(grown: GrowingModel, most: int, pool: ThreadPoolExecutor) -> list[PairBins]:
    """At most ``most`` pairs, those first whose best step lowers the loss most as the model now is.

    Steps are those of boosting, so under a promise they are taken at the worst similar person here, too: a pair that
    tells people apart only where similar people differ promises nothing.
    """
    axes = {term: _axis(grown, term) for term in _considered(grown)}
    pairs = list(combinations(axes.values(), 2))
    gains = list(pool.map(lambda pair: _gain(grown, *pair), pairs))
    ranked = sorted(range(len(pairs)), key=lambda number: -gains[number])
    return [PairBins(*(bins for bins, _ in pairs[number])) for number in ranked[:most] if gains[number] > 0.0]


def _considered(grown: GrowingModel) -> list[int]:
    """The numbers of the terms whose shape functions vary most among the people, in the order of the terms."""
    spreads = []
    for term, bins in enumerate(grown.bins):
        own = grown.values[term][bins.of_points(grown.near.x)]
        spreads.append(float(np.average(own.std(0))))
    return sorted(np.argsort(-np.array(spreads), kind="stable")[:CONSIDERED].tolist())


def _axis(grown: GrowingModel, term: int) -> tuple[AttributeBins, TermPlaces]:
    bins = grown.bins[term]
    assert isinstance(bins, AttributeBins)
    coarse = coarser(bins, grown.near.x, GRID)
    return coarse, grown.loss.places.along(coarse)


def _gain(
    grown: GrowingModel, first: tuple[AttributeBins, TermPlaces], second: tuple[AttributeBins, TermPlaces]
) -> float:
    """By how much the best step of a pair should lower the loss, summed over the outputs."""
    bins, loss, matrix = PairBins(first[0], second[0]), grown.loss, grown.directions.matrix
    search = grown.search_of(bins, loss.places.across(first[1], second[1], bins.second.count))
    values, total = np.zeros((bins.count, len(matrix))), 0.0
    for output in range(grown.target.outputs):
        signs = np.ascontiguousarray(matrix[:, output])
        found = search.search(values, Derivatives(loss.slots, loss.now.slope, loss.now.curve, signs))
        total += 0.0 if found is None else found.gain
    return total
