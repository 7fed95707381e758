"""Numbers: the column whose interval is worth halving, and where."""

from __future__ import annotations

from lcifr.prove.networks.kernel.deep.program import EARLY, LAST
from lcifr.prove.networks.kernel.deep.shape import Bench, HiddenLayers, OpenNodes, WholeColumns
from lcifr.prove.networks.kernel.deep.whole import below
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.moving_cell import CHOICES, NUMERICS
from lcifr.prove.networks.kernel.shape import Flags, Floats, MovingCell

SMALLEST = 2.0**-10
"""The share of a column's whole interval down to which it is halved. At a maximum on a kink halves would never make the
neuron stable; its phase ends the branch."""


@compiled
def pick_halving(
    layers: HiddenLayers, wholes: WholeColumns, cell: MovingCell, nodes: OpenNodes, node: int, bench: Bench
) -> int:
    """The column to halve where that gains more than the phase of any neuron; −1 where none does.

    A phase gains what its neuron's relaxation gives away. Halving a column narrows all intervals by half of the
    column's share in them, and what all relaxations give away with them. The shares are those of the first layer.
    """
    total, most = given_away(bench), 0.0
    for u in range(bench.size[EARLY] + bench.size[LAST]):
        most = max(most, bench.gap[u])
    hi, all_widths = nodes.hi[node], 0.0
    chosen, top = -1, 0.0
    for p in range(cell.size[NUMERICS]):
        width = 0.0
        for j in range(layers.width[0]):
            if hi[j] > 0.0:
                width += abs(cell.weight[j, p])
        stretch = cell.high[p] - cell.low[p]
        width *= stretch
        all_widths += width
        large = stretch > SMALLEST * (bench.high[p] - bench.low[p])
        if width > top and large and _has_middle(wholes, cell, p):
            chosen, top = p, width
    for c in range(cell.size[CHOICES]):
        for j in range(layers.width[0]):
            if hi[j] > 0.0:
                all_widths += _reach(cell, nodes.allow[node], c, cell.weight[j])
    return chosen if chosen >= 0 and 0.5 * total * top > most * all_widths else -1


@compiled
def given_away(bench: Bench) -> float:
    """What all relaxations together give away at the program's optimum."""
    total = 0.0
    for u in range(bench.size[EARLY] + bench.size[LAST]):
        total += bench.gap[u]
    return total


@compiled
def _reach(cell: MovingCell, allow: Flags, choice: int, weight: Floats) -> float:
    """How far the allowed categories of a choice can move a neuron of the first layer."""
    least, most, seen = 0.0, 0.0, False
    for p in range(cell.begin[choice], cell.begin[choice + 1]):
        if allow[p]:
            least, most = (min(least, weight[p]), max(most, weight[p])) if seen else (weight[p], weight[p])
            seen = True
    return most - least


@compiled
def middle(cell: MovingCell, p: int) -> float:
    """Half way between the ends of a column."""
    return float(0.5 * cell.low[p] + 0.5 * cell.high[p])


@compiled
def whole_below_middle(wholes: WholeColumns, cell: MovingCell, p: int) -> int:
    """The place of the last whole number of the lower half; −1 for a column of real numbers."""
    f = cell.source[p]
    return below(wholes, f, middle(cell, p)) if wholes.start[f] < wholes.start[f + 1] else -1


@compiled
def _has_middle(wholes: WholeColumns, cell: MovingCell, p: int) -> bool:
    """Whether both halves are smaller than the whole, and neither is empty."""
    f, low, high = cell.source[p], cell.low[p], cell.high[p]
    if wholes.start[f] == wholes.start[f + 1]:
        return bool(low < middle(cell, p) < high)
    at = whole_below_middle(wholes, cell, p)
    if not wholes.start[f] <= at < wholes.start[f + 1] - 1:
        return False
    return bool(low <= wholes.value[at] and wholes.value[at + 1] <= high)
