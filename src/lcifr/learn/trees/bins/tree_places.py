"""Where the places of a robust loss are among the leaves of a tree."""

from __future__ import annotations

import numpy as np

from lcifr.learn.trees.bins.places import BinRanges, Places, TermPlaces
from lcifr.models.additive import TreeBins


def places_among(places: Places, bins: TreeBins) -> TermPlaces:
    """The different sets of leaves that places can reach, and which of them each place has."""
    own = bins.sets_of_points(places.x)
    near = [own[:0], *(bins.sets_of_cell(cell)[cell.present] for cell in places.cells)]
    distinct, number = np.unique(np.concatenate([own, np.concatenate(near)[places.order]]), return_inverse=True)
    sets = [np.flatnonzero((one >> np.arange(bins.count, dtype=np.uint64)) & np.uint64(1)) for one in distinct]
    return TermPlaces(BinRanges.count(sets, number, len(places.x)), number.astype(np.int32))
