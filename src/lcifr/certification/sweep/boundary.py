"""Pairs near the boundary between two decisions, found by halving the way from one to the other.

Two similar people who are decided differently both stand close to where the decision changes. So the way between two
people of a cell who are decided differently is halved again and again, and a pair that stands half-way is tried. Bounds
are not asked for: what this finds, a search would find after thousands of nodes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.query import BoolArray, FloatArray
from lcifr.certification.sweep.pairs_found import Pairs, draw_pairs, offer_pairs
from lcifr.certification.sweep.swept_model import SweptModel
from lcifr.models.rule import Kind
from lcifr.regions.region import Region
from lcifr.regions.universe import UniverseCells

DRAWN = 64
"""Pairs of a cell from which the ends of the ways are taken."""
WAYS = 16
HALVINGS = 12


def offer_near_boundary(
    swept: SweptModel, cells: UniverseCells, region: Region, rows: NDArray[np.intp], pairs: Pairs
) -> None:
    """Fill in ``pairs`` where a cell of ``rows`` has people on both sides and a pair between them."""
    if not len(rows) or (swept.rule.kind is Kind.NUMBER and swept.rule.outputs > 1):  # several numbers have no sides
        return
    points = draw_pairs(swept, cells, rows, DRAWN)
    decisions = _decisions(swept, points)
    differ = np.asarray((decisions != decisions[:, :1]).any(1))
    rows, points, decisions = rows[differ], points[differ], decisions[differ]
    one, other, first = _ends(points, decisions)
    found = Pairs.none(cells)
    for _ in range(HALVINGS):
        left = np.flatnonzero(~found.found[rows])
        if not len(left):
            break
        middle = 0.5 * (one[left] + other[left])
        offer_pairs(swept, cells, region, rows[left], middle, found, without_library=True)
        alike = (_decisions(swept, middle) == first[left])[:, :, None]
        one[left], other[left] = np.where(alike, middle, one[left]), np.where(alike, other[left], middle)
    rows = rows[found.found[rows]]
    if len(rows):  # the library is asked once: for a few people its answer takes as long as all of the above
        some = found.take(rows)
        good = swept.trial(some.x).is_counterexample(np.arange(len(rows)), some.other)
        pairs.put(rows[good], some.take(good))


def _decisions(swept: SweptModel, points: FloatArray) -> NDArray[np.generic]:
    """(rows, k) what x of each pair is decided."""
    people = swept.pairs.encoding.decode(points.reshape(-1, points.shape[2]))
    return np.asarray(swept.decide(swept.pairs.split(people).x)).reshape(points.shape[:2])


def _ends(points: FloatArray, decisions: NDArray[np.generic]) -> tuple[FloatArray, FloatArray, NDArray[np.generic]]:
    """(rows, ways, features) where ways begin and end, and (rows, ways) the decision where they begin."""
    begins: BoolArray = np.asarray(decisions == decisions[:, :1])
    rng = np.random.default_rng(0)
    one = np.empty((len(points), WAYS, points.shape[2]))
    other = np.empty_like(one)
    for row, side in enumerate(begins):
        one[row] = points[row, rng.choice(np.flatnonzero(side), WAYS)]
        other[row] = points[row, rng.choice(np.flatnonzero(~side), WAYS)]
    return one, other, np.repeat(decisions[:, :1], WAYS, axis=1)
