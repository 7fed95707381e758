"""Proofs by trying everybody: a cell is split until a single person, or a single pair, is left in each part."""

from __future__ import annotations

import itertools
import random
from typing import Any

from lcifr.check.table import AttributeTable
from tests.check.tiny_universes import Decider, Universe

MOST = 8  # splits on the way to a leaf


def directions_of(decider: Decider) -> list[Any]:
    """All that a rule can ask for."""
    outputs = range(decider.outputs)
    if decider.rule["kind"] == "within" or decider.outputs == 1:
        return [[[j, sign]] for j in outputs for sign in (1.0, -1.0)]
    pairs = [(i, j) for i in outputs for j in outputs if i < j]
    return [[[i, sign], [j, -sign]] for i, j in pairs for sign in (1.0, -1.0)]


def pair_directions_of(decider: Decider) -> list[Any]:
    """Of both decisions of a pair as one function."""
    if decider.rule["kind"] == "within":
        return [[[j, sign], [decider.outputs + j, -sign]] for j in range(decider.outputs) for sign in (1.0, -1.0)]
    classes = [c for group in decider.groups for c in group]
    apart = [i for i in classes for j in classes if decider.group_of(i) != decider.group_of(j)]
    return [[[output, 1.0]] for output in range(len(apart))]  # each two classes are there twice, as are their scores


class ProofWriter:
    """Writes proofs over a table, or over one of pairs, whose names are those of ``others``; some stop too early."""

    def __init__(self, dice: random.Random, universe: Universe, whole: bool, trees: bool) -> None:
        self.dice, self.universe, self.whole, self.trees = dice, universe, whole, trees

    def proof(self, table: AttributeTable, directions: list[Any], others: dict[str, str] | None = None) -> list[Any]:
        names = {called: name for name, called in (others or {}).items()}
        splits = [split for name in table.columns for split in self._splits(table, name, names.get(name, name))]
        lost = self.dice.choice([0.0, 0.0, 0.0, 0.2, 0.6])
        kept = [split for split in splits if self.dice.random() >= lost]
        kept = self.dice.sample(kept, min(MOST, len(kept)))
        tree: list[Any] = [["leaf", [], [[direction, [], []] for direction in directions]]]
        for split in kept:
            tree = [split, *tree, *tree]
        return tree

    def _splits(self, table: AttributeTable, name: str, own: str) -> list[Any]:
        columns, values = table.columns[name], self.universe.values[own]
        if name in table.codes:
            return [["choice", columns[0], [column]] for column in columns[:-1]]
        if self.whole and self.universe.is_whole(own) and self.dice.random() < 0.7:
            return [["whole", name, int(value)] for value in values[:-1]]
        ends = sorted({table.numbers[name].encode(value) for value in values})
        return [
            ["numeric", columns[0], low if self.trees else (low + high) / 2] for low, high in itertools.pairwise(ends)
        ]
