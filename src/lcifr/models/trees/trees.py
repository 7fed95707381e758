"""Trees: a sum of trees with linear outputs over encoded columns, frozen, with exact evaluation and canonical bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.function import FloatArray, Function
from lcifr.models.network import FLOOR, LARGEST, gamma
from lcifr.models.trees.nodes import CategoryNode, NumberNode, TreeLeaf, TreeNode, cut_unreachable, preorder

LEAF, NUMBER, CATEGORY = 0, 1, 2
"""Kinds of nodes."""
AT_ONCE = 512
"""Points whose ways through the trees are followed together: what is known of them stays in the cache."""


@dataclass(frozen=True)
class NodeArrays:
    """The nodes of all trees in preorder, one tree after the other; the first child of a split is the next node.

    Parameters
    ----------
    kind : (nodes,) LEAF, NUMBER or CATEGORY. column : (nodes,) of a number; the first of a category.
    threshold : (nodes,) of a number. chosen : (nodes,) of a category, its row of ``sets``.
    second : (nodes,) the second child. value : (nodes, outputs), 0 at splits. root : (trees,).
    sets : (sets, inputs) the columns of each set of categories that some split names.
    """

    kind: NDArray[np.int8]
    column: NDArray[np.int64]
    threshold: FloatArray
    chosen: NDArray[np.int64]
    second: NDArray[np.int64]
    value: FloatArray
    root: NDArray[np.int64]
    sets: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Trees(Function):
    """base + scale · Σ leaves, over encoded columns (docs/design/trees.md). Build it with :meth:`of`.

    Parameters
    ----------
    width : columns of the encoding. base : (outputs,). scale : of the sum of leaves, positive.
    nodes : of all trees.
    native : the arithmetic in which the library adds the leaves up.
    """

    width: int
    base: FloatArray
    scale: Fraction
    nodes: NodeArrays
    native: Arithmetic = field(default=Arithmetic.FLOAT64, repr=False)

    @classmethod
    def of(cls, inputs: int, base: ArrayLike, trees: Iterable[TreeNode], scale: Fraction | float | int = 1) -> Trees:
        """A sum of trees, checked; what nobody can reach is cut off."""
        start = np.array(base, dtype=np.float64).reshape(-1) + 0.0
        found = cls(inputs, start, Fraction(scale), _arrays(inputs, len(start), [cut_unreachable(t) for t in trees]))
        if found.scale <= 0:
            raise NetworkError(f"the scale of a sum of trees is {float(found.scale):g}, which is not positive")
        size = np.abs(start) + (1 + found.scale_above) * found.largest.sum(0)
        if not (size <= LARGEST).all():
            raise NetworkError(f"the leaves hold NaN, infinity, or numbers that add up to more than {LARGEST:g}")
        for array in (found.base, *vars(found.nodes).values()):
            array.flags.writeable = False
        return found

    def of_runtime(self, native: Arithmetic) -> Trees:
        """The same function, said to be added up in this arithmetic."""
        return replace(self, native=native)

    @property
    def inputs(self) -> int:
        return self.width

    @property
    def outputs(self) -> int:
        return len(self.base)

    @property
    def count(self) -> int:
        """How many trees there are."""
        return len(self.nodes.root)

    @property
    def scale_above(self) -> float:
        """The scale, rounded up."""
        return float(np.nextafter(float(self.scale), np.inf))

    @cached_property
    def largest(self) -> FloatArray:
        """(trees, outputs) the largest absolute value among the leaves of each tree."""
        if not self.count:
            return np.zeros((0, self.outputs))
        return np.asarray(np.maximum.reduceat(np.abs(self.nodes.value), self.nodes.root, axis=0))

    def leaves(self, points: ArrayLike) -> NDArray[np.int64]:
        """(points, inputs) -> (points, trees) the node that each point ends at in each tree."""
        value = np.asarray(points, dtype=np.float64)
        if value.ndim != 2 or value.shape[1] != self.inputs:
            raise NetworkError(
                f"points have the shape {value.shape}, the trees take {self.inputs} columns",
                fix="encode people with the encoding of the model",
            )
        found = [self._leaves(value[start : start + AT_ONCE]) for start in range(0, len(value), AT_ONCE)]
        return np.concatenate([np.zeros((0, self.count), np.int64), *found])

    @cached_property
    def _ways(self) -> tuple[NDArray[np.intp], FloatArray, NDArray[np.intp]]:
        """(nodes,) column and threshold, (2 · nodes,) second and first child; sets are columns behind the others, and a
        leaf is its own child."""
        nodes, own = self.nodes, np.arange(len(self.nodes.kind))
        leaf, category = nodes.kind == LEAF, nodes.kind == CATEGORY
        column = np.where(leaf, 0, np.where(category, self.width + nodes.chosen, nodes.column)).astype(np.intp)
        threshold = np.where(leaf, np.inf, np.where(category, -0.5, nodes.threshold))
        children = np.stack([np.where(leaf, own, nodes.second), np.where(leaf, own, own + 1)], 1)
        return column, threshold, children.reshape(-1).astype(np.intp)

    def _leaves(self, points: FloatArray) -> NDArray[np.int64]:
        column, threshold, children = self._ways
        hits = points @ self.nodes.sets.T > 0.5
        entries = np.concatenate([points, np.where(hits, -1.0, 0.0)], axis=1)
        rows = (np.arange(len(points)) * entries.shape[1])[:, None]
        flat, place = entries.reshape(-1), np.tile(self.nodes.root.astype(np.intp), (len(points), 1))
        while True:
            first = flat.take(rows + column.take(place)) <= threshold.take(place)
            below = children.take(2 * place + first)
            if np.array_equal(below, place):
                return place.astype(np.int64, copy=False)
            place = below

    def __call__(self, points: ArrayLike) -> FloatArray:
        value = np.asarray(points, dtype=np.float64)
        flat = value.reshape(-1, value.shape[-1])
        safe = np.where(np.isnan(flat), 0.0, flat)
        total = np.zeros((len(flat), self.outputs))
        for start in range(0, len(flat), AT_ONCE):
            rows = slice(start, start + AT_ONCE)
            total[rows] = self.nodes.value[self.leaves(safe[rows])].sum(1)
        result = self.base + total * self.scale.numerator / self.scale.denominator
        result[np.isnan(flat).any(1)] = np.nan
        return np.asarray(result.reshape(*value.shape[:-1], self.outputs))

    def error(self, points: ArrayLike) -> FloatArray:
        """One bound for all points: each term passes through at most (trees + 8) rounded operations."""
        size = np.abs(self.base) + self.scale_above * self.largest.sum(0) + FLOOR
        return np.broadcast_to(gamma(self.count + 8) * size, (*np.shape(points)[:-1], self.outputs))

    def exactly(self, point: Sequence[float]) -> tuple[Fraction, ...]:
        reached = self.nodes.value[self.leaves(np.asarray(point, dtype=np.float64)[None])[0]]
        sums = [sum(map(Fraction, column), Fraction(0)) for column in reached.T.tolist()]
        return tuple(Fraction(b) + self.scale * s for b, s in zip(self.base.tolist(), sums, strict=True))

    def to_plain(self) -> dict[str, Any]:
        """As files hold it (docs/design/trees.md, *Canonical form*)."""
        ends = [*self.nodes.root.tolist(), len(self.nodes.kind)]
        trees = [[self._plain(n) for n in range(a, b)] for a, b in pairwise(ends)]
        scale = [self.scale.numerator, self.scale.denominator]
        return {"kind": "trees", "inputs": self.width, "base": self.base.tolist(), "scale": scale, "trees": trees}

    def _plain(self, n: int) -> list[Any]:
        nodes = self.nodes
        if nodes.kind[n] == LEAF:
            return ["leaf", [[o, v] for o, v in enumerate(nodes.value[n].tolist()) if v]]
        if nodes.kind[n] == NUMBER:
            return ["numeric", int(nodes.column[n]), float(nodes.threshold[n])]
        return ["choice", int(nodes.column[n]), np.flatnonzero(nodes.sets[nodes.chosen[n]]).tolist()]

    def to_bytes(self) -> bytes:
        return json.dumps(self.to_plain(), separators=(",", ":"), allow_nan=False).encode()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trees) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)


def _arrays(inputs: int, outputs: int, trees: Sequence[TreeNode]) -> NodeArrays:
    flat = [list(preorder(tree)) for tree in trees]
    sizes = [len(nodes) for nodes in flat]
    total = sum(sizes)
    made = NodeArrays(
        np.zeros(total, np.int8),
        np.zeros(total, np.int64),
        np.zeros(total),
        np.zeros(total, np.int64),
        np.zeros(total, np.int64),
        np.zeros((total, outputs)),
        np.cumsum([0, *sizes[:-1]], dtype=np.int64) if sizes else np.zeros(0, np.int64),
        np.zeros((0, inputs), np.bool_),
    )
    sets: dict[frozenset[int], int] = {}
    waiting: list[int] = []
    for n, node in enumerate(node for nodes in flat for node in nodes):
        if n and made.kind[n - 1] == LEAF and waiting:  # a first subtree has ended: here begins the second
            made.second[waiting.pop()] = n
        _fill(made, n, node, inputs, outputs, sets)
        if not isinstance(node, TreeLeaf):
            waiting.append(n)
    table = np.zeros((len(sets), inputs), np.bool_)
    for chosen, row in sets.items():
        table[row, sorted(chosen)] = True
    return replace(made, sets=table)


def _fill(made: NodeArrays, n: int, node: TreeNode, inputs: int, outputs: int, sets: dict[frozenset[int], int]) -> None:
    if isinstance(node, TreeLeaf):
        if len(node.values) != outputs or not all(np.isfinite(value) for value in node.values):
            raise NetworkError(f"a leaf holds {node.values}; expected {outputs} finite numbers")
        made.value[n] = np.asarray(node.values) + 0.0
        return
    if isinstance(node, NumberNode):
        if not (0 <= node.column < inputs and np.isfinite(node.threshold)):
            raise NetworkError(f"a split at {node.threshold} of column {node.column}; there are {inputs} columns")
        made.kind[n], made.column[n], made.threshold[n] = NUMBER, node.column, node.threshold + 0.0
        return
    assert isinstance(node, CategoryNode)
    if not (node.chosen and node.chosen < frozenset(node.columns) and node.columns.stop <= inputs):
        raise NetworkError(f"a split by columns {sorted(node.chosen)} of the attribute at {node.columns}")
    made.kind[n], made.column[n] = CATEGORY, node.columns.start
    made.chosen[n] = sets.setdefault(node.chosen, len(sets))
