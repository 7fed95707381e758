"""Lowering of cell plans to cells for a batch of people, every bound rounded outward.

The contract: every x′ of a table for which φ(x, x′) holds encodes, in float arithmetic, to a point inside a cell.
Encoding is monotone in floats as it is in numbers, so a raw bound that is at least as large as every admitted float
becomes an encoded bound by encoding it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lcifr.data import Encoding, Individuals
from lcifr.data.encoded_columns import UNIT_ROUNDOFF, BoundPair
from lcifr.errors import RegionError
from lcifr.regions.cell import Cell, Choice, IntArray
from lcifr.similarity.language.names import quote_name
from lcifr.similarity.lowering.plan import AttributeBound, CellPlan, RankBound
from lcifr.similarity.lowering.rows import build_rows, rows_possible
from lcifr.similarity.semantics.core import Booleans, Floats, PairedPeople, approximate
from lcifr.similarity.semantics.holds import evaluate, exact_distinct, translate_codes

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


def bound_by_rows(box: Box, plan: CellPlan, pair: PairedPeople, *, tighten: bool = False) -> None:
    """Bounds that only a row gives: Σ a·x′ ≤ k bounds one attribute once the others are bounded. Rounded outward.

    tighten : whether attributes that have bounds already are bounded too, once.
    """
    names = box.encoding.schema.names_numeric
    limits = {row: approximate(row.limit, pair) for row in plan.rows}
    for _ in names[:1] if tighten else names:  # each round bounds one more attribute, or nothing changes any more
        for row, (limit, error) in limits.items():
            terms = [(names.index(name), c) for name, c in row.coefficients]
            for j, c in terms:
                side = "upper" if c > 0 else "lower"
                if not tighten and np.isfinite(box.upper[:, j] if c > 0 else box.lower[:, j]).all():
                    continue
                others = [(float(a), box.lower[:, i] if a > 0 else box.upper[:, i]) for i, a in terms if i != j]
                rest = sum((a * bound for a, bound in others), np.zeros(len(limit)))
                size = sum((np.abs(a * bound) for a, bound in others), np.abs(limit))
                slack = (2 * error + 4 * (len(terms) + 3) * UNIT_ROUNDOFF * size) / abs(float(c)) + SMALLEST
                with np.errstate(invalid="ignore"):
                    raw = outward((limit - rest) / float(c), slack, side)
                box.narrow(j, side, np.where(np.isfinite(raw), raw, np.inf if side == "upper" else -np.inf))


def build_cell(plan: CellPlan, people: Individuals, encoding: Encoding) -> Cell:
    """The cell of ``plan`` for every person; ``present`` says who has it.

    Raises
    ------
    RegionError
        If a person who has the cell is left without a bound in a numeric attribute.
    """
    pair = PairedPeople(people, people)
    box, present = build_box(plan, pair, encoding)
    _refuse_unbounded(box, present)
    choices = []
    for name in encoding.schema.names_categorical:
        choice, possible = _choice(plan, name, people, encoding)
        choices.append(choice)
        present &= possible
    bounds = box.encoded()
    rows = None
    if plan.rows:
        rows = build_rows(plan, encoding, BoundPair(box.lower, box.upper), pair, present)
        present &= rows_possible(rows, bounds, encoding)
    lower, upper = (_of_present(bound, present) for bound in bounds)
    return Cell(encoding.numeric_columns, lower, upper, tuple(choices), rows, present)


def _of_present(bounds: Floats, present: Booleans) -> Floats:
    """The bounds, 0 for people without the cell, whose bounds may be infinite."""
    return bounds if present.all() else np.where(present[:, None], bounds, 0.0)


def build_box(plan: CellPlan, pair: PairedPeople, encoding: Encoding) -> tuple[Box, Booleans]:
    """The bounds of the numeric attributes, infinite where there are none, and who meets the plan's conditions on x."""
    present = np.ones(len(pair), np.bool_)
    for condition in plan.conditions:
        present &= evaluate(condition, pair)
    shape = (len(pair), len(encoding.schema.numeric))
    box = Box(encoding, np.full(shape, -np.inf, order="F"), np.full(shape, np.inf, order="F"))
    _clip_to_ranges(box)
    for bound in plan.bounds:
        _apply_bound(box, bound, pair)
    for rank in plan.ranks:
        present &= _apply_rank(box, rank, pair)
    bound_by_rows(box, plan, pair)
    present &= (box.lower <= box.upper).all(axis=1)
    return box, present


# -- the box -----------------------------------------------------------------------------------------------------------


def _clip_to_ranges(box: Box) -> None:
    for j, attribute in enumerate(box.encoding.schema.numeric):
        if attribute.lower is not None:
            box.narrow(j, "lower", np.full(len(box.lower), float(attribute.lower)))
        if attribute.upper is not None:
            box.narrow(j, "upper", np.full(len(box.upper), float(attribute.upper)))


def _apply_bound(box: Box, bound: AttributeBound, pair: PairedPeople) -> None:
    j = box.encoding.schema.names_numeric.index(bound.attribute)
    if bound.is_own_value:
        box.narrow(j, bound.side, pair.x.numbers[:, j])
        return
    value, error = approximate(bound.limit, pair)
    box.narrow(j, bound.side, outward(value, error, bound.side))


def _apply_rank(box: Box, bound: RankBound, pair: PairedPeople) -> Booleans:
    """Narrow the ranked attribute; returns (people,) whether such a rank exists.

    With the group's values descending, t₀ > t₁ > …: rank(v) − 1 counts the t above v. So rank ≤ q + 1 means v ≥ t_q,
    and rank ≥ q + 1 means v < t_{q−1}.
    """
    j = box.encoding.schema.names_numeric.index(bound.table.attribute)
    descending = bound.table.tables[bound.group][::-1]
    if bound.side == "upper":  # the rank is at most the limit: the attribute is at least a training value
        q = _integers(bound, pair, lambda r: (math.ceil(r) - 1 if bound.strict else math.floor(r)) - 1)
        free, impossible = q >= len(descending), q < 0
        box.narrow(j, "lower", _pick(descending, q, free | impossible, -np.inf))
    else:
        q = _integers(bound, pair, lambda r: (math.floor(r) + 1 if bound.strict else math.ceil(r)) - 1)
        free, impossible = q <= 0, q > len(descending)
        upper = _pick(descending, q - 1, free | impossible, np.inf)
        impossible |= box.lower[:, j] >= upper  # v < t and v ≥ t
        box.narrow(j, "upper", upper)
    return ~impossible


def _integers(bound: RankBound, pair: PairedPeople, whole: Callable[[Fraction], int]) -> IntArray:
    values, person = exact_distinct(bound.limit, pair)
    return np.array([whole(value) for value in values], dtype=np.intp)[person]


def _pick(values: Floats, index: IntArray, missing: Booleans, otherwise: float) -> Floats:
    if not len(values):
        return np.full(len(index), otherwise)
    return np.where(missing, otherwise, values[np.clip(index, 0, len(values) - 1)])


def _refuse_unbounded(box: Box, present: Booleans) -> None:
    if np.isfinite(box.lower).all() and np.isfinite(box.upper).all():
        return
    for j, attribute in enumerate(box.encoding.schema.numeric):
        for article, side, bounds in (("a", "lower", box.lower[:, j]), ("an", "upper", box.upper[:, j])):
            open_ended = present & ~np.isfinite(bounds)
            if open_ended.any():
                whom = (
                    ""
                    if open_ended.all()
                    else f" for {open_ended.sum()} people (the first is row {open_ended.argmax()})"
                )
                raise RegionError(
                    f'the formula leaves "{attribute.name}" of the other individual without {article} {side} bound'
                    f"{whom}, "
                    "so similar people could be anywhere and nothing could be proved",
                    fix=f"constrain it in the formula, for example `{quote_name(attribute.name)} within …`, "
                    "or declare its range in the schema (lower = …, upper = …)",
                )


# -- categories --------------------------------------------------------------------------------------------------------


def _choice(plan: CellPlan, name: str, people: Individuals, encoding: Encoding) -> tuple[Choice, Booleans]:
    """The allowed categories of every person, and (people,) whether there is one."""
    columns = encoding.columns(name)
    codes = np.arange(columns.stop - columns.start)
    links = [link for link in plan.links if link.left[1] == name]
    own = next((link for link in links if link.equal and link.right[1] == name), None)
    if own:  # by far the commonest: the person's own category and no other ("clip" only spares a check of the codes)
        allowed = np.take(np.eye(len(codes), dtype=np.bool_), people.code(name), axis=0, mode="clip")
    else:
        allowed = np.ones((len(people), len(codes)), np.bool_)
    narrower = [link for link in links if link is not own]
    for link in narrower:
        theirs = people.code(link.right[1])
        wanted = theirs if link.right[1] == name else translate_codes(people, link.right[1], name)[theirs]
        allowed &= (codes == wanted[:, None]) == link.equal
    if name in plan.categories:
        allowed &= np.isin(codes, list(plan.categories[name]))
    outside = encoding.is_outside(name)
    if outside.any():
        allowed &= ~outside
    certain = not narrower and name not in plan.categories and not outside.any()
    possible: Booleans = np.ones(len(people), np.bool_) if certain else np.any(allowed, axis=1)
    return Choice(np.arange(columns.start, columns.stop), allowed), possible
