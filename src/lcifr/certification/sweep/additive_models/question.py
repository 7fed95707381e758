"""Additive models in closed form: what a cell's pairs can be decided as, attribute by attribute, without a search.

With s(x) = base + Σ f(x), "x yes and x′ no" needs min(s(x), −s(x′)) ≥ 0, which is at most λ·s(x) − (1 − λ)·s(x′) for
every λ between 0 and 1. The maximum of that is a sum over attributes, linear in λ below and above ½, so 0, ½ and 1 are
all that need be tried: everybody in the cell is decided no, or everybody whom they reach yes, or the change alone, in
which what both share cancels, is too small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcifr.certification.query import BoolArray, FloatArray
from lcifr.certification.sweep.additive_models.changes import largest_change
from lcifr.certification.sweep.additive_models.terms import AdditiveTerms
from lcifr.certification.sweep.one_decision import PersonCells
from lcifr.certification.sweep.swept_model import SweptModel
from lcifr.models.rule import Kind
from lcifr.regions.region import Cell, Region


@dataclass(frozen=True, eq=False)
class AdditiveQuestion:
    """Asks about cells of an additive model."""

    swept: SweptModel
    terms: AdditiveTerms

    def proved(self, pairs: Region) -> BoolArray:
        """(cells,) whether no pair of the regions is decided differently, ties included."""
        good = np.ones(pairs.people, np.bool_)
        for cell in pairs.cells:
            good &= self._excluded(cell) | ~cell.present
        return good

    def _excluded(self, pairs: Cell) -> BoolArray:
        """(cells,) of one cell of pairs: both orders of every score are impossible."""
        swept, change = self.swept, self._largest_change(pairs)
        room = np.abs(swept.scores) @ self.terms.room
        if swept.rule.kind is Kind.NUMBER:
            return np.asarray((change + 2 * room < swept.rule.known_tolerance).all((1, 2)))
        sides = PersonCells.of(swept.pairs, pairs)
        yes, no = (self._largest(sides.own, sign) for sign in (1.0, -1.0))
        others_yes, others_no = (self._largest(sides.other, sign) for sign in (1.0, -1.0))
        middle, width = self._band
        limit = -(width + room)  # of one score; of two of them twice that
        first = (yes - middle < -width) | (others_no + middle < -width) | (change[:, 0] < 2 * limit)
        second = (no + middle < -width) | (others_yes - middle < -width) | (change[:, 1] < 2 * limit)
        return np.asarray((first & second).all(1))

    def _largest(self, people: Cell, sign: float) -> FloatArray:
        """(cells, scores) of people in their columns: what no score is above, whatever machines round."""
        region = Region(len(people.present), len(self.swept.encoding.features), (people,))
        directions = np.broadcast_to(sign * self.swept.scores, (region.people, *self.swept.scores.shape))
        return self.terms.largest(region, directions)

    def _largest_change(self, pairs: Cell) -> FloatArray:
        """(cells, 2, scores) the largest of s(x) − s(x′), and of s(x′) − s(x), in exact arithmetic."""
        space, scores = self.swept.pairs, self.swept.scores
        both = np.concatenate([scores, -scores])
        total = np.zeros((len(pairs.present), len(both)))
        for term in self.terms.model.drawable:
            if any(space.others[axis.attribute] != axis.attribute for axis in term.bins.axes):
                total += largest_change(term, both, space, pairs)
        return total.reshape(len(total), 2, -1)

    @property
    def _band(self) -> tuple[float, float]:
        """Around which a score's sides lie, and how far from it nobody can tell."""
        rule = self.swept.rule
        if rule.kind is Kind.CLASS:
            return 0.0, rule.band[1]
        width = max(rule.middle - rule.band[0], rule.band[1] - rule.middle)
        return rule.middle, width * (1.0 + 1e-9) + 1e-14 * abs(rule.middle)  # subtracting the middle rounds too
