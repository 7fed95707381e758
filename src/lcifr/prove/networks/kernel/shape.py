"""What the compiled kernel is given and what it fills in: plain arrays, by name.

In *cell order* the numeric columns come first, then the values of all choices, one choice after the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.uint8]


class FirstLayer(NamedTuple):
    """The first layer, and how far rounding can take it (see :class:`RoundingBound` in ``networks.rounding``).

    Parameters
    ----------
    weight : (columns in cell order, hidden). bias, slope, shift : (hidden,). unit : γ.
    farthest : an |x| beyond this counts as infinite, and with it every bound.
    """

    weight: Floats
    bias: Floats
    slope: Floats
    shift: Floats
    unit: float
    farthest: float


class Cells(NamedTuple):
    """One cell of n people.

    Parameters
    ----------
    lower, upper : (n, numerics). allowed : (n, values of all choices). start : (choices + 1,) where each begins.
    column : (columns in cell order,) which feature it is. present : (n,).
    """

    lower: Floats
    upper: Floats
    allowed: Flags
    start: Integers
    column: Integers
    present: Flags


class Objectives(NamedTuple):
    """K directions; the first axis of most arrays is n, or 1 where everybody is asked the same.

    Parameters
    ----------
    value : (·, hidden, K) direction · last layer; plus, minus : its positive and its negative part.
    level : (·, K) direction · last bias.
    rise, shift : (·, K) of the rounding term unit·(rise·X + shift). offset : (n, K) added before values are compared.
    target : (n, answers), −inf where there is none. together : whether all directions belong to one answer.
    branch : whether to branch. nodes : allowed for each direction. stop : (1,) not 0 once time is over.
    """

    value: Floats
    plus: Floats
    minus: Floats
    level: Floats
    rise: Floats
    shift: Floats
    offset: Floats
    target: Floats
    tolerance: float
    together: bool
    branch: bool
    nodes: int
    stop: Flags


class KernelAnswer(NamedTuple):
    """What is filled in; several cells of the same people fill the same arrays, one after the other.

    Parameters
    ----------
    upper : (n, K) proved, without the offset. nodes : (n, K). exhausted, branched : (n, K).
    best : (n, answers) with the offset. witness : (n, answers, features).
    """

    upper: Floats
    nodes: Integers
    exhausted: Flags
    branched: Flags
    best: Floats
    witness: Floats


class MovingCell(NamedTuple):
    """One person's cell with only what moves: q columns, the moving numerics first, then the free choices' values.

    Parameters
    ----------
    size : how many unstable neurons, moving numerics, columns q, free choices.
    pattern : (numerics + choices,) what moves; the compact arrays below are made anew only when it changes.
    source : (q,) the column in cell order. begin : (choices + 1,) where each free choice begins among the q.
    choice : (choices,) which choice it is. weight : (hidden, q).
    low, high : (q,) ends of each column. allow : (q,).
    base, lo, hi : (hidden,) first layer at what is fixed, and its proved interval. on, least, most : (hidden,).
    unstable : the neurons that can be on and off. largest : (1,) largest |x| of a numeric.
    """

    size: Integers
    pattern: Flags
    source: Integers
    begin: Integers
    choice: Integers
    weight: Floats
    low: Floats
    high: Floats
    allow: Flags
    base: Floats
    lo: Floats
    hi: Floats
    on: Flags
    least: Floats
    most: Floats
    unstable: Integers
    largest: Floats


class SimplexDictionary(NamedTuple):
    """The linear program of a node: basic variables as affine functions of the others.

    Variables 0 … q−1 are the columns, as shares of their range; q + u is the input of unstable neuron u.

    Parameters
    ----------
    size : rows, columns, the direction that the cost is for, pivots since it was built.
    table : (rows, columns). value : (rows,). basis : (rows,) which variable. slope : (rows,) of its cost where it is.
    other : (columns,) which variable. at : (columns,) its value. rest : (columns,) what it changes through the basis.
    gain : (q,) linear cost. left, right : (unstable,) slopes of the cost below and above 0, left ≥ right.
    reach : (q + unstable,) how far a variable can move, to compare gains.
    """

    size: Integers
    table: Floats
    value: Floats
    basis: Integers
    slope: Floats
    other: Integers
    at: Floats
    rest: Floats
    gain: Floats
    left: Floats
    right: Floats
    reach: Floats
    step: Floats
    share: Floats
    input: Floats


class Tree(NamedTuple):
    """Open nodes of one answer, the most promising first.

    Parameters
    ----------
    size : nodes in the heap, names ever used, names free again, nodes that may still be worked on.
    heap, spare : names of nodes.
    key : bound with the offset. bound : proved. direction : which. phase : (·, unstable) 1 and −1 where decided.
    allow : (·, q) categories. cut : whether some are gone. record : its number in the proof.
    """

    size: Integers
    heap: Integers
    spare: Integers
    key: Floats
    bound: Floats
    direction: Integers
    phase: NDArray[np.int8]
    allow: Flags
    cut: Flags
    record: Integers


class Scratch(NamedTuple):
    """What one node is worked on with; (unstable,) or (q,) each.

    Parameters
    ----------
    stable, constant : the part of the current direction that is linear on the whole cell. slopes : of a bound.
    slope, intercept : of the lines that replace the neurons. point : of the cell. half : some categories of a choice.
    best, hit : the best point found in this cell, and whether there is one.
    lo, hi : (hidden,) intervals. plain : (q, directions) slopes of the plain bounds. most : (directions,).
    upper, output : (directions,) proved of this person in this cell, and so far by the leaves of each tree.
    spent : (directions,) nodes.
    """

    stable: Floats
    constant: Floats
    slopes: Floats
    slope: Floats
    intercept: Floats
    point: Floats
    best: Floats
    hit: Flags
    half: Flags
    lo: Floats
    hi: Floats
    plain: Floats
    most: Floats
    upper: Floats
    output: Floats
    spent: Integers


class Record(NamedTuple):
    """Nodes of the trees of some people, one after the other.

    Parameters
    ----------
    wanted : (1,) whether anything is written. size : nodes used, whether there was no room, the first person,
    whose turn it is.
    kind, place : (nodes,) the split, and which neuron, choice or column. level : k of a whole number. threshold : t.
    child : (nodes, 2). by : (nodes,) whose multipliers. half : (nodes, columns in cell order) of a choice.
    slope : (nodes, free) coefficient of each free neuron's input. rate : (nodes, rows) λ.
    above : (nodes, free) slopes of the lines that ends of deeper layers are proved with at this node.
    source : (nodes, 2·neurons) the node with whose lines the upper (2n) and lower (2n + 1) end of neuron n was proved.
    root : (people, K), −1 where the lines of the root are all. state, above_root, below_root : (people, neurons).
    """

    wanted: Flags
    size: Integers
    kind: NDArray[np.int8]
    place: Integers
    level: Integers
    threshold: Floats
    child: Integers
    by: Integers
    half: Flags
    slope: Floats
    rate: Floats
    above: Floats
    source: Integers
    root: Integers
    state: Flags
    above_root: Floats
    below_root: Floats


class Room(NamedTuple):
    """Room for so many open nodes, and how many nodes one call may work on."""

    nodes: int
    work: int
