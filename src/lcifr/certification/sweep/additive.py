"""The largest change of one term of an additive model between two similar people, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcifr.certification.demands import BoolArray, FloatArray
from lcifr.certification.subject import Subject
from lcifr.certification.sweep.alike import PersonCells
from lcifr.models.additive import (
    AdditiveTerms,
    AttributeBins,
    Bins,
    PairFunction,
    ShapeFunction,
    pair_maximum,
    range_maximum,
    shape_maximum,
)
from lcifr.models.rule import Kind
from lcifr.phi.pairs import PairSpace
from lcifr.regions.region import Cell, Region

OUTWARD = 1e-12
"""How much more x′ may differ than a row says, as a share of the size of the row's numbers."""


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


# Additive models in closed form: what a cell's pairs can be decided as, attribute by attribute, without a search.
#
# With s(x) = base + Σ f(x), "x yes and x′ no" needs min(s(x), −s(x′)) ≥ 0, which is at most λ·s(x) − (1 − λ)·s(x′) for
# every λ between 0 and 1. The maximum of that is a sum over attributes, linear in λ below and above ½, so 0, ½ and 1
# are all that need be tried: everyone in the cell is decided no, or everyone that they reach yes, or the change alone,
# in which what both share cancels, is too small.


@dataclass(frozen=True, eq=False)
class AdditiveQuestion:
    """Asks about cells of an additive model."""

    subject: Subject
    terms: AdditiveTerms

    def proved(self, pairs: Region) -> BoolArray:
        """(cells,) whether no pair of the regions is decided differently, ties included."""
        good = np.ones(pairs.people, np.bool_)
        for cell in pairs.cells:
            good &= self._excluded(cell) | ~cell.present
        return good

    def _excluded(self, pairs: Cell) -> BoolArray:
        """(cells,) of one cell of pairs: both orders of every score are impossible."""
        subject, change = self.subject, self._largest_change(pairs)
        room = np.abs(subject.score_directions) @ self.terms.room
        if subject.rule.kind is Kind.NUMBER:
            return np.asarray((change + 2 * room < subject.rule.known_tolerance).all((1, 2)))
        sides = PersonCells.of(subject.pairs, pairs)
        yes, no = (self._largest(sides.own, sign) for sign in (1.0, -1.0))
        others_yes, others_no = (self._largest(sides.other, sign) for sign in (1.0, -1.0))
        middle, width = self._band
        limit = -(width + room)  # of one score; of two of them twice that
        first = (yes - middle < -width) | (others_no + middle < -width) | (change[:, 0] < 2 * limit)
        second = (no + middle < -width) | (others_yes - middle < -width) | (change[:, 1] < 2 * limit)
        return np.asarray((first & second).all(1))

    def _largest(self, people: Cell, sign: float) -> FloatArray:
        """(cells, scores) of people in their columns: what no score is above, whatever machines round."""
        region = Region(len(people.present), len(self.subject.encoding.features), (people,))
        directions = np.broadcast_to(
            sign * self.subject.score_directions, (region.people, *self.subject.score_directions.shape)
        )
        return self.terms.largest(region, directions)

    def _largest_change(self, pairs: Cell) -> FloatArray:
        """(cells, 2, scores) the largest of s(x) − s(x′), and of s(x′) − s(x), in exact arithmetic."""
        space, scores = self.subject.pairs, self.subject.score_directions
        both = np.concatenate([scores, -scores])
        total = np.zeros((len(pairs.present), len(both)))
        for term in self.terms.model.drawable:
            if any(space.others[axis.attribute] != axis.attribute for axis in term.bins.axes):
                total += largest_change(term, both, space, pairs)
        return total.reshape(len(total), 2, -1)

    @property
    def _band(self) -> tuple[float, float]:
        """Around which a score's sides lie, and how far from it the decision is unknown."""
        rule = self.subject.rule
        if rule.kind is Kind.CLASS:
            return 0.0, rule.band[1]
        width = max(rule.middle - rule.band[0], rule.band[1] - rule.middle)
        return rule.middle, width * (1.0 + 1e-9) + 1e-14 * abs(rule.middle)  # subtracting the middle rounds too
