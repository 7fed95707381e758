"""Arrays that the search over trees reads and writes: the ensemble in bins, people, answers, working memory.

Fields of working memory declare their shape, as in the kernels for networks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lcifr.prove.networks.kernel.arrays import zeros

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.uint8]
Words = NDArray[np.uint64]


ATTRIBUTE, PLACE, SECOND_CHILD = 0, 1, 2
"""Columns of ``Ensemble.split``."""
ABOUT, LOW, HIGH = 0, 1, 2
"""Columns of ``Ensemble.condition``."""


class Ensemble(NamedTuple):
    """Trees over *attributes*: numbers in cell order, then the choices of a cell.

    Parameters
    ----------
    split : (nodes, 3) ATTRIBUTE, PLACE and SECOND_CHILD; the first child is the next node. The place of a number is its
        cut: the first child is bins ≤ cut; that of a category its row of ``sets``. A leaf has the attribute −1; its
        place is whether a category is split twice on the way to it: then only its conditions say who is there.
    value : (nodes, outputs) of leaves, times the scale.
    root : of the trees about more than one attribute. base : (outputs,).
    first : (nodes + 1,) where the conditions of a leaf begin: one for each attribute on the way to it.
        condition : (conditions, 3) ABOUT which attribute, LOW and HIGH bin. bits : (conditions, words) of a choice.
    offset : (attributes + 1,) where the bins or values of each attribute begin in tables of them.
    alone : (attributes,) whether trees are about this attribute alone. steps : (bins and values, outputs) their sum.
    size : (outputs,) the sum of the largest absolute values of all trees. trees : (1,) how many there are in all.
    cut_start : (numbers + 1,) where the cuts of each number begin. cuts : the thresholds, ascending for each number.
    upto, after : (cuts,) the last number that a person can have up to each, and the first beyond it. upto_bin,
        after_bin : their bins: those of whole numbers may leave out some without people.
    whole : (numbers,) whether only whole numbers count. level_start, levels : those that count, of each number.
    sets : (sets, words) of bits, one for each value of the choice. set_start : (choices + 1,) in ``sets``.
    depth : (1,) of the deepest tree.
    """

    split: NDArray[np.int32]
    value: Floats
    root: Integers
    base: Floats
    cut_start: Integers
    cuts: Floats
    upto: Floats
    after: Floats
    upto_bin: Integers
    after_bin: Integers
    whole: Flags
    level_start: Integers
    levels: Floats
    sets: Words
    set_start: Integers
    depth: Integers
    first: Integers
    condition: NDArray[np.int32]
    bits: Words
    offset: Integers
    alone: Flags
    steps: Floats
    size: Floats
    trees: Integers


class TreeQuestion(NamedTuple):
    """The question about all people.

    Parameters
    ----------
    direction : (1 or people, K, outputs). target : (people, K), −inf where there is none.
    tolerance, nodes : of each answer. stop : (1,) set from outside to end the search.
    """

    direction: Floats
    target: Floats
    tolerance: float
    nodes: int
    stop: Flags


class NumberRows(NamedTuple):
    """Linear rows of a cell over its numbers, in cell order: matrix · numbers ≤ limit, and the room of rounding.

    matrix : (rows, numbers). limit : (people, rows). Categories do not enter rows.
    """

    matrix: Floats
    limit: Floats


class Found(NamedTuple):
    """The answers so far: (people, K), and the best points (people, K, features).

    proved : of one cell; ``upper`` is the largest of all.
    """

    upper: Floats
    proved: Floats
    best: Floats
    nodes: Integers
    exhausted: Flags
    branched: Flags
    witness: Floats


class BinPart(NamedTuple):
    """A part of a person's cell: bins lo … hi of each attribute, and the values left of each choice as bits.

    lo, hi : (attributes,); of a choice its first and last value, left or not. mask : (choices, words).
    lower, upper : (numbers,) ends as encoded numbers, kept where the cell has rows.
    """

    lo: Annotated[Integers, "attributes"]
    hi: Annotated[Integers, "attributes"]
    mask: Annotated[Words, "choices", "words"]
    lower: Annotated[Floats, "numbers"]
    upper: Annotated[Floats, "numbers"]


class Lists(NamedTuple):
    """The trees that matter to a person, as lists of the leaves that their cell can reach, largest first.

    size : lists and leaves in use. start : (lists + 1,). leaf : (leaves,) its node. weight : (leaves,) in the
    direction. spread : (lists,) the difference between the largest and the least leaf of each. order : (lists,) by it.
    """

    size: Annotated[Integers, 2]
    start: Annotated[Integers, "starts"]
    leaf: Annotated[Integers, "leaves"]
    weight: Annotated[Floats, "leaves"]
    spread: Annotated[Floats, "lists"]
    order: Annotated[Integers, "lists"]


ROWS = 128
"""Parts whose lists are kept, for their children."""


class CutLists(NamedTuple):
    """What parts leave of a person's lists; row 0 is the whole cell, the others are kept for parts split of late.

    Parameters
    ----------
    owner : (rows,) the node whose part it is. turn : (1,) the row that is written next. row : (nodes,) of each node.
    size : (rows,) lists of two leaves or more. start : (rows, lists + 1). place : (rows, leaves) in :class:`Lists`.
    fixed : (rows,) the sum of trees with one leaf left.
    """

    owner: Annotated[Integers, ROWS]
    turn: Annotated[Integers, 1]
    row: Annotated[Integers, "nodes"]
    size: Annotated[Integers, ROWS]
    start: Annotated[Integers, ROWS, "starts"]
    place: Annotated[NDArray[np.int32], ROWS, "leaves"]
    fixed: Annotated[Floats, ROWS]


class StepSums(NamedTuple):
    """Trees about one attribute, added up for each of its bins or values.

    cell, cell_used : in the whole cell. part, part_used : in a part. rest : the largest from a bin on.
    folded : (lists,) of the part, whether it is among them.
    """

    cell: Annotated[Floats, "places"]
    cell_used: Annotated[Flags, "attributes"]
    part: Annotated[Floats, "places"]
    part_used: Annotated[Flags, "attributes"]
    rest: Annotated[Floats, "places"]
    folded: Annotated[Flags, "lists"]


class Gains(NamedTuple):
    """What the first and the second child of every split would lose: (cuts and sets,), added up by prefix for cuts.

    touched : (attributes,). split : (2,) attribute and place of the best one; lost : (2,) what its children lose.
    """

    first: Annotated[Floats, "places"]
    second: Annotated[Floats, "places"]
    touched: Annotated[Flags, "attributes"]
    split: Annotated[Integers, 2]
    lost: Annotated[Floats, 2]


class Open(NamedTuple):
    """The split tree of one answer.

    Parameters
    ----------
    size : open nodes, all nodes. parent, side : (nodes,) how a node was made. key : (nodes,) its bound.
    attribute, place, level : (nodes,) its split: a cut or set, or, where ``place`` is −1, a number at ``level``.
    child : (nodes,) the first of two; 0 for a leaf, −1 − r for one that row r leaves empty.
    heap : (nodes,) the open ones, largest bound first.
    """

    size: Annotated[Integers, 2]
    parent: Annotated[Integers, "nodes"]
    attribute: Annotated[Integers, "nodes"]
    place: Annotated[Integers, "nodes"]
    level: Annotated[Floats, "nodes"]
    side: Annotated[NDArray[np.int8], "nodes"]
    key: Annotated[Floats, "nodes"]
    child: Annotated[Integers, "nodes"]
    heap: Annotated[Integers, "nodes"]


class SplitRecord(NamedTuple):
    """Split trees of some people, for proofs: nodes as in :class:`Open`, and their roots (people, K); −1 for none.

    wanted : (1,) whether anything is recorded. size : nodes used, the first person, whether there was no room.
    """

    wanted: Annotated[Flags, 1]
    size: Annotated[Integers, 3]
    attribute: Annotated[Integers, "nodes"]
    place: Annotated[Integers, "nodes"]
    level: Annotated[Floats, "nodes"]
    child: Annotated[Integers, "nodes"]
    root: Annotated[Integers, "people", "directions"]


class SearchMemory(NamedTuple):
    """Memory of one thread.

    room : size of all leaves, the constant, what is proved, what is reached. error : of a bound, of a child's bound.
    """

    part: BinPart
    whole: BinPart
    copy: BinPart
    best: BinPart
    lists: Lists
    cut: CutLists
    steps: StepSums
    gains: Gains
    open: Open
    record: SplitRecord
    stack: Integers
    room: Floats
    error: Floats
    point: Floats
    own: Floats
    kept: Floats
    spent: Integers
    hit: Flags


# Working memory of a search: all that it needs, so that it asks for none itself.


@dataclass(frozen=True)
class Sizes:
    """How much there is room for: leaves of a person's lists, nodes of an answer, recorded nodes of a chunk."""

    leaves: int = 4096
    nodes: int = 1024
    recorded: int = 8192


def make_memory(ensemble: Ensemble, sizes: Sizes, record: SplitRecord) -> SearchMemory:
    """Memory for one thread."""
    numbers, attributes, lists = len(ensemble.cut_start) - 1, len(ensemble.alone), len(ensemble.root) + 1
    cell = {"numbers": numbers, "attributes": attributes, "lists": lists, "starts": lists + 1}
    shape = {**cell, "places": len(ensemble.steps), "leaves": sizes.leaves, "nodes": sizes.nodes}
    choices, words = len(ensemble.set_start) - 1, ensemble.sets.shape[1]
    part, whole, copy, best = (zeros(BinPart, choices=choices, words=words, **cell) for _ in range(4))
    return SearchMemory(
        part=part,
        whole=whole,
        copy=copy,
        best=best,
        lists=zeros(Lists, **shape),
        cut=zeros(CutLists, **shape),
        steps=zeros(StepSums, **shape),
        gains=zeros(Gains, **shape),
        open=zeros(Open, **shape),
        record=record,
        stack=np.zeros(int(ensemble.depth[0]) + 2, np.int64),
        room=np.zeros(4),
        error=np.zeros(2),
        point=np.zeros(numbers),
        own=np.zeros(numbers),
        kept=np.zeros(2 * numbers),
        spent=np.zeros(1, np.int64),
        hit=np.zeros(1, np.uint8),
    )


def make_record(wanted: bool, nodes: int, begin: int, people: int, directions: int) -> SplitRecord:
    """Room for the split trees of some people; none where no proofs are wanted."""
    nodes, people = (nodes, people) if wanted else (1, 1)
    record = zeros(SplitRecord, nodes=nodes, people=people, directions=directions)
    record.wanted[0], record.size[1] = wanted, begin
    record.root.fill(-1)
    return record
