"""Arrays that the search over trees reads and writes: the ensemble in bins, people, answers, working memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.uint8]
Words = NDArray[np.uint64]


class Ensemble(NamedTuple):
    """Trees over *attributes*: numbers in cell order, then the choices of a cell.

    Parameters
    ----------
    kind, second : (nodes,) as in ``NodeArrays``. value : (nodes, outputs), times the scale.
    attribute : (nodes,) of a split. cut : (nodes,) of a number: the first child is bins ≤ cut.
    chosen : (nodes,) of a category: its row of ``sets``.
    root : (trees,). base : (outputs,).
    cut_start : (numbers + 1,) where the cuts of each number begin. cuts : the thresholds, ascending for each number.
    upto, after : (cuts,) the last number that somebody can have up to each, and the first beyond it. upto_bin,
        after_bin : their bins: those of whole numbers may leave out some that nobody is in.
    whole : (numbers,) whether only whole numbers count. level_start, levels : those that count, of each number.
    sets : (sets, words) of bits, one for each value of the choice. set_start : (choices + 1,) in ``sets``.
    depth : (1,) of the deepest tree.
    """

    kind: NDArray[np.int8]
    second: Integers
    value: Floats
    attribute: Integers
    cut: Integers
    chosen: Integers
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

    lo, hi : (attributes,). mask : (choices, words).
    lower, upper : (numbers,) ends as encoded numbers, kept where the cell has rows.
    """

    lo: Integers
    hi: Integers
    mask: Words
    lower: Floats
    upper: Floats


class Lists(NamedTuple):
    """The trees that still matter to a person, as lists of leaves, largest first.

    Parameters
    ----------
    size : lists, leaves, conditions in use. start : (lists + 1,) in ``rank``; rank : (leaves,) the leaf at each place.
    weight : (leaves,). first : (leaves + 1,) where the conditions of a leaf begin.
    about, low, high : (conditions,) attribute and bins. bits : (conditions, words) of a choice.
    order : (lists,) by what they can gain, most first.
    """

    size: Integers
    start: Integers
    rank: Integers
    weight: Floats
    first: Integers
    about: Integers
    low: Integers
    high: Integers
    bits: Words
    order: Integers


class Gains(NamedTuple):
    """What the first and the second child of every split would lose: (cuts and sets,), added up by prefix for cuts.

    offset : (attributes + 1,) where those of each attribute begin. touched : (attributes,).
    split : (2,) attribute and place of the best one; lost : (2,) what its children lose.
    """

    first: Floats
    second: Floats
    offset: Integers
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
    """Memory of one thread."""

    part: BinPart
    whole: BinPart
    copy: BinPart
    best: BinPart
    lists: Lists
    gains: Gains
    open: Open
    record: SplitRecord
    stack: Integers
    path: Integers
    path_bits: Words
    stack_bits: Words
    steps: Floats
    merged: Flags
    room: Floats
    error: Floats
    spread: Floats
    point: Floats
    own: Floats
    kept: Floats
    spent: Integers
    hit: Flags
