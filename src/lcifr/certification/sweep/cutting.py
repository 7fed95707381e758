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
        middle = cell.middles()
        rows, self.owners, self.codes = [], [], []
        for j in range(cell.lower.shape[1]):
            for end in (cell.lower[0, j], cell.upper[0, j]):
                rows.append(_moved(middle, number=(j, float(end))))
                self.owners.append(j)
                self.codes.append(-1)
        for j, mask in enumerate(cell.allowed):
            for code in np.flatnonzero(mask[0]).tolist():
                rows.append(_moved(middle, code=(j, code)))
                self.owners.append(cell.lower.shape[1] + j)
                self.codes.append(code)
        self.people = Individuals.joined(rows)

    def changes(self, values: FloatArray) -> FloatArray:
        """(attributes,) by how much some score changes along each; a hair for those that can move at all."""
        owners = np.array(self.owners)
        count = self.cell.lower.shape[1] + len(self.cell.allowed)
        found = np.zeros(count)
        for place in range(count):
            mine = values[owners == place]
            found[place] = (mine.max(0) - mine.min(0)).max() if len(mine) else 0.0
        return found

    def halve_category(self, place: int, values: FloatArray) -> UniverseCells | None:
        owner = self.cell.lower.shape[1] + place
        mine = [k for k, one in enumerate(self.owners) if one == owner]
        if len(mine) < 2:
            return None
        order = sorted(mine, key=lambda k: (float(values[k].sum()), self.codes[k]))
        first = np.zeros(self.cell.allowed[place].shape[1], np.bool_)
        first[[self.codes[k] for k in order[: len(order) // 2]]] = True
        return self.cell.cut_category(0, place, first)


def _moved(
    middle: Individuals, number: tuple[int, float] | None = None, code: tuple[int, int] | None = None
) -> Individuals:
    numbers, codes = middle.numbers.copy(), middle.codes.copy()
    if number is not None:
        numbers[0, number[0]] = number[1]
    if code is not None:
        codes[0, code[0]] = code[1]
    return Individuals(middle.schema, numbers, codes)
