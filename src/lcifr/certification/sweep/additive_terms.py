"""Additive models behind a sweep: sums of trees of one attribute or two, and linear heads on a booster's scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcifr.certification.demands import FloatArray
from lcifr.data import Encoding
from lcifr.models.additive import AdditiveModel, followed_by, read_additive
from lcifr.models.network import gamma
from lcifr.models.rounding import Deployment
from lcifr.models.trees import NetworkOnTrees, Trees, TreesDeployment
from lcifr.regions.region import Region

OPERATIONS = 64
"""Beyond one for each tree or term, that a number passes through here at most."""


@dataclass(frozen=True, eq=False)
class AdditiveTerms:
    """What decides, as a sum of terms.

    Parameters
    ----------
    room : (outputs,) how far machines can be from the sum of these terms in exact arithmetic, wherever they are asked.
    """

    model: AdditiveModel
    room: FloatArray

    @classmethod
    def of(
        cls, deployment: Deployment | TreesDeployment | NetworkOnTrees, encoding: Encoding, everybody: Region
    ) -> AdditiveTerms | None:
        """The terms of a model; None where it is no such sum.

        Parameters
        ----------
        everybody : the region of all people who can exist.
        """
        if isinstance(deployment, TreesDeployment):
            read, weight = read_additive(deployment.trees, encoding), np.eye(deployment.outputs)
            return None if read is None else cls._rounded(read, weight, deployment.trees, deployment, everybody)
        if not isinstance(deployment, NetworkOnTrees) or not is_additive(deployment, encoding):
            return None
        scores, head = read_additive(deployment.first.trees, encoding), deployment.merged.layers[0]
        assert scores is not None
        read = followed_by(scores, head.weight, head.bias)
        return cls._rounded(read, np.abs(head.weight), deployment.first.trees, deployment, everybody)

    @classmethod
    def _rounded(
        cls,
        model: AdditiveModel,
        weight: FloatArray,
        trees: Trees,
        deployment: TreesDeployment | NetworkOnTrees,
        everybody: Region,
    ) -> AdditiveTerms:
        """With what is rounded on machines, and here when trees are added up to terms and terms to a sum."""
        room = deployment.room_over(everybody)[0]
        if isinstance(deployment, NetworkOnTrees):
            room = room + weight @ deployment.first.room_over(everybody)[0]
        size = model.sizes + weight @ (np.abs(trees.base) + trees.scale_above * trees.largest.sum(0))
        steps = trees.count + trees.outputs + len(model.terms) + OPERATIONS
        return cls(model, np.asarray((room + 2 * gamma(steps) * size) * (1.0 + 1e-9)))

    def largest(self, region: Region, directions: FloatArray) -> FloatArray:
        """(people, k) what directions (people, k, outputs) · a machine's outputs stay below, over each region."""
        each, which = np.unique(directions.reshape(-1, directions.shape[-1]), axis=0, return_inverse=True)
        found = self.model.largest(region, each) + np.abs(each) @ self.room
        return np.asarray(np.take_along_axis(found, which.reshape(directions.shape[:2]), axis=1))


def is_additive(model: NetworkOnTrees, encoding: Encoding) -> bool:
    """Whether it is a linear model on scores of one attribute or two."""
    return not model.merged.depth and read_additive(model.first.trees, encoding) is not None
