"""Cells of rational bounds: what may be in them, and how they are halved."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from lcifr.check.exact import items, number
from lcifr.check.network import Group, Groups

Direction = tuple[tuple[int, float], ...]  # (output, coefficient) in ascending order, without zeros


def has_room(group: Group) -> bool:
    """Whether a category is left, or a number."""
    return bool(group) and group[0][1] <= group[-1][1]


class RationalCell(NamedTuple):
    """Where the features are: every group of columns at or between its corners, and G x − g ≤ 0 for each row [G −g].

    A number is a group ``"numeric", column`` with the corners (column, low) and (column, high). A category is a group
    ``"choice", first column`` with a corner (column, 1) for each category that is allowed. ``wholes`` are the names of
    numbers that are whole in the table, with the column of each and how a number of the table becomes its value there.
    In a part of a cell, ends (layer, place) of hidden neurons that are ``decided`` are at most 0, and ``leaves`` are
    those of each tree that can be reached.
    """

    groups: Groups
    rows: Sequence[Sequence[float]] = ()
    wholes: Mapping[str, tuple[int, Callable[[float], float]]] = {}
    decided: frozenset[tuple[int, int]] = frozenset()


def borders(kind: str, border: Any, floats: bool) -> Any:
    """Of a category the columns of the first half; of a number where the first half ends, and the second begins."""
    if kind == "choice":
        return frozenset(items(border))
    return number(border), math.nextafter(border, math.inf) if floats else border


def halve(group: Group, ends: Any) -> Sequence[Group]:
    """A category in these columns and in the others; or a number up to the first end and from the second on.

    Ends that fall are those of a number that falls where the table's rises: from the first on, and up to the second.
    """
    if isinstance(ends, frozenset):
        return [[corner for corner in group if (corner[0] in ends) == inside] for inside in (True, False)]
    (column, low), (_, high), (first, second) = group[0], group[-1], sorted(ends)
    halves = [[(column, low), (column, min(high, first))], [(column, max(low, second)), (column, high)]]
    return halves if ends[0] == first else halves[::-1]
