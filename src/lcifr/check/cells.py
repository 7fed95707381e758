"""The cells of one person, derived anew: where the features of everybody similar must lie, rounded outward."""

from __future__ import annotations

import math
from fractions import Fraction

from lcifr.check.exact import Rejected, up
from lcifr.check.proof import Cell
from lcifr.check.similar import Formula, Part, Person, Table, decimal, ends, most

UNIT = Fraction(1, 2**53)  # a float operation is off by at most this share
TINIEST = Fraction(1, 2**1074)  # and, at the bottom of the floats, by at most this much

Row = tuple[tuple[str, Fraction], ...]  # Σ a·x′
Box = dict[str, tuple[float, float]]  # the ends of every number


def derive(formula: Formula, x: Person) -> list[Cell]:
    """Cells that together hold the features of every individual similar to x; those without a point are left out."""
    cells = (_cell(part, formula.table) for part in formula.parts(x))
    return [cell for cell in cells if cell is not None]


def _cell(part: Part, table: Table) -> Cell | None:
    box = _box(part, table)
    if any(low > high for low, high in box.values()):
        return None
    if any(math.isinf(end) for pair in box.values() for end in pair):
        raise Rejected("the formula leaves a number without a bound")
    groups = {}
    for name, about in table.numbers.items():
        groups["numeric", about.column] = [(about.column, about.encode(end)) for end in box[name]]
    for name, category in table.categories.items():
        codes = part.get(name, range(len(category.values)))
        groups["choice", category.column] = [(category.column + code, 1.0) for code in sorted(codes)]
    G: dict[tuple[float, ...], float] = {}
    for row, limit in _rows(part):
        coefficients, bound = _in_features(row, limit, table, box)
        far = (min(Fraction(c) * Fraction(end) for _, end in groups["numeric", at]) for at, c in coefficients.items())
        if sum(far) > Fraction(bound):
            return None
        dense = tuple(coefficients.get(column, 0.0) for column in range(table.width))
        G[dense] = min(G.get(dense, math.inf), bound)
    return Cell(groups, sorted(G), [G[row] for row in sorted(G)])


def _rows(part: Part) -> list[tuple[Row, Fraction]]:
    """What is said of several numbers at once."""
    return [(row, limit) for row, limit in part.items() if isinstance(row, tuple) and len(row) > 1]


def _box(part: Part, table: Table) -> Box:
    """The ends of every number: the formula's, the declared range, and what rows say once the others are bounded."""
    box: Box = {}
    for name, about in table.numbers.items():
        low, high = ends(part, name)
        box[name] = max(low, about.lower), min(high, about.upper)
    for _ in box if (rows := _rows(part)) else ():  # each round bounds at least one more, or nothing changes any more
        for row, limit in rows:
            for name, a in row:
                (low, high), far = box[name], [(c, box[other][c < 0]) for other, c in row if other != name]
                if all(math.isfinite(end) for _, end in far) and low <= high:
                    bound = most((limit - sum(c * decimal(end) for c, end in far)) / abs(a))
                    box[name] = (low, min(high, bound)) if a > 0 else (max(low, -bound), high)
    for name, (low, high) in box.items():  # where the schema says so, nobody's number lies between two whole ones
        if table.numbers[name].integer and math.isfinite(low) and math.isfinite(high):
            box[name] = float(math.ceil(low)), float(math.floor(high))
    return box


def _in_features(row: Row, limit: Fraction, table: Table, box: Box) -> tuple[dict[int, float], float]:
    """Σ a·x′ ≤ k in features: Σ (a·sd)·e ≤ k − Σ a·mean, plus all that rounding can add up to.

    A float and its decimal, and sd·e + mean and the float, differ by a few units of rounding; the coefficient a·sd is
    itself a float near that number. The far ends of the box bound all of it.
    """
    coefficients = {}
    for name, a in row:
        about = table.numbers[name]
        mean, sd, coefficient = Fraction(about.mean), Fraction(about.sd), float(a) * about.sd
        low, high = map(Fraction, box[name])
        size, spread = max(abs(low), abs(high)), max(abs(low - mean), abs(high - mean))
        e = max(abs(Fraction(about.encode(end))) for end in box[name])
        limit += -a * mean + abs(Fraction(coefficient) - a * sd) * e
        limit += abs(a) * (UNIT * size + TINIEST + 3 * UNIT * spread + sd * TINIEST)
        coefficients[about.column] = coefficient
    return coefficients, up(limit)
