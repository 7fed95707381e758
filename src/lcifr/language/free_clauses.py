"""Validation of ``free(…)`` clauses: top level only, and constrained nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

from lcifr.data.schema import Schema
from lcifr.language.constrained_attributes import mentioned_by_atom
from lcifr.language.diagnostics import Diagnostics, find_position
from lcifr.language.formula import Atom, Formula, Free, Same, Within, conjuncts, subformulas
from lcifr.language.names import attributes_in, quote_name
from lcifr.language.printer import print_set


def check_free_clauses(formula: Formula, schema: Schema, diagnostics: Diagnostics) -> None:
    """Note every ``free(…)`` that does not mean what it says."""
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
    """The conditions that speak of the other person's value of this attribute."""
    return (part for part in subformulas(formula) if isinstance(part, Atom) and name in mentioned_by_atom(part, schema))


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
