"""Nodes of one tree as loaders build them, nested; cutting off branches that nobody can reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcifr.errors import NetworkError


@dataclass(frozen=True)
class TreeLeaf:
    """values : one for each output."""

    values: tuple[float, ...]


@dataclass(frozen=True)
class NumberNode:
    """``first`` where the encoded column is at most ``threshold``, else ``second``."""

    column: int
    threshold: float
    first: TreeNode
    second: TreeNode


@dataclass(frozen=True)
class CategoryNode:
    """``first`` where the 1 of the attribute ``columns`` is in one of ``chosen``, else ``second``."""

    columns: range
    chosen: frozenset[int]
    first: TreeNode
    second: TreeNode


TreeNode = TreeLeaf | NumberNode | CategoryNode


MOST_STEPS = 2**22


def below(threshold: float) -> float:
    """The t⁻ with which ``e < threshold`` is ``e ≤ t⁻``, for every float64 e."""
    return float(np.nextafter(threshold, -np.inf))


def preorder(root: TreeNode) -> Iterator[TreeNode]:
    """A node, then its whole first subtree, then its second; trees may be deeper than Python's stack."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, TreeLeaf):
            waiting += [node.second, node.first]


def from_preorder(nodes: Sequence[Sequence[Any]], outputs: int) -> TreeNode:
    """A tree of numbers from the plain nodes that ``Trees.to_plain`` gives; ValueError or TypeError for others."""
    built: list[TreeNode] = []
    for kind, *inside in reversed(nodes):
        if kind == "leaf":
            known = {int(output): float(value) for output, value in inside[0]}
            built.append(TreeLeaf(tuple(known.get(output, 0.0) for output in range(outputs))))
        elif kind == "numeric" and len(built) > 1:
            column, threshold = inside
            built.append(NumberNode(int(column), float(threshold), built.pop(), built.pop()))
        else:
            raise ValueError(f"a tree holds the node {kind!r} where none can be")
    (tree,) = built
    return tree


@dataclass(frozen=True)
class _LeftBySplits:
    """What the splits on the way leave: of each column its ends, of each attribute the columns that are left."""

    ends: dict[int, tuple[float, float]]
    left: dict[int, frozenset[int]]

    def sides(self, node: NumberNode | CategoryNode) -> tuple[_LeftBySplits | None, _LeftBySplits | None]:
        if isinstance(node, NumberNode):
            low, high = self.ends.get(node.column, (-np.inf, np.inf))
            first = _LeftBySplits({**self.ends, node.column: (low, min(high, node.threshold))}, self.left)
            second = _LeftBySplits({**self.ends, node.column: (max(low, node.threshold), high)}, self.left)
            return (first if low < node.threshold else None, second if high > node.threshold else None)
        known = self.left.get(node.columns.start, frozenset(node.columns))
        parts = known & node.chosen, known - node.chosen
        rooms = (_LeftBySplits(self.ends, {**self.left, node.columns.start: part}) if part else None for part in parts)
        first_room, second_room = rooms
        return first_room, second_room


def cut_unreachable(root: TreeNode) -> TreeNode:
    """The same tree without splits that everybody who comes there passes on the same side."""
    # Two stacks, because trees may be deeper than Python's own: what is to be done, and the subtrees that are built.
    todo: list[tuple[str, TreeNode, _LeftBySplits]] = [("look", root, _LeftBySplits({}, {}))]
    built: list[TreeNode] = []
    steps = 0
    while todo:
        if (steps := steps + 1) > MOST_STEPS:  # subtrees may be shared, so that a short file has any number of them
            raise NetworkError(f"a tree has more than {MOST_STEPS:,} nodes that can be reached")
        what, node, room = todo.pop()
        if what == "join":
            second, first = built.pop(), built.pop()
            built.append(_joined(node, first, second))
        elif isinstance(node, TreeLeaf):
            built.append(node)
        else:
            first_room, second_room = room.sides(node)
            if first_room is None or second_room is None:
                only, where = (node.second, second_room) if first_room is None else (node.first, first_room)
                if where is None:
                    raise NetworkError("a tree holds a branch that nobody can reach on either side")
                todo.append(("look", only, where))
            else:
                todo += [("join", node, room), ("look", node.second, second_room), ("look", node.first, first_room)]
    return built[0]


def _joined(node: TreeNode, first: TreeNode, second: TreeNode) -> TreeNode:
    if isinstance(first, TreeLeaf) and first == second:
        return first
    if isinstance(node, NumberNode):
        return NumberNode(node.column, node.threshold, first, second)
    assert isinstance(node, CategoryNode)
    return CategoryNode(node.columns, node.chosen & frozenset(node.columns), first, second)
