"""Arrays that the search for steps of a pair reads and works in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lcifr.regions.region import FloatArray

Offsets = NDArray[np.int64]
Numbers = NDArray[np.int32]


class GridRanges(NamedTuple):
    """The ranges of a pair, by the places that bins have in the order that cuts divide.

    Parameters
    ----------
    low, high : (2, ranges) where each begins and ends along both axes.
    start, member : its grid cells; people : (ranges,) own points in it.
    place : (2, longer axis) the place of each bin. size : bins of the second axis.
    """

    low: Numbers
    high: Numbers
    start: Offsets
    member: Numbers
    people: Offsets
    place: Numbers
    size: int


class PairRoom(NamedTuple):
    """Arrays to work in.

    Parameters
    ----------
    fixed, moving : (first, second, 4, 3). change : (first, second). leaves : (first, second, 4).
    tops : (4, first + 1, second + 1). best : (7,), see :func:`find_pair_step`.
    """

    fixed: FloatArray
    moving: FloatArray
    change: FloatArray
    leaves: FloatArray
    tops: FloatArray
    best: FloatArray

    @classmethod
    def of(cls, first: int, second: int) -> PairRoom:
        """For axes with so many bins."""
        grid = (first, second)
        return cls(
            np.empty((*grid, 4, 3)),
            np.empty((*grid, 4, 3)),
            np.empty(grid),
            np.zeros((*grid, 4)),
            np.empty((4, first + 1, second + 1)),
            np.empty(7),
        )
