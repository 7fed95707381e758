"""Decoding of points of a region to people for whom φ is confirmed.

Regions are closed and rounded outward, so a point on the edge of one may decode to a person for whom φ just fails, and
integer attributes are relaxed in proofs. A witness is therefore always re-checked by ``holds`` and, where that fails,
moved inward by as little as it takes, onto linear rows by a small program. What cannot be moved inside is reported as
unconfirmed, never as a person.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from lcifr.data import Encoding, Individuals
from lcifr.errors import RegionError
from lcifr.phi.core import Booleans, Core, Floats, PairedPeople, approximate
from lcifr.phi.holds import decimal_of, evaluate, exact_values
from lcifr.phi.lowering import Box, CellPlan, RowPlan, build_box
from lcifr.regions.region import RegionOrigin, Witnesses

SIGNIFICANT_DIGITS = (15, 12, 9, 6)  # a decimal that a formula asks for exactly is hidden in the noise of scaling
MARGINS = (0.0, 1e-12, 1e-9, 1e-6, 1e-3)  # of the box's width
EDGE = 1e-9
"""Of a number's size: ends of boxes are rounded outward by less, so a strict bound of 37 may be 36.99999999999994."""


@final
@dataclass(frozen=True)
class FormulaOrigin(RegionOrigin):
    """Which formula a region was made from, with the plans of its cells."""

    core: Core
    plans: tuple[CellPlan, ...]

    def decode(self, points: ArrayLike) -> Witnesses:
        """See :meth:`Region.decode`; points (people, features) or (people, k, features), flattened in that order."""
        array = np.asarray(points, dtype=np.float64)
        if array.ndim not in (2, 3) or len(array) != len(self.people):
            raise RegionError(
                f"points have shape {array.shape}, expected ({len(self.people)}, features) or (…, k, features)"
            )
        each = array.shape[1] if array.ndim == 3 else 1
        flat = array.reshape(-1, array.shape[-1])
        people = self.people.take(np.repeat(np.arange(len(self.people)), each))
        found, confirmed = self._confirm(people, flat)
        return Witnesses(found, confirmed.reshape(array.shape[:-1]))

    def _confirm(self, people: Individuals, points: Floats) -> tuple[Individuals, Booleans]:
        best = self.encoding.decode(points)
        numeric = points[:, self.encoding.numeric_columns]
        unmoved = numeric == self.encoding.scale(people.numbers)  # decoding would lose the last bit of an equal value
        best.numbers[unmoved] = people.numbers[unmoved]
        least, most = _declared_range(self.encoding)
        np.clip(best.numbers, least, most, out=best.numbers)  # decoding may step over an end by what it loses
        confirmed = evaluate(self.core, PairedPeople(people, best))
        for plan in self.plans:
            open_rows = np.flatnonzero(~confirmed)
            if not len(open_rows):
                break
            pair = PairedPeople(people.take(open_rows), best.take(open_rows))
            for guess in _candidates(plan, pair, self.encoding):
                numbers = np.clip(guess, least, most)
                pulled = Individuals(people.schema, numbers, pair.other.codes)
                good = np.flatnonzero(evaluate(self.core, PairedPeople(pair.x, pulled)) & ~confirmed[open_rows])
                best.numbers[open_rows[good]] = numbers[good]
                confirmed[open_rows[good]] = True
        return best, confirmed


def _declared_range(encoding: Encoding) -> tuple[Floats, Floats]:
    """(numerics,) the least and the largest value of anyone who can exist."""
    numeric = encoding.schema.numeric
    least = np.array([-np.inf if a.lower is None else np.ceil(a.lower) if a.integer else a.lower for a in numeric])
    most = np.array([np.inf if a.upper is None else np.floor(a.upper) if a.integer else a.upper for a in numeric])
    return least, most


def _candidates(plan: CellPlan, pair: PairedPeople, encoding: Encoding) -> Iterator[Floats]:
    """(people, numerics) guesses at the numbers of a person inside the plan's cell, near the pair's other one."""
    box, present = build_box(plan, pair, encoding)
    if not present.any():
        return
    numbers = pair.other.numbers
    whole = np.array([attribute.integer for attribute in encoding.schema.numeric], dtype=bool)
    with np.errstate(invalid="ignore"):
        width = np.where(np.isfinite(box.upper - box.lower), box.upper - box.lower, 0.0)
    for margin in MARGINS:
        inside = np.clip(numbers, box.lower + margin * width, np.maximum(box.lower, box.upper - margin * width))
        yield _with_whole(inside, box.lower, box.upper, whole)
    yield _with_whole(np.clip(numbers, box.lower, box.upper), *_shrunk(box.lower, box.upper), whole)
    for digits in SIGNIFICANT_DIGITS:
        yield _with_whole(round_to_digits(numbers, digits, encoding.units), box.lower, box.upper, whole)
    if plan.rows:
        yield from satisfy_rows(plan, pair, box, present, whole)


def _with_whole(numbers: Floats, lower: Floats, upper: Floats, whole: Booleans) -> Floats:
    """Integer attributes at the nearest whole number of their interval (first the inside of a possibly strict one)."""
    result = numbers.copy()
    least, most = np.floor(lower) + 1, np.ceil(upper) - 1
    closed = least > most  # no whole number strictly inside: the ends themselves are all there is
    least, most = np.where(closed, np.ceil(lower), least), np.where(closed, np.floor(upper), most)
    nearest = np.minimum(np.maximum(np.rint(numbers), least), np.maximum(least, most))
    result[:, whole] = nearest[:, whole]
    return result


def _shrunk(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Ends moved inward by more than they were rounded outward, where there is room: no whole number is on them."""
    room = EDGE * (1.0 + np.maximum(np.abs(lower), np.abs(upper)))
    with np.errstate(invalid="ignore"):
        wide = upper - lower > 4 * room
        return np.where(wide, lower + room, lower), np.where(wide, upper - room, upper)


def round_to_digits(values: Floats, digits: int, scales: Floats) -> Floats:
    """Values with that many decimal digits, counted from the first one of the value or of its scale if that is larger.

    A value of 1e-15 where the scale is 1 is the noise of a 0.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        place = digits - 1 - np.floor(np.log10(np.maximum(np.abs(values), scales)))
        steps = 10.0 ** np.abs(place)
        result = np.where(place >= 0, np.rint(values * steps) / steps, np.rint(values / steps) * steps)
    return np.where(np.isfinite(result), result, values)


SLACKS = (1e-9, 1e-6, 1e-3)  # how far inside its inequality rows, relative to their size
KEPT_DIGITS = 6  # of the free values of an equality row: what is left for its last value must be a short decimal


def satisfy_rows(plan: CellPlan, pair: PairedPeople, box: Box, present: Booleans, whole: Booleans) -> Iterator[Floats]:
    """(people, numerics) guesses that meet the rows of ``plan``: a small mixed-integer program per person."""
    rows = sorted(plan.rows, key=repr)
    equal = [row for row in rows if _opposite(row) in plan.rows]
    limits = np.stack([approximate(row.limit, pair)[0] for row in rows], axis=1)
    program = _Nearest(rows, [row in equal for row in rows], pair.x.schema.names_numeric, box.encoding.units, whole)
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
        self, rows: list[RowPlan], is_equality: list[bool], names: tuple[str, ...], units: Floats, whole: Booleans
    ) -> None:
        self.matrix = np.array([[float(dict(row.coefficients).get(name, 0)) for name in names] for row in rows])
        self.is_equality = np.array(is_equality)
        self.units, self.whole = units, whole
        self.steps = np.where(whole, 1.0, units)  # a whole number moves in units

    def solve(self, point: Floats, limits: Floats, bounds: tuple[Floats, Floats], slack: float) -> Floats | None:
        """Variables: how many steps each number moves from the point, and the size of that move."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        count, start = len(point), np.where(self.whole, np.rint(point), point)
        size = np.abs(self.matrix) @ self.units + np.abs(limits) * 1e-6
        inner = limits - np.where(self.is_equality, 0.0, slack * size) - self.matrix @ start
        rows = np.hstack([self.matrix * self.steps, np.zeros_like(self.matrix)])
        at_least = np.vstack([np.hstack([sign * np.eye(count), -np.eye(count)]) for sign in (1, -1)])
        lower, upper = ((bound - start) / self.steps for bound in bounds)
        answer = milp(
            np.concatenate([np.zeros(count), self.steps / self.units]),
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
