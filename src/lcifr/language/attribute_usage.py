"""Static analysis: how a formula names attributes (individually, within sets, after ``except``)."""

from __future__ import annotations

from dataclasses import dataclass, field

from lcifr.data.schema import Schema
from lcifr.language.formula import (
    Absolute,
    And,
    AttributeSet,
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
    Value,
    Within,
)
from lcifr.language.names import attributes_in


@dataclass
class AttributeUsage:
    """Attributes by how they are named."""

    excepted: set[str] = field(default_factory=set)  # after `except`
    own: set[str] = field(default_factory=set)  # of the person, unprimed
    one_by_one: set[str] = field(default_factory=set)  # by their own name anywhere, not only within a set


def find_usage(formula: Formula, schema: Schema) -> AttributeUsage:
    """How a formula names the attributes of its schema."""
    named = AttributeUsage()
    _walk(formula, schema, named)
    return named


def _walk(formula: Formula, schema: Schema, named: AttributeUsage) -> None:
    match formula:
        case And(parts) | Or(parts):
            for part in parts:
                _walk(part, schema, named)
        case Not(part):
            _walk(part, schema, named)
        case Implies(condition, consequence):
            _walk(condition, schema, named)
            _walk(consequence, schema, named)
        case Same(chosen) | Within(chosen):
            named.excepted |= set(attributes_in(AttributeSet(chosen.excluded), schema))
            named.one_by_one |= {name for name in (*chosen.names, *chosen.excluded) if name in schema}
        case Free(chosen):
            named.one_by_one |= {name for name in (*chosen.names, *chosen.excluded) if name in schema}
        case Comparison(left, _, right):
            _note(left, named)
            _note(right, named)
        case CategoryComparison(left, _, right):
            _note_value(left, named)
            if isinstance(right, Value):
                _note_value(right, named)
        case Membership(left):
            _note_value(left, named)


def _note(term: Linear, named: AttributeUsage) -> None:
    for _, variable in term.terms:
        if isinstance(variable, Absolute):
            _note(variable.inside, named)
        else:
            _note_value(variable, named)


def _note_value(value: Value | Rank, named: AttributeUsage) -> None:
    names = {value.attribute} if isinstance(value, Value) else {value.attribute, value.by}
    named.one_by_one |= names
    if value.person is Person.SELF:
        named.own |= names
