"""Bounds in the data's own units, rounded outward: boxes, and linear rows Σ a·x′ ≤ k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcifr.data import Encoding
from lcifr.data.columnwise import UNIT_ROUNDOFF, BoundPair
from lcifr.regions.cell import LinearRows
from lcifr.regions.plan import CellPlan, RowPlan
from lcifr.semantics.holds import Booleans, Floats, PairedPeople, approximate

SMALLEST = np.finfo(np.float64).smallest_normal


@dataclass
class Box:
    """Bounds of the numeric attributes in the data's units, narrowed step by step.

    Both arrays are (people, numerics), laid out by column, because one attribute is narrowed at a time.
    """

    encoding: Encoding
    lower: Floats
    upper: Floats

    def narrow(self, j: int, side: str, raw: Floats) -> None:
        if side == "lower":
            np.maximum(self.lower[:, j], raw, out=self.lower[:, j])
        else:
            np.minimum(self.upper[:, j], raw, out=self.upper[:, j])

    def encoded(self) -> BoundPair:
        """The encoded bounds. Encoding is monotone in floats, so the tightest raw one is the tightest encoded one."""
        return self.encoding.scale_bounds(self.lower, self.upper)


def outward(value: Floats, error: Floats, side: str) -> Floats:
    """A float beyond every float whose decimal is on the right side of ``value ± error``.

    A float and the decimal it prints differ by less than one unit in the last place, so two steps outward from the end
    of the error interval (one for its own rounding, one for the decimal) are enough. A step is at most 2u of the end's
    size, or 2⁻¹⁰⁷⁴. Every error here is at least 10u of the value and the smallest normal number, so once more the
    error is two steps and the rounding of this very line.
    """
    return value - 2 * error if side == "lower" else value + 2 * error


def bound_by_rows(box: Box, plan: CellPlan, pair: PairedPeople) -> None:
    """Bounds that only a row gives: Σ a·x′ ≤ k bounds one attribute once the others are bounded. Rounded outward."""
    names = box.encoding.schema.names_numeric
    limits = {row: approximate(row.limit, pair) for row in plan.rows}
    for _ in names:  # each round bounds at least one more attribute, or nothing changes any more
        for row, (limit, error) in limits.items():
            terms = [(names.index(name), c) for name, c in row.coefficients]
            for j, c in terms:
                side = "upper" if c > 0 else "lower"
                if np.isfinite(box.upper[:, j] if c > 0 else box.lower[:, j]).all():
                    continue
                others = [(float(a), box.lower[:, i] if a > 0 else box.upper[:, i]) for i, a in terms if i != j]
                rest = sum((a * bound for a, bound in others), np.zeros(len(limit)))
                size = sum((np.abs(a * bound) for a, bound in others), np.abs(limit))
                slack = (2 * error + 4 * (len(terms) + 3) * UNIT_ROUNDOFF * size) / abs(float(c)) + SMALLEST
                with np.errstate(invalid="ignore"):
                    raw = outward((limit - rest) / float(c), slack, side)
                box.narrow(j, side, np.where(np.isfinite(raw), raw, np.inf if side == "upper" else -np.inf))


def build_rows(plan: CellPlan, box: Box, pair: PairedPeople, present: Booleans) -> LinearRows | None:
    """The rows in encoded units, in an order that depends on nothing but them; None where the plan has none."""
    if not plan.rows:
        return None
    ordered = sorted(plan.rows, key=repr)
    matrix = np.zeros((len(ordered), len(box.encoding.features)))
    limits = np.zeros((len(pair), len(ordered)))
    for r, row in enumerate(ordered):
        matrix[r], limits[:, r] = _row(row, box, pair)
    return LinearRows(matrix, np.where(present[:, None], limits, 0.0))


def _row(row: RowPlan, box: Box, pair: PairedPeople) -> tuple[Floats, Floats]:
    """Σ a·x′ ≤ k in encoded units: Σ (a·factor)·e ≤ k − Σ a·origin, plus all that rounding can add up to.

    Where numbers are standardised, factor is the sd and origin the mean. A table value v and mean + sd·e differ by at
    most ``decode_error``, and v differs from its decimal by u·|v|; the coefficient a·sd and the right side are rounded
    once or twice per term. All of it is below 16u · |a| · (|v| + |mean|) per term, with |v| taken at the far end of
    the box. What other programs lose, clips included, is added.
    """
    encoding = box.encoding
    factors, origins = encoding.numbers.factors, encoding.numbers.origins
    coefficients = np.zeros(len(encoding.features))
    limit, error = approximate(row.limit, pair)
    slack = 2 * error + 8 * UNIT_ROUNDOFF * np.abs(limit)
    for name, a in row.coefficients:
        j = encoding.schema.names_numeric.index(name)
        coefficients[encoding.numeric_columns[j]] = float(a) * factors[j]
        limit = limit - float(a) * origins[j]
        far = np.maximum(np.abs(box.lower[:, j]), np.abs(box.upper[:, j]))
        far = np.where(np.isfinite(far), far, 0.0)  # only of people who do not have the cell
        size = abs(float(a)) * (far + abs(origins[j]))
        slack = slack + 16 * (len(row.coefficients) + 1) * UNIT_ROUNDOFF * size
        if not encoding.standardises:
            slack = slack + 2 * abs(float(a)) * _lost(box, j, above=a < 0)
    return coefficients, limit + slack


def _lost(box: Box, j: int, above: bool) -> Floats:
    """(people,) how far a value can lie above (or below) what its encoding is decoded to, anywhere in the box."""
    lower, upper = (np.where(np.isfinite(bound[:, j]), bound[:, j], 0.0) for bound in (box.lower, box.upper))
    beyond = box.encoding.numbers.beyond(j, lower, upper)
    return beyond.upper if above else -beyond.lower


def rows_possible(rows: LinearRows, bounds: tuple[Floats, Floats], encoding: Encoding) -> Booleans:
    """(people,) whether no single row excludes the whole box; a row that does makes the cell impossible."""
    matrix = rows.G[:, encoding.numeric_columns]
    lower, upper = (np.where(np.isfinite(bound), bound, 0.0) for bound in bounds)
    least = lower @ np.maximum(matrix, 0).T + upper @ np.minimum(matrix, 0).T
    size = np.abs(lower) @ np.abs(matrix).T + np.abs(upper) @ np.abs(matrix).T
    possible: Booleans = (least - 4 * (matrix.shape[1] + 2) * UNIT_ROUNDOFF * size <= rows.g).all(axis=1)
    return possible
