"""What an entry of the corpus is, the people it speaks about, and short ways to write its tree."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lcifr.data.schema import Categorical, Numeric, Schema
from lcifr.phi.formula import (
    Absolute,
    AttributeSet,
    CategoryComparison,
    Comparison,
    Formula,
    Free,
    Linear,
    Membership,
    Person,
    Rank,
    Same,
    Value,
    Variable,
    Within,
)

Row = dict[str, Any]

SCHEMA = Schema(
    (
        Numeric("age", unit="years"),
        Numeric("gpa", unit="grade points"),
        Numeric("hours per week", unit="hours", integer=True),
        Numeric("größe"),
        Categorical("race", ("White", "Black", "Asian")),
        Categorical("sex", ("female", "male")),
        Categorical("partner_race", ("none", "Asian", "White")),
        Categorical("citizen", ("yes", 'no, "sort of #2"')),
    ),
    groups={"work": ("gpa", "hours per week")},
    target="admitted",
)

BASE: Row = {
    "age": 30.0,
    "gpa": 3.0,
    "hours per week": 40,
    "größe": 1.7,
    "race": "White",
    "sex": "female",
    "partner_race": "none",
    "citizen": "yes",
}

# The people that sd and rank refer to. Their ages have a standard deviation (n − 1) of exactly 10.
TRAINING: tuple[Row, ...] = tuple(
    BASE | {"age": age, "gpa": gpa, "race": race, "hours per week": hours, "größe": size}
    for age, gpa, race, hours, size in [
        (20.0, 2.0, "White", 30, 1.6),
        (20.0, 2.5, "White", 40, 1.7),
        (20.0, 3.0, "White", 35, 1.8),
        (20.0, 3.5, "White", 40, 1.7),
        (30.0, 3.5, "White", 50, 1.9),
        (40.0, 1.5, "Black", 40, 1.5),
        (40.0, 3.0, "Black", 20, 1.6),
        (40.0, 2.0, "Asian", 40, 1.8),
        (40.0, 4.0, "Asian", 45, 1.7),
    ]
)


@dataclass(frozen=True)
class Pair:
    """Two people, as rows of a table."""

    x: Row
    other: Row


@dataclass(frozen=True)
class Entry:
    """A formula, its tree, pairs that it calls similar and pairs that it does not."""

    name: str
    text: str
    tree: Formula
    similar: tuple[Pair, ...]
    different: tuple[Pair, ...]


def pair(x: Row, other: Row) -> Pair:
    """Someone who is BASE but for ``x``, and someone who is that person but for ``other``."""
    person = BASE | x
    return Pair(person, person | other)


def D(text: str) -> Fraction:
    """A decimal, exactly."""
    return Fraction(text)


# -- trees -------------------------------------------------------------------------------------------------------------


def value(text: str) -> Value:
    """``value("age'")``."""
    return Value(Person.OTHER, text[:-1]) if text.endswith("'") else Value(Person.SELF, text)


def linear(*terms: str | tuple[str, str | Variable] | Variable, constant: str = "0") -> Linear:
    """``linear("age'", ("-2", "age"), constant="3")`` is ``age' - 2*age + 3``."""
    pairs = [term if isinstance(term, tuple) else ("1", term) for term in terms]
    read = [(Fraction(factor), value(term) if isinstance(term, str) else term) for factor, term in pairs]
    return Linear(tuple(read), Fraction(constant))


def number(text: str) -> Linear:
    return linear(constant=text)


def compare(left: str | Linear, operator: str, right: str | Linear) -> Comparison:
    """``compare("age'", "<=", number("3"))``; a text is the name of an attribute."""
    sides = [linear(side) if isinstance(side, str) else side for side in (left, right)]
    return Comparison(sides[0], operator, sides[1])


def absolute(*terms: Any, constant: str = "0") -> Absolute:
    return Absolute(linear(*terms, constant=constant))


def rank(text: str, by: str, *values: str) -> Rank:
    """``rank("gpa'", "race", "White")``; without values, ``by race``."""
    ranked = value(text)
    return Rank(ranked.person, ranked.attribute, by, values or None)


def same(*names: str, but: tuple[str, ...] = ()) -> Same:
    return Same(AttributeSet(names, but))


def free(*names: str, but: tuple[str, ...] = ()) -> Free:
    return Free(AttributeSet(names, but))


def within(distance: str, *names: str, but: tuple[str, ...] = (), sd: bool = False) -> Within:
    return Within(AttributeSet(names, but), Fraction(distance), sd)


def category(left: str, operator: str, right: str | Value) -> CategoryComparison:
    return CategoryComparison(value(left), operator, right)


def member(left: str, *values: str) -> Membership:
    return Membership(value(left), values)
