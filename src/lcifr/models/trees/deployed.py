"""Sums of trees in floating point, networks on their outputs, and trees behind an encoder: how far machines are off.

The bounds are those of docs/design/trees.md. Proofs about a network on trees work on the network alone, over the box of
outputs of each cell of a region: where scores of attributes move independently, as those of an additive model do, a
linear network loses nothing by that. Proofs about trees behind an encoder work on the trees alone, over a box of z.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass

import numpy as np

from lcifr.models.arithmetic import FORMATS, Arithmetic
from lcifr.models.chain import Evaluation, passed_on
from lcifr.models.deployed import REFUSED, Deployment, FloatArray
from lcifr.models.layer_rounding import LOST, ROUND_UP
from lcifr.models.network import Network
from lcifr.models.trees.boxes import OutputBox, box_over_cell, output_region
from lcifr.models.trees.trees import Trees
from lcifr.regions.region import Cell, Region


@dataclass(frozen=True)
class TreesDeployment:
    """Trees, and the arithmetic in which their leaves are added up; what :class:`Deployment` is for networks."""

    trees: Trees
    arithmetic: Arithmetic

    @property
    def is_exact(self) -> bool:
        """Whether it is said of real numbers: then nothing is rounded."""
        return self.arithmetic is Arithmetic.EXACT

    @property
    def outputs(self) -> int:
        """How many values come out."""
        return self.trees.outputs

    @property
    def merged(self) -> Trees:
        """What proofs work on."""
        return self.trees

    def evaluate(self, points: FloatArray) -> Evaluation:
        """A plain float64 sum, and how far it can be from exact arithmetic."""
        return Evaluation(self.trees(points), np.asarray(self.trees.error(points)))

    def merging_error(self, region: Region) -> FloatArray:
        """(people, outputs) nothing is merged."""
        return np.zeros((region.people, self.outputs))

    def asked_over(self, region: Region) -> Region:
        """Where the trees are asked: on the region itself."""
        return region

    def error_over(self, region: Region) -> FloatArray:
        """(people, outputs) how far machines can be from exact arithmetic, in the region."""
        return np.tile(self._error(self.trees.largest.sum(0)), (region.people, 1))

    def room_over(self, region: Region) -> FloatArray:
        """(people, outputs) the same: nothing is merged."""
        return self.error_over(region)

    def error_at(self, points: FloatArray) -> FloatArray:
        """(people, outputs) how far the outputs at points (people, inputs) can be from exact ones, at most REFUSED."""
        if self.is_exact:
            return np.zeros((len(points), self.outputs))
        return self._error(np.abs(self.trees.nodes.value[self.trees.leaves(points)]).sum(1))

    def error_among(self, points: FloatArray) -> FloatArray:
        """(outputs,) what :meth:`error_at` is at none of these points above."""
        return self._error(self.trees.largest.sum(0))

    def _error(self, size: FloatArray) -> FloatArray:
        """(…, outputs) E, from the sum of the largest leaves of each output."""
        if self.is_exact:
            return np.zeros_like(size)
        kind, scale, count = FORMATS[self.arithmetic], self.trees.scale_above, self.trees.count
        share = (count + 5) * kind.unit
        if share > 0.5:
            return np.full_like(size, REFUSED)
        base = np.abs(self.trees.base)
        error = share / (1.0 - share) * (base + scale * size) + LOST * kind.smallest * (count + 2) * (1.0 + scale)
        error = error * ROUND_UP
        return np.where(base + (1.0 + scale) * size + error < kind.largest, error, REFUSED)


class TwoDeployments(ABC):
    """One deployment on top of another: ``first`` gives the scores or z that ``second`` reads."""

    first: Deployment | TreesDeployment
    second: Deployment | TreesDeployment

    @property
    def is_exact(self) -> bool:
        """Whether it is said of real numbers: then nothing is rounded."""
        return self.first.is_exact or self.second.is_exact

    @property
    def outputs(self) -> int:
        """How many values come out at the end."""
        return self.second.outputs


@dataclass(frozen=True)
class NetworkOnTrees(TwoDeployments):
    """Trees, then networks on their outputs, each in its arithmetic; what :class:`Deployment` is for networks alone.

    Parameters
    ----------
    first : from encoded people to scores. second : from scores, as stored or computed, to outputs.
    """

    first: TreesDeployment
    second: Deployment

    @property
    def merged(self) -> Network:
        """What proofs work on, over :meth:`asked_over`."""
        return self.second.merged

    def asked_over(self, region: Region) -> Region:
        """The scores that machines compute for everybody in a person's region: a box for each cell."""
        return output_region(self.first.trees, region, self.first.room_over(region))

    def evaluate(self, points: FloatArray) -> Evaluation:
        """A plain forward pass, and how far it can be from exact arithmetic."""
        scores = self.first.evaluate(points)
        found = self.second.evaluate(scores.values)
        return Evaluation(found.values, found.error + self._passed_on(scores.error))

    def merging_error(self, region: Region) -> FloatArray:
        """(people, outputs) how far the merged network can be from the networks one after the other."""
        return self.second.merging_error(self.asked_over(region))

    def error_over(self, region: Region) -> FloatArray:
        """(people, outputs) how far machines can be from the networks in exact arithmetic, at scores they compute."""
        return self.second.error_over(self.asked_over(region))

    def room_over(self, region: Region) -> FloatArray:
        """(people, outputs) how far machines can be from the merged network at the scores that they compute."""
        return self.second.room_over(self.asked_over(region))

    def error_at(self, points: FloatArray) -> FloatArray:
        """(people, outputs) how far the outputs at points (people, inputs) can be from exact ones, at most REFUSED."""
        if self.is_exact:
            return np.zeros((len(points), self.outputs))
        scores, off = self.first.trees(points), self.first.error_at(points)
        off = off + self.first.trees.error(points)
        box = Region.from_arrays(np.nextafter(scores - off, -np.inf), np.nextafter(scores + off, np.inf))
        return np.minimum(self.second.error_over(box) + self._passed_on(off), REFUSED)

    def error_among(self, points: FloatArray) -> FloatArray:
        """(outputs,) what :meth:`error_at` is at none of these points above."""
        if self.is_exact or len(points) == 0:
            return np.zeros(self.outputs)
        trees = self.first.trees
        off = self.first.error_among(points) + trees.error(np.zeros(trees.inputs))
        size = (np.abs(trees.base) + trees.scale_above * trees.largest.sum(0) + off) * (1.0 + 1e-9)
        found = self.second.error_over(Region.from_arrays(-size[None], size[None]))[0] + self._passed_on(off)
        return np.asarray(np.minimum(found, REFUSED))

    def _passed_on(self, error: FloatArray) -> FloatArray:
        """(…, outputs) what the networks make of an error of the scores (…, scores), at most."""
        for factor in self.second.factors:
            error = passed_on(factor, error)
        return np.asarray(error * (1.0 + 1e-9))

    def steepest(self, scores: FloatArray, directions: FloatArray) -> FloatArray:
        """(people, k, scores) the slopes of directions (people, k, outputs) at scores (people, k, scores).

        To look for somebody whom the decision turns against: along these the outputs grow fastest.
        """
        masks, value = [], scores
        for layer in self.merged.layers[:-1]:
            value = value @ layer.weight.T + layer.bias
            masks.append(value > 0)
            value = np.maximum(value, 0.0)
        slope = directions @ self.merged.layers[-1].weight
        for layer, mask in zip(reversed(self.merged.layers[:-1]), reversed(masks), strict=True):
            slope = (slope * mask) @ layer.weight
        return np.asarray(slope)


@dataclass(frozen=True)
class TreesOnLatents(TwoDeployments):
    """An encoder, then trees on the z that a machine stores, each in its arithmetic.

    Trees jump: where z may be rounded across a threshold, the outputs may be another leaf's. So what z is off by
    becomes all that the trees say in a box around it.

    Parameters
    ----------
    first : from encoded people to z. second : from stored z to outputs.
    """

    first: Deployment | TreesDeployment
    second: TreesDeployment

    def evaluate(self, points: FloatArray) -> Evaluation:
        """A plain forward pass, and how far it can be from exact arithmetic."""
        z = self.first.evaluate(points)
        values, box = self.second.trees(z.values), self._around(z.values, z.error)
        return Evaluation(values, np.maximum(box.upper - values, values - box.lower) * ROUND_UP)

    def error_at(self, points: FloatArray) -> FloatArray:
        """(people, outputs) how far the outputs at points (people, inputs) can be from exact ones, at most REFUSED."""
        if self.is_exact:
            return np.zeros((len(points), self.outputs))
        z, off = self.first.evaluate(points), self.first.error_at(points)
        box = self._around(z.values, np.minimum(off, REFUSED) + 2.0 * z.error)
        error = (box.upper - box.lower) * ROUND_UP + self.second.error_among(points)
        return np.where((off >= REFUSED).any(1, keepdims=True), REFUSED, np.minimum(error, REFUSED))

    def error_among(self, points: FloatArray) -> FloatArray:
        """(outputs,) what :meth:`error_at` is at none of these points above: from any leaves to any others."""
        if self.is_exact or len(points) == 0:
            return np.zeros(self.outputs)
        if (self.first.error_among(points) >= REFUSED).any():
            return np.full(self.outputs, REFUSED)
        trees, rounded = self.second.trees, self.second.error_among(points)
        return np.asarray(np.minimum(3.0 * trees.scale_above * trees.largest.sum(0) + 2.0 * rounded, REFUSED))

    def _around(self, z: FloatArray, off: FloatArray) -> OutputBox:
        """The outputs at all that is as near to z (people, width) as that, in exact arithmetic."""
        trees, ends = self.second.trees, (np.nextafter(z - off, -np.inf), np.nextafter(z + off, np.inf))
        values, error = trees(z), trees.error(z)
        found = OutputBox(values - 2.0 * error, values + 2.0 * error)
        # A leaf that holds both corners of a box holds all of it: nearly everybody's.
        rows = np.flatnonzero((trees.leaves(ends[0]) != trees.leaves(ends[1])).any(1))
        if len(rows):
            cell = Cell(np.arange(z.shape[1]), ends[0][rows], ends[1][rows], (), None, np.ones(len(rows), np.bool_))
            box = box_over_cell(trees, cell)
            found.lower[rows], found.upper[rows] = box.lower, box.upper
        return found
