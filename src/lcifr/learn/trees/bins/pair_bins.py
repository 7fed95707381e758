"""Bins of a pair of attributes: a grid of the coarse bins of both."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lcifr.learn.trees.bins.attribute_bins import AttributeBins, Bins, equal_shares
from lcifr.regions.region import FloatArray


@dataclass(frozen=True)
class PairBins:
    """The grid of two attributes: cell (a, b) is number a · second.count + b."""

    first: AttributeBins
    second: AttributeBins

    @property
    def attributes(self) -> tuple[str, str]:
        """The names of both."""
        return self.first.attribute, self.second.attribute

    @property
    def axes(self) -> tuple[AttributeBins, AttributeBins]:
        """The bins of both."""
        return self.first, self.second

    @property
    def count(self) -> int:
        """How many cells the grid has."""
        return self.first.count * self.second.count

    def joined(self, other: PairBins) -> PairBins:
        """The grid of the thresholds of both."""
        return PairBins(self.first.joined(other.first), self.second.joined(other.second))

    def of_points(self, x: FloatArray) -> Bins:
        """(people,) the cells of encoded people (people, features)."""
        return self.first.of_points(x) * np.int32(self.second.count) + self.second.of_points(x)


def coarser(bins: AttributeBins, x: FloatArray, most: int) -> AttributeBins:
    """At most ``most`` bins of a number, with equal shares of the people ``x``; a category stays as it is."""
    if bins.thresholds is None or bins.count <= most:
        return bins
    cuts = equal_shares(np.bincount(bins.of_points(x), minlength=bins.count), most)
    return replace(bins, thresholds=bins.thresholds[cuts])
