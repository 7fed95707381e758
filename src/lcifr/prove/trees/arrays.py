"""Arrays that the search over trees reads and writes: the ensemble in bins, people, answers, working memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    upto, after : (cuts,) the last number that somebody can have up to each, and the first beyond it. upto_bin,
        after_bin : their bins: those of whole numbers may leave out some that nobody is in.
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
    """What is asked about everybody.

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
    """What is known about everybody: (people, K), and the best points (people, K, features).

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

    lo: Integers
    hi: Integers
    mask: Words
    lower: Floats
    upper: Floats


class Lists(NamedTuple):
    """The trees that matter to a person, as lists of the leaves that their cell can reach, largest first.

    size : lists and leaves in use. start : (lists + 1,). leaf : (leaves,) its node. weight : (leaves,) in the
    direction. spread : (lists,) the difference between the largest and the least leaf of each. order : (lists,) by it.
    """

    size: Integers
    start: Integers
    leaf: Integers
    weight: Floats
    spread: Floats
    order: Integers


class CutLists(NamedTuple):
    """What parts leave of a person's lists; row 0 is the whole cell, the others are kept for parts split of late.

    Parameters
    ----------
    owner : (rows,) the node whose part it is. turn : (1,) the row that is written next. row : (nodes,) of each node.
    size : (rows,) lists of two leaves or more. start : (rows, lists + 1). place : (rows, leaves) in :class:`Lists`.
    fixed : (rows,) the sum of trees with one leaf left.
    """

    owner: Integers
    turn: Integers
    row: Integers
    size: Integers
    start: Integers
    place: NDArray[np.int32]
    fixed: Floats


class StepSums(NamedTuple):
    """Trees about one attribute, added up for each of its bins or values.

    cell, cell_used : in the whole cell. part, part_used : in a part. rest : the largest from a bin on.
    folded : (lists,) of the part, whether it is among them.
    """

    cell: Floats
    cell_used: Flags
    part: Floats
    part_used: Flags
    rest: Floats
    folded: Flags


class Gains(NamedTuple):
    """What the first and the second child of every split would lose: (cuts and sets,), added up by prefix for cuts.

    touched : (attributes,). split : (2,) attribute and place of the best one; lost : (2,) what its children lose.
    """

    first: Floats
    second: Floats
    touched: Flags
    split: Integers
    lost: Floats


class Open(NamedTuple):
    """The split tree of one answer.

    Parameters
    ----------
    size : open nodes, all nodes. parent, side : (nodes,) how a node was made. key : (nodes,) its bound.
    attribute, place, level : (nodes,) its split: a cut or set, or, where ``place`` is −1, a number at ``level``.
    child : (nodes,) the first of two; 0 for a leaf, −1 − r for one that row r leaves empty.
    heap : (nodes,) the open ones, largest bound first.
    """

    size: Integers
    parent: Integers
    attribute: Integers
    place: Integers
    level: Floats
    side: NDArray[np.int8]
    key: Floats
    child: Integers
    heap: Integers


class SplitRecord(NamedTuple):
    """Split trees of some people, for proofs: nodes as in :class:`Open`, and their roots (people, K); −1 for none.

    wanted : (1,) whether anything is recorded. size : nodes used, the first person, whether there was no room.
    """

    wanted: Flags
    size: Integers
    attribute: Integers
    place: Integers
    level: Floats
    child: Integers
    root: Integers


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
