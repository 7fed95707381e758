"""Linear rows of cells in encoded units, with room for all that rounding can add up to."""

from __future__ import annotations

import numpy as np

from lcifr.data import Encoding
from lcifr.data.encoded_columns import UNIT_ROUNDOFF, BoundPair
from lcifr.regions.cell import LinearRows
from lcifr.similarity.lowering.plan import CellPlan, RowPlan
from lcifr.similarity.semantics.core import Booleans, Floats, PairedPeople, approximate


def build_rows(plan: CellPlan, encoding: Encoding, box: BoundPair, pair: PairedPeople, present: Booleans) -> LinearRows:
    """The rows of a plan in encoded units, in an order that depends on nothing but them.

    box : (people, numeric attributes) the bounds of the cell in the data's units.
    """
    ordered = sorted(plan.rows, key=repr)
    matrix = np.zeros((len(ordered), len(encoding.features)))
    limits = np.zeros((len(pair), len(ordered)))
    for r, row in enumerate(ordered):
        matrix[r], limits[:, r] = _row(row, encoding, box, pair)
    return LinearRows(matrix, np.where(present[:, None], limits, 0.0))


def _row(row: RowPlan, encoding: Encoding, box: BoundPair, pair: PairedPeople) -> tuple[Floats, Floats]:
    """Σ a·x′ ≤ k in encoded units: Σ (a·factor)·e ≤ k − Σ a·origin, plus all that rounding can add up to.

    Where numbers are standardised, factor is the sd and origin the mean. A table value v and mean + sd·e differ by at
    most ``decode_error``, and v differs from its decimal by u·|v|; the coefficient a·sd and the right side are rounded
    once or twice per term. All of it is below 16u · |a| · (|v| + |mean|) per term, with |v| taken at the far end of
    the box. What other programs lose, clips included, is added.
    """
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
            slack = slack + 2 * abs(float(a)) * _lost(encoding, box, j, above=a < 0)
    return coefficients, limit + slack


def _lost(encoding: Encoding, box: BoundPair, j: int, above: bool) -> Floats:
    """(people,) how far a value can lie above (or below) what its encoding is decoded to, anywhere in the box."""
    lower, upper = (np.where(np.isfinite(bound[:, j]), bound[:, j], 0.0) for bound in box)
    beyond = encoding.numbers.beyond(j, lower, upper)
    return beyond.upper if above else -beyond.lower


def rows_possible(rows: LinearRows, bounds: tuple[Floats, Floats], encoding: Encoding) -> Booleans:
    """(people,) whether no single row excludes the whole box; a row that does makes the cell impossible."""
    matrix = rows.G[:, encoding.numeric_columns]
    lower, upper = (np.where(np.isfinite(bound), bound, 0.0) for bound in bounds)
    least = lower @ np.maximum(matrix, 0).T + upper @ np.minimum(matrix, 0).T
    size = np.abs(lower) @ np.abs(matrix).T + np.abs(upper) @ np.abs(matrix).T
    possible: Booleans = (least - 4 * (matrix.shape[1] + 2) * UNIT_ROUNDOFF * size <= rows.g).all(axis=1)
    return possible
