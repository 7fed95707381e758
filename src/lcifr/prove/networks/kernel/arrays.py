"""Arrays that the compiled kernels read, work in and fill in, by name.

In *cell order* the numeric columns come first, then the values of all choices, one choice after the other. Fields of
what a kernel works in declare their shape: numbers, or names of sizes (:func:`zeros`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_type_hints

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
    """K directions; the first axis of most arrays is n, or 1 where all people are asked the same.

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

    size: Annotated[Integers, 4]
    pattern: Annotated[Flags, "parts"]
    source: Annotated[Integers, "columns"]
    begin: Annotated[Integers, "starts"]
    choice: Annotated[Integers, "choices"]
    weight: Annotated[Floats, "hidden", "columns"]
    low: Annotated[Floats, "columns"]
    high: Annotated[Floats, "columns"]
    allow: Annotated[Flags, "columns"]
    base: Annotated[Floats, "hidden"]
    lo: Annotated[Floats, "hidden"]
    hi: Annotated[Floats, "hidden"]
    on: Annotated[Flags, "hidden"]
    least: Annotated[Floats, "hidden"]
    most: Annotated[Floats, "hidden"]
    unstable: Annotated[Integers, "hidden"]
    largest: Annotated[Floats, 1]


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

    size: Annotated[Integers, 4]
    table: Annotated[Floats, "rows", "variables"]
    value: Annotated[Floats, "rows"]
    basis: Annotated[Integers, "rows"]
    slope: Annotated[Floats, "rows"]
    other: Annotated[Integers, "variables"]
    at: Annotated[Floats, "variables"]
    rest: Annotated[Floats, "variables"]
    gain: Annotated[Floats, "columns"]
    left: Annotated[Floats, "kinks"]
    right: Annotated[Floats, "kinks"]
    reach: Annotated[Floats, "reaches"]
    step: Annotated[Floats, "rows"]
    share: Annotated[Floats, "columns"]
    input: Annotated[Floats, "kinks"]


OPEN, MADE, SPARE, LEFT = 0, 1, 2, 3
"""Places in the ``size`` of a tree."""


class Tree(NamedTuple):
    """Open nodes of one answer, the most promising first.

    Parameters
    ----------
    size : nodes in the heap, names ever used, names free again, nodes that may still be worked on.
    heap, spare : names of nodes.
    key : bound with the offset. bound : proved. direction : which. phase : (·, unstable) 1 and −1 where decided.
    allow : (·, q) categories. cut : whether some are gone. record : its number in the proof.
    """

    size: Annotated[Integers, 4]
    heap: Annotated[Integers, "nodes"]
    spare: Annotated[Integers, "nodes"]
    key: Annotated[Floats, "nodes"]
    bound: Annotated[Floats, "nodes"]
    direction: Annotated[Integers, "nodes"]
    phase: Annotated[NDArray[np.int8], "nodes", "hidden"]
    allow: Annotated[Flags, "nodes", "columns"]
    cut: Annotated[Flags, "nodes"]
    record: Annotated[Integers, "nodes"]


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

    stable: Annotated[Floats, "columns"]
    constant: Annotated[Floats, 1]
    slopes: Annotated[Floats, "columns"]
    slope: Annotated[Floats, "hidden"]
    intercept: Annotated[Floats, "hidden"]
    point: Annotated[Floats, "columns"]
    best: Annotated[Floats, "columns"]
    hit: Annotated[Flags, 1]
    half: Annotated[Flags, "columns"]
    lo: Annotated[Floats, "hidden"]
    hi: Annotated[Floats, "hidden"]
    plain: Annotated[Floats, "columns", "directions"]
    most: Annotated[Floats, "directions"]
    upper: Annotated[Floats, "directions"]
    output: Annotated[Floats, "directions"]
    spent: Annotated[Integers, "directions"]


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

    wanted: Annotated[Flags, 1]
    size: Annotated[Integers, 4]
    kind: Annotated[NDArray[np.int8], "nodes"]
    place: Annotated[Integers, "nodes"]
    level: Annotated[Integers, "nodes"]
    threshold: Annotated[Floats, "nodes"]
    child: Annotated[Integers, "nodes", 2]
    by: Annotated[Integers, "nodes"]
    half: Annotated[Flags, "nodes", "columns"]
    slope: Annotated[Floats, "nodes", "neurons"]
    rate: Annotated[Floats, "nodes", "rows"]
    above: Annotated[Floats, "nodes", "early"]
    source: Annotated[Integers, "nodes", "ends"]
    root: Annotated[Integers, "people", "directions"]
    state: Annotated[Flags, "people", "neurons"]
    above_root: Annotated[Floats, "people", "neurons"]
    below_root: Annotated[Floats, "people", "neurons"]


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

    size: Annotated[Integers, 4]
    heap: Annotated[Integers, "nodes"]
    spare: Annotated[Integers, "nodes"]
    key: Annotated[Floats, "nodes"]
    bound: Annotated[Floats, "nodes"]
    direction: Annotated[Integers, "nodes"]
    stale: Annotated[Integers, "nodes"]
    phase: Annotated[NDArray[np.int8], "nodes", "neurons"]
    allow: Annotated[Flags, "nodes", "columns"]
    lo: Annotated[Floats, "nodes", "neurons"]
    hi: Annotated[Floats, "nodes", "neurons"]
    low: Annotated[Floats, "nodes", "columns"]
    high: Annotated[Floats, "nodes", "columns"]
    source: Annotated[Integers, "nodes", "ends"]
    boxed: Annotated[Integers, "nodes"]
    record: Annotated[Integers, "nodes"]


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

    size: Annotated[Integers, 5]
    free: Annotated[Integers, "neurons"]
    place: Annotated[Integers, "neurons"]
    lo: Annotated[Floats, "neurons"]
    hi: Annotated[Floats, "neurons"]
    slope: Annotated[Floats, "neurons"]
    intercept: Annotated[Floats, "neurons"]
    below: Annotated[Floats, "neurons"]
    proposed: Annotated[Floats, "neurons"]
    used: Annotated[Floats, "neurons"]
    rate: Annotated[Floats, "lines"]
    upstream: Annotated[Floats, "widest"]
    downstream: Annotated[Floats, "widest"]
    least: Annotated[Floats, "widest"]
    most: Annotated[Floats, "widest"]
    used_row: Annotated[Integers, "uses"]
    used_share: Annotated[Floats, "uses"]
    value: Annotated[Floats, "neurons"]
    gap: Annotated[Floats, "neurons"]
    kink: Annotated[Floats, "kinks"]
    form: Annotated[Floats, "neurons", "variables"]
    at: Annotated[Floats, "neurons"]
    hinge: Annotated[Floats, "neurons"]
    cut: Annotated[Floats, "neurons"]
    linear: Annotated[Floats, "neurons"]
    strength: Annotated[Floats, 1]
    inside: Annotated[Floats, "neurons"]
    magnitude: Annotated[Floats, "neurons"]
    floor: Annotated[Floats, 1]
    error: Annotated[Floats, "directions"]
    row: Annotated[Floats, "lines", "columns"]
    row_base: Annotated[Floats, "lines"]
    low: Annotated[Floats, "columns"]
    high: Annotated[Floats, "columns"]
    multiplier: Annotated[Floats, "columns"]
    slopes: Annotated[Floats, "columns"]
    point: Annotated[Floats, "columns"]
    best: Annotated[Floats, "columns"]
    hit: Annotated[Flags, 1]
    half: Annotated[Flags, "columns"]
    output: Annotated[Floats, "directions"]
    upper: Annotated[Floats, "directions"]
    spent: Annotated[Integers, "directions"]
    plain: Annotated[Floats, "directions", "columns"]


AnyTree = Tree | OpenNodes
AnyScratch = Scratch | Bench
"""What the searches through one layer and through several have in common, by the same names."""


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
    choices = len(cells.start) - 1
    tree = zeros(Tree, nodes=room.nodes + directions, hidden=hidden, columns=columns)
    tree.size[LEFT] = room.work
    return Workspace(
        make_moving_cell(columns, hidden, cells.lower.shape[1], choices),
        make_dictionary(columns, hidden + choices, columns, hidden),
        tree,
        zeros(Scratch, columns=columns, hidden=hidden, directions=directions),
        record,
    )


def make_deep_workspace(
    first: FirstLayer, layers: HiddenLayers, rows: Rows, cells: Cells, directions: int, room: Room, record: Record
) -> DeepWorkspace:
    """The same for the search through several hidden layers."""
    columns, width = first.weight.shape
    choices, widest = len(cells.start) - 1, int(layers.width.max())
    neurons, last, lines = int(layers.begin[-1]), int(layers.width[-1]), len(rows.slope)
    early = neurons - last
    kinks = 3 * early + last + lines
    sizes = {"columns": columns, "neurons": neurons, "lines": lines, "directions": directions, "kinks": kinks}
    nodes = zeros(OpenNodes, nodes=room.nodes + directions, ends=2 * neurons, **sizes)
    nodes.size[LEFT] = room.work
    return DeepWorkspace(
        make_moving_cell(columns, width, cells.lower.shape[1], choices),
        make_dictionary(columns, 2 * early + last + lines + choices, columns + early, kinks),
        nodes,
        zeros(Bench, variables=columns + early, widest=widest, uses=widest + 4, **sizes),
        record,
    )


def make_moving_cell(columns: int, hidden: int, numerics: int, choices: int) -> MovingCell:
    """Room for the moving part of any cell of this shape."""
    sizes = {"columns": columns, "hidden": hidden, "choices": choices}
    cell = zeros(MovingCell, parts=numerics + choices, starts=choices + 1, **sizes)
    cell.pattern.fill(2)  # unlike any, so that the first person is looked at
    return cell


def make_dictionary(columns: int, rows: int, variables: int, kinks: int) -> SimplexDictionary:
    """Room for so many basic and other variables; ``kinks`` of all of them have a kink."""
    reaches = columns + kinks
    return zeros(SimplexDictionary, columns=columns, rows=rows, variables=variables, kinks=kinks, reaches=reaches)


def make_record(
    wanted: bool, nodes: int, people: int, directions: int, neurons: int, early: int, rows: int, columns: int
) -> Record:
    """Room for so many nodes; none where nothing is wanted."""
    nodes, people = (nodes, people) if wanted else (1, 1)
    sizes = {"directions": directions, "neurons": neurons, "early": early, "rows": rows, "columns": columns}
    record = zeros(Record, nodes=nodes, people=people, ends=2 * neurons if early else 0, **sizes)
    record.wanted[0] = wanted
    record.root.fill(-1)
    return record


Arrays = TypeVar("Arrays")


def zeros(kind: Callable[..., Arrays], **sizes: int) -> Arrays:
    """Arrays of zeros, in the shapes that the fields of a class declare: numbers, or names of ``sizes``."""
    return kind(*[np.zeros([sizes[d] if isinstance(d, str) else d for d in shape], t) for shape, t in _declared(kind)])


@cache
def _declared(kind: Callable[..., Any]) -> tuple[tuple[tuple[str | int, ...], type], ...]:
    """Shape and type of number of every field."""
    found = [get_args(one) for one in get_type_hints(kind, include_extras=True).values()]
    return tuple((tuple(shape), get_args(get_args(array)[1])[0]) for array, *shape in found)
