"""Generated schemas, formulas and people: the whole language, with decimals that tie.

Constants and attribute values are both drawn from one coarse decimal grid, so that comparisons often meet exactly, and
meet where binary floats would not (0.1 + 0.2 against 0.3).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from lcifr.data.schema import Attribute, Categorical, Numeric, Schema
from lcifr.similarity.formula import (
    Absolute,
    And,
    AttributeSet,
    CategoryComparison,
    Comparison,
    Formula,
    Implies,
    Linear,
    Membership,
    Not,
    Or,
    Person,
    Rank,
    Same,
    Value,
    Variable,
    Within,
)
from lcifr.similarity.names import attributes_in

NAMES = ("age", "income", "gpa", "hours per week", "größe", "in", "sd", "all", "a`b\\c", "x-y", "_x1", "Ωmega", "rank")
CATEGORY_NAMES = ("sex", "race", "state of birth", "not", "numeric", 'say "hi"')
CATEGORY_VALUES = ("A", "B", "C", "White", 'a "quoted" one', "back\\slash", "two\nlines", "ß", "1", "'")
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
LOWEST, HIGHEST = -2, 3  # the range of attribute values, and of declared ranges

tenths = st.integers(10 * LOWEST, 10 * HIGHEST).map(lambda count: Fraction(count, 10))
distances = st.integers(0, 20).map(lambda count: Fraction(count, 10))
factors = st.sampled_from([Fraction(text) for text in ("1", "-1", "1", "-1", "2", "-0.5", "0.1", "3", "0")])
persons = st.sampled_from(Person)


@st.composite
def schemas(draw: st.DrawFn, *, declare_ranges: bool = False, max_numeric: int = 3, max_categorical: int = 3) -> Schema:
    """Schemas with at least one numeric and one categorical attribute; ``declare_ranges`` bounds every numeric one."""
    numeric = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=max_numeric, unique=True))
    categorical = draw(st.lists(st.sampled_from(CATEGORY_NAMES), min_size=1, max_size=max_categorical, unique=True))
    attributes: list[Attribute] = [draw(_numerics(name, declare_ranges)) for name in numeric]
    attributes += [Categorical(name, draw(_values(CATEGORY_VALUES))) for name in categorical]
    attributes = draw(st.permutations(attributes))
    groups = {}
    if draw(st.booleans()):
        groups["my group"] = draw(_values(tuple(numeric)))
    if draw(st.booleans()):
        groups["mixed"] = draw(_values((*numeric, *categorical)))
    return Schema(tuple(attributes), groups, target=draw(st.sampled_from((None, "hired"))))


@st.composite
def _numerics(draw: st.DrawFn, name: str, declare_range: bool) -> Numeric:
    unit = draw(st.sampled_from((None, "years", "points")))
    integer = draw(st.booleans())
    if not declare_range:
        return Numeric(name, unit=unit, integer=integer)
    return Numeric(name, unit=unit, lower=float(LOWEST), upper=float(HIGHEST), integer=integer)


def _values(pool: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    """Some of the pool, at least one, in any order, each at most once."""
    return st.lists(st.sampled_from(pool), min_size=1, max_size=4, unique=True).map(tuple)


# -- people ------------------------------------------------------------------------------------------------------------


def people(schema: Schema, n: int) -> st.SearchStrategy[list[dict[str, Any]]]:
    """``n`` people as rows: floats that are tenths, ints for integer attributes, category names as text."""
    row = st.fixed_dictionaries({attribute.name: _attribute_values(attribute) for attribute in schema})
    return st.lists(row, min_size=n, max_size=n)


def _attribute_values(attribute: Attribute) -> st.SearchStrategy[Any]:
    if isinstance(attribute, Categorical):
        return st.sampled_from(attribute.values)
    if attribute.integer:
        return st.integers(LOWEST, HIGHEST)
    return tenths.map(float)


# -- formulas ----------------------------------------------------------------------------------------------------------


def formulas(schema: Schema, *, max_leaves: int = 8, ranks: bool = True, sd: bool = True) -> st.SearchStrategy[Formula]:
    """Formulas of the whole language over the schema; ``ranks`` and ``sd`` say whether those may occur."""
    return st.recursive(atoms(schema, ranks=ranks, sd=sd), _joined, max_leaves=max_leaves)


def _joined(parts: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(several.map(And), several.map(Or), parts.map(Not), st.builds(Implies, parts, parts))


def atoms(schema: Schema, *, ranks: bool = True, sd: bool = True) -> st.SearchStrategy[Formula]:
    """One condition, of any kind."""
    kinds: list[st.SearchStrategy[Formula]] = [
        st.builds(Same, attribute_sets(schema, tuple(schema.names))),
        comparisons(schema, ranks=ranks),
        category_comparisons(schema),
        _memberships(schema),
        st.builds(
            Within,
            attribute_sets(schema, tuple(attribute.name for attribute in schema.numeric)),
            distances,
            st.booleans() if sd else st.just(False),
        ),
    ]
    return st.one_of(kinds)


@st.composite
def attribute_sets(draw: st.DrawFn, schema: Schema, allowed: tuple[str, ...]) -> AttributeSet:
    """A set whose members are all among ``allowed``, never empty, with something to except where it excepts."""
    reserved = ("all", "numeric", "categorical")
    candidates = (*reserved, *schema.groups, *(name for name in schema.names if name not in reserved))
    known = [
        name
        for name in candidates
        if len(members := attributes_in(AttributeSet((name,)), schema)) > 0 and set(members) <= set(allowed)
    ]
    names = draw(_values(tuple(known)))
    members = attributes_in(AttributeSet(names), schema)
    exceptable = tuple(name for name in members if name not in reserved)
    if len(members) < 2 or not exceptable or draw(st.booleans()):
        return AttributeSet(names)
    excluded = draw(_values(exceptable))
    return AttributeSet(names, excluded if len(excluded) < len(members) else excluded[1:])


def values(schema: Schema, kind: type[Numeric] | type[Categorical]) -> st.SearchStrategy[Value]:
    """``age`` or ``age'``, for the attributes of one kind."""
    names = [attribute.name for attribute in schema if isinstance(attribute, kind)]
    return st.builds(Value, persons, st.sampled_from(names))


@st.composite
def _ranks(draw: st.DrawFn, schema: Schema) -> Rank:
    by = draw(st.sampled_from(schema.categorical))
    group = draw(st.one_of(st.none(), _values(by.values)))
    return Rank(draw(persons), draw(st.sampled_from(schema.numeric)).name, by.name, group)


def linears(schema: Schema, *, ranks: bool = True, absolute: bool = True) -> st.SearchStrategy[Linear]:
    """Linear terms of up to three variables."""
    kinds: list[st.SearchStrategy[Variable]] = [values(schema, Numeric)]
    if ranks:
        kinds.append(_ranks(schema))
    if absolute:
        kinds.append(st.builds(Absolute, linears(schema, ranks=ranks, absolute=False)))
    terms = st.lists(st.tuples(factors, st.one_of(kinds)), max_size=3).map(tuple)
    return st.builds(Linear, terms, st.one_of(st.just(Fraction(0)), tenths))


def comparisons(schema: Schema, *, ranks: bool = True) -> st.SearchStrategy[Formula]:
    """Linear comparisons, the common ones (a difference, a threshold) more often."""
    operators = st.sampled_from(OPERATORS)
    name = st.sampled_from(schema.numeric).map(lambda attribute: attribute.name)
    constant = st.builds(Linear, st.just(()), tenths)
    threshold = values(schema, Numeric).map(lambda value: Linear(((Fraction(1), value),)))
    return st.one_of(
        st.builds(Comparison, linears(schema, ranks=ranks), operators, linears(schema, ranks=ranks)),
        st.builds(Comparison, name.map(_difference), operators, constant),
        st.builds(Comparison, threshold, operators, constant),
    )


def _difference(name: str) -> Linear:
    """``|age' - age|``."""
    inside = Linear(((Fraction(1), Value(Person.OTHER, name)), (Fraction(-1), Value(Person.SELF, name))))
    return Linear(((Fraction(1), Absolute(inside)),))


@st.composite
def category_comparisons(draw: st.DrawFn, schema: Schema) -> CategoryComparison:
    """``race' = "White"`` or ``race' != race``; two attributes only where they share a value."""
    attribute = draw(st.sampled_from(schema.categorical))
    left = Value(draw(persons), attribute.name)
    operator = draw(st.sampled_from(("=", "!=")))
    if draw(st.booleans()):
        return CategoryComparison(left, operator, draw(st.sampled_from(attribute.values)))
    sharing = [other.name for other in schema.categorical if set(other.values) & set(attribute.values)]
    return CategoryComparison(left, operator, Value(draw(persons), draw(st.sampled_from(sharing))))


@st.composite
def _memberships(draw: st.DrawFn, schema: Schema) -> Membership:
    attribute = draw(st.sampled_from(schema.categorical))
    return Membership(Value(draw(persons), attribute.name), draw(_values(attribute.values)))
