"""Tree models on latents: a consumer's trees over the numbers z of a hand-over, as they are stored."""

from __future__ import annotations

from typing import Any

from lcifr.data.program import StepFormat
from lcifr.errors import NetworkError
from lcifr.models.model import Model
from lcifr.models.trees.nodes import TreeNode
from lcifr.models.trees.splits import LibrarySplit, all_cast_to, rebuild, split_number
from lcifr.models.trees.tables import read_source
from lcifr.models.trees.trees import Trees


def read_trees_on_latents(estimator: Any) -> Model:
    """A fitted tree model of XGBoost, LightGBM or scikit-learn, as a function of z in float64.

    A library that casts z to float32 compares it at other numbers: thresholds become the last float64 that is cast to
    at most them, so that nothing is rounded on the way. A number that it takes as missing
    is every z that is cast to it.
    """
    source = read_source(estimator)
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
