"""Lowering of formulas to regions: conjunctions of bounds, categories and linear rows, filled in for a batch of people.

A plan does not depend on people; it is made once per formula. Its cells are filled in for a batch, every bound rounded
outward. The contract: every x′ of a table for which φ(x, x′) holds encodes, in float arithmetic, to a point inside a
cell. Encoding is monotone in floats as it is in numbers, so a raw bound that is at least as large as every admitted
float becomes an encoded bound by encoding it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from lcifr.data import Encoding, Individuals, Schema
from lcifr.data.encoding import UNIT_ROUNDOFF, BoundPair
from lcifr.errors import RegionError
from lcifr.phi.core import (
    AllOf,
    AnyOf,
    Booleans,
    Category,
    Compare,
    Core,
    Floats,
    LinearForm,
    PairedPeople,
    RankTable,
    SameCategory,
    approximate,
    is_about,
    name_by_name,
    two_sided,
    without_absolute,
)
from lcifr.phi.formula import Person, Span, quote_name
from lcifr.phi.holds import evaluate, exact_distinct, translate_codes
from lcifr.regions.cell import Cell, Choice, IntArray, LinearRows

# Cell plans: the core tree as a union of conjunctions of bounds, categories and linear rows.
#
# A plan does not depend on people; it is made once per formula, and :mod:`lcifr.phi.lowering` fills it in
# for a batch.

Side = Literal["lower", "upper"]

MULTIPLIED = 8  # how many times the limit of cells may be made on the way, before contradictions are taken out


@dataclass(frozen=True)
class AttributeBound:
    """x′ of one attribute is at most (``upper``) or at least (``lower``) a form of x alone."""

    attribute: str
    side: Side
    limit: LinearForm
    strict: bool

    @property
    def is_own_value(self) -> bool:
        """Whether the limit is the person's own value of the attribute, nothing added."""
        return self.limit == LinearForm(((Person.SELF, self.attribute, Fraction(1)),))


@dataclass(frozen=True)
class RankBound:
    """The rank of x′ within one group is at most or at least a form of x alone; ``side`` speaks of the rank."""

    table: RankTable
    group: int
    side: Side
    limit: LinearForm
    strict: bool


@dataclass(frozen=True)
class RowPlan:
    """Σ coefficient · x′ ≤ limit, a form of x alone, with two or more attributes of x′."""

    coefficients: tuple[tuple[str, Fraction], ...]
    limit: LinearForm


@dataclass(frozen=True)
class CellPlan:
    """One cell, before people are filled in: everything in it must hold."""

    conditions: frozenset[Core] = frozenset()  # on x alone
    links: frozenset[SameCategory] = frozenset()  # category of x′ against a category of x
    bounds: frozenset[AttributeBound] = frozenset()
    ranks: frozenset[RankBound] = frozenset()
    rows: frozenset[RowPlan] = frozenset()
    categories: Mapping[str, frozenset[int]] = field(default_factory=dict)

    def implies(self, other: CellPlan) -> bool:
        """Whether everything that ``other`` asks for, this plan asks for too (so its cell lies inside the other's)."""
        return (
            self.conditions >= other.conditions
            and self.links >= other.links
            and self.bounds >= other.bounds
            and self.ranks >= other.ranks
            and self.rows >= other.rows
            and all(
                name in self.categories and self.categories[name] <= codes for name, codes in other.categories.items()
            )
        )


class TooManyCells(Exception):
    """More cells than the limit; ``part`` of the text multiplies the alternatives by ``factor``."""

    def __init__(self, count: int, factor: int, part: Span) -> None:
        self.count, self.factor, self.part = count, factor, part
        super().__init__(count)


def plan_cells(core: Core, schema: Schema, limit: int) -> tuple[CellPlan, ...]:
    """The union of plans that ``core`` is, at most ``limit``: disjunctions multiplied out, contradictions gone."""
    return _Expander(schema, limit).alternatives(core)


class _Expander:
    def __init__(self, schema: Schema, limit: int) -> None:
        self.schema = schema
        self.limit = limit

    def alternatives(self, node: Core) -> tuple[CellPlan, ...]:
        if not is_about(node, Person.OTHER):
            return (CellPlan(conditions=frozenset({node})),) if node != AnyOf(()) else ()
        if isinstance(node, AllOf):
            return self._product(node)
        if isinstance(node, AnyOf):
            options = [plan for part in node.parts for plan in self.alternatives(part)]
            return self._kept(options, len(options), node.span)
        if isinstance(node, Compare):
            return self._compare(node)
        if isinstance(node, Category):
            return (CellPlan(categories={node.attribute: node.allowed}),) if node.allowed else ()
        return self._same_category(node)

    def _product(self, node: AllOf) -> tuple[CellPlan, ...]:
        found: tuple[CellPlan, ...] = (CellPlan(),)
        for part in node.parts:
            options = self.alternatives(part)
            if len(found) * len(options) > MULTIPLIED * self.limit:  # too many even to look for contradictions
                raise TooManyCells(len(found) * len(options), len(options), part.span)
            joined = [joint for plan in found for option in options if (joint := _join(plan, option)) is not None]
            found = self._kept(joined, len(options), part.span)
        return found

    def _kept(self, found: list[CellPlan], factor: int, part: Span) -> tuple[CellPlan, ...]:
        """The plans that no other contains; too many are an error."""
        kept: list[CellPlan] = []
        for plan in found:
            if not any(plan.implies(other) for other in kept):
                kept = [other for other in kept if not other.implies(plan)] + [plan]
        if len(kept) > self.limit:
            raise TooManyCells(len(kept), factor, part)
        return tuple(kept)

    # -- comparisons -----------------------------------------------------------------------------------------------

    def _compare(self, node: Compare) -> tuple[CellPlan, ...]:
        form = node.form
        has_rank = any(person is Person.OTHER for person, *_ in form.ranks)
        if form.absolutes:
            return self.alternatives(without_absolute(node))
        if has_rank:
            return self._rank(node)
        if node.operator == "!=":
            return (CellPlan(),)  # its closure is everything: a plane has no inside
        others = tuple((name, c) for person, name, c in form.numbers if person is Person.OTHER)
        rest = LinearForm(tuple(t for t in form.numbers if t[0] is Person.SELF), form.ranks, (), form.constant)
        signs = (1, -1) if node.operator == "=" else (1,)
        strict = node.operator == "<"
        if len(others) > 1:
            rows = [RowPlan(tuple((name, s * c) for name, c in others), rest.times(Fraction(-s))) for s in signs]
            return (CellPlan(rows=frozenset(rows)),)
        (name, c), limit = others[0], rest.times(Fraction(-1) / others[0][1])
        sides: tuple[Side, ...] = ("upper", "lower") if len(signs) == 2 else ("upper",) if c > 0 else ("lower",)
        return (CellPlan(bounds=frozenset(AttributeBound(name, side, limit, strict) for side in sides)),)

    def _rank(self, node: Compare) -> tuple[CellPlan, ...]:
        """c · rank(x′) + rest ⋈ 0, group by group: within a group a rank is a threshold on the attribute."""
        terms = [(table, c) for person, table, c in node.form.ranks if person is Person.OTHER]
        if len(terms) > 1 or any(person is Person.OTHER for person, *_ in node.form.numbers):
            raise MixedRank(node.span)
        if node.operator == "!=":
            return self.alternatives(two_sided(node))
        table, c = terms[0]
        rest = replace(node.form, ranks=tuple(term for term in node.form.ranks if term[0] is Person.SELF))
        limit = rest.times(Fraction(-1) / c)
        sides: tuple[Side, ...] = ("upper", "lower") if node.operator == "=" else ("upper",) if c > 0 else ("lower",)
        return tuple(
            CellPlan(
                categories={table.by: codes},
                ranks=frozenset(RankBound(table, g, side, limit, node.operator == "<") for side in sides),
            )
            for g, (codes, _) in enumerate(table.groups)
        )

    def _same_category(self, node: SameCategory) -> tuple[CellPlan, ...]:
        if node.left[0] is not node.right[0]:
            return (CellPlan(links=frozenset({node if node.left[0] is Person.OTHER else _turned(node)})),)
        return self.alternatives(name_by_name(node, self.schema))  # both of x′: one alternative per name


class MixedRank(Exception):
    """A rank of x′ beside other values of x′: its steps are no half-space."""

    def __init__(self, part: Span) -> None:
        self.part = part
        super().__init__()


def _turned(node: SameCategory) -> SameCategory:
    return replace(node, left=node.right, right=node.left)


def _join(plan: CellPlan, other: CellPlan) -> CellPlan | None:
    """Both plans at once, or None if that is impossible for all people."""
    categories = dict(plan.categories)
    for name, codes in other.categories.items():
        categories[name] = categories.get(name, codes) & codes
        if not categories[name]:
            return None
    bounds = plan.bounds | other.bounds
    conditions = set(plan.conditions | other.conditions)
    for lower in (bound for bound in bounds if bound.side == "lower"):
        for upper in (bound for bound in bounds if bound.side == "upper" and bound.attribute == lower.attribute):
            gap = lower.limit.plus(upper.limit.times(Fraction(-1)))
            strict = lower.strict or upper.strict
            if gap.about(Person.SELF):  # whether the interval is empty depends on x: decided exactly, person by person
                conditions.add(Compare(gap, "<" if strict else "<="))
            elif gap.constant > 0 or (gap.constant == 0 and strict):
                return None
    return CellPlan(
        frozenset(conditions),
        plan.links | other.links,
        bounds,
        plan.ranks | other.ranks,
        plan.rows | other.rows,
        categories,
    )


# Linear rows of cells in encoded units, with room for all that rounding can add up to.


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


# Lowering of cell plans to cells for a batch of people, every bound rounded outward.
#
# The contract: every x′ of a table for which φ(x, x′) holds encodes, in float arithmetic, to a point inside a cell.
# Encoding is monotone in floats as it is in numbers, so a raw bound that is at least as large as every admitted float
# becomes an encoded bound by encoding it.

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
                who = (
                    ""
                    if open_ended.all()
                    else f" for {open_ended.sum()} people (the first is row {open_ended.argmax()})"
                )
                raise RegionError(
                    f'the formula leaves "{attribute.name}" of the other individual without {article} {side} bound'
                    f"{who}, "
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
