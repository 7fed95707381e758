"""Working memory of a search: all that it needs, so that it asks for none itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcifr.prove.trees.shape import (
    BinPart,
    CutLists,
    Ensemble,
    Floats,
    Gains,
    Integers,
    Lists,
    Open,
    SearchMemory,
    SplitRecord,
    StepSums,
)

ROWS = 128
"""Parts whose lists are kept, for their children."""


@dataclass(frozen=True)
class Sizes:
    """How much there is room for: leaves of a person's lists, nodes of an answer, recorded nodes of a piece."""

    leaves: int = 4096
    nodes: int = 1024
    recorded: int = 8192


def make_memory(ensemble: Ensemble, sizes: Sizes, record: SplitRecord) -> SearchMemory:
    """Memory for one thread."""
    numbers, attributes = len(ensemble.cut_start) - 1, len(ensemble.alone)
    lists, places = len(ensemble.root) + 1, len(ensemble.steps)
    return SearchMemory(
        part=_part(ensemble),
        whole=_part(ensemble),
        copy=_part(ensemble),
        best=_part(ensemble),
        lists=Lists(
            _ints(2), _ints(lists + 1), _ints(sizes.leaves), _floats(sizes.leaves), _floats(lists), _ints(lists)
        ),
        cut=_cut_lists(lists, sizes),
        steps=StepSums(
            cell=_floats(places),
            cell_used=np.zeros(attributes, np.uint8),
            part=_floats(places),
            part_used=np.zeros(attributes, np.uint8),
            rest=_floats(places),
            folded=np.zeros(lists, np.uint8),
        ),
        gains=Gains(_floats(places), _floats(places), np.zeros(attributes, np.uint8), _ints(2), _floats(2)),
        open=_open(sizes.nodes),
        record=record,
        stack=_ints(int(ensemble.depth[0]) + 2),
        room=_floats(4),
        error=_floats(2),
        point=_floats(numbers),
        own=_floats(numbers),
        kept=_floats(2 * numbers),
        spent=_ints(1),
        hit=np.zeros(1, np.uint8),
    )


def _ints(count: int) -> Integers:
    return np.zeros(count, np.int64)


def _floats(count: int) -> Floats:
    return np.zeros(count)


def _part(ensemble: Ensemble) -> BinPart:
    numbers, choices = len(ensemble.cut_start) - 1, len(ensemble.set_start) - 1
    ends, bounds = np.zeros((2, numbers)), np.zeros((2, numbers + choices), np.int64)
    return BinPart(bounds[0], bounds[1], np.zeros((choices, ensemble.sets.shape[1]), np.uint64), ends[0], ends[1])


def _cut_lists(lists: int, sizes: Sizes) -> CutLists:
    return CutLists(
        owner=_ints(ROWS),
        turn=_ints(1),
        row=_ints(sizes.nodes),
        size=_ints(ROWS),
        start=np.zeros((ROWS, lists + 1), np.int64),
        place=np.zeros((ROWS, sizes.leaves), np.int32),
        fixed=_floats(ROWS),
    )


def _open(nodes: int) -> Open:
    return Open(
        size=_ints(2),
        parent=_ints(nodes),
        attribute=_ints(nodes),
        place=_ints(nodes),
        level=_floats(nodes),
        side=np.zeros(nodes, np.int8),
        key=_floats(nodes),
        child=_ints(nodes),
        heap=_ints(nodes),
    )


def make_record(wanted: bool, nodes: int, begin: int, people: int, directions: int) -> SplitRecord:
    """Room for the split trees of some people; none where no proofs are wanted."""
    nodes, people = (nodes, people) if wanted else (1, 1)
    return SplitRecord(
        wanted=np.array([wanted], np.uint8),
        size=np.array([0, begin, 0]),
        attribute=_ints(nodes),
        place=_ints(nodes),
        level=_floats(nodes),
        child=_ints(nodes),
        root=np.full((people, directions), -1),
    )
