"""Where to cut a cell of the universe: across the attribute along which the scores change most."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lcifr.certification.query import FloatArray
from lcifr.data import Individuals
from lcifr.regions.universe import UniverseCells


def cut(cells: UniverseCells, row: int, score: Callable[[Individuals], FloatArray]) -> UniverseCells | None:
    """Two cells that are the one together; None where a single individual is left.

    From somebody in the middle, every attribute is moved to its ends (a category to each of its values). A number is
    cut in half, a category into the values with lower and with higher scores.

    Parameters
    ----------
    score : people -> (people, scores).
    """
    cell = cells.take([row])
    moves = _Moves(cell)
    values = score(moves.people)
    for place in np.argsort(-moves.changes(values), kind="stable").tolist():
        numbers = cell.lower.shape[1]
        two = cell.cut_number(0, place) if place < numbers else moves.halve_category(place - numbers, values)
        if two is not None:
            return two
    return None


class _Moves:
    """Everybody who is looked at: of each attribute, the person in the middle with its ends or values."""

    def __init__(self, cell: UniverseCells) -> None:
        self.cell = cell
        middle, numbers = cell.middles(), cell.lower.shape[1]
        codes = [np.flatnonzero(mask[0]) for mask in cell.allowed]
        self.owners = np.repeat(np.arange(numbers + len(codes)), [2] * numbers + [len(one) for one in codes])
        self.codes = np.concatenate([np.full(2 * numbers, -1), *codes])
        people = middle.take(np.zeros(len(self.owners), np.intp))
        rows = np.arange(2 * numbers)
        people.numbers[rows, rows // 2] = np.stack([cell.lower[0], cell.upper[0]], axis=1).reshape(-1)
        rows = np.arange(2 * numbers, len(self.owners))
        people.codes[rows, self.owners[rows] - numbers] = self.codes[rows]
        self.people = people

    def changes(self, values: FloatArray) -> FloatArray:
        """(attributes,) by how much some score changes along each; nothing for those that cannot move."""
        count = self.cell.lower.shape[1] + len(self.cell.allowed)
        found = np.zeros(count)
        for place in range(count):
            mine = values[self.owners == place]
            found[place] = (mine.max(0) - mine.min(0)).max(initial=0.0)
        return found

    def halve_category(self, place: int, values: FloatArray) -> UniverseCells | None:
        mine = np.flatnonzero(self.owners == self.cell.lower.shape[1] + place)
        if len(mine) < 2:
            return None
        order = mine[np.lexsort((self.codes[mine], values[mine].sum(1)))]
        first = np.zeros(self.cell.allowed[place].shape[1], np.bool_)
        first[self.codes[order[: len(order) // 2]]] = True
        return self.cell.cut_category(0, place, first)
