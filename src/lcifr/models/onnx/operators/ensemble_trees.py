"""Nodes of ONNX tree ensembles, put together as trees over the columns of a matrix."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lcifr.models.dataflow.vectors import WIDEST
from lcifr.models.onnx.calls import Call
from lcifr.models.trees.nodes import TreeLeaf
from lcifr.models.trees.splits import LibraryNode, LibrarySplit

EQUALITY = ("BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
MOST_VALUES = 2**24
"""Of all leaves together: a short file may ask for any number of outputs."""


@dataclass(frozen=True)
class EnsembleNodes:
    """The nodes of all trees side by side.

    Parameters
    ----------
    feature, mode, threshold, yes, no : of each node; children by their places. missing_yes : where missing values go.
    members : of a node that asks for one of several numbers. leaves : of each leaf the values, by output.
    """

    call: Call
    outputs: int
    feature: Sequence[int]
    mode: Sequence[str]
    threshold: Sequence[float]
    yes: Sequence[int]
    no: Sequence[int]
    missing_yes: Sequence[bool]
    leaves: Mapping[int, Mapping[int, float]]
    members: Mapping[int, frozenset[float]]

    def trees(self, roots: Sequence[int]) -> tuple[LibraryNode, ...]:
        """One for each root; every other node has one parent."""
        if not roots:
            raise self.call.refuse("there is no tree")
        if not 0 < self.outputs <= WIDEST or len(self.leaves) * self.outputs > MOST_VALUES:
            raise self.call.refuse(f"{self.outputs} outputs of {len(self.leaves)} leaves are too many")
        seen: set[int] = set()
        return tuple(self._tree(root, seen) for root in roots)

    def _tree(self, root: int, seen: set[int]) -> LibraryNode:
        waiting: list[tuple[int, bool]] = [(root, False)]  # whether both children are built
        built: list[LibraryNode] = []
        while waiting:
            node, ready = waiting.pop()
            if node in self.leaves:
                values = self.leaves[node]
                built.append(TreeLeaf(tuple(values.get(output, 0.0) for output in range(self.outputs))))
            elif ready:
                no, yes = built.pop(), built.pop()
                built.append(self._split(node, yes, no))
            elif node in seen:
                raise self.call.refuse(f"node {node} has two parents, or is its own ancestor")
            else:
                seen.add(node)
                waiting += [(node, True), (self.no[node], False), (self.yes[node], False)]
        return built[0]

    def _split(self, node: int, yes: LibraryNode, no: LibraryNode) -> LibrarySplit:
        mode, feature, at = self.mode[node], self.feature[node], self.threshold[node]
        missing = self.missing_yes[node]
        if mode in EQUALITY:
            members = self.members.get(node, frozenset({at}))
            turned = mode == "BRANCH_NEQ"
            first, second = (no, yes) if turned else (yes, no)
            return LibrarySplit(feature, 0.0, first, second, missing_first=missing != turned, members=members)
        if math.isnan(at):
            raise self.call.refuse(f"the threshold of node {node} is NaN")
        if mode in ("BRANCH_LEQ", "BRANCH_LT"):
            return LibrarySplit(feature, at, yes, no, strict=mode == "BRANCH_LT", missing_first=missing)
        return LibrarySplit(feature, at, no, yes, strict=mode == "BRANCH_GTE", missing_first=not missing)
