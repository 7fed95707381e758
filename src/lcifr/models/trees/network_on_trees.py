"""A network on the outputs of trees: a model on scores, from encoded people to the decision, as machines compute it.

Proofs work on the network alone, over the box of scores of each cell of a region: where scores of attributes move
independently, as those of an additive model do, a linear network loses nothing by that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcifr.models.chain import Evaluation, passed_on
from lcifr.models.deployed import REFUSED, Deployment, FloatArray
from lcifr.models.network import Network
from lcifr.models.trees.boxes import output_region
from lcifr.models.trees.deployed import TreesDeployment
from lcifr.regions.region import Region


@dataclass(frozen=True)
class NetworkOnTrees:
    """Trees, then networks on their outputs, each in its arithmetic; what :class:`Deployment` is for networks alone.

    Parameters
    ----------
    first : from encoded people to scores. second : from scores, as stored or computed, to outputs.
    """

    first: TreesDeployment
    second: Deployment

    @property
    def is_exact(self) -> bool:
        """Whether it is said of real numbers: then nothing is rounded."""
        return self.first.is_exact or self.second.is_exact

    @property
    def outputs(self) -> int:
        """How many values come out at the end."""
        return self.second.outputs

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
