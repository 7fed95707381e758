"""Lowering of cell plans to cells for a batch of people, every bound rounded outward.

The contract: every x′ of a table for which φ(x, x′) holds encodes, in float arithmetic, to a point inside a cell.
Encoding is monotone in floats as it is in numbers, so a raw bound that is at least as large as every admitted float
becomes an encoded bound by encoding it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from lcifr.data import Encoding, Individuals
from lcifr.errors import RegionError
from lcifr.language.names import quote_name
from lcifr.regions.cell import Cell, Choice, IntArray
from lcifr.regions.plan import AttributeBound, CellPlan, RankBound
from lcifr.regions.rounded_bounds import Box, bound_by_rows, build_rows, outward, rows_possible
from lcifr.semantics.holds import Booleans, Floats, PairedPeople, approximate, evaluate, exact_distinct, translate_codes


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
    rows = build_rows(plan, box, pair, present)
    if rows is not None:
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
