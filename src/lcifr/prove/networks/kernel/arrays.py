"""What the compiled kernels are given, work in and fill in: plain arrays, by name.

In *cell order* the numeric columns come first, then the values of all choices, one choice after the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# What the compiled kernel is given and what it fills in: plain arrays, by name.
#
# In *cell order* the numeric columns come first, then the values of all choices, one choice after the other.

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


# What the search through several hidden layers is given and works in: plain arrays, by name.
#
# Hidden neurons are numbered through all layers; neuron ``begin[l] + j`` is the j-th of layer l. *Free* neurons are
# those that the intervals of a person's cell leave unstable; those of the last hidden layer are counted after all
# others.


class HiddenLayers(NamedTuple):
    """The hidden layers behind the first, and what :mod:`magnitude` bounds rounding by.

    Parameters
    ----------
    width, begin : (layers,) and (layers + 1,).
    weight : (layers, widest, widest), that of layer l read from layer l − 1; nothing at 0. across : the same, its
        last two axes exchanged, so that all neurons of a layer are summed side by side.
    category_size : (choices, width) the largest |weight| of a choice's values, of the first layer.
    bias : (neurons,). unit : γ, as in :class:`RoundingBound` of ``networks.rounding``. floor : of what underflows.
    head, head_bias : (outputs, width), (outputs,) sizes of the last layer's numbers. size : (·, K, outputs) those of
        the directions.
    """

    width: Integers
    begin: Integers
    weight: Floats
    across: Floats
    category_size: Floats
    bias: Floats
    unit: float
    floor: float
    head: Floats
    head_bias: Floats
    size: Floats


class Rows(NamedTuple):
    """Linear rows G x′ ≤ g of one cell.

    Parameters
    ----------
    weight : (rows, columns in cell order). level : (n, rows) g. slope, shift : (rows,) of the rounding of G x′ − g.
    """

    weight: Floats
    level: Floats
    slope: Floats
    shift: Floats


class WholeColumns(NamedTuple):
    """Columns that take whole numbers only.

    Parameters
    ----------
    start : (numerics + 1,) where the column's encoded values begin in ``value``; empty for a real column.
    first : (numerics,) the whole number that the first of them encodes. step : (numerics,) to the next one, 1 or −1.
    value : ascending in each column.
    """

    start: Integers
    first: Integers
    step: Integers
    value: Floats


class OpenNodes(NamedTuple):
    """Open nodes of one answer, the most promising first.

    Parameters
    ----------
    size, heap, spare, key, bound, direction : as in :class:`Tree`.
    stale : the first layer whose intervals have not been computed since the last split.
    phase, lo, hi : (·, neurons). allow : (·, q). low, high : (·, q) box of the moving numerics.
    source : (·, 2·neurons) the recorded node whose lines proved the upper (2n) and lower (2n + 1) end of neuron n.
    boxed : which box of numerics this is; equal boxes have equal numbers. record : its number in the proof.
    """

    size: Integers
    heap: Integers
    spare: Integers
    key: Floats
    bound: Floats
    direction: Integers
    stale: Integers
    phase: NDArray[np.int8]
    allow: Flags
    lo: Floats
    hi: Floats
    low: Floats
    high: Floats
    source: Integers
    boxed: Integers
    record: Integers


class Bench(NamedTuple):
    """What one node is worked on with.

    Parameters
    ----------
    size : early free neurons, free neurons of the last layer, linear rows, boxes made, the program's box.
    free : (neurons,) the free ones. place : (neurons,) where in ``free``, or −1.
    lo, hi : (neurons,) at the root. slope, intercept, below : (neurons,) of the lines that replace neurons.
    proposed : (neurons,) what a program proposes as the coefficient of a free neuron's input. used : what a bound
        has made of that. rate : (rows,) λ.
    upstream, downstream : (widest,) coefficients on the way back. used_row, used_share : (widest + 4,) those that are
        not 0. least, most : (widest,) ends of a layer's inputs. value : (neurons,) inputs at a point.
    gap : (free,) what the relaxation of a neuron gives away at the program's optimum, 0 for those that are stable.
    kink : slopes of a program's kinks at its optimum.
    form, at : (neurons, width) and (neurons,) a neuron's input as an affine function of a program's variables.
    hinge : (free,) slope of the chord that the program has, and its intercept ``cut``.
    linear : (free,) cost of a free early neuron's output. strength : (1,) of the penalties.
    inside : (neurons,) inputs at a program's optimum.
    magnitude, floor, error : (neurons,), (1,), (directions,) see :mod:`magnitude`.
    row : (rows, q). row_base : (rows,) G x − g at what is fixed.
    low, high : (q,) the whole box.
    slopes, point, best, hit, half, output, upper, spent, plain, multiplier : as in :class:`Scratch`.
    """

    size: Integers
    free: Integers
    place: Integers
    lo: Floats
    hi: Floats
    slope: Floats
    intercept: Floats
    below: Floats
    proposed: Floats
    used: Floats
    rate: Floats
    upstream: Floats
    downstream: Floats
    least: Floats
    most: Floats
    used_row: Integers
    used_share: Floats
    value: Floats
    gap: Floats
    kink: Floats
    form: Floats
    at: Floats
    hinge: Floats
    cut: Floats
    linear: Floats
    strength: Floats
    inside: Floats
    magnitude: Floats
    floor: Floats
    error: Floats
    row: Floats
    row_base: Floats
    low: Floats
    high: Floats
    multiplier: Floats
    slopes: Floats
    point: Floats
    best: Floats
    hit: Flags
    half: Flags
    output: Floats
    upper: Floats
    spent: Integers
    plain: Floats


class DeepWorkspace(NamedTuple):
    """Everything that the search writes besides what it finds."""

    cell: MovingCell
    lp: SimplexDictionary
    nodes: OpenNodes
    bench: Bench
    record: Record


# The arrays that one thread works in: the kernels themselves ask for no memory.


class Workspace(NamedTuple):
    """Everything that :func:`kernel` writes besides what it finds."""

    cell: MovingCell
    lp: SimplexDictionary
    tree: Tree
    scratch: Scratch
    record: Record


def make_workspace(layer: FirstLayer, cells: Cells, directions: int, room: Room, record: Record) -> Workspace:
    """Room for any person of these cells."""
    columns, hidden = layer.weight.shape
    numerics, choices = cells.lower.shape[1], len(cells.start) - 1
    return Workspace(
        make_moving_cell(columns, hidden, numerics, choices),
        make_dictionary(columns, hidden + choices, columns, hidden),
        _tree(columns, hidden, room.nodes + directions, room.work),
        _scratch(columns, hidden, directions),
        record,
    )


def make_deep_workspace(
    first: FirstLayer, layers: HiddenLayers, rows: Rows, cells: Cells, directions: int, room: Room, record: Record
) -> DeepWorkspace:
    """The same for the search through several hidden layers."""
    columns, width = first.weight.shape
    numerics, choices = cells.lower.shape[1], len(cells.start) - 1
    neurons, last, lines = int(layers.begin[-1]), int(layers.width[-1]), len(rows.slope)
    early = neurons - last
    kinks = 3 * early + last + lines
    return DeepWorkspace(
        make_moving_cell(columns, width, numerics, choices),
        make_dictionary(columns, 2 * early + last + lines + choices, columns + early, kinks),
        _open_nodes(columns, neurons, room.nodes + directions, room.work),
        _bench(columns, neurons, columns + early, kinks, lines, int(layers.width.max()), directions),
        record,
    )


def make_moving_cell(columns: int, hidden: int, numerics: int, choices: int) -> MovingCell:
    """Room for the moving part of any cell of this shape."""
    return MovingCell(
        size=np.zeros(4, np.int64),
        pattern=np.full(numerics + choices, 2, np.uint8),  # unlike any, so that the first person is looked at
        source=np.zeros(columns, np.int64),
        begin=np.zeros(choices + 1, np.int64),
        choice=np.zeros(choices, np.int64),
        weight=np.zeros((hidden, columns)),
        low=np.zeros(columns),
        high=np.zeros(columns),
        allow=np.zeros(columns, np.uint8),
        base=np.zeros(hidden),
        lo=np.zeros(hidden),
        hi=np.zeros(hidden),
        on=np.zeros(hidden, np.uint8),
        least=np.zeros(hidden),
        most=np.zeros(hidden),
        unstable=np.zeros(hidden, np.int64),
        largest=np.zeros(1),
    )


def make_dictionary(columns: int, rows: int, variables: int, kinks: int) -> SimplexDictionary:
    """Room for so many basic and other variables; ``kinks`` of all of them have a kink."""
    return SimplexDictionary(
        size=np.zeros(4, np.int64),
        table=np.zeros((rows, variables)),
        value=np.zeros(rows),
        basis=np.zeros(rows, np.int64),
        slope=np.zeros(rows),
        other=np.zeros(variables, np.int64),
        at=np.zeros(variables),
        rest=np.zeros(variables),
        gain=np.zeros(columns),
        left=np.zeros(kinks),
        right=np.zeros(kinks),
        reach=np.zeros(columns + kinks),
        step=np.zeros(rows),
        share=np.zeros(columns),
        input=np.zeros(kinks),
    )


def _tree(columns: int, hidden: int, nodes: int, work: int) -> Tree:
    return Tree(
        size=np.array([0, 0, 0, work]),
        heap=np.zeros(nodes, np.int64),
        spare=np.zeros(nodes, np.int64),
        key=np.zeros(nodes),
        bound=np.zeros(nodes),
        direction=np.zeros(nodes, np.int64),
        phase=np.zeros((nodes, hidden), np.int8),
        allow=np.zeros((nodes, columns), np.uint8),
        cut=np.zeros(nodes, np.uint8),
        record=np.zeros(nodes, np.int64),
    )


def _scratch(columns: int, hidden: int, directions: int) -> Scratch:
    return Scratch(
        stable=np.zeros(columns),
        constant=np.zeros(1),
        slopes=np.zeros(columns),
        slope=np.zeros(hidden),
        intercept=np.zeros(hidden),
        point=np.zeros(columns),
        best=np.zeros(columns),
        hit=np.zeros(1, np.uint8),
        half=np.zeros(columns, np.uint8),
        lo=np.zeros(hidden),
        hi=np.zeros(hidden),
        plain=np.zeros((columns, directions)),
        most=np.zeros(directions),
        upper=np.zeros(directions),
        output=np.zeros(directions),
        spent=np.zeros(directions, np.int64),
    )


def _open_nodes(columns: int, neurons: int, nodes: int, work: int) -> OpenNodes:
    return OpenNodes(
        size=np.array([0, 0, 0, work]),
        heap=np.zeros(nodes, np.int64),
        spare=np.zeros(nodes, np.int64),
        key=np.zeros(nodes),
        bound=np.zeros(nodes),
        direction=np.zeros(nodes, np.int64),
        stale=np.zeros(nodes, np.int64),
        phase=np.zeros((nodes, neurons), np.int8),
        allow=np.zeros((nodes, columns), np.uint8),
        lo=np.zeros((nodes, neurons)),
        hi=np.zeros((nodes, neurons)),
        low=np.zeros((nodes, columns)),
        high=np.zeros((nodes, columns)),
        source=np.zeros((nodes, 2 * neurons), np.int64),
        boxed=np.zeros(nodes, np.int64),
        record=np.zeros(nodes, np.int64),
    )


def _bench(columns: int, neurons: int, variables: int, kinks: int, lines: int, widest: int, directions: int) -> Bench:
    return Bench(
        size=np.zeros(5, np.int64),
        free=np.zeros(neurons, np.int64),
        place=np.zeros(neurons, np.int64),
        lo=np.zeros(neurons),
        hi=np.zeros(neurons),
        slope=np.zeros(neurons),
        intercept=np.zeros(neurons),
        below=np.zeros(neurons),
        proposed=np.zeros(neurons),
        used=np.zeros(neurons),
        rate=np.zeros(lines),
        upstream=np.zeros(widest),
        downstream=np.zeros(widest),
        least=np.zeros(widest),
        most=np.zeros(widest),
        used_row=np.zeros(widest + 4, np.int64),
        used_share=np.zeros(widest + 4),
        value=np.zeros(neurons),
        gap=np.zeros(neurons),
        kink=np.zeros(kinks),
        form=np.zeros((neurons, variables)),
        at=np.zeros(neurons),
        hinge=np.zeros(neurons),
        cut=np.zeros(neurons),
        linear=np.zeros(neurons),
        strength=np.zeros(1),
        inside=np.zeros(neurons),
        magnitude=np.zeros(neurons),
        floor=np.zeros(1),
        error=np.zeros(directions),
        row=np.zeros((lines, columns)),
        row_base=np.zeros(lines),
        low=np.zeros(columns),
        high=np.zeros(columns),
        multiplier=np.zeros(columns),
        slopes=np.zeros(columns),
        point=np.zeros(columns),
        best=np.zeros(columns),
        hit=np.zeros(1, np.uint8),
        half=np.zeros(columns, np.uint8),
        output=np.zeros(directions),
        upper=np.zeros(directions),
        spent=np.zeros(directions, np.int64),
        plain=np.zeros((directions, columns)),
    )


def make_record(
    wanted: bool, nodes: int, people: int, directions: int, neurons: int, early: int, rows: int, columns: int
) -> Record:
    """Room for so many nodes; none where nothing is wanted."""
    nodes, people = (nodes, people) if wanted else (1, 1)
    return Record(
        wanted=np.array([wanted], np.uint8),
        size=np.zeros(4, np.int64),
        kind=np.zeros(nodes, np.int8),
        place=np.zeros(nodes, np.int64),
        level=np.zeros(nodes, np.int64),
        threshold=np.zeros(nodes),
        child=np.zeros((nodes, 2), np.int64),
        by=np.zeros(nodes, np.int64),
        half=np.zeros((nodes, columns), np.uint8),
        slope=np.zeros((nodes, neurons)),
        rate=np.zeros((nodes, rows)),
        above=np.zeros((nodes, early)),
        source=np.zeros((nodes, 2 * neurons if early else 0), np.int64),
        root=np.full((people, directions), -1),
        state=np.zeros((people, neurons), np.uint8),
        above_root=np.zeros((people, neurons)),
        below_root=np.zeros((people, neurons)),
    )
