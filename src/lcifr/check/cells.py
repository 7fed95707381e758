"""The cells of one person, derived anew: where the features of everybody similar must lie, rounded outward."""

from __future__ import annotations

import math
from fractions import Fraction

from lcifr.check.exact import Rejected
from lcifr.check.problem import Cell
from lcifr.check.similar import Formula, Part
from lcifr.check.table import Attribute, Person, decimal, least, most

UNIT = Fraction(1, 2**53)  # a float operation is off by at most this share
TINIEST = Fraction(1, 2**1074)  # and, at the bottom of the floats, by at most this much

Ends = dict[str, tuple[float, float]]


def derive(formula: Formula, x: Person) -> list[Cell]:
    """Cells that together hold the features of every individual similar to x; those without a point are left out."""
    cells = [_cell(part, formula.attributes) for part in formula.parts(x)]
    return [cell for cell in cells if cell is not None]


def _cell(part: Part, attributes: dict[str, Attribute]) -> Cell | None:
    ends = _narrowed(part, attributes)
    if any(low > high for low, high in ends.values()):
        return None
    for name, (low, high) in ends.items():
        if math.isinf(low) or math.isinf(high):
            raise Rejected(f"the formula leaves {name} without a bound")
    codes = {
        name: part.allowed.get(name, frozenset(range(len(attribute.values))))
        for name, attribute in attributes.items()
        if attribute.values
    }
    encoded = {
        name: (attributes[name].encode(low), attributes[name].encode(high)) for name, (low, high) in ends.items()
    }
    rows = _rows(part, attributes, ends, encoded)
    if any(_least_value(row, attributes, encoded) > Fraction(limit) for row, limit in rows.items()):
        return None
    width = sum(max(len(attribute.values), 1) for attribute in attributes.values())
    ordered = sorted(rows, key=lambda row: [dict(row).get(column, 0.0) for column in range(width)])
    return Cell(
        [attributes[name].start for name in ends],
        [low for low, _ in encoded.values()],
        [high for _, high in encoded.values()],
        [[attributes[name].start + code for code in range(len(attributes[name].values))] for name in codes],
        [[code in may for code in range(len(attributes[name].values))] for name, may in codes.items()],
        [[dict(row).get(column, 0.0) for column in range(width)] for row in ordered],
        [rows[row] for row in ordered],
    )


def _narrowed(part: Part, attributes: dict[str, Attribute]) -> Ends:
    """The ends of every number: the formula's, the declared range, and what rows say once the others are bounded."""
    ends: Ends = {}
    for name, attribute in attributes.items():
        if not attribute.values:
            low, high = part.ends.get(name, (-math.inf, math.inf))
            ends[name] = max(low, attribute.lower), min(high, attribute.upper)
    for _ in ends if part.rows else ():  # each round bounds at least one more, or nothing changes any more
        for row, limit in part.rows.items():
            for name, c in row:
                low, high = ends[name]
                rest = [
                    a * decimal(far) for other, a in row if other != name and math.isfinite(far := _far(ends, other, a))
                ]
                if len(rest) == len(row) - 1 and low <= high:
                    bound = (limit - sum(rest)) / c
                    ends[name] = (
                        (low, min(high, most(bound, False))) if c > 0 else (max(low, least(bound, False)), high)
                    )
    return ends


def _far(ends: Ends, name: str, c: Fraction) -> float:
    """The end at which c · value is least."""
    return ends[name][0] if c > 0 else ends[name][1]


def _rows(
    part: Part, attributes: dict[str, Attribute], ends: Ends, encoded: Ends
) -> dict[tuple[tuple[int, float], ...], float]:
    """Σ a·x′ ≤ k in features: Σ (a·sd)·e ≤ k − Σ a·mean, plus all that rounding can add up to.

    A float and its decimal, and sd·e + mean and the float, differ by a few units of rounding; the coefficient a·sd is
    itself a float near that number. The far ends of the box bound all of it.
    """
    found: dict[tuple[tuple[int, float], ...], float] = {}
    for row, limit in part.rows.items():
        total, coefficients = limit, []
        for name, a in row:
            attribute = attributes[name]
            mean, sd, coefficient = Fraction(attribute.mean), Fraction(attribute.sd), float(a) * attribute.sd
            size = max(abs(Fraction(end)) for end in ends[name])
            spread = max(abs(Fraction(end) - mean) for end in ends[name])
            e = max(abs(Fraction(end)) for end in encoded[name])
            total += -a * mean + abs(Fraction(coefficient) - a * sd) * e
            total += abs(a) * (UNIT * size + TINIEST + 3 * UNIT * spread + sd * TINIEST)
            coefficients.append((attribute.start, coefficient))
        key = tuple(sorted(coefficients))
        found[key] = min(found.get(key, math.inf), up(total))
    return found


def _least_value(row: tuple[tuple[int, float], ...], attributes: dict[str, Attribute], encoded: Ends) -> Fraction:
    at = {attributes[name].start: ends for name, ends in encoded.items()}
    return sum((min(Fraction(c) * Fraction(end) for end in at[column]) for column, c in row), Fraction(0))


def up(value: Fraction) -> float:
    """The least float that is not below the value."""
    try:
        near = value.numerator / value.denominator
    except OverflowError:
        raise Rejected("a number is beyond all floats") from None
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)
