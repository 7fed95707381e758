"""Static analysis: the attributes of x′ that a formula constrains, and those it leaves free."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from lcifr.data.schema import Schema
from lcifr.language.formula import (
    Absolute,
    And,
    Atom,
    CategoryComparison,
    Comparison,
    Formula,
    Free,
    Implies,
    Membership,
    Not,
    Or,
    Person,
    Rank,
    Same,
    Value,
    Variable,
    Within,
    conjuncts,
    subformulas,
)
from lcifr.language.names import attributes_in


def free_attributes(formula: Formula, schema: Schema) -> tuple[str, ...]:
    """The attributes of which the other person may have any value whatsoever: the formula never speaks of them."""
    spoken = _mentioned(formula, schema)
    return tuple(name for name in schema.names if name not in spoken)


def sometimes_free_attributes(formula: Formula, schema: Schema) -> tuple[str, ...]:
    """The attributes that the formula speaks of, but not in each of its cases."""
    held, spoken = _held(formula, schema, True), _mentioned(formula, schema)
    return tuple(name for name in schema.names if name in spoken and name not in held)


def declared_free(formula: Formula, schema: Schema) -> tuple[str, ...]:
    """The attributes that the formula says are free, on purpose."""
    sets = [part.set for part in conjuncts(formula) if isinstance(part, Free)]
    declared = set().union(*(attributes_in(names, schema) for names in sets))
    return tuple(name for name in schema.names if name in declared)


def _mentioned(formula: Formula, schema: Schema) -> set[str]:
    atoms = (part for part in subformulas(formula) if isinstance(part, Atom))
    return set().union(*(mentioned_by_atom(atom, schema) for atom in atoms))


def _held(formula: Formula, schema: Schema, positive: bool) -> set[str]:
    """The attributes spoken of in every case of the formula, or of its negation where ``positive`` is false."""
    match formula:
        case And(parts) | Or(parts):
            sets = [_held(part, schema, positive) for part in parts]
            all_at_once = isinstance(formula, And) == positive
            return set().union(*sets) if all_at_once else set.intersection(*sets) if sets else set()
        case Not(part):
            return _held(part, schema, not positive)
        case Implies(condition, consequence):
            sides = _held(condition, schema, not positive), _held(consequence, schema, positive)
            return sides[0] & sides[1] if positive else sides[0] | sides[1]
        case _:
            names = mentioned_by_atom(formula, schema)
            # "not same(a, b)" is true as soon as one of them differs, and then leaves the other free.
            is_open = not positive and isinstance(formula, Same | Within) and len(names) > 1
            return set() if is_open else names


def mentioned_by_atom(atom: Atom, schema: Schema) -> set[str]:
    """The attributes of the other person that one condition speaks of."""
    match atom:
        case Same(names) | Within(names):
            return set(attributes_in(names, schema))
        case Free():
            return set()
        case Comparison(left, _, right):
            return _mentioned_by_terms([*left.terms, *((-c, variable) for c, variable in right.terms)])
        case CategoryComparison(left, _, right):
            return _mentioned_by_variable(left) | (set() if isinstance(right, str) else _mentioned_by_variable(right))
        case Membership(left):
            return _mentioned_by_variable(left)
        case _:
            assert_never(atom)


def _mentioned_by_terms(terms: Sequence[tuple[Fraction, Variable]]) -> set[str]:
    """What stands in a sum and does not cancel: ``0*age'`` and ``age' - age'`` say nothing of age."""
    totals: dict[Variable, Fraction] = {}
    for c, variable in terms:
        totals[variable] = totals.get(variable, Fraction(0)) + c
    return set().union(*(_mentioned_by_variable(variable) for variable, c in totals.items() if c))


def _mentioned_by_variable(variable: Variable) -> set[str]:
    match variable:
        case Value(person, attribute):
            return {attribute} if person is Person.OTHER else set()
        case Rank(person, attribute, by):
            return {attribute, by} if person is Person.OTHER else set()
        case Absolute(inside):
            return _mentioned_by_terms(inside.terms)
        case _:
            assert_never(variable)
