"""The cells of one person, derived anew: where the features of everybody similar must lie, rounded outward."""

from __future__ import annotations

import math
from fractions import Fraction

from lcifr.check.exact import Rejected
from lcifr.check.proof import Cell
from lcifr.check.similar import Formula, Part
from lcifr.check.table import Attributes, Person, decimal, least, most

UNIT = Fraction(1, 2**53)  # a float operation is off by at most this share
TINIEST = Fraction(1, 2**1074)  # and, at the bottom of the floats, by at most this much

Ends = dict[str, tuple[float, float]]


def derive(formula: Formula, x: Person) -> list[Cell]:
    """Cells that together hold the features of every individual similar to x; those without a point are left out."""
    cells = (_cell(part, formula.attributes) for part in formula.parts(x))
    return [cell for cell in cells if cell is not None]


def _cell(part: Part, attributes: Attributes) -> Cell | None:
    ends = _narrowed(part, attributes)
    if any(low > high for low, high in ends.values()):
        return None
    for name, (low, high) in ends.items():
        if math.isinf(low) or math.isinf(high):
            raise Rejected(f"the formula leaves {name} without a bound")
    box = {attributes[name].start: tuple(map(attributes[name].encode, pair)) for name, pair in ends.items()}
    rows = _rows(part, attributes, ends)
    lowest = {row: sum(min(Fraction(c) * Fraction(end) for end in box[at]) for at, c in row) for row in rows}
    if any(lowest[row] > Fraction(limit) for row, limit in rows.items()):
        return None
    choices = {name: range(len(attribute.values)) for name, attribute in attributes.items() if attribute.values}
    width = len(ends) + sum(map(len, choices.values()))
    G = {tuple(dict(row).get(column, 0.0) for column in range(width)): limit for row, limit in rows.items()}
    return Cell(
        list(box),
        [low for low, _ in box.values()],
        [high for _, high in box.values()],
        [[attributes[name].start + code for code in codes] for name, codes in choices.items()],
        [[code in part.get(name, codes) for code in codes] for name, codes in choices.items()],
        sorted(G),
        [G[row] for row in sorted(G)],
    )


def _narrowed(part: Part, attributes: Attributes) -> Ends:
    """The ends of every number: the formula's, the declared range, and what rows say once the others are bounded."""
    ends: Ends = {}
    for name, attribute in attributes.items():
        if not attribute.values:
            low, high = part.get(name, (-math.inf, math.inf))
            ends[name] = max(low, attribute.lower), min(high, attribute.upper)
    rows = [(row, limit) for row, limit in part.items() if isinstance(row, tuple)]
    for _ in ends if rows else ():  # each round bounds at least one more, or nothing changes any more
        for row, limit in rows:
            for name, c in row:
                (low, high), far = ends[name], [(a, ends[other][a < 0]) for other, a in row if other != name]
                if all(math.isfinite(end) for _, end in far) and low <= high:
                    bound = (limit - sum(a * decimal(end) for a, end in far)) / c
                    ends[name] = (
                        (low, min(high, most(bound, False))) if c > 0 else (max(low, least(bound, False)), high)
                    )
    for name, (low, high) in ends.items():  # where the schema says so, nobody's number lies between two whole ones
        if attributes[name].integer and math.isfinite(low) and math.isfinite(high):
            ends[name] = float(math.ceil(low)), float(math.floor(high))
    return ends


def _rows(part: Part, attributes: Attributes, ends: Ends) -> dict[tuple[tuple[int, float], ...], float]:
    """Σ a·x′ ≤ k in features: Σ (a·sd)·e ≤ k − Σ a·mean, plus all that rounding can add up to.

    A float and its decimal, and sd·e + mean and the float, differ by a few units of rounding; the coefficient a·sd is
    itself a float near that number. The far ends of the box bound all of it.
    """
    found: dict[tuple[tuple[int, float], ...], float] = {}
    for row, limit in part.items():
        if isinstance(row, tuple):
            total, coefficients = limit, []
            for name, a in row:
                attribute = attributes[name]
                mean, sd, coefficient = Fraction(attribute.mean), Fraction(attribute.sd), float(a) * attribute.sd
                low, high = map(Fraction, ends[name])
                size, spread = max(abs(low), abs(high)), max(abs(low - mean), abs(high - mean))
                e = max(abs(Fraction(attribute.encode(end))) for end in ends[name])
                total += -a * mean + abs(Fraction(coefficient) - a * sd) * e
                total += abs(a) * (UNIT * size + TINIEST + 3 * UNIT * spread + sd * TINIEST)
                coefficients.append((attribute.start, coefficient))
            key = tuple(sorted(coefficients))
            found[key] = min(found.get(key, math.inf), up(total))
    return found


def up(value: Fraction) -> float:
    """The least float that is not below the value."""
    near = value.numerator / value.denominator
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)
