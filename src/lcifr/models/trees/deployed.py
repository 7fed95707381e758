"""Sums of trees in floating point: how far a machine's outputs can be from exact ones (docs/design/trees.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcifr.models.arithmetic import FORMATS, Arithmetic
from lcifr.models.chain import Evaluation
from lcifr.models.deployed import REFUSED, FloatArray
from lcifr.models.layer_rounding import LOST, ROUND_UP
from lcifr.models.trees.trees import Trees
from lcifr.regions.region import Region


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
