"""Branch-and-bound over integer attributes, for counterexamples in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcifr.certification.counterexample import Counterexamples, Trial, offer
from lcifr.certification.query import OWN_WORD, BoolArray, FloatArray, Query
from lcifr.data import Encoding
from lcifr.models.network import Network
from lcifr.prove import maximize
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import whole_columns

ROUNDS = 12
MOST_PARTS = 32
"""Parts of one person's region that are looked at in a round."""
NODES = 500
"""Of branch-and-bound for each part: the search gives hope, not certificates."""
NEARLY = 1e-6
"""A witness is as good as whole if it is this near: decoding rounds it."""


@dataclass(frozen=True)
class _IntegerBoxes:
    """Boxes of raw whole numbers between ``low`` and ``high``, each within the region of the person in ``rows``."""

    rows: np.ndarray
    low: FloatArray
    high: FloatArray

    def take(self, index: Any) -> _IntegerBoxes:
        return _IntegerBoxes(self.rows[index], self.low[index], self.high[index])


def search(
    trial: Trial, network: Network, query: Query, region: Region, rows: np.ndarray, found: Counterexamples
) -> tuple[Counterexamples, BoolArray]:
    """Branch on whole numbers until somebody who can exist is decided otherwise, nobody is left, or it takes too long.

    Returns what was found, and (people,) of whom every part was settled without anybody.
    """
    encoding = trial.encoder.encoding
    unbounded = np.full((len(rows), len(encoding.schema.numeric)), np.inf)
    parts, alive = _IntegerBoxes(rows, -unbounded, unbounded), np.zeros(region.people, np.bool_)
    for _ in range(ROUNDS if whole_columns(encoding).any() else 0):
        if len(parts.rows) == 0:
            break
        here = _within(region.take(parts.rows), parts, encoding)
        directions, limit = query.directions[parts.rows], query.limit[parts.rows]
        answer = maximize(
            network, directions, here, target=limit, tolerance=query.precision, method=OWN_WORD, budget=NODES
        )
        offer(trial, here, parts.rows, answer.witness, found)
        open_ = ~(answer.upper < limit).all(1) & here.nonempty & ~found.found[parts.rows]
        worst = (answer.upper - limit).argmax(1)
        point = answer.witness[np.arange(len(worst)), worst]
        parts, stuck = _split(parts.take(open_), point[open_], here.take(open_), encoding)
        alive[stuck] = True
    alive[parts.rows] = True
    settled = np.zeros(region.people, np.bool_)
    settled[rows] = ~alive[rows] & ~found.found[rows]
    return found, settled


def _within(region: Region, parts: _IntegerBoxes, encoding: Encoding) -> Region:
    low, high = encoding.scale_bounds(parts.low, parts.high)
    cells = (cell.between(np.maximum(cell.lower, low), np.minimum(cell.upper, high)) for cell in region.cells)
    return replace(region, cells=tuple(cells))


def _split(
    parts: _IntegerBoxes, point: FloatArray, region: Region, encoding: Encoding
) -> tuple[_IntegerBoxes, np.ndarray]:
    """Both sides of the whole-number attribute in which the witness is least whole; parts with none are stuck."""
    if len(parts.rows) == 0:
        return parts, parts.rows
    whole = whole_columns(encoding)
    box = np.stack([np.where(cell.present[:, None], cell.upper - cell.lower, 0.0) for cell in region.cells]).max(0)
    wide = whole & (box * np.abs(encoding.numbers.factors) > 0.5)
    value = encoding.unscale(point[:, encoding.numeric_columns])
    middle = encoding.unscale(np.stack([(cell.lower + cell.upper) / 2 for cell in region.cells]).mean(0))
    value = np.where(np.isnan(value), middle, value)
    away = np.where(wide, np.abs(value - np.rint(value)), -1.0)
    away = np.where(away >= 0, np.maximum(away, NEARLY * box), away)  # all are whole: then the widest
    at, each = away.argmax(1), np.arange(len(value))
    can = away[each, at] > 0
    crowded = np.bincount(parts.rows)[parts.rows] * 2 > MOST_PARTS
    go = can & ~crowded
    border = np.floor(value[each, at])
    first, second = parts.high.copy(), parts.low.copy()
    first[each, at], second[each, at] = border, border + 1
    rows = np.concatenate([parts.rows[go], parts.rows[go]])
    both = _IntegerBoxes(rows, np.concatenate([parts.low[go], second[go]]), np.concatenate([first[go], parts.high[go]]))
    return both, parts.rows[~go]
