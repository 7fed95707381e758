"""The conditions of every leaf: one for each attribute on the way to it, as bins or as bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcifr.models.trees import LEAF

IntArray = NDArray[np.int64]

BEYOND = 1 << 30
"""A bin after the last one."""


@dataclass(frozen=True)
class BinnedNodes:
    """The splits of all trees in bins and bits, as :class:`lcifr.prove.trees.shape.Ensemble` names them."""

    kind: NDArray[np.int8]
    second: IntArray
    attribute: IntArray
    cut: IntArray
    chosen: IntArray
    root: IntArray
    sets: NDArray[np.uint64]
    numbers: int

    def packed(self, twice: NDArray[np.uint8]) -> NDArray[np.int32]:
        """(nodes, 3) all that is needed at a node, side by side; ``twice`` of each leaf."""
        leaf = self.kind == LEAF
        place = np.where(leaf, twice, np.where(self.attribute < self.numbers, self.cut, self.chosen))
        return np.stack([np.where(leaf, -1, self.attribute), place, self.second], 1).astype(np.int32)


@dataclass(frozen=True)
class LeafConditions:
    """Conditions of leaves, one leaf after the other (see :class:`lcifr.prove.trees.shape.Ensemble`)."""

    first: IntArray
    about: IntArray
    low: IntArray
    high: IntArray
    bits: NDArray[np.uint64]
    twice: NDArray[np.uint8]
    depth: int

    @classmethod
    def of(cls, nodes: BinnedNodes) -> LeafConditions:
        """Level by level, all trees at once: children have the conditions of their parent and one more."""
        count = len(nodes.kind)
        levels = list[_Level]()
        level = _Level.of_roots(nodes)
        while len(level.node):
            levels.append(level.take(np.flatnonzero(nodes.kind[level.node] == LEAF)))
            level = level.children(nodes)
        deepest = levels[-1].about.shape[1] if levels else 0
        levels = [level.wider(deepest) for level in levels]
        node = np.concatenate([np.zeros(0, np.int64), *(level.node for level in levels)])
        order = np.argsort(node)
        used = np.concatenate([np.zeros((0, deepest), np.int64), *(level.about for level in levels)])[order] >= 0
        many = np.zeros(count + 1, np.int64)
        many[node[order] + 1] = used.sum(1)

        def gather(name: str, empty: NDArray[np.uint64] | IntArray) -> NDArray[np.int64]:
            return np.ascontiguousarray(np.concatenate([empty, *(getattr(one, name) for one in levels)])[order][used])

        none = np.zeros((0, deepest), np.int64)
        twice = np.zeros(count, np.uint8)
        twice[node] = np.concatenate([np.zeros(0, np.bool_), *(level.twice for level in levels)])
        return cls(
            first=np.cumsum(many),
            about=gather("about", none),
            low=gather("low", none),
            high=gather("high", none),
            bits=gather("bits", np.zeros((0, deepest, nodes.sets.shape[1]), np.uint64)).view(np.uint64),
            twice=twice,
            depth=len(levels),
        )


@dataclass(frozen=True)
class _Level:
    """Nodes of one depth: (nodes, slots) of conditions, those in use first; about −1 where a slot is free."""

    node: IntArray
    about: IntArray
    low: IntArray
    high: IntArray
    bits: NDArray[np.uint64]
    twice: NDArray[np.bool_]

    @classmethod
    def of_roots(cls, nodes: BinnedNodes) -> _Level:
        none = np.zeros((len(nodes.root), 0), np.int64)
        bits = np.zeros((len(nodes.root), 0, nodes.sets.shape[1]), np.uint64)
        return cls(np.array(nodes.root), none, none, none, bits, np.zeros(len(nodes.root), np.bool_))

    def take(self, rows: IntArray) -> _Level:
        return _Level(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def wider(self, slots: int) -> _Level:
        """With free slots at the end."""
        more = ((0, 0), (0, slots - self.about.shape[1]))
        return _Level(
            self.node,
            np.pad(self.about, more, constant_values=-1),
            np.pad(self.low, more),
            np.pad(self.high, more, constant_values=BEYOND),
            np.pad(self.bits, (*more, (0, 0)), constant_values=np.uint64(2**64 - 1)),
            self.twice,
        )

    def children(self, nodes: BinnedNodes) -> _Level:
        """The next level."""
        rows = np.flatnonzero(nodes.kind[self.node] != LEAF)
        parents = self.take(rows).wider(self.about.shape[1] + 1)
        split, here = parents.node, np.arange(len(rows))
        attribute = nodes.attribute[split]
        slot = ((parents.about == attribute[:, None]) | (parents.about < 0)).argmax(1)
        choice = attribute >= nodes.numbers
        again = choice & (parents.about[here, slot] >= 0)
        sides = []
        for side in range(2):
            about, low, high, bits = (getattr(parents, name).copy() for name in ("about", "low", "high", "bits"))
            about[here, slot] = attribute
            if side == 0:
                high[here, slot] = np.where(choice, BEYOND, np.minimum(high[here, slot], nodes.cut[split]))
            else:
                low[here, slot] = np.where(choice, 0, np.maximum(low[here, slot], nodes.cut[split] + 1))
            one = here[choice]
            chosen = nodes.sets[nodes.chosen[split[choice]]]
            bits[one, slot[choice]] &= chosen if side == 0 else ~chosen
            child = split + 1 if side == 0 else nodes.second[split]
            sides.append(_Level(child, about, low, high, bits, parents.twice | again))
        first, second = sides
        return _Level(*(np.concatenate([getattr(first, n), getattr(second, n)]) for n in self.__dataclass_fields__))
