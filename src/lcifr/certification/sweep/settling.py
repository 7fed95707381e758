"""Individuals whom an audit leaves undecided, settled by trying everybody similar, ties included.

Where nobody similar has a number that is not whole, they can be counted: each is decided by a plain forward pass, and
exactly where that is too close to a tie. In exact arithmetic the rule then says what a tie is. On machines it may fall
either way, and what can be said is whether any two decisions differ strictly before rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np

from lcifr.certification.query import is_strict, outputs_at
from lcifr.certification.sweep.result import Standing
from lcifr.certification.sweep.swept_model import SweptModel
from lcifr.data import Individuals, Numeric
from lcifr.models.rule import Kind, Rule
from lcifr.regions.cell import Cell
from lcifr.regions.whole_numbers import narrow_to_whole_numbers

MOST = 2_048
"""People similar to one who are tried; an individual with more stays open."""
Outputs = tuple[Fraction, ...]


@dataclass(frozen=True)
class Settled:
    """Of one individual: what is known, and of a violation the other; ``strict`` unless it is by a tie."""

    standing: Standing
    other: Individuals | None = None
    strict: bool = True


def settle(swept: SweptModel, person: Individuals) -> Settled:
    """What is known of one individual (one row) after everybody similar has been tried."""
    others = everybody_similar(swept, person)
    if others is None:
        return Settled(Standing.OPEN)
    people = Individuals.joined([person, others])
    if _surely_alike(swept, people):
        return Settled(Standing.PROVED)
    values = [swept.exactly(row) for row in swept.encoding.encode(people)]
    comparison = ExactComparison(swept.rule)
    found = [comparison.differ(values[0], other) for other in values[1:]]
    strictly = [row for row, one in enumerate(found) if one.strictly]
    if not swept.deployment.is_exact:  # what differs beyond rounding too, the audit has found
        return Settled(Standing.OPEN if strictly else Standing.CROSSINGS)
    differ = strictly or [row for row, one in enumerate(found) if one.by_rule]
    differ = [row for row in differ if _library_agrees(swept, person, others.take([row]))]
    if differ:
        return Settled(Standing.VIOLATING, others.take(differ[:1]), bool(strictly))
    return Settled(Standing.OPEN if any(one.by_rule is not False for one in found) else Standing.PROVED)


def everybody_similar(swept: SweptModel, person: Individuals) -> Individuals | None:
    """All people similar to one; None where they cannot be counted, or are too many."""
    region = narrow_to_whole_numbers(swept.encoder.similarity.region(person), swept.encoding)
    found = []
    for cell in region.cells:
        if cell.present[0]:
            choices = _values_of(swept, cell, person)
            if choices is None or prod(map(len, choices)) > MOST:
                return None
            found += list(product(*choices))
    numeric = len(person.schema.numeric)
    rows = np.array(sorted(set(found)), dtype=np.float64).reshape(-1, numeric + len(person.schema.categorical))
    people = Individuals(person.schema, rows[:, :numeric], rows[:, numeric:].astype(np.int32))
    similar = swept.encoder.similarity.holds(person.take(np.zeros(len(people), np.intp)), people)
    return people.take(similar)


def _values_of(swept: SweptModel, cell: Cell, person: Individuals) -> list[list[float]] | None:
    """For each number, then for each category, the values in one person's cell; None where a number is not whole."""
    encoding, own = swept.encoding, person.numbers[0]
    near = np.rint(encoding.unscale(np.concatenate([cell.lower, cell.upper])))
    found: list[list[float]] = []
    for j, attribute in enumerate(person.schema.numeric):
        lower, upper = cell.lower[0, j], cell.upper[0, j]
        declared = _declared(attribute)
        clipped = [
            end for end in declared if lower <= encoding.programs[j](end) <= upper
        ]  # all up to it are encoded so
        if lower == upper == encoding.scale(person.numbers)[0, j] and all(end == own[j] for end in clipped):
            found.append([float(own[j])])
            continue
        ends = [*near[:, j].tolist(), *clipped]
        low, high = max(min(ends), declared[0]), min(max(ends), declared[1])
        if not attribute.integer or high - low >= MOST:
            return None
        found.append([low + step for step in range(int(high - low) + 1)])
    return found + [[float(code) for code in np.flatnonzero(choice.allowed[0])] for choice in cell.choices]


def _declared(attribute: Numeric) -> tuple[float, float]:
    """The first and the last number that somebody can have."""
    lower = -np.inf if attribute.lower is None else attribute.lower
    upper = np.inf if attribute.upper is None else attribute.upper
    return (float(np.ceil(lower)), float(np.floor(upper))) if attribute.integer else (float(lower), float(upper))


def _surely_alike(swept: SweptModel, people: Individuals) -> bool:
    """Whether all are decided as the first is, whatever is rounded."""
    outputs = outputs_at(swept.deployment, swept.encoding.encode(people))
    if swept.rule.kind is Kind.NUMBER or outputs.may_overflow.any():
        return False
    group = swept.rule.group_of[swept.rule.decide(outputs.values)]
    return bool(is_strict(swept.rule, outputs).all() and (group == group[0]).all())


def _library_agrees(swept: SweptModel, person: Individuals, other: Individuals) -> bool:
    if swept.library is None:
        return True
    one, two = (swept.library.library_decides(people) for people in (person, other))
    return bool(swept.model.differ(one, two)[0])


@dataclass(frozen=True)
class Difference:
    """Whether two decisions differ ``strictly``, and ``by_rule``, ties included; None where nobody can tell."""

    strictly: bool
    by_rule: bool | None


@dataclass(frozen=True)
class ExactComparison:
    """Whether two decisions differ, by their exact outputs."""

    rule: Rule

    def differ(self, one: Outputs, other: Outputs) -> Difference:
        """Of two people."""
        if self.rule.kind is Kind.NUMBER:
            far = max(abs(a - b) for a, b in zip(one, other, strict=True)) > Fraction(self.rule.known_tolerance)
            return Difference(far, far)
        groups, plain = [self._group(value) for value in (one, other)], [self._decided(value) for value in (one, other)]
        strictly = None not in groups and groups[0] != groups[1]
        return Difference(strictly, None if None in plain else plain[0] != plain[1])

    def _group(self, value: Outputs) -> int | None:
        """The group of the class that wins strictly; None at a tie, or within the rule's band."""
        lower, upper = map(Fraction, self.rule.band)
        if self.rule.kind is Kind.SIGN:
            return 1 if value[0] > upper else 0 if value[0] < lower else None
        group = self.rule.group_of
        best = max(range(len(value)), key=lambda c: value[c])
        rest = [value[c] for c in range(len(value)) if group[c] != group[best]]
        return int(group[best]) if not rest or value[best] > max(rest) + upper else None

    def _decided(self, value: Outputs) -> int | None:
        """The group that the rule decides for, ties as it has them; None within a band, where nobody can tell."""
        if self.rule.band != (0.0, 0.0):
            return self._group(value)
        if self.rule.kind is Kind.SIGN:
            return int(value[0] > 0)
        return int(self.rule.group_of[value.index(max(value))])
