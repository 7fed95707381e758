"""Additive models: one shape function per attribute, with exact bounds over regions in closed form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lcifr.learn.trees.attribute_bins import AttributeBins, Bins
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

    def without_idle_thresholds(self) -> ShapeFunction:
        """The same function, without thresholds at which it does not change."""
        if self.bins.thresholds is None:
            return self
        steps = (self.values[1:] != self.values[:-1]).any(1)
        bins = replace(self.bins, thresholds=self.bins.thresholds[steps])
        return ShapeFunction(bins, self.values[np.concatenate([[True], steps])])


@dataclass(frozen=True)
class AdditiveModel:
    """scores(x) = base + Σ shape(x), with one shape function for each attribute that is read.

    Parameters
    ----------
    base : (outputs,). shapes : in the order of the schema. features : the width of the encoding.
    """

    base: FloatArray
    shapes: tuple[ShapeFunction, ...]
    features: int

    @property
    def outputs(self) -> int:
        return len(self.base)

    def __call__(self, x: FloatArray) -> FloatArray:
        """(people, features) encoded people to (people, outputs) scores."""
        total = np.broadcast_to(self.base, (len(x), self.outputs)).copy()
        for shape in self.shapes:
            total += shape(x)
        return total

    @cached_property
    def sizes(self) -> FloatArray:
        """(outputs,) |base| plus the largest |value| of every shape: what no sum goes beyond."""
        return np.asarray(np.abs(self.base) + sum(np.abs(shape.values).max(0) for shape in self.shapes))

    def largest(self, region: Region, directions: FloatArray) -> FloatArray:
        """(people, directions) upper bounds of directions · scores over each person's region; −∞ where it is empty.

        Over cells without linear rows they are the maximum itself, up to a rounding of the last digits that is added:
        the maximum over a product of intervals and sets is the sum of the attributes' own maxima. Rows are left out,
        so that the bound is that of the box around them.

        Parameters
        ----------
        directions : (directions, outputs).
        """
        largest = np.full((region.people, len(directions)), -np.inf)
        for cell in region.cells:
            total = np.broadcast_to(directions @ self.base, (region.people, len(directions))).copy()
            for shape in self.shapes:
                total += shape_maximum(shape.bins, shape.values @ directions.T, cell)
            largest = np.where(cell.present[:, None], np.maximum(largest, total), largest)
        # Each sum rounds: those within a direction, those of the shapes, and this last one.
        rounding = gamma(len(self.shapes) + self.outputs + 3) * (np.abs(directions) @ self.sizes)
        return np.nextafter(largest + rounding, np.inf)


def shape_maximum(bins: AttributeBins, values: FloatArray, cell: Cell) -> FloatArray:
    """(people, columns) the largest of ``values`` (bins, columns) that an attribute takes within a cell."""
    if bins.thresholds is None:
        allowed = bins.allowed(cell)
        return np.asarray(np.where(allowed[:, :, None], values, -np.inf).max(1))
    low, high = (bins.find(end) for end in bins.interval(cell))
    return range_maximum(values, low, np.maximum(low, high))


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
