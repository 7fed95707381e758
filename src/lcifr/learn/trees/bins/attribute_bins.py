"""Bins of an attribute: the intervals between thresholds of a number, or the values of a category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Encoding
from lcifr.regions.region import BoolArray, Cell, FloatArray, Region

Bins = NDArray[np.int32]

APART = 1e-9
"""Encoded values closer than this count as one: ends of regions are rounded outward, and nothing lies between."""
FLATTENED = 5
"""How often frequent values are cut down to an equal share; the shares shrink a little each time."""


@dataclass(frozen=True)
class AttributeBins:
    """How one attribute is divided.

    Parameters
    ----------
    attribute : its name. columns : its feature columns.
    thresholds : (bins − 1,) of a number, rising, in encoded units; None for a category. Bin b holds the encoded values
        above ``thresholds[b − 1]`` up to and including ``thresholds[b]``.
    """

    attribute: str
    columns: slice
    thresholds: FloatArray | None

    @property
    def axes(self) -> tuple[AttributeBins, ...]:
        """The attribute itself; a pair has two."""
        return (self,)

    @property
    def count(self) -> int:
        """How many bins there are."""
        return self.columns.stop - self.columns.start if self.thresholds is None else len(self.thresholds) + 1

    def find(self, values: FloatArray) -> Bins:
        """The bins of encoded numbers, of any shape."""
        assert self.thresholds is not None
        return np.searchsorted(self.thresholds, values, side="left").astype(np.int32)

    def joined(self, other: AttributeBins) -> AttributeBins:
        """The same attribute, divided at the thresholds of both."""
        if self.thresholds is None or other.thresholds is None:
            return self
        return replace(self, thresholds=np.union1d(self.thresholds, other.thresholds))

    def within(self, coarser: AttributeBins) -> Bins:
        """(bins,) which bin of the same attribute, divided at some of these thresholds, each bin lies in."""
        if self.thresholds is None:
            return np.arange(self.count, dtype=np.int32)
        return coarser.find(np.append(self.thresholds, np.inf))  # a bin's upper end belongs to it

    def of_points(self, x: FloatArray) -> Bins:
        """(people,) the bins of encoded people (people, features)."""
        if self.thresholds is None:
            return np.asarray(x[:, self.columns].argmax(1), dtype=np.int32)
        return self.find(x[:, self.columns.start])

    def interval(self, cell: Cell) -> tuple[FloatArray, FloatArray]:
        """(people,) both ends of a number in a cell, encoded."""
        place = int(np.searchsorted(cell.numeric, self.columns.start))
        return cell.lower[:, place], cell.upper[:, place]

    def allowed(self, cell: Cell) -> BoolArray:
        """(people, bins) the values of a category that a cell allows."""
        return next(choice.allowed for choice in cell.choices if choice.columns[0] == self.columns.start)

    def reached(self, cell: Cell) -> BoolArray:
        """(people, bins) which bins somebody in a cell can be in."""
        if self.thresholds is None:
            return self.allowed(cell)
        low, high = (self.find(end)[:, None] for end in self.interval(cell))
        number = np.arange(self.count)
        return np.asarray((number >= low) & (number <= np.maximum(low, high)))


def choose_bins(
    encoding: Encoding, x: FloatArray, region: Region, most: int, unread: Sequence[str] = ()
) -> tuple[AttributeBins, ...]:
    """The bins of every attribute that may be read, from encoded training people and their (stretched) regions.

    A threshold matters by who is left of it, right of it, or has it inside the own interval. That changes at people's
    values and at the ends of their intervals, so thresholds lie midway between these.

    Parameters
    ----------
    most : bins of a number at most; beyond, thresholds are taken at equal shares of values and ends.
    unread : attributes that the model must not depend on.
    """
    found = []
    for attribute in encoding.schema:
        if attribute.name in unread:
            continue
        bins = AttributeBins(attribute.name, encoding.columns(attribute.name), None)
        if attribute.name in encoding.schema.names_numeric:
            bins = AttributeBins(bins.attribute, bins.columns, _thresholds(bins, x, region, most))
        if bins.count > 1:
            found.append(bins)
    return tuple(found)


def _thresholds(bins: AttributeBins, x: FloatArray, region: Region, most: int) -> FloatArray:
    own = x[:, bins.columns.start]
    ends = [end[cell.present] for cell in region.cells for end in bins.interval(cell)]
    values = np.sort(np.concatenate([own, *ends]))
    inside = (values > own.min()) & (values < own.max())  # beyond, a threshold would separate nobody from anybody
    distinct = _spaced(np.concatenate([[own.min()], values[inside], [own.max()]]))
    middles = distinct[:-1] / 2 + distinct[1:] / 2
    if len(middles) < most:
        return np.asarray(middles)
    counts = np.bincount(np.searchsorted(middles, values), minlength=len(distinct))
    return np.asarray(middles[equal_shares(counts, most)])


def equal_shares(counts: NDArray[np.integer], most: int) -> NDArray[np.integer]:
    """Where to cut a row of values with these counts into at most ``most`` parts: after which value each part ends.

    Parts hold equal shares. A value that has more than a share of its own counts as one: else all cuts would fall on
    a few frequent values (nine of ten people have no capital gain), and the others would stay together.
    """
    weight = counts.astype(np.float64)
    for _ in range(FLATTENED):
        weight = np.minimum(weight, weight.sum() / most)
    middles = np.cumsum(weight) - weight / 2
    return np.flatnonzero(np.diff(np.floor(middles / weight.sum() * most)) > 0)


def _spaced(rising: FloatArray) -> FloatArray:
    """Of rising values the first of each run of neighbours that are closer than ``APART``."""
    return np.asarray(rising[np.concatenate([[True], np.diff(rising) > APART])])
