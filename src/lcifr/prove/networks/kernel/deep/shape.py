"""What the search through several hidden layers is given and works in: plain arrays, by name.

Hidden neurons are numbered through all layers; neuron ``begin[l] + j`` is the j-th of layer l. *Free* neurons are those
that the intervals of a person's cell leave unstable; those of the last hidden layer are counted after all others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lcifr.prove.networks.kernel.shape import Flags, Floats, Integers, MovingCell, Record, SimplexDictionary


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
