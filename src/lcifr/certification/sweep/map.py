"""The map of a sweep: which values of which attributes are proved, violating and open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from lcifr.certification.query import FloatArray
from lcifr.data import Categorical, Numeric
from lcifr.drawing.sweeps.shares import ShareGrid, Shares, ShareStrip, SweepMap, ValueParts
from lcifr.drawing.text import short
from lcifr.regions.universe import UniverseCells

PARTS = 20
"""Of a number; one with at most this many whole values has a part for each."""
TRIED = 6
"""Attributes of which all pairs are tried for the grid: those that separate best alone."""


def map_cells(cells: UniverseCells, shares: Mapping[str, FloatArray]) -> SweepMap:
    """Shares along every attribute, and over the two that separate best.

    A cell counts in each part by how much of it lies there, as all people who can exist count alike.

    Parameters
    ----------
    shares : for each standing (cells,) the share of everybody who is in the cell and has it.
    """
    weights = _Weights(tuple(shares), np.stack(list(shares.values())))
    layouts = [_CellParts(cells, name) for name in cells.schema.names]
    strips = [weights.along(one) for one in layouts]
    order = np.argsort([-weights.separation(counted) for counted in strips], kind="stable").tolist()
    found = tuple(ShareStrip(layouts[place].bins, weights.shares(strips[place])) for place in order)
    return SweepMap(found, weights.best_grid([layouts[place] for place in order[:TRIED]]))


class _CellParts:
    """How much of each cell lies in each part of an attribute's values.

    ``parts`` : (cells, parts) shares of the cell, 1 together.
    """

    def __init__(self, cells: UniverseCells, name: str) -> None:
        attribute = cells.schema[name]
        if isinstance(attribute, Categorical):
            mask = cells.allowed[cells.schema.names_categorical.index(name)]
            there = np.atleast_1d(mask.any(0))  # values at which the model raises are in no cell
            labels = tuple(value for value, here in zip(attribute.values, there, strict=True) if here)
            self.bins = ValueParts(name, "", labels)
            self.parts: FloatArray = mask[:, there] / mask.sum(1, keepdims=True)
            return
        place = cells.schema.names_numeric.index(name)
        lower, upper = cells.lower[:, place], cells.upper[:, place]
        if cells.counted[place]:
            self._lay_whole_numbers(attribute, lower, upper)
        else:
            self._lay_reals(attribute, lower, upper)

    def _lay_whole_numbers(self, attribute: Numeric, lower: FloatArray, upper: FloatArray) -> None:
        first, last = float(lower.min()), float(upper.max())
        starts = np.unique(np.floor(np.linspace(first, last + 1, min(PARTS, int(last - first) + 1) + 1)))
        ends = starts[1:] - 1
        here = np.minimum(upper[:, None], ends) - np.maximum(lower[:, None], starts[:-1]) + 1
        labels = tuple(
            short(low) if low == high else f"{short(low)} to {short(high)}"
            for low, high in zip(starts[:-1], ends, strict=True)
        )
        self.bins = ValueParts(attribute.name, attribute.unit or "", labels, tuple(starts.tolist()))
        self.parts = np.maximum(here, 0.0) / (upper - lower + 1)[:, None]

    def _lay_reals(self, attribute: Numeric, lower: FloatArray, upper: FloatArray) -> None:
        first, last = float(lower.min()), float(upper.max())
        edges = np.unique(np.linspace(first, last, PARTS + 1)) if last > first else np.array([first, first])
        labels = tuple(f"{short(low)} to {short(high)}" for low, high in pairwise(edges.tolist()))
        self.bins = ValueParts(attribute.name, attribute.unit or "", labels, tuple(edges.tolist()))
        here = np.maximum(np.minimum(upper[:, None], edges[1:]) - np.maximum(lower[:, None], edges[:-1]), 0.0)
        length = (upper - lower)[:, None]
        inside = (edges[:-1] <= lower[:, None]) & (upper[:, None] <= edges[1:])
        single = inside & (np.cumsum(inside, axis=1) == 1)  # a point counts once, also between two parts
        self.parts = np.where(length > 0, here / np.where(length > 0, length, 1.0), single)


@dataclass(frozen=True)
class _Weights:
    """``of`` : (standings, cells) the share of each cell of everybody, in the row of its standing."""

    standings: tuple[str, ...]
    of: FloatArray

    def along(self, layout: _CellParts) -> FloatArray:
        """(parts, standings) shares of everybody."""
        return np.asarray((self.of @ layout.parts).T)

    def over(self, down: _CellParts, across: _CellParts) -> FloatArray:
        """(parts down, parts across, standings) shares of everybody."""
        return np.stack([(down.parts * weight[:, None]).T @ across.parts for weight in self.of], axis=-1)

    def best_grid(self, layouts: list[_CellParts]) -> ShareGrid | None:
        """Of the two attributes whose parts separate the standings best."""
        pairs = list(combinations(layouts, 2))
        if not pairs:
            return None
        counted = [self.over(*pair) for pair in pairs]
        best = int(np.argmax([self.separation(one.reshape(-1, len(self.standings))) for one in counted]))
        down, across = pairs[best]
        grid = counted[best]
        if len(down.bins) > len(across.bins):  # the longer one across the page
            down, across, grid = across, down, grid.swapaxes(0, 1)
        return ShareGrid(across.bins, down.bins, tuple(self.shares(row) for row in grid))

    def separation(self, counted: FloatArray) -> float:
        """How much of the variance of the standings lies between parts (parts, standings).

        That of the violating ones first; where there are none, the question is where proofs are missing.
        """
        mass = counted.sum(1)
        shares = counted / np.where(mass > 0, mass, 1.0)[:, None]
        between = (mass[:, None] * (shares - counted.sum(0)) ** 2).sum(0)
        return float(between[self.standings.index("violating")] + 1e-3 * between.sum())

    def shares(self, counted: FloatArray) -> tuple[Shares, ...]:
        """(parts, standings) shares of everybody as shares of each part."""
        mass = counted.sum(1, keepdims=True)
        each = counted / np.where(mass > 0, mass, 1.0)
        return tuple(dict(zip(self.standings, row, strict=True)) for row in each.tolist())
