"""Additive models as representations: z has a score for each attribute and pair that is read, and for each class."""

from __future__ import annotations

import numpy as np

from lcifr.learn.trees.additive import AdditiveModel
from lcifr.learn.trees.conversion import tree_of
from lcifr.models.network import Network
from lcifr.models.trees.nodes import CategoryNode, NumberNode, TreeLeaf, TreeNode
from lcifr.models.trees.trees import Trees


def score_trees(model: AdditiveModel) -> Trees:
    """From encoded people to z: one tree for each attribute and pair, whose values are outputs of their own.

    Every coordinate of z is a stored number, so nothing is rounded, and its range over a region is known exactly.
    """
    terms = _terms(model)
    width = len(terms) * model.outputs
    placed = [_placed(node, place * model.outputs, width) for place, node in enumerate(terms)]
    return Trees.of(model.features, np.zeros(width), placed)


def summing_head(model: AdditiveModel) -> Network:
    """From z to the scores of the model itself: base + the sum of what the attributes say."""
    weight = np.tile(np.eye(model.outputs), len(_terms(model)))
    return Network.from_arrays([(weight, model.base)])


def _terms(model: AdditiveModel) -> list[TreeNode]:
    """A tree for each attribute and pair; of a model that reads nothing, one that says nothing."""
    return [tree_of(term) for term in model.terms] or [TreeLeaf((0.0,) * model.outputs)]


def _placed(node: TreeNode, start: int, width: int) -> TreeNode:
    """The same tree whose values are outputs from ``start`` on, of ``width`` in all."""
    if isinstance(node, TreeLeaf):
        behind = width - start - len(node.values)
        return TreeLeaf((0.0,) * start + node.values + (0.0,) * behind)
    first, second = (_placed(child, start, width) for child in (node.first, node.second))
    if isinstance(node, NumberNode):
        return NumberNode(node.column, node.threshold, first, second)
    return CategoryNode(node.columns, node.chosen, first, second)
