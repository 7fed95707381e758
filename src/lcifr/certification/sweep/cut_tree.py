"""The tree of cuts behind the cells of a sweep, found again from the cells alone.

Cells come from cutting everybody in two, again and again, so wherever several are left together there is an attribute
along which none of them lies on both sides of some border.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import LcifrError
from lcifr.regions.universe import UniverseCells

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Cut:
    """In two: a number up to ``border``, and the rest (of whole numbers from ``border`` + 1 on); or the categories with
    these codes, and the others."""

    attribute: str
    border: float | tuple[int, ...]

    def to_plain(self) -> list[Any]:
        """As a bundle holds it."""
        return [self.attribute, list(self.border) if isinstance(self.border, tuple) else self.border]


@dataclass(frozen=True)
class CutLeaf:
    """A cell by its row, and the cuts between the cell before it and this one, in preorder."""

    cell: int
    cuts: tuple[Cut, ...]


@dataclass(frozen=True)
class _Halves:
    cut: Cut
    first: Rows
    second: Rows

    @property
    def imbalance(self) -> int:
        return abs(len(self.first) - len(self.second))


def cut_tree(cells: UniverseCells) -> Iterator[CutLeaf]:
    """The cells in the order of their tree, first halves first.

    Raises
    ------
    LcifrError
        If no sequence of cuts makes these cells.
    """
    waiting, cuts = [np.arange(len(cells))], list[Cut]()
    while waiting:
        rows = waiting.pop()
        if len(rows) == 1:
            yield CutLeaf(int(rows[0]), tuple(cuts))
            cuts = []
            continue
        halves = min(_all_halves(cells, rows), key=lambda one: one.imbalance, default=None)
        if halves is None:
            raise LcifrError("the cells of the sweep are not made by cutting everybody in two", fix="sweep again")
        cuts.append(halves.cut)
        waiting += [halves.second, halves.first]


def _all_halves(cells: UniverseCells, rows: Rows) -> Iterator[_Halves]:
    for place, name in enumerate(cells.schema.names_numeric):
        yield from _along_number(name, cells.lower[rows, place], cells.upper[rows, place], cells.counted[place], rows)
    for place, name in enumerate(cells.schema.names_categorical):
        yield from _along_category(name, cells.allowed[place][rows], rows)


def _along_number(name: str, lower: Any, upper: Any, whole: bool, rows: Rows) -> Iterator[_Halves]:
    """The border nearest to the middle of the cells, where there is one."""
    order = np.argsort(lower, kind="stable")
    reached = np.maximum.accumulate(upper[order])[:-1]
    begins = lower[order][1:]
    fits = np.flatnonzero(reached < begins if whole else reached <= begins)
    if len(fits):
        at = int(fits[np.abs(fits + 1 - len(rows) / 2).argmin()])
        yield _Halves(Cut(name, float(reached[at])), rows[order[: at + 1]], rows[order[at + 1 :]])


def _along_category(name: str, allowed: Any, rows: Rows) -> Iterator[_Halves]:
    """The values of one cell with all that some cell has together with them, and the others."""
    codes = allowed[0].copy()
    while (grown := codes | allowed[(allowed & codes).any(1)].any(0)).sum() > codes.sum():
        codes = grown
    inside = (allowed & codes).any(1)
    if not inside.all():
        yield _Halves(Cut(name, tuple(np.flatnonzero(codes).tolist())), rows[inside], rows[~inside])
