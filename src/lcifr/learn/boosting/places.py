"""Places of a robust loss: who can be where, as sets of bins per attribute.

The loss of a person is a mix of two *terms*: the plain one, at the own point, and the robust one, at the worst point of
the region. A term has *places* (the own point; every cell of the region) and takes the worst of them. A place is a
product of one set of bins per attribute; people share few such sets, so each attribute has a table of them, its
*ranges*, and a place holds their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcifr.models.additive import AttributeBins, Bins, TreeBins
from lcifr.regions.region import BoolArray, Cell, FloatArray, Region

Offsets = NDArray[np.int64]


@dataclass(frozen=True)
class BinRanges:
    """The different sets of bins of one attribute that places have.

    Parameters
    ----------
    start : (ranges + 1,) where the bins of each begin in ``member``. member : their bins, rising within each.
    people : (ranges,) how many own points have exactly this one.
    """

    start: Offsets
    member: Bins
    people: Offsets

    def of(self, number: int) -> Bins:
        """The bins of one range."""
        return self.member[self.start[number] : self.start[number + 1]]

    @classmethod
    def count(cls, sets: Sequence[NDArray[np.integer]], number: NDArray[np.integer], people: int) -> BinRanges:
        """From the bins of each range, and the ranges of all places, of which the first ``people`` are own points."""
        start = np.cumsum([0, *(len(one) for one in sets)])
        return cls(start, np.concatenate(sets).astype(np.int32), np.bincount(number[:people], minlength=len(sets)))


@dataclass(frozen=True)
class PairRanges(BinRanges):
    """The different sets of grid cells of a pair: each is a range of the first axis times one of the second.

    Parameters
    ----------
    axes : the ranges of both axes. number : (2, ranges) which of them each range has.
    """

    axes: tuple[BinRanges, BinRanges]
    number: Bins


@dataclass(frozen=True)
class TermPlaces:
    """Where places are along one attribute or pair: its ranges, and which of them each place (places,) has."""

    ranges: BinRanges
    number: Bins


@dataclass(frozen=True)
class Places:
    """Terms, and where each of them may be worst.

    Parameters
    ----------
    x : (people, features). cells : of the people's regions. order : (cells of all people,) sorted by person.
    start : (terms + 1,) where the places of each term begin. person : (terms,) whose term it is; the first ones are
        plain, one for each person. weight : (terms,).
    """

    x: FloatArray
    cells: tuple[Cell, ...]
    order: Offsets
    start: Offsets
    person: Offsets
    weight: FloatArray

    @classmethod
    def of(cls, x: FloatArray, region: Region, weight: FloatArray, gamma: float) -> Places:
        """The terms of people ``x`` (people, features) of given weights (people,): plain, and ``gamma`` times robust.

        People with an empty region have no robust term: there is no one to be treated alike.
        """
        cells = tuple(cell for cell in region.cells if gamma > 0 and cell.present.any())
        who = np.concatenate([np.zeros(0, np.int64), *(np.flatnonzero(cell.present) for cell in cells)])
        robust, counts = np.unique(who, return_counts=True)
        people = np.arange(len(x))
        return cls(
            x,
            cells,
            np.argsort(who, kind="stable"),
            np.concatenate([people, len(x) + np.cumsum([0, *counts])]),
            np.concatenate([people, robust]),
            np.concatenate([weight, gamma * weight[robust]]) / (1.0 + gamma),
        )

    def along(self, bins: AttributeBins) -> TermPlaces:
        """Where places are along an attribute: own points first, then the cells of each person."""
        return (_of_category if bins.thresholds is None else _of_number)(bins, self.x, self.cells, self.order)

    def across(self, first: TermPlaces, second: TermPlaces, size: int) -> TermPlaces:
        """Where places are in the grid of two attributes, the second of which has ``size`` bins."""
        count = len(second.ranges.people)
        code = first.number.astype(np.int64) * count + second.number
        pairs, number = _distinct(code, len(first.ranges.people) * count)
        axis = np.stack([pairs // count, pairs % count]).astype(np.int32)
        sets = [(first.ranges.of(a)[:, None] * size + second.ranges.of(b)[None]).ravel() for a, b in axis.T.tolist()]
        found = BinRanges.count(sets, number, len(self.x))
        return TermPlaces(
            PairRanges(found.start, found.member, found.people, (first.ranges, second.ranges), axis), number
        )


def _of_number(bins: AttributeBins, x: FloatArray, cells: Sequence[Cell], order: Offsets) -> TermPlaces:
    own = bins.of_points(x)
    ends = [[bins.find(end[cell.present]) for end in bins.interval(cell)] for cell in cells]
    low, high = (
        np.concatenate([own, np.concatenate([np.zeros(0, np.int32), *(pair[side] for pair in ends)])[order]])
        for side in (0, 1)
    )
    codes, number = _distinct(low.astype(np.int64) * bins.count + np.maximum(low, high), bins.count**2)
    sets = [np.arange(code // bins.count, code % bins.count + 1) for code in codes.tolist()]
    return TermPlaces(BinRanges.count(sets, number, len(x)), number)


def _distinct(codes: Offsets, size: int) -> tuple[Offsets, Bins]:
    """The different codes, rising, and the number of each code among them; codes are below ``size``."""
    there = np.bincount(codes, minlength=size) > 0
    return np.flatnonzero(there), (np.cumsum(there, dtype=np.int32) - np.int32(1))[codes]


def _of_category(bins: AttributeBins, x: FloatArray, cells: Sequence[Cell], order: Offsets) -> TermPlaces:
    own = np.eye(bins.count, dtype=np.bool_)[bins.of_points(x)]
    allowed = np.concatenate(
        [np.zeros((0, bins.count), np.bool_), *(bins.allowed(cell)[cell.present] for cell in cells)]
    )
    packed = np.packbits(np.concatenate([own, allowed[order]]), axis=1)
    _, first, number = np.unique(
        packed.view([("", packed.dtype)] * packed.shape[1]).ravel(), return_index=True, return_inverse=True
    )
    sets = [np.flatnonzero(row) for row in _unpacked(packed[first], bins.count)]
    return TermPlaces(BinRanges.count(sets, number, len(x)), number.astype(np.int32))


def _unpacked(packed: NDArray[np.uint8], count: int) -> BoolArray:
    return np.unpackbits(packed, axis=1, count=count).astype(np.bool_)


# Where the places of a robust loss are among the leaves of a tree.


def places_among(places: Places, bins: TreeBins) -> TermPlaces:
    """The different sets of leaves that places can reach, and which of them each place has."""
    own = bins.sets_of_points(places.x)
    near = [own[:0], *(bins.sets_of_cell(cell)[cell.present] for cell in places.cells)]
    distinct, number = np.unique(np.concatenate([own, np.concatenate(near)[places.order]]), return_inverse=True)
    sets = [np.flatnonzero((one >> np.arange(bins.count, dtype=np.uint64)) & np.uint64(1)) for one in distinct]
    return TermPlaces(BinRanges.count(sets, number, len(places.x)), number.astype(np.int32))
