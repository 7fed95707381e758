"""Tree models on latents: a consumer's trees over the numbers z of a hand-over, as they are stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data.program import StepFormat
from lcifr.errors import NetworkError
from lcifr.models.function import FloatArray
from lcifr.models.model import Model
from lcifr.models.trees.nodes import TreeNode
from lcifr.models.trees.splits import LibrarySplit, all_cast_to, rebuild, split_number
from lcifr.models.trees.tables import TreeSource, read_source
from lcifr.models.trees.trees import NUMBER, Trees

PROBES = 256
"""Thresholds at which a model is compared with its library, at and one float64 beside each."""


@dataclass(frozen=True)
class LatentTrees:
    """A tree model on z from a file.

    Parameters
    ----------
    model : as proofs see it, with the names of its classes.
    scores : (people, width) z -> (people, outputs), the library's own sums; None where it is not installed.
    predict : (people, width) z -> (people,) the library's own decisions, where it gives no sums.
    """

    model: Model
    scores: Callable[[FloatArray], NDArray[Any]] | None = field(default=None, repr=False)
    predict: Callable[[FloatArray], NDArray[Any]] | None = field(default=None, repr=False)

    @property
    def trees(self) -> Trees:
        assert isinstance(self.model.function, Trees)
        return self.model.function

    def probes(self, z: FloatArray) -> FloatArray:
        """(3 · probes, width) people of z (people, width) with one number at, and one float64 beside, a threshold."""
        nodes, rng = self.trees.nodes, np.random.default_rng(0)
        splits = np.flatnonzero(nodes.kind == NUMBER)
        splits = rng.permutation(splits)[:PROBES]
        at = nodes.threshold[splits]
        made = z[rng.integers(len(z), size=3 * len(splits))].copy()
        beside = np.concatenate([at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf)])
        made[np.arange(len(made)), np.tile(nodes.column[splits], 3)] = beside
        return made


def read_trees_on_latents(estimator: Any) -> Model:
    """A fitted tree model of XGBoost, LightGBM or scikit-learn, as a function of z in float64."""
    return trees_on_latents(read_source(estimator))


def trees_on_latents(source: TreeSource) -> Model:
    """The trees of a library as a function of z in float64.

    A library that casts z to float32 compares it at other numbers: thresholds become the last float64 that is cast to
    at most them, so that nothing is rounded on the way. A number that it takes as missing
    is every z that is cast to it.
    """
    later = source.cast is StepFormat.FLOAT32
    missing = all_cast_to(source.missing) if later else (source.missing, source.missing)

    def split(node: LibrarySplit, first: TreeNode, second: TreeNode) -> TreeNode:
        if not 0 <= node.feature < source.width:
            raise NetworkError(f"a split about column {node.feature}; there are {source.width}")
        if node.codes is not None:
            raise NetworkError(
                f"a split is about categories of column {node.feature}, and z has numbers only",
                fix="fit the model on the latents as plain numbers",
            )
        return split_number(node.feature, node, (first, second), missing, later)

    trees = Trees.of(source.width, source.base, [rebuild(tree, split) for tree in source.trees], source.scale)
    return Model(trees.of_runtime(source.native), source.rule, source.labels)
