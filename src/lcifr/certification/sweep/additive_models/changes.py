"""The largest change of one term of an additive model between two similar people, in closed form."""

from __future__ import annotations

import numpy as np

from lcifr.certification.query import FloatArray
from lcifr.certification.sweep.one_decision import PersonCells
from lcifr.learn.trees.additive import PairFunction, ShapeFunction, pair_maximum, range_maximum, shape_maximum
from lcifr.learn.trees.bins.attribute_bins import AttributeBins, Bins
from lcifr.regions.region import Cell
from lcifr.similarity.pairs import PairSpace

OUTWARD = 1e-12
"""Of the size of numbers in a row: by so much more x′ may differ than the row says."""


def largest_change(
    term: ShapeFunction | PairFunction, directions: FloatArray, space: PairSpace, pairs: Cell
) -> FloatArray:
    """(cells, directions) the largest of direction · (term(x) − term(x′)) over a cell of pairs, or more.

    A number that φ relates to x's own by rows is followed bin by bin: from each bin of x, only those bins of x′ count
    that the rows leave. All else, and pairs of attributes, are taken apart.

    Parameters
    ----------
    directions : (directions, outputs).
    """
    values = term.values @ directions.T
    people = PersonCells.of(space, pairs)
    if isinstance(term, PairFunction):
        return pair_maximum(term.bins, values, people.own) + pair_maximum(term.bins, -values, people.other)
    rows = [] if term.bins.thresholds is None else _rows_of(term.bins, space, pairs)
    if not rows:
        return shape_maximum(term.bins, values, people.own) + shape_maximum(term.bins, -values, people.other)
    return _followed(term.bins, values, people, rows)


Row = tuple[float, float, FloatArray]
"""a · x + b · x′ ≤ limit (cells,), encoded."""


def _rows_of(bins: AttributeBins, space: PairSpace, pairs: Cell) -> list[Row]:
    """The rows over this attribute of x and of x′ alone."""
    if pairs.rows is None:
        return []
    own, other = (int(columns[bins.columns.start]) for columns in (space.own_columns, space.other_columns))
    alone = np.flatnonzero((np.delete(pairs.rows.G, [own, other], axis=1) == 0).all(1) & (pairs.rows.G[:, other] != 0))
    return [(float(pairs.rows.G[r, own]), float(pairs.rows.G[r, other]), pairs.rows.g[:, r]) for r in alone]


def _followed(bins: AttributeBins, values: FloatArray, people: PersonCells, rows: list[Row]) -> FloatArray:
    """(cells, directions): over the bins of x (cells, bins), the largest value less the least that x′ can have."""
    thresholds = bins.thresholds
    assert thresholds is not None
    low, high = (end[:, None] for end in bins.interval(people.own))
    start = np.maximum(low, np.concatenate([[-np.inf], thresholds]))
    end = np.minimum(high, np.concatenate([thresholds, [np.inf]]))
    least, most = (np.broadcast_to(ends[:, None], start.shape).copy() for ends in bins.interval(people.other))
    for a, b, limit in rows:
        rest = limit[:, None] - np.minimum(a * start, a * end)
        room = OUTWARD * (np.abs(limit)[:, None] + np.abs(a) * np.maximum(np.abs(start), np.abs(end)))
        if b > 0:
            most = np.minimum(most, (rest + room) / b)
        else:
            least = np.maximum(least, (rest + room) / b)
    possible = (start <= end) & (least <= most)
    first, last = (np.where(possible, bins.find(ends), 0).astype(np.int32) for ends in (least, most))
    reached = _least(values, first.reshape(-1), last.reshape(-1)).reshape(*start.shape, -1)
    gain = np.where(possible[:, :, None], values[None] - reached, -np.inf)
    return np.asarray(gain.max(1))


def _least(values: FloatArray, first: Bins, last: Bins) -> FloatArray:
    return -range_maximum(-values, first, np.maximum(first, last))
