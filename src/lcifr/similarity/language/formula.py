"""Syntax tree of a formula, as the parser builds it and the printer writes it.

Nodes are frozen and compare by meaning: where they stood in the text (``span``) does not count.
Numbers are exact: ``0.1`` in a formula is one tenth, not the nearest float.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class Span:
    """Where a node stands in its text: characters ``start`` to ``end`` (end excluded), counted from 0."""

    start: int
    end: int

    @classmethod
    def of(cls, place: Any) -> Span:
        """The span of a token, or of a node of lark's parse tree."""
        return cls(place.start_pos or 0, place.end_pos or 0)  # the end of the text has no position


NOWHERE = Span(0, 0)


def _span() -> Span:  # a field that neither equality nor repr looks at
    return field(default=NOWHERE, compare=False, repr=False)


class Person(Enum):
    """Whose attribute: the individual's own, or the other individual's (primed in the text)."""

    SELF = ""
    OTHER = "'"


# -- sets of attributes ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AttributeSet:
    """``numeric``, ``age, income``, ``all except sex``: names of attributes or groups, less the excluded ones."""

    names: tuple[str, ...]
    excluded: tuple[str, ...] = ()
    span: Span = _span()


# -- linear terms ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Value:
    """``age`` or ``age'``: the value of an attribute of one of the two."""

    person: Person
    attribute: str
    span: Span = _span()


@dataclass(frozen=True)
class Rank:
    """``rank(gpa' by race' = "White")``: 1 + the distinct training values strictly above, within the person's group.

    The group is the people whose category is in ``values``, or those whose category is not, whichever holds for the
    person; ``values=None`` (written ``by race``) makes every category a group of its own.
    """

    person: Person
    attribute: str
    by: str
    values: tuple[str, ...] | None
    span: Span = _span()


@dataclass(frozen=True)
class Absolute:
    """``|gpa' - gpa|``; the inside holds no further absolute value."""

    inside: Linear
    span: Span = _span()


Variable = Value | Rank | Absolute


@dataclass(frozen=True)
class Linear:
    """Σ coefficient · variable + constant, in the order written; coefficients may be 0 or repeated as written."""

    terms: tuple[tuple[Fraction, Variable], ...]
    constant: Fraction = Fraction(0)
    span: Span = _span()


# -- formulas ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Same:
    """``same(SET)``: every attribute of the set is equal."""

    set: AttributeSet
    span: Span = _span()


@dataclass(frozen=True)
class Free:
    """``free(SET)``: the other person may have any value there, on purpose; always true, and joined at the top only."""

    set: AttributeSet
    span: Span = _span()


@dataclass(frozen=True)
class Within:
    """``SET within 5`` or ``SET within 0.3 sd``: every numeric attribute of the set differs by at most that."""

    set: AttributeSet
    distance: Fraction
    in_sd: bool
    span: Span = _span()


@dataclass(frozen=True)
class Comparison:
    """``2*age' - income <= 3*age + 1``; ``operator`` is one of ``= != < <= > >=``."""

    left: Linear
    operator: str
    right: Linear
    span: Span = _span()


@dataclass(frozen=True)
class CategoryComparison:
    """``race' = "White"``, ``race' != race``: ``=`` or ``!=`` against a value's text or another attribute."""

    left: Value
    operator: str
    right: Value | str
    span: Span = _span()


@dataclass(frozen=True)
class Membership:
    """``race' in {"A", "B"}``."""

    left: Value
    values: tuple[str, ...]
    span: Span = _span()


@dataclass(frozen=True)
class Not:
    part: Formula
    span: Span = _span()


@dataclass(frozen=True)
class And:
    """Two or more parts; nested conjunctions stay nested, as the parentheses in the text had them."""

    parts: tuple[Formula, ...]
    span: Span = _span()


@dataclass(frozen=True)
class Or:
    parts: tuple[Formula, ...]
    span: Span = _span()


@dataclass(frozen=True)
class Implies:
    """``a implies b``; written without parentheses it groups to the right."""

    condition: Formula
    consequence: Formula
    span: Span = _span()


Atom = Same | Free | Within | Comparison | CategoryComparison | Membership
Formula = Atom | Not | And | Or | Implies


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """What a formula joins or negates, in the order of the text; nothing for an atom."""
    match formula:
        case And(parts) | Or(parts):
            return parts
        case Not(part):
            return (part,)
        case Implies(condition, consequence):
            return condition, consequence
        case _:
            return ()


def conjuncts(formula: Formula) -> Iterator[Formula]:
    """What must hold at once, in the order of the text: the parts of a conjunction, or the formula itself."""
    if isinstance(formula, And):
        for part in formula.parts:
            yield from conjuncts(part)
    else:
        yield formula


def subformulas(formula: Formula) -> Iterator[Formula]:
    """The formula and everything inside it, outermost first."""
    yield formula
    for part in parts_of(formula):
        yield from subformulas(part)
