"""Pairs of similar people who are decided differently: decoded, confirmed, and made as alike as possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.counterexample import Counterexamples, exists, simplify
from lcifr.certification.query import BoolArray, FloatArray
from lcifr.certification.sweep.swept_model import SweptModel
from lcifr.data import Individuals
from lcifr.regions.region import Region
from lcifr.regions.universe import UniverseCells
from lcifr.regions.whole_numbers import narrow_to_whole_numbers
from lcifr.similarity.semantics.core import PairedPeople

SAMPLED = 32
"""Pairs that are drawn from a cell before anything is searched."""


@dataclass(frozen=True)
class Pairs:
    """x and x′ for each cell; meaningful where ``found`` (cells,) is true."""

    x: Individuals
    other: Individuals
    found: BoolArray

    @classmethod
    def none(cls, cells: UniverseCells) -> Pairs:
        """Nothing found yet."""
        return cls(cells.middles(), cells.middles(), np.zeros(len(cells), np.bool_))

    def put(self, rows: Any, found: Pairs) -> None:
        """Fill in what is found of some cells."""
        for mine, theirs in ((self.x, found.x), (self.other, found.other)):
            mine.numbers[rows], mine.codes[rows] = theirs.numbers, theirs.codes
        self.found[rows] = found.found

    def take(self, index: Any) -> Pairs:
        """Those of some cells."""
        return Pairs(self.x.take(index), self.other.take(index), self.found[index])


def offer_pairs(
    swept: SweptModel,
    cells: UniverseCells,
    region: Region,
    rows: NDArray[np.intp],
    points: FloatArray | None,
    pairs: Pairs,
    *,
    without_library: bool = False,
) -> None:
    """Take the first point of each cell of ``rows`` that is a pair decided differently; ``pairs`` is filled in.

    Parameters
    ----------
    points : (rows, k, features), NaN where there is none; None for a sample, whose points are not moved onto people.
    """
    sampled = points is None
    points = draw_pairs(swept, cells, rows, SAMPLED) if points is None else points
    blank: BoolArray = np.asarray(np.isnan(points).any(-1))
    at, which = np.nonzero(~blank)
    if not len(at):
        return
    flat = points[at, which]
    people = swept.pairs.encoding.decode(flat) if sampled else region.take(rows[at]).decode(flat).individuals
    pair = swept.pairs.split(people)
    good = cells.take(rows[at]).contains(pair.x) & exists(pair.x)
    some = np.flatnonzero(good)
    if not len(some):
        return
    for alone in (True, False):  # the library is asked about the few that the model as it was read decides differently
        trial = swept.trial(pair.x.take(some), without_library=alone)
        some = some[trial.is_counterexample(np.arange(len(some)), pair.other.take(some))]
        if not len(some) or swept.library is None or without_library:
            break
    for place in some[::-1].tolist():  # the first of several stays
        row = rows[at[place]]
        for kept, found in ((pairs.x, pair.x), (pairs.other, pair.other)):
            kept.numbers[row], kept.codes[row] = found.numbers[place], found.codes[place]
        pairs.found[row] = True


def draw_pairs(swept: SweptModel, cells: UniverseCells, rows: NDArray[np.intp], count: int) -> FloatArray:
    """(rows, count, features) encoded pairs: x anywhere in the cell, and x′ among those similar to this x.

    Of one x, who is similar is mostly a box: far quicker to draw from than from all pairs of a cell. Where nobody is, x
    stands for both.
    """
    space, similarity = swept.pairs, swept.encoder.similarity
    x = cells.take(rows).draw(count, np.random.default_rng(0))
    around = similarity.region(x)
    reached = (narrow_to_whole_numbers(around, swept.encoding) if cells.whole else around).sample(1)[:, 0]
    nobody: BoolArray = np.asarray(np.isnan(reached).any(1))
    other = swept.encoding.decode(np.where(nobody[:, None], swept.encoding.encode(x), reached))
    points = space.encoding.encode(space.join(PairedPeople(x, other)))
    return points.reshape(len(rows), count, points.shape[1])


def simplified(swept: SweptModel, pairs: Pairs) -> Pairs:
    """The same with x′ as much like x as it can be."""
    rows = np.flatnonzero(pairs.found)
    if not len(rows):
        return pairs
    some = pairs.take(rows)
    trial = swept.trial(some.x)
    simple = simplify(trial, Counterexamples(some.other, some.found))
    pairs.other.numbers[rows], pairs.other.codes[rows] = simple.others.numbers, simple.others.codes
    return pairs
