"""Conversion of additive models to sums of trees: one tree per attribute, with the same numbers at its leaves."""

from __future__ import annotations

from lcifr.learn.trees.additive import AdditiveModel, ShapeFunction
from lcifr.models.trees.nodes import CategoryNode, NumberNode, TreeLeaf, TreeNode
from lcifr.models.trees.trees import Trees


def as_trees(model: AdditiveModel) -> Trees:
    """The same function, as proofs take it: base + Σ one leaf per attribute."""
    return Trees.of(model.features, model.base, [_tree(shape) for shape in model.shapes])


def _tree(shape: ShapeFunction) -> TreeNode:
    columns = range(shape.bins.columns.start, shape.bins.columns.stop)
    leaves = [TreeLeaf(tuple(values)) for values in shape.values.tolist()]
    if shape.bins.thresholds is None:
        return _sets(columns, leaves)
    return _halved(columns.start, shape.bins.thresholds.tolist(), leaves)


def _halved(column: int, thresholds: list[float], leaves: list[TreeLeaf]) -> TreeNode:
    """A balanced tree: split at the middle threshold, until one bin is left."""
    if not thresholds:
        return leaves[0]
    middle = len(thresholds) // 2
    return NumberNode(
        column,
        thresholds[middle],
        _halved(column, thresholds[:middle], leaves[: middle + 1]),
        _halved(column, thresholds[middle + 1 :], leaves[middle + 1 :]),
    )


def _sets(columns: range, leaves: list[TreeLeaf]) -> TreeNode:
    """Categories with the same values split off together, one set after the other."""
    groups: dict[TreeLeaf, set[int]] = {}
    for column, leaf in zip(columns, leaves, strict=True):
        groups.setdefault(leaf, set()).add(column)
    *others, (rest, _) = groups.items()
    node: TreeNode = rest
    for leaf, chosen in reversed(others):
        node = CategoryNode(columns, frozenset(chosen), leaf, node)
    return node
