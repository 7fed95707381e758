"""Scores of pairs of attributes, in the table's own units, for models with one output."""

from __future__ import annotations

import numpy as np

from lcifr.certification.explanations.thresholds import in_table_units
from lcifr.data import Categorical, Encoding, Individuals
from lcifr.drawing.histogram import histogram
from lcifr.drawing.scores import PairAxis, PairScore
from lcifr.learn.trees.additive import AdditiveModel, PairFunction
from lcifr.learn.trees.bins.attribute_bins import AttributeBins
from lcifr.regions.region import IntArray


def pair_scores(found: AdditiveModel, encoding: Encoding, people: Individuals) -> tuple[PairScore, ...]:
    """What every pair adds, those first that move the output most; none where there are several outputs."""
    if found.outputs > 1:
        return ()
    x = encoding.encode(people)
    scores = []
    for pair in found.pairs:
        own = pair(x)[:, 0]
        scores.append(_score(pair, encoding, people, float(own.mean()), float(own.max() - own.min())))
    return tuple(sorted(scores, key=lambda score: -score.moves))


def _score(pair: PairFunction, encoding: Encoding, people: Individuals, mean: float, moves: float) -> PairScore:
    (first, rows), (second, columns) = (_axis(axis, encoding, people) for axis in pair.bins.axes)
    values = pair.values[np.ix_(rows, columns)][:, :, 0] - mean
    if first.categories and not second.categories:  # names have room beside the map, not below it
        first, second, values = second, first, values.T
    return PairScore(first, second, tuple(tuple(column) for column in values.tolist()), moves)


def _axis(bins: AttributeBins, encoding: Encoding, people: Individuals) -> tuple[PairAxis, IntArray]:
    """The axis, and the bins that it shows in their order."""
    name, attribute = bins.attribute, encoding.schema[bins.attribute]
    if isinstance(attribute, Categorical):
        known = np.flatnonzero(~encoding.is_outside(name))
        return PairAxis(name, "", (), tuple(attribute.values[place] for place in known)), known
    assert bins.thresholds is not None
    numbers = people.number(name)
    shown = histogram(numbers, {"people": np.ones(len(numbers), np.bool_)})
    assert shown is not None
    edges, pieces = in_table_units(bins.thresholds, encoding, name).between(shown.edges[0], shown.edges[-1])
    return PairAxis(name, attribute.unit or "", edges, ()), pieces
