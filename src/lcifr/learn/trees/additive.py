"""Additive models: one shape function per attribute or pair, with bounds over regions in closed form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lcifr.learn.trees.bins.attribute_bins import AttributeBins, Bins
from lcifr.learn.trees.bins.pair_bins import PairBins
from lcifr.learn.trees.bins.tree_bins import TreeBins
from lcifr.models.network import gamma
from lcifr.regions.region import Cell, FloatArray, Region


@dataclass(frozen=True)
class ShapeFunction:
    """What one attribute adds to the scores: a step function of a number, or a value for each category.

    Parameters
    ----------
    values : (bins, outputs) float64.
    """

    bins: AttributeBins
    values: FloatArray

    def __call__(self, x: FloatArray) -> FloatArray:
        """(people, features) to (people, outputs)."""
        return np.asarray(self.values[self.bins.of_points(x)])

    def on(self, finer: AttributeBins) -> FloatArray:
        """(bins, outputs) the same function on bins that divide its own further."""
        return np.asarray(self.values[finer.within(self.bins)])

    def without_idle_thresholds(self) -> ShapeFunction:
        """The same function, without thresholds at which it does not change."""
        if self.bins.thresholds is None:
            return self
        steps = (self.values[1:] != self.values[:-1]).any(1)
        bins = replace(self.bins, thresholds=self.bins.thresholds[steps])
        return ShapeFunction(bins, self.values[np.concatenate([[True], steps])])


@dataclass(frozen=True)
class PairFunction:
    """What a pair of attributes adds to the scores, beyond what each of them adds: a value for each cell of a grid.

    Parameters
    ----------
    values : (bins of the first, bins of the second, outputs) float64.
    """

    bins: PairBins
    values: FloatArray

    def __call__(self, x: FloatArray) -> FloatArray:
        """(people, features) to (people, outputs)."""
        return np.asarray(self.values[self.bins.first.of_points(x), self.bins.second.of_points(x)])

    def on(self, finer: PairBins) -> FloatArray:
        """(bins of the first, bins of the second, outputs) the same function on a grid that divides its own further."""
        first, second = (new.within(old) for new, old in zip(finer.axes, self.bins.axes, strict=True))
        return np.asarray(self.values[np.ix_(first, second)])

    def without_idle_thresholds(self) -> PairFunction:
        """The same function, without thresholds at which it does not change."""
        first = ShapeFunction(self.bins.first, self.values.reshape(len(self.values), -1)).without_idle_thresholds()
        values = first.values.reshape(first.bins.count, *self.values.shape[1:]).swapaxes(0, 1)
        second = ShapeFunction(self.bins.second, values.reshape(len(values), -1)).without_idle_thresholds()
        values = second.values.reshape(second.bins.count, first.bins.count, -1).swapaxes(0, 1)
        return PairFunction(PairBins(first.bins, second.bins), np.ascontiguousarray(values))


@dataclass(frozen=True)
class TreeFunction:
    """What a tree adds to the scores: a value for each leaf. values : (leaves, outputs) float64."""

    bins: TreeBins
    values: FloatArray

    def __call__(self, x: FloatArray) -> FloatArray:
        """(people, features) to (people, outputs)."""
        return np.asarray(self.values[self.bins.of_points(x)])


@dataclass(frozen=True)
class AdditiveModel:
    """scores(x) = base + Σ shape(x) + Σ pair(x) + Σ tree(x), with one shape function for each attribute read by itself.

    Parameters
    ----------
    base : (outputs,). shapes : in the order of the schema. features : the width of the encoding.
    pairs : what pairs of attributes add to that. trees : what several attributes add together, tree by tree.
    """

    base: FloatArray
    shapes: tuple[ShapeFunction, ...]
    features: int
    pairs: tuple[PairFunction, ...] = ()
    trees: tuple[TreeFunction, ...] = ()

    @property
    def outputs(self) -> int:
        return len(self.base)

    def __call__(self, x: FloatArray) -> FloatArray:
        """(people, features) encoded people to (people, outputs) scores."""
        total = np.broadcast_to(self.base, (len(x), self.outputs)).copy()
        for term in self.terms:
            total += term(x)
        return total

    @property
    def drawable(self) -> tuple[ShapeFunction | PairFunction, ...]:
        """The terms of one attribute or two."""
        return *self.shapes, *self.pairs

    @property
    def terms(self) -> tuple[ShapeFunction | PairFunction | TreeFunction, ...]:
        """Everything that is added to the base, in the order of summation."""
        return *self.drawable, *self.trees

    @property
    def attributes(self) -> frozenset[str]:
        """The names of all attributes that are read."""
        return frozenset(axis.attribute for term in self.terms for axis in term.bins.axes)

    @cached_property
    def sizes(self) -> FloatArray:
        """(outputs,) |base| plus the largest |value| of every term: what no sum goes beyond."""
        largest = (np.abs(term.values).reshape(-1, self.outputs).max(0) for term in self.terms)
        return np.asarray(np.abs(self.base) + sum(largest))

    def largest(self, region: Region, directions: FloatArray) -> FloatArray:
        """(people, directions) upper bounds of directions · scores over each person's region; −∞ where it is empty.

        Over cells without linear rows they are the maximum itself, up to a rounding of the last digits that is added:
        the maximum over a product of intervals and sets is the sum of the attributes' own maxima. Rows are left out,
        so that the bound is that of the box around them. Pairs and trees are maximised one by one, as if an attribute
        could be elsewhere in each of its terms: then too it is a bound, and an audit of the trees may find less.

        Parameters
        ----------
        directions : (directions, outputs).
        """
        largest = np.full((region.people, len(directions)), -np.inf)
        for cell in region.cells:
            total = np.broadcast_to(directions @ self.base, (region.people, len(directions))).copy()
            for shape in self.shapes:
                total += shape_maximum(shape.bins, shape.values @ directions.T, cell)
            for pair in self.pairs:
                total += pair_maximum(pair.bins, pair.values @ directions.T, cell)
            for tree in self.trees:
                reached = tree.bins.reached(cell)[:, :, None]
                total += np.where(reached, tree.values @ directions.T, -np.inf).max(1)
            largest = np.where(cell.present[:, None], np.maximum(largest, total), largest)
        # Each sum rounds: those within a direction, those of the shapes, and this last one.
        rounding = gamma(len(self.terms) + self.outputs + 3) * (np.abs(directions) @ self.sizes)
        return np.nextafter(largest + rounding, np.inf)


def shape_maximum(bins: AttributeBins, values: FloatArray, cell: Cell) -> FloatArray:
    """(people, columns) the largest of ``values`` (bins, columns) that an attribute takes within a cell."""
    if bins.thresholds is None:
        allowed = bins.allowed(cell)
        return np.asarray(np.where(allowed[:, :, None], values, -np.inf).max(1))
    low, high = (bins.find(end) for end in bins.interval(cell))
    return range_maximum(values, low, np.maximum(low, high))


def pair_maximum(bins: PairBins, values: FloatArray, cell: Cell) -> FloatArray:
    """(people, columns) the largest of ``values`` (first, second, columns) that a pair takes within a cell."""
    first, second = (axis.reached(cell) for axis in bins.axes)
    found = np.full((len(first), values.shape[2]), -np.inf)
    for a, row in enumerate(values):
        best = np.where(second[:, :, None], row, -np.inf).max(1)
        found = np.where(first[:, a, None], np.maximum(found, best), found)
    return found


def range_maximum(values: FloatArray, first: Bins, last: Bins) -> FloatArray:
    """(n, columns) the largest of ``values`` (bins, columns) from ``first`` to ``last`` (n,), both included.

    Two overlapping runs whose length is a power of two cover any range; the maxima of all such runs are computed once.
    """
    runs = [values]
    while (width := 2 ** (len(runs) - 1)) * 2 <= len(values):
        runs.append(np.maximum(runs[-1][:-width], runs[-1][width:]))
    level = np.frexp(last - first + 1)[1] - 1
    found = np.empty((len(first), values.shape[1]))
    for number, run in enumerate(runs):
        who = level == number
        found[who] = np.maximum(run[first[who]], run[last[who] - 2**number + 1])
    return found
