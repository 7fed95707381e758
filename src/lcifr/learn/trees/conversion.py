"""Conversion of boosted models to sums of trees: one per attribute or pair, with the same numbers at its leaves."""

from __future__ import annotations

from lcifr.learn.trees.additive import AdditiveModel, PairFunction, ShapeFunction, TreeFunction
from lcifr.learn.trees.bins.attribute_bins import AttributeBins
from lcifr.learn.trees.bins.tree_bins import TreeCut
from lcifr.models.trees.nodes import CategoryNode, NumberNode, TreeLeaf, TreeNode
from lcifr.models.trees.trees import Trees


def as_trees(model: AdditiveModel) -> Trees:
    """The same function, as proofs take it: base + Σ one leaf per attribute, pair and tree."""
    return Trees.of(model.features, model.base, [tree_of(term) for term in model.terms])


def tree_of(term: ShapeFunction | PairFunction | TreeFunction) -> TreeNode:
    """What one attribute, pair or tree adds, with a value for each output at the leaves."""
    if isinstance(term, TreeFunction):
        return _branches(term, term.bins.root)
    if isinstance(term, ShapeFunction):
        return _along(term.bins, [TreeLeaf(tuple(values)) for values in term.values.tolist()])
    rows = [tree_of(ShapeFunction(term.bins.second, row).without_idle_thresholds()) for row in term.values]
    return _along(term.bins.first, rows)


def _branches(term: TreeFunction, node: TreeCut | int) -> TreeNode:
    if isinstance(node, int):
        return TreeLeaf(tuple(term.values[node].tolist()))
    axis, first, second = term.bins.axes[node.axis], _branches(term, node.first), _branches(term, node.second)
    if axis.thresholds is not None:
        return NumberNode(axis.columns.start, float(axis.thresholds[len(node.chosen) - 1]), first, second)
    columns = range(axis.columns.start, axis.columns.stop)
    return CategoryNode(columns, frozenset(columns.start + place for place in node.chosen), first, second)


def _along(bins: AttributeBins, nodes: list[TreeNode]) -> TreeNode:
    """A tree that leads to the node of each bin."""
    columns = range(bins.columns.start, bins.columns.stop)
    return _sets(columns, nodes) if bins.thresholds is None else _halved(columns.start, bins.thresholds.tolist(), nodes)


def _halved(column: int, thresholds: list[float], nodes: list[TreeNode]) -> TreeNode:
    """A balanced tree: split at the middle threshold, until one bin is left."""
    if not thresholds:
        return nodes[0]
    middle = len(thresholds) // 2
    return NumberNode(
        column,
        thresholds[middle],
        _halved(column, thresholds[:middle], nodes[: middle + 1]),
        _halved(column, thresholds[middle + 1 :], nodes[middle + 1 :]),
    )


def _sets(columns: range, nodes: list[TreeNode]) -> TreeNode:
    """Categories with the same node split off together, one set after the other."""
    groups: dict[TreeNode, set[int]] = {}
    for column, node in zip(columns, nodes, strict=True):
        groups.setdefault(node, set()).add(column)
    *others, (rest, _) = groups.items()
    tree: TreeNode = rest
    for node, chosen in reversed(others):
        tree = CategoryNode(columns, frozenset(chosen), node, tree)
    return tree
