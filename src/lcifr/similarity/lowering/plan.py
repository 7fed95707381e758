"""Cell plans: the core tree as a union of conjunctions of bounds, categories and linear rows.

A plan does not depend on people; it is made once per formula, and :mod:`lcifr.similarity.lowering.cells` fills it in
for a batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from lcifr.data import Schema
from lcifr.similarity.language.formula import Person, Span
from lcifr.similarity.semantics.core import (
    AllOf,
    AnyOf,
    Category,
    Compare,
    Core,
    LinearForm,
    RankTable,
    SameCategory,
    is_about,
)
from lcifr.similarity.semantics.resolve import name_by_name, two_sided, without_absolute

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
    """Both plans at once, or None if that is impossible for everybody."""
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
