"""Generated schemas, formulas and people: the whole language, with decimals that tie.

Constants and attribute values are both drawn from one coarse decimal grid, so that comparisons often meet exactly, and
meet where binary floats would not (0.1 + 0.2 against 0.3). Everything is drawn as indices into lists, because building
strategies anew for every schema takes ten times as long as drawing from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from hypothesis import strategies as st

from lcifr.data.schema import Attribute, Categorical, Numeric, Schema
from lcifr.phi.formula import (
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
    attributes_in,
)

NAMES = ("age", "income", "gpa", "hours per week", "größe", "in", "sd", "all", "a`b\\c", "x-y", "_x1", "Ωmega", "a\nb")
CATEGORY_NAMES = ("sex", "race", "state of birth", "not", "numeric", 'say "hi"')
CATEGORY_VALUES = ("A", "B", "C", "White", 'a "quoted" one', "back\\slash", "two\nlines", "ß", "1", "'")
OPERATORS = ("<=", "<", "=", "!=", ">", ">=")
FACTORS = tuple(Fraction(text) for text in ("1", "-1", "1", "-1", "2", "-0.5", "0.1", "3", "0"))
RESERVED = ("all", "numeric", "categorical")
LOWEST, HIGHEST = -2, 3  # the range of attribute values, and of declared ranges

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class _Dice:
    """Choices, as hypothesis draws them."""

    draw: st.DrawFn

    def number(self, lowest: int, highest: int) -> int:
        return self.draw(st.integers(lowest, highest))

    def flip(self) -> bool:
        return self.number(0, 1) == 1

    def pick(self, items: Sequence[_Item]) -> _Item:
        return items[self.number(0, len(items) - 1)]

    def some(self, items: Sequence[_Item], most: int = 4) -> tuple[_Item, ...]:
        """At least one of the items, each at most once, in any order."""
        left, count = list(items), self.number(1, min(most, len(items)))
        return tuple(left.pop(self.number(0, len(left) - 1)) for _ in range(count))

    def tenth(self, lowest: int = LOWEST, highest: int = HIGHEST) -> Fraction:
        return Fraction(self.number(10 * lowest, 10 * highest), 10)


# -- schemas and people ------------------------------------------------------------------------------------------------


@st.composite
def schemas(draw: st.DrawFn, *, declare_ranges: bool = False, max_numeric: int = 3, max_categorical: int = 3) -> Schema:
    """Schemas with at least one numeric and one categorical attribute; ``declare_ranges`` bounds every numeric one."""
    dice = _Dice(draw)
    numeric, categorical = dice.some(NAMES, max_numeric), dice.some(CATEGORY_NAMES, max_categorical)
    ends = {"lower": float(LOWEST), "upper": float(HIGHEST)} if declare_ranges else {}
    attributes: list[Attribute] = [
        Numeric(name, unit=dice.pick((None, "years", "points")), integer=dice.flip(), **ends) for name in numeric
    ]
    attributes += [Categorical(name, dice.some(CATEGORY_VALUES)) for name in categorical]
    if dice.flip():
        attributes.reverse()
    groups = {"my group": dice.some(numeric)} if dice.flip() else {}
    if dice.flip():
        groups["mixed"] = dice.some((*numeric, *categorical))
    return Schema(tuple(attributes), groups, target=dice.pick((None, "hired")))


@st.composite
def people(draw: st.DrawFn, schema: Schema, n: int) -> list[dict[str, Any]]:
    """``n`` people as rows: floats that are tenths, ints for integer attributes, category names as text."""
    dice = _Dice(draw)
    return [{attribute.name: _attribute_value(dice, attribute) for attribute in schema} for _ in range(n)]


def _attribute_value(dice: _Dice, attribute: Attribute) -> Any:
    if isinstance(attribute, Categorical):
        return dice.pick(attribute.values)
    return dice.number(LOWEST, HIGHEST) if attribute.integer else float(dice.tenth())


# -- formulas ----------------------------------------------------------------------------------------------------------


@st.composite
def formulas(draw: st.DrawFn, schema: Schema, *, max_leaves: int = 8, ranks: bool = True, sd: bool = True) -> Formula:
    """Formulas of the whole language over the schema; ``ranks`` and ``sd`` say whether those may occur."""
    dice = _Dice(draw)
    return _Writer(dice, schema, ranks, sd).formula(dice.number(1, max_leaves))


@dataclass(frozen=True)
class _Writer:
    """Writes formulas by the throw of dice."""

    dice: _Dice
    schema: Schema
    ranks: bool
    sd: bool

    def formula(self, leaves: int, nots: int = 2) -> Formula:
        """A formula of so many conditions; ``nots`` limits how often ``not`` stands before itself."""
        if nots and self.dice.number(0, 5) == 5:
            return Not(self.formula(leaves, nots - 1))
        if leaves < 2:
            return self.atom()
        first = self.dice.number(1, leaves - 1)
        sizes = [first, leaves - first] if leaves - first < 2 or self.dice.flip() else [first, 1, leaves - first - 1]
        kind = self.dice.number(0, 4)
        if kind == 4:
            return Implies(self.formula(first), self.formula(leaves - first))
        parts = tuple(self.formula(size) for size in sizes)
        return And(parts) if kind < 2 else Or(parts)

    def atom(self) -> Formula:
        kinds = (self.same, self.within, self.comparison, self.comparison, self.category, self.membership)
        return self.dice.pick(kinds)()

    def same(self) -> Same:
        return Same(self.attribute_set(self.schema.names))

    def within(self) -> Within:
        numeric = tuple(attribute.name for attribute in self.schema.numeric)
        distance = self.dice.tenth(0, 2)
        return Within(self.attribute_set(numeric), distance, self.sd and self.dice.flip())

    def attribute_set(self, allowed: tuple[str, ...]) -> AttributeSet:
        """A set whose members are all among ``allowed``, with something to except where it excepts.

        It may be empty if it is made of sets of the schema.
        """
        candidates = (*(name for name in self.schema.names if name not in RESERVED), *RESERVED, *self.schema.groups)
        members = {name: attributes_in(AttributeSet((name,)), self.schema) for name in candidates}
        known = [name for name, inside in members.items() if inside and set(inside) <= set(allowed)]
        names = self.dice.some(known)
        inside = attributes_in(AttributeSet(names), self.schema)
        exceptable = tuple(name for name in inside if name not in RESERVED)
        if len(inside) < 2 or not exceptable or self.dice.flip():
            return AttributeSet(names)
        emptiable = any(name in RESERVED or name in self.schema.groups for name in names)
        return AttributeSet(names, self.dice.some(exceptable, len(inside) - (not emptiable)))

    def comparison(self) -> Comparison:
        """Any linear comparison, the common ones (a difference, a threshold) more often."""
        operator = self.dice.pick(OPERATORS)
        kind = self.dice.number(0, 2)
        if kind == 2:
            return Comparison(self.linear(), operator, self.linear())
        name = self.dice.pick(self.schema.numeric).name
        left = _difference(name) if kind == 1 else Linear(((Fraction(1), Value(self.person(), name)),))
        return Comparison(left, operator, Linear((), self.dice.tenth()))

    def linear(self, absolute: bool = True) -> Linear:
        """A linear term of up to three variables."""
        count = self.dice.number(0, 3)
        terms = tuple((self.dice.pick(FACTORS), self.variable(absolute)) for _ in range(count))
        return Linear(terms, self.dice.tenth() if self.dice.flip() else Fraction(0))

    def variable(self, absolute: bool) -> Variable:
        kind = self.dice.number(0, 3)
        if kind == 3 and absolute:
            return Absolute(self.linear(absolute=False))
        if kind == 2 and self.ranks:
            return self.rank()
        return Value(self.person(), self.dice.pick(self.schema.numeric).name)

    def rank(self) -> Rank:
        by = self.dice.pick(self.schema.categorical)
        group = self.dice.some(by.values) if self.dice.flip() else None
        return Rank(self.person(), self.dice.pick(self.schema.numeric).name, by.name, group)

    def person(self) -> Person:
        return self.dice.pick((Person.OTHER, Person.SELF))

    def category(self) -> CategoryComparison:
        """``race' = "White"`` or ``race' != race``; two attributes only where they share a value."""
        attribute = self.dice.pick(self.schema.categorical)
        left, operator = Value(self.person(), attribute.name), self.dice.pick(("=", "!="))
        if self.dice.flip():
            return CategoryComparison(left, operator, self.dice.pick(attribute.values))
        sharing = [other.name for other in self.schema.categorical if set(other.values) & set(attribute.values)]
        return CategoryComparison(left, operator, Value(self.person(), self.dice.pick(sharing)))

    def membership(self) -> Membership:
        attribute = self.dice.pick(self.schema.categorical)
        return Membership(Value(self.person(), attribute.name), self.dice.some(attribute.values))


def _difference(name: str) -> Linear:
    """``|age' - age|``."""
    inside = Linear(((Fraction(1), Value(Person.OTHER, name)), (Fraction(-1), Value(Person.SELF, name))))
    return Linear(((Fraction(1), Absolute(inside)),))
