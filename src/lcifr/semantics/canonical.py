"""Canonical form of a formula: the input of the exact checker and of hashes.

Four kinds of node in plain lists: ``all``, ``any``, a category, a comparison. Absolute values, equality of numbers and
equality of category names are written out as what they mean, so that a checker has less to know.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from lcifr.data.schema import Categorical, Schema
from lcifr.language.formula import Person
from lcifr.semantics.core import AllOf, AnyOf, Category, Compare, Core, RankTable, SameCategory


def canonical(core: Core, schema: Schema) -> list[Any]:
    """Plain values; exact rationals as ``[p, q]``."""
    if isinstance(core, AllOf | AnyOf):
        return ["all" if isinstance(core, AllOf) else "any", *(canonical(part, schema) for part in core.parts)]
    if isinstance(core, Category):
        return ["category", _who(core.person), core.attribute, sorted(core.allowed)]
    if isinstance(core, SameCategory):
        return canonical(name_by_name(core, schema), schema)
    form = core.form
    if form.absolutes:
        return canonical(without_absolute(core), schema)
    if core.operator == "=" or (core.operator == "!=" and form.ranks):
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
