"""Exact linear programs over the rationals, for oracles: integer pivoting, Bland's rule, no tolerance anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

Row = Sequence[Fraction]


@dataclass(frozen=True)
class Optimum:
    """The largest value and a point that reaches it."""

    value: Fraction
    point: tuple[Fraction, ...]


def maximize_exactly(objective: Row, rows: Sequence[Row], limits: Row, width: Row) -> Optimum | None:
    """max objective·u over 0 ≤ u ≤ width, rows·u ≤ limits; None if there is no such u."""
    count = len(width)
    unit = [[Fraction(int(i == j)) for j in range(count)] for i in range(count)]
    table = [_integers([*row, limit]) for row, limit in zip([*unit, *rows], [*width, *limits], strict=True)]
    scale = lcm(*(c.denominator for c in objective)) if objective else 1
    tableau = _Tableau(table, [int(-c * scale) for c in objective] + [0])
    if not tableau.become_feasible():
        return None
    tableau.become_optimal()
    values = tableau.values()
    point = tuple(values.get(j, Fraction(0)) for j in range(count))
    return Optimum(sum((c * u for c, u in zip(objective, point, strict=True)), Fraction(0)), point)


def _integers(row: Row) -> list[int]:
    scale = lcm(*(value.denominator for value in row))
    return [int(value * scale) for value in row]


class _Tableau:
    """Basic variables in terms of the others: integers over the common denominator ``over``; the last row is the cost.

    Variables 0 … n−1 are the u, the slack of row i is n + i. Pivoting on p replaces every other entry a by
    (a·p − column·row) / over, which is an integer again, and p becomes the denominator.
    """

    def __init__(self, rows: list[list[int]], cost: list[int]) -> None:
        self.rows = [*rows, cost]
        width = len(cost) - 1
        self.outside = list(range(width))
        self.basis = [width + i for i in range(len(rows))]
        self.over = 1

    def become_feasible(self) -> bool:
        """Dual pivots with a zero cost, smallest index first, until no right-hand side is negative."""
        while True:
            wrong = [i for i in range(len(self.basis)) if self.rows[i][-1] < 0]
            if not wrong:
                return True
            row = min(wrong, key=lambda i: self.basis[i])
            usable = [j for j in range(len(self.outside)) if self.rows[row][j] < 0]
            if not usable:
                return False
            self.pivot(row, min(usable, key=lambda j: self.outside[j]))

    def become_optimal(self) -> None:
        """Primal pivots, smallest index first. The box makes every problem bounded."""
        while True:
            usable = [j for j in range(len(self.outside)) if self.rows[-1][j] < 0]
            if not usable:
                return
            column = min(usable, key=lambda j: self.outside[j])
            rising = [i for i in range(len(self.basis)) if self.rows[i][column] > 0]
            ratio = {i: Fraction(self.rows[i][-1], self.rows[i][column]) for i in rising}
            self.pivot(min(rising, key=lambda i: (ratio[i], self.basis[i])), column)

    def pivot(self, row: int, column: int) -> None:
        at, line, over = self.rows[row][column], self.rows[row], self.over
        for i, other in enumerate(self.rows):
            if i != row:
                factor = other[column]
                self.rows[i] = [(a * at - factor * b) // over for a, b in zip(other, line, strict=True)]
                self.rows[i][column] = -factor
        line[column] = over
        self.over = at
        self.basis[row], self.outside[column] = self.outside[column], self.basis[row]
        if at < 0:
            self.rows, self.over = [[-a for a in other] for other in self.rows], -at

    def values(self) -> dict[int, Fraction]:
        return {name: Fraction(self.rows[i][-1], self.over) for i, name in enumerate(self.basis)}
