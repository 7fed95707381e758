"""Resolution of the syntax tree to the core tree, with sets, sd, ranks and negation; and its canonical form.

The canonical form is the input of the exact checker and of hashes: four kinds of node in plain lists (``all``, ``any``,
a category, a comparison). Absolute values, equality of numbers and equality of category names are written out as what
they mean, so that a checker has less to know.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from lcifr.data import Categorical, Encoding, Individuals, Schema
from lcifr.errors import SimilarityError
from lcifr.similarity.language.formula import (
    Absolute,
    And,
    CategoryComparison,
    Comparison,
    Formula,
    Free,
    Implies,
    Linear,
    Membership,
    Not,
    Or,
    Person,
    Rank,
    Same,
    Span,
    Value,
    Within,
)
from lcifr.similarity.language.names import attributes_in, quote_name
from lcifr.similarity.semantics.core import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Category,
    Compare,
    Core,
    LinearForm,
    RankTable,
    SameCategory,
    merged,
)
from lcifr.similarity.semantics.pair_core import kept_equal

# The paper's rules for ¬(t ⋈ t′), on t − t′ ⋈ 0; True marks that the sides change places.
_NEGATED = {"=": ("!=", False), "!=": ("=", False), "<=": ("<", True), "<": ("<=", True)}


def resolve(formula: Formula, schema: Schema, encoding: Encoding) -> Core:
    """The core tree of ``formula`` for the scales and training people of ``encoding``."""
    return _Resolver(schema, encoding).walk(formula, positive=True)


class _Resolver:
    def __init__(self, schema: Schema, encoding: Encoding) -> None:
        self.schema = schema
        self.encoding = encoding

    def walk(self, node: Formula, *, positive: bool) -> Core:
        if isinstance(node, Not):
            return self.walk(node.part, positive=not positive)
        if isinstance(node, Implies):
            condition = self.walk(node.condition, positive=not positive)
            parts: tuple[Core, ...] = (condition, self.walk(node.consequence, positive=positive))
            return AnyOf(parts, node.span) if positive else AllOf(parts, node.span)
        if isinstance(node, And) and positive:
            # What is true by its writing leaves no trace: a formula means, and hashes, the same with and without it.
            parts = tuple(self.walk(part, positive=True) for part in node.parts if not self._asks_nothing(part))
            return parts[0] if len(parts) == 1 < len(node.parts) else AllOf(parts, node.span)
        if isinstance(node, And | Or):
            parts = tuple(self.walk(part, positive=positive) for part in node.parts)
            return AllOf(parts, node.span) if isinstance(node, And) == positive else AnyOf(parts, node.span)
        if isinstance(node, Same | Within):
            parts = tuple(self._of_attribute(node, name, positive) for name in attributes_in(node.set, self.schema))
            return AllOf(parts, node.span) if positive else AnyOf(parts, node.span)
        if isinstance(node, Free):
            return TRUE if positive else FALSE
        return self._leaf(node, positive)

    def _asks_nothing(self, node: Formula) -> bool:
        """Whether this is ``free(…)``, or speaks of a set that is empty."""
        if isinstance(node, Same | Within):
            return not attributes_in(node.set, self.schema)
        return isinstance(node, Free) or (isinstance(node, And) and all(map(self._asks_nothing, node.parts)))

    def _of_attribute(self, node: Same | Within, name: str, positive: bool) -> Core:
        if isinstance(self.schema[name], Categorical):
            return SameCategory((Person.OTHER, name), (Person.SELF, name), positive, node.span)
        difference = LinearForm(((Person.SELF, name, Fraction(-1)), (Person.OTHER, name, Fraction(1))))
        if isinstance(node, Same):
            return Compare(difference, "=" if positive else "!=", node.span)
        # 0.3 sd means 0.3 (exactly) times the training data's standard deviation (a float, taken exactly).
        limit = node.distance * (self._sd(name) if node.in_sd else 1)
        return _compare(LinearForm(absolutes=((Fraction(1), difference),), constant=-limit), "<=", positive, node.span)

    def _sd(self, name: str) -> Fraction:
        sd = self.encoding.sd(name)
        if sd == 0:
            known = quote_name(name)
            raise SimilarityError(
                f'"{name}" is (nearly) the same for everyone in the table that standard deviations are taken from, so '
                f"it has no standard deviation, and a distance in sd says nothing about it",
                fix=f"leave it out of the set and hold it equal: `numeric except {known} within 0.3 sd and "
                f"same({known})`; or give a distance in its own unit: `{known} within 1`",
            )
        return Fraction(sd)

    def _leaf(self, node: Comparison | CategoryComparison | Membership, positive: bool) -> Core:
        if isinstance(node, Membership):
            return self._category(node.left, frozenset(node.values), positive, node.span)
        if isinstance(node, CategoryComparison):
            equal = (node.operator == "=") == positive
            if isinstance(node.right, str):
                return self._category(node.left, frozenset({node.right}), equal, node.span)
            left, right = node.left, node.right
            same = (left.person, left.attribute), (right.person, right.attribute)
            return SameCategory(*same, equal, node.span) if same[0] != same[1] else (TRUE if equal else FALSE)
        left_form, right_form, operator = self._form(node.left), self._form(node.right), node.operator
        if operator in (">", ">="):
            left_form, right_form, operator = right_form, left_form, operator.replace(">", "<")
        compared = _compare(left_form.plus(right_form.times(Fraction(-1))), operator, positive, node.span)
        return _with_each_absolute(compared)

    def _category(self, value: Value, texts: frozenset[str], inside: bool, span: Span) -> Category:
        attribute = self.schema[value.attribute]
        assert isinstance(attribute, Categorical)
        allowed = frozenset(code for code, text in enumerate(attribute.values) if (text in texts) == inside)
        return Category(value.person, value.attribute, allowed, span)

    def _form(self, linear: Linear) -> LinearForm:
        numbers, ranks, absolutes = [], [], []
        for coefficient, variable in linear.terms:
            if isinstance(variable, Value):
                numbers.append((variable.person, variable.attribute, coefficient))
            elif isinstance(variable, Rank):
                ranks.append((variable.person, self._rank_table(variable), coefficient))
            elif isinstance(variable, Absolute):
                absolutes.append((coefficient, self._form(variable.inside)))
        return merged(numbers, ranks, absolutes, linear.constant)

    def _rank_table(self, rank: Rank) -> RankTable:
        people = self.encoding.ranked
        if people is None:
            raise SimilarityError(
                f"rank({rank.attribute} by {rank.by}) is taken among the training people, and they are not at hand",
                fix="fit the Encoding on the training table, or read the formula's saved canonical form",
            )
        by = self.schema[rank.by]
        assert isinstance(by, Categorical)
        codes = range(len(by.values))
        if rank.values is None:
            groups = [frozenset({code}) for code in codes]
        else:
            inside = frozenset(code for code in codes if by.values[code] in rank.values)
            groups = [group for group in (inside, frozenset(codes) - inside) if group]
        tables = tuple((group, distinct_values(people, rank.attribute, rank.by, group)) for group in groups)
        return RankTable(rank.attribute, rank.by, tables)


def distinct_values(people: Individuals, attribute: str, by: str, codes: frozenset[int]) -> tuple[float, ...]:
    """The values of a number among people of these categories, each once, ascending; both have to be known."""
    member = np.isin(people.code(by), list(codes)) & ~np.isnan(people.number(attribute))
    return tuple(float(value) for value in np.unique(people.number(attribute)[member]))


def _with_each_absolute(node: Compare) -> Core:
    """|t| + |u| ≤ k, and what follows from it: |t| ≤ k and |u| ≤ k.

    A distance that adds up attributes bounds each of them, but no single half-space of it does: it is said here, where
    everything that reads the tree sees it.
    """
    form = node.form
    together = len(form.absolutes) > 1 and all(c > 0 for c, _ in form.absolutes)
    if not together or node.operator == "!=" or form.part(Person.OTHER).numbers:
        return node
    operator = "<=" if node.operator == "=" else node.operator
    each = (Compare(replace(form, absolutes=(absolute,)), operator, node.span) for absolute in form.absolutes)
    return AllOf((node, *each), node.span)


def _compare(form: LinearForm, operator: str, positive: bool, span: Span) -> Compare:
    if positive:
        return Compare(form, operator, span)
    opposite, swapped = _NEGATED[operator]
    return Compare(form.times(Fraction(-1)) if swapped else form, opposite, span)


def canonical(core: Core, schema: Schema) -> list[Any]:
    """Plain values; exact rationals as ``[p, q]``."""
    if isinstance(core, AllOf | AnyOf):
        return ["all" if isinstance(core, AllOf) else "any", *(canonical(part, schema) for part in core.parts)]
    if isinstance(core, Category):
        return ["category", _who(core.person), core.attribute, sorted(core.allowed)]
    if alike := kept_equal(core):
        return ["same", *alike]
    if isinstance(core, SameCategory):
        return canonical(name_by_name(core, schema), schema)
    form = core.form
    if form.absolutes:
        return canonical(without_absolute(core), schema)
    if core.operator in ("=", "!=") and form.ranks:
        return canonical(two_sided(core), schema)
    numbers = [[_fraction(c), _who(person), name] for person, name, c in form.numbers]
    ranks = [[_fraction(c), _who(person), *_rank(table)] for person, table, c in form.ranks]
    return ["compare", core.operator, _fraction(form.constant), numbers + ranks]


def _fraction(value: Fraction) -> list[int]:
    return [value.numerator, value.denominator]


def _who(person: Person) -> str:
    return "self" if person is Person.SELF else "other"


def _rank(table: RankTable) -> list[Any]:
    return [table.attribute, table.by, [[sorted(codes), list(values)] for codes, values in table.groups]]


def name_by_name(node: SameCategory, schema: Schema) -> Core:
    """One alternative for each name of one of the two; of x rather than x′, of whom whole sets are then allowed."""
    first, second = sorted((node.left, node.right), key=lambda side: side[0] is Person.OTHER)
    one, other = schema[first[1]], schema[second[1]]
    assert isinstance(one, Categorical)
    assert isinstance(other, Categorical)
    parts = []
    for code, text in enumerate(one.values):
        match = frozenset(k for k, name in enumerate(other.values) if (name == text) == node.equal)
        parts.append(AllOf((Category(*first, frozenset({code})), Category(*second, match)), node.span))
    return AnyOf(tuple(parts), node.span)


def two_sided(node: Compare) -> Core:
    """``t = 0`` as t ≤ 0 and −t ≤ 0, ``t != 0`` as t < 0 or −t < 0."""
    operator = "<=" if node.operator == "=" else "<"
    sides = tuple(Compare(node.form.times(Fraction(s)), operator, node.span) for s in (1, -1))
    return AllOf(sides, node.span) if node.operator == "=" else AnyOf(sides, node.span)


def without_absolute(node: Compare) -> Core:
    """The first |t| of a comparison replaced by t and −t: both must hold where it counts upward, else one of them."""
    if node.operator in ("=", "!="):
        return two_sided(node)
    (c, inside), *others = node.form.absolutes
    rest = replace(node.form, absolutes=tuple(others))
    cases = tuple(Compare(rest.plus(inside.times(s * c)), node.operator, node.span) for s in (1, -1))
    return AllOf(cases, node.span) if c > 0 else AnyOf(cases, node.span)
