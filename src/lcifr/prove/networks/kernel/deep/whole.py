"""Whole numbers: the point of a program rounded to them, and where to split between one and the next."""

from __future__ import annotations

from lcifr.prove.networks.kernel.deep.shape import Bench, OpenNodes, WholeColumns
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.moving_cell import NUMERICS
from lcifr.prove.networks.kernel.shape import MovingCell

FEW = 4
"""A column with so few whole numbers left is split before neurons are: then it soon stands still."""


@compiled
def below(wholes: WholeColumns, f: int, x: float) -> int:
    """The place in ``value`` of the largest whole number of column ``f`` up to x; start − 1 if there is none."""
    low, high = wholes.start[f] - 1, wholes.start[f + 1] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if wholes.value[middle] <= x:
            low = middle
        else:
            high = middle - 1
    return int(low)


@compiled
def pick_column(
    wholes: WholeColumns, cell: MovingCell, nodes: OpenNodes, node: int, bench: Bench, few: bool
) -> tuple[int, int]:
    """The column whose point is farthest from a whole number, and the place of the one below; −1 where all are whole.

    With ``few``, only columns of which the node has few numbers left.
    """
    chosen, place, top = -1, 0, 1e-9
    for p in range(cell.size[NUMERICS]):
        f = cell.source[p]
        if wholes.start[f] == wholes.start[f + 1]:
            continue
        x, low, high = bench.point[p], nodes.low[node, p], nodes.high[node, p]
        at = below(wholes, f, x)
        if at < wholes.start[f] or at + 1 >= wholes.start[f + 1]:
            continue
        if few and below(wholes, f, high) - below(wholes, f, low) >= FEW:
            continue
        down, up = wholes.value[at], wholes.value[at + 1]
        if down < low or up > high or up <= down:
            continue
        away = min(x - down, up - x) / (up - down)
        if away > top:
            chosen, place, top = p, at, away
    return chosen, place


@compiled
def round_point(wholes: WholeColumns, cell: MovingCell, nodes: OpenNodes, node: int, bench: Bench) -> None:
    """The bench's point with every whole-number column at the nearest whole number of the node."""
    for p in range(cell.size[NUMERICS]):
        f = cell.source[p]
        if wholes.start[f] == wholes.start[f + 1]:
            continue
        x, low, high = bench.point[p], nodes.low[node, p], nodes.high[node, p]
        at = below(wholes, f, x)
        best, away = (low, x - low) if x - low < high - x else (high, high - x)
        for place in range(max(at, wholes.start[f]), min(at + 2, wholes.start[f + 1])):
            value = wholes.value[place]
            if low <= value <= high and abs(value - x) < away:
                best, away = value, abs(value - x)
        bench.point[p] = best
