"""Repair of points: the nearest numbers that satisfy a cell's linear rows, integers included."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from lcifr.similarity.lowering.cells import Box
from lcifr.similarity.lowering.plan import CellPlan, RowPlan
from lcifr.similarity.semantics.core import Booleans, Floats, PairedPeople, approximate
from lcifr.similarity.semantics.holds import decimal_of, exact_values

SLACKS = (1e-9, 1e-6, 1e-3)  # how far inside its inequality rows, relative to their size
KEPT_DIGITS = 6  # of the free values of an equality row: what is left for its last value must be a short decimal


def satisfy_rows(plan: CellPlan, pair: PairedPeople, box: Box, present: Booleans, whole: Booleans) -> Iterator[Floats]:
    """(people, numerics) guesses that meet the rows of ``plan``: a small mixed-integer program per person."""
    rows = sorted(plan.rows, key=repr)
    equal = [row for row in rows if _opposite(row) in plan.rows]
    limits = np.stack([approximate(row.limit, pair)[0] for row in rows], axis=1)
    program = _Nearest(rows, [row in equal for row in rows], pair.x.schema.names_numeric, box.encoding.sds, whole)
    for slack in SLACKS:
        numbers = pair.other.numbers.copy()
        # Bounds are rounded outward: a point exactly on one may be outside.
        inward = np.where(whole, 0.0, slack * (box.upper - box.lower))
        for person in map(int, np.flatnonzero(present)):
            bounds = box.lower[person] + inward[person], box.upper[person] - inward[person]
            near = program.solve(numbers[person], limits[person], bounds, slack)
            if near is not None:
                numbers[person] = near
        yield numbers
        if equal:
            yield _solve_equalities(equal, pair, numbers, whole)


def _opposite(row: RowPlan) -> RowPlan:
    return RowPlan(tuple((name, -c) for name, c in row.coefficients), row.limit.times(Fraction(-1)))


class _Nearest:
    """The numbers nearest to a point that satisfy the rows, counted in standard deviations."""

    def __init__(
        self, rows: list[RowPlan], is_equality: list[bool], names: tuple[str, ...], sds: Floats, whole: Booleans
    ) -> None:
        self.matrix = np.array([[float(dict(row.coefficients).get(name, 0)) for name in names] for row in rows])
        self.is_equality = np.array(is_equality)
        self.sds, self.whole = sds, whole
        self.steps = np.where(whole, 1.0, sds)  # a whole number moves in units

    def solve(self, point: Floats, limits: Floats, bounds: tuple[Floats, Floats], slack: float) -> Floats | None:
        """Variables: how many steps each number moves from the point, and the size of that move."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        count, start = len(point), np.where(self.whole, np.rint(point), point)
        size = np.abs(self.matrix) @ self.sds + np.abs(limits) * 1e-6
        inner = limits - np.where(self.is_equality, 0.0, slack * size) - self.matrix @ start
        rows = np.hstack([self.matrix * self.steps, np.zeros_like(self.matrix)])
        at_least = np.vstack([np.hstack([sign * np.eye(count), -np.eye(count)]) for sign in (1, -1)])
        lower, upper = ((bound - start) / self.steps for bound in bounds)
        answer = milp(
            np.concatenate([np.zeros(count), self.steps / self.sds]),
            integrality=np.concatenate([self.whole, np.zeros(count)]),
            bounds=Bounds(np.concatenate([lower, np.zeros(count)]), np.concatenate([upper, np.full(count, np.inf)])),
            constraints=[LinearConstraint(rows, -np.inf, inner), LinearConstraint(at_least, -np.inf, 0)],
        )
        if answer.x is None:
            return None
        moved: Floats = start + self.steps * np.asarray(answer.x[:count])
        return np.where(self.whole, np.rint(moved), moved)


def _solve_equalities(equal: list[RowPlan], pair: PairedPeople, numbers: Floats, whole: Booleans) -> Floats:
    """Short decimals for all but one attribute of each equality row, and the last one from the row, exactly."""
    names = pair.x.schema.names_numeric
    texts = np.char.mod(f"%.{KEPT_DIGITS - 1}e", numbers)
    solved = np.where(whole, numbers, texts.astype(np.float64))
    used: set[str] = set()
    for row in equal:
        free = [(whole[names.index(name)], name, c) for name, c in row.coefficients if name not in used]
        if not free:
            continue
        _, pivot, coefficient = min(free)
        used.add(pivot)
        limits = exact_values(row.limit, pair)
        for person, limit in enumerate(limits):
            rest = sum(
                (c * decimal_of(float(solved[person, names.index(n)])) for n, c in row.coefficients if n != pivot),
                Fraction(0),
            )
            solved[person, names.index(pivot)] = float((limit - rest) / coefficient)
    return solved
