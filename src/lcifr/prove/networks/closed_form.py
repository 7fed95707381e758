"""Closed form of an affine function on cells without linear rows: its largest value, and the vertex that has it.

Each column has one coefficient in a direction, direction · W. So the largest value is a sum over the attributes: of a
number at the better end of its interval, and of the best category that is allowed. Everything is looked up and added
for all people at once, in an order that does not depend on who else is asked about.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcifr.prove.answer import FloatArray, IntArray
from lcifr.prove.networks.request import Findings, Request
from lcifr.prove.networks.rounding import UNIT_UP, RoundingBound, largest_numbers
from lcifr.regions.region import Cell, Choice


def bound_affine(request: Request, *, climbing: bool = True) -> Findings:
    """The largest value of every direction, rounded outward, and where it is reached.

    ``climbing`` : whether to look for points at all.
    """
    found, best = (
        Findings.blank(request.offset.shape, request.answers, request.region.features),
        request.reached.copy(),
    )
    slopes = _Slopes.of(request)
    for cell in request.region.cells:
        who = np.flatnonzero(cell.present)
        here = cell if len(who) == len(cell.present) else cell.take(who)
        some = slopes.take(who)
        upper = _bound(request, some, here)
        found.upper[who] = np.maximum(found.upper[who], upper)
        if climbing:
            _reach(request, some, here, who, upper, found, best)
    return found


@dataclass(frozen=True)
class _Slopes:
    """Coefficients by the kind of a person, which is one set of K directions.

    Parameters
    ----------
    table : (features, kinds, K) of each column. level : (kinds, K) of the bias.
    rows : (kinds, K, outputs) the directions. kind : (n,) everybody's kind.
    """

    table: FloatArray
    level: FloatArray
    rows: FloatArray
    kind: IntArray

    @classmethod
    def of(cls, request: Request) -> _Slopes:
        (layer,), rows, people = request.network.layers, request.directions, request.region.people
        if rows.ndim == 2:
            rows, kind = rows[None], np.zeros(people, np.intp)
        elif rows[0].size == 1:  # a sign: two kinds of people
            values, kind = np.unique(rows.reshape(-1), return_inverse=True)
            rows = values[:, None, None]
        else:
            kind = np.arange(people)
        table = np.ascontiguousarray(np.moveaxis(rows @ layer.weight, 2, 0))
        return cls(table, rows @ layer.bias, rows, kind)

    def take(self, who: NDArray[np.intp]) -> _Slopes:
        """Of some of the people."""
        return _Slopes(self.table, self.level, self.rows, self.kind[who])

    def at(self, column: int | NDArray[np.intp]) -> FloatArray:
        """(n, K) of one column, or of each person's own."""
        return np.asarray(self.table[column, self.kind])

    def largest(self, choice: Choice) -> FloatArray:
        """(n, K) of the best category that is allowed."""
        if choice.only is not None:
            return self.at(choice.columns[choice.only])
        found = np.full((len(self.kind), self.table.shape[2]), -np.inf)
        for allowed, column in zip(choice.allowed.T, choice.columns.tolist(), strict=True):
            np.maximum(found, self.at(column), out=found, where=allowed[:, None])
        return found

    def sizes(self) -> FloatArray:
        """(n, K, outputs) of the directions, or (1, K, outputs) where they are alike."""
        sizes = np.abs(self.rows)
        return sizes[:1] if (sizes == sizes[:1]).all() else sizes[self.kind]


def _bound(request: Request, slopes: _Slopes, cell: Cell) -> FloatArray:
    """(n, K) at least direction · (W x′ + b) everywhere in the cell."""
    (layer,) = request.network.layers
    rounding = RoundingBound.of([(layer.weight, layer.bias)], cell.numeric, [choice.columns for choice in cell.choices])
    with np.errstate(invalid="ignore", over="ignore"):
        upper = slopes.level[slopes.kind]
        for place, column in enumerate(cell.numeric.tolist()):
            lower, higher, slope = cell.lower[:, place], cell.upper[:, place], slopes.at(column)
            center = (lower + higher) * 0.5
            radius = np.maximum(higher - center, center - lower)
            radius = np.where(radius > 0, radius * UNIT_UP + 1e-300, radius)
            upper += center[:, None] * slope
            upper += radius[:, None] * np.abs(slope)
        for choice in cell.choices:
            upper += slopes.largest(choice)
        upper += rounding.rounding_error(0, slopes.sizes(), largest_numbers(cell))
    upper[np.isnan(upper)] = np.inf
    return upper


def _reach(
    request: Request,
    slopes: _Slopes,
    cell: Cell,
    who: NDArray[np.intp],
    upper: FloatArray,
    found: Findings,
    best: FloatArray,
) -> None:
    """Keep the vertex of each answer's most promising direction where it is better than what is known."""
    offset, every = request.offset[who], np.arange(len(who))
    promising = (upper + offset).argmax(1)
    asked = [promising] if request.together else [np.full(len(who), k) for k in range(upper.shape[1])]
    for answer, which in enumerate(asked):
        points = _vertices(slopes, cell, which, request.region.features)
        directions = slopes.rows[slopes.kind, which]
        value = (request.network(points) * directions).sum(1) + offset[every, which]
        better = np.flatnonzero(value > best[who, answer])
        found.witness[who[better], answer] = points[better]
        best[who[better], answer] = value[better]


def _vertices(slopes: _Slopes, cell: Cell, which: NDArray[np.intp], features: int) -> FloatArray:
    """(n, features) where direction ``which`` (n,) is largest."""
    every, points = np.arange(len(which)), np.zeros((len(which), features))
    for place, column in enumerate(cell.numeric.tolist()):
        rising = slopes.table[column, slopes.kind, which] > 0
        points[:, column] = np.where(rising, cell.upper[:, place], cell.lower[:, place])
    for choice in cell.choices:
        value = choice.only
        if value is None:
            parts = slopes.table[choice.columns][:, slopes.kind, which]
            value = np.where(choice.allowed.T, parts, -np.inf).argmax(0)
        points[every, choice.columns[value]] = 1.0
    return points
