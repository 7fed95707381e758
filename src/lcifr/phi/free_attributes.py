"""Static analysis of formulas: the attributes that a formula names, constrains or leaves free."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

from lcifr.data.schema import Schema
from lcifr.phi.formula import (
    Absolute,
    And,
    Atom,
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
    Variable,
    Within,
    attributes_in,
    conjuncts,
    print_set,
    quote_name,
    subformulas,
)
from lcifr.phi.syntax_errors import Diagnostics, find_position

# -- constrained and free ----------------------------------------------------------------------------------------------


def free_attributes(formula: Formula, schema: Schema) -> tuple[str, ...]:
    """The attributes that the formula never mentions: the other person may have any value there."""
    constrained = _constrained(formula, schema)
    return tuple(name for name in schema.names if name not in constrained)


def sometimes_free_attributes(formula: Formula, schema: Schema) -> tuple[str, ...]:
    """The attributes that the formula constrains in some of its cases but not in all."""
    always, constrained = _always_constrained(formula, schema, True), _constrained(formula, schema)
    return tuple(name for name in schema.names if name in constrained and name not in always)


def declared_free(formula: Formula, schema: Schema) -> tuple[str, ...]:
    """The attributes that the formula declares free by ``free(…)``."""
    sets = [part.set for part in conjuncts(formula) if isinstance(part, Free)]
    declared = set().union(*(attributes_in(names, schema) for names in sets))
    return tuple(name for name in schema.names if name in declared)


def _constrained(formula: Formula, schema: Schema) -> set[str]:
    atoms = (part for part in subformulas(formula) if isinstance(part, Atom))
    return set().union(*(constrained_by_atom(atom, schema) for atom in atoms))


def _always_constrained(formula: Formula, schema: Schema, positive: bool) -> set[str]:
    """The attributes constrained in every case of the formula, or of its negation where ``positive`` is false."""
    match formula:
        case And(parts) | Or(parts):
            sets = [_always_constrained(part, schema, positive) for part in parts]
            all_at_once = isinstance(formula, And) == positive
            return set().union(*sets) if all_at_once else set.intersection(*sets) if sets else set()
        case Not(part):
            return _always_constrained(part, schema, not positive)
        case Implies(condition, consequence):
            sides = (
                _always_constrained(condition, schema, not positive),
                _always_constrained(consequence, schema, positive),
            )
            return sides[0] & sides[1] if positive else sides[0] | sides[1]
        case _:
            names = constrained_by_atom(formula, schema)
            # "not same(a, b)" is true as soon as one of them differs, and then leaves the other free.
            is_open = not positive and isinstance(formula, Same | Within) and len(names) > 1
            return set() if is_open else names


def constrained_by_atom(atom: Atom, schema: Schema) -> set[str]:
    """The attributes of the other person that one condition constrains."""
    match atom:
        case Same(names) | Within(names):
            return set(attributes_in(names, schema))
        case Free():
            return set()
        case Comparison(left, _, right):
            return _constrained_by_terms([*left.terms, *((-c, variable) for c, variable in right.terms)])
        case CategoryComparison(left, _, right):
            return _constrained_by_variable(left) | (
                set() if isinstance(right, str) else _constrained_by_variable(right)
            )
        case Membership(left):
            return _constrained_by_variable(left)
        case _:
            assert_never(atom)


def _constrained_by_terms(terms: Sequence[tuple[Fraction, Variable]]) -> set[str]:
    """The attributes in a sum that do not cancel: ``0*age'`` and ``age' - age'`` do not constrain age."""
    totals: dict[Variable, Fraction] = {}
    for c, variable in terms:
        totals[variable] = totals.get(variable, Fraction(0)) + c
    return set().union(*(_constrained_by_variable(variable) for variable, c in totals.items() if c))


def _constrained_by_variable(variable: Variable) -> set[str]:
    match variable:
        case Value(person, attribute):
            return {attribute} if person is Person.OTHER else set()
        case Rank(person, attribute, by):
            return {attribute, by} if person is Person.OTHER else set()
        case Absolute(inside):
            return _constrained_by_terms(inside.terms)
        case _:
            assert_never(variable)


# -- how attributes are named ------------------------------------------------------------------------------------------


@dataclass
class AttributeUsage:
    """Attributes by how they are named."""

    excepted: set[str] = field(default_factory=set)  # after `except`
    own: set[str] = field(default_factory=set)  # of the person, unprimed
    one_by_one: set[str] = field(default_factory=set)  # by their own name anywhere, not only within a set


def find_usage(formula: Formula, schema: Schema) -> AttributeUsage:
    """How a formula names the attributes of its schema."""
    named = AttributeUsage()
    _collect_usage(formula, schema, named)
    return named


def _collect_usage(formula: Formula, schema: Schema, named: AttributeUsage) -> None:
    match formula:
        case And(parts) | Or(parts):
            for part in parts:
                _collect_usage(part, schema, named)
        case Not(part):
            _collect_usage(part, schema, named)
        case Implies(condition, consequence):
            _collect_usage(condition, schema, named)
            _collect_usage(consequence, schema, named)
        case Same(chosen) | Within(chosen):
            named.excepted |= set(attributes_in(AttributeSet(chosen.excluded), schema))
            named.one_by_one |= {name for name in (*chosen.names, *chosen.excluded) if name in schema}
        case Free(chosen):
            named.one_by_one |= {name for name in (*chosen.names, *chosen.excluded) if name in schema}
        case Comparison(left, _, right):
            _add_term(left, named)
            _add_term(right, named)
        case CategoryComparison(left, _, right):
            _add_value(left, named)
            if isinstance(right, Value):
                _add_value(right, named)
        case Membership(left):
            _add_value(left, named)


def _add_term(term: Linear, named: AttributeUsage) -> None:
    for _, variable in term.terms:
        if isinstance(variable, Absolute):
            _add_term(variable.inside, named)
        else:
            _add_value(variable, named)


def _add_value(value: Value | Rank, named: AttributeUsage) -> None:
    names = {value.attribute} if isinstance(value, Value) else {value.attribute, value.by}
    named.one_by_one |= names
    if value.person is Person.SELF:
        named.own |= names


# -- free(…) clauses ---------------------------------------------------------------------------------------------------


def check_free_clauses(formula: Formula, schema: Schema, diagnostics: Diagnostics) -> None:
    """Report every ``free(…)`` below the top level, or of an attribute that is constrained elsewhere."""
    top = [part for part in conjuncts(formula) if isinstance(part, Free)]
    for part in subformulas(formula):
        if isinstance(part, Free) and not any(part is one for one in top):
            diagnostics.add(
                "free(…) says of the whole formula what may differ: it cannot stand under or, not or implies",
                part.span,
                fix=f"join it to all the rest at the end: (…) and free({print_set(part.set)})",
            )
    for part in top:
        for name in attributes_in(part.set, schema):
            atom = next(_constraints(formula, schema, name), None)
            if atom is not None:
                _refuse_both(part, name, atom, diagnostics)


def _constraints(formula: Formula, schema: Schema, name: str) -> Iterator[Atom]:
    """The conditions on the other person's value of this attribute."""
    return (
        part for part in subformulas(formula) if isinstance(part, Atom) and name in constrained_by_atom(part, schema)
    )


def _refuse_both(part: Free, name: str, atom: Atom, diagnostics: Diagnostics) -> None:
    place = find_position(diagnostics.text, atom.span.start)
    shown = quote_name(name)
    fix = f"take {shown} out of free(…), or out of that condition"
    if isinstance(atom, Same | Within) and name not in atom.set.names:
        fix += f": {print_set(atom.set)}{',' if atom.set.excluded else ' except'} {shown}"
    diagnostics.add(
        f"{shown} is said to be free, and line {place.line}, column {place.column} asks something of it",
        part.span,
        fix=fix,
    )
