"""Working memory of a search: all that it needs, so that it asks for none itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcifr.prove.trees.shape import BinPart, Ensemble, Gains, Lists, Open, SearchMemory, SplitRecord


@dataclass(frozen=True)
class Sizes:
    """How much there is room for: leaves of a person's lists, nodes of an answer, recorded nodes of a piece."""

    leaves: int = 4096
    nodes: int = 1024
    recorded: int = 8192


def make_memory(ensemble: Ensemble, sizes: Sizes, record: SplitRecord) -> SearchMemory:
    """Memory for one thread."""
    numbers, choices = len(ensemble.cut_start) - 1, len(ensemble.set_start) - 1
    attributes, words, depth = numbers + choices, ensemble.sets.shape[1], int(ensemble.depth[0]) + 2
    bins = np.diff(ensemble.cut_start) + 3
    sets = np.maximum(np.diff(ensemble.set_start), 64 * words)
    offset = np.cumsum([0, *bins.tolist(), *sets.tolist()]).astype(np.int64)
    trees = len(ensemble.root) + attributes + 1

    def part() -> BinPart:
        ends = np.zeros((2, numbers))
        bounds = np.zeros((2, attributes), np.int64)
        return BinPart(bounds[0], bounds[1], np.zeros((choices, words), np.uint64), ends[0], ends[1])

    return SearchMemory(
        part=part(),
        whole=part(),
        copy=part(),
        best=part(),
        lists=Lists(
            np.zeros(3, np.int64),
            np.zeros(trees + 1, np.int64),
            np.zeros(sizes.leaves, np.int64),
            np.zeros(sizes.leaves),
            np.zeros(sizes.leaves + 1, np.int64),
            np.zeros(8 * sizes.leaves, np.int64),
            np.zeros(8 * sizes.leaves, np.int64),
            np.zeros(8 * sizes.leaves, np.int64),
            np.zeros((8 * sizes.leaves, words), np.uint64),
            np.zeros(trees, np.int64),
        ),
        gains=Gains(
            np.zeros(int(offset[-1]) + 4),
            np.zeros(int(offset[-1]) + 4),
            offset,
            np.zeros(attributes, np.uint8),
            np.zeros(2, np.int64),
            np.zeros(2),
        ),
        open=Open(
            np.zeros(2, np.int64),
            np.zeros(sizes.nodes, np.int64),
            np.zeros(sizes.nodes, np.int64),
            np.zeros(sizes.nodes, np.int64),
            np.zeros(sizes.nodes),
            np.zeros(sizes.nodes, np.int8),
            np.zeros(sizes.nodes),
            np.zeros(sizes.nodes, np.int64),
            np.zeros(sizes.nodes, np.int64),
        ),
        record=record,
        stack=np.zeros(5 * depth + 5, np.int64),
        path=np.zeros(3 * depth + 3, np.int64),
        path_bits=np.zeros((depth + 1, words), np.uint64),
        stack_bits=np.zeros((depth + 1, words), np.uint64),
        steps=np.zeros(int(offset[-1]) + 4),
        merged=np.zeros(attributes, np.uint8),
        room=np.zeros(4),
        error=np.zeros(2),
        spread=np.zeros(trees),
        point=np.zeros(numbers),
        own=np.zeros(numbers),
        kept=np.zeros(2 * numbers),
        spent=np.zeros(1, np.int64),
        hit=np.zeros(1, np.uint8),
    )


def make_record(wanted: bool, nodes: int, begin: int, people: int, directions: int) -> SplitRecord:
    """Room for the split trees of some people; none where no proofs are wanted."""
    nodes, people = (nodes, people) if wanted else (1, 1)
    return SplitRecord(
        np.array([wanted], np.uint8),
        np.array([0, begin, 0]),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes),
        np.zeros(nodes, np.int64),
        np.full((people, directions), -1),
    )
