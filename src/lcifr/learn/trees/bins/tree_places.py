"""Where the places of a robust loss are among the leaves of a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcifr.learn.trees.bins.places import BinRanges, Places, TermPlaces
from lcifr.learn.trees.bins.tree_bins import TreeBins


def places_among(places: Places, bins: TreeBins) -> TermPlaces:
    """The different sets of leaves that places can reach, and which of them each place has."""
    codes = np.full(int(places.start[-1]), np.iinfo(np.uint64).max, np.uint64)
    for axis, member in zip(bins.axes, bins.members, strict=True):
        along = places.along(axis)
        codes &= _leaves_of(along.ranges, member)[along.number]
    distinct, number = np.unique(codes, return_inverse=True)
    sets = [np.flatnonzero((code >> np.arange(bins.count, dtype=np.uint64)) & np.uint64(1)) for code in distinct]
    return TermPlaces(BinRanges.count(sets, number, len(places.x)), number.astype(np.int32))


def _leaves_of(ranges: BinRanges, member: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """(ranges,) the leaves that hold a bin of each range, as bits."""
    touched = np.logical_or.reduceat(member.T[ranges.member], ranges.start[:-1], axis=0)
    bits = np.uint64(1) << np.arange(len(member), dtype=np.uint64)
    return np.asarray((touched * bits).sum(1, dtype=np.uint64))
