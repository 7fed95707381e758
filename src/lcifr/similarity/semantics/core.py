"""Core tree: a formula in negation normal form with sets, sd and ranks resolved.

A handful of node kinds, negation already pushed to the leaves by the paper's rules ("Full Encoding"). Truth, regions,
losses and the canonical form that the exact checker reads are all made from this tree, so that they cannot drift apart.
The values of its linear forms on pairs of people are floats with an error bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Individuals
from lcifr.data.encoded_columns import UNIT_ROUNDOFF
from lcifr.similarity.language.formula import NOWHERE, Person, Span

SMALLEST_NORMAL = float(np.finfo(np.float64).smallest_normal)  # what a product may lose by underflow


@dataclass(frozen=True)
class RankTable:
    """The training values among which a rank is taken, per group.

    Parameters
    ----------
    attribute, by
        The ranked numeric attribute, and the categorical one that says who belongs to which group.
    groups
        For each group, the codes of ``by`` that belong to it, and the distinct training values, ascending.
    """

    attribute: str
    by: str
    groups: tuple[tuple[frozenset[int], tuple[float, ...]], ...]

    @cached_property
    def tables(self) -> tuple[NDArray[np.float64], ...]:
        return tuple(np.array(values) for _, values in self.groups)

    @cached_property
    def group_of(self) -> NDArray[np.intp]:
        """(categories of ``by``,) the group of each category."""
        homes = {code: g for g, (codes, _) in enumerate(self.groups) for code in codes}
        return np.array([homes[code] for code in range(len(homes))], dtype=np.intp)


@dataclass(frozen=True)
class LinearForm:
    """Σ coefficient · number + Σ coefficient · rank + Σ coefficient · |form| + constant, like terms merged."""

    numbers: tuple[tuple[Person, str, Fraction], ...] = ()
    ranks: tuple[tuple[Person, RankTable, Fraction], ...] = ()
    absolutes: tuple[tuple[Fraction, LinearForm], ...] = ()
    constant: Fraction = Fraction(0)

    @cached_property
    def floats(self) -> tuple[float, list[float], list[float], list[float]]:
        """The constant, and the coefficients of numbers, ranks and absolute values, each rounded once."""
        numbers, ranks = ([float(c) for _, _, c in terms] for terms in (self.numbers, self.ranks))
        return float(self.constant), numbers, ranks, [float(c) for c, _ in self.absolutes]

    def times(self, factor: Fraction) -> LinearForm:
        return LinearForm(
            tuple((person, name, factor * c) for person, name, c in self.numbers),
            tuple((person, table, factor * c) for person, table, c in self.ranks),
            tuple((factor * c, inside) for c, inside in self.absolutes),
            factor * self.constant,
        )

    def plus(self, other: LinearForm) -> LinearForm:
        return merged(
            [*self.numbers, *other.numbers],
            [*self.ranks, *other.ranks],
            [*self.absolutes, *other.absolutes],
            self.constant + other.constant,
        )

    def about(self, person: Person) -> bool:
        """Whether anything of this person stands in the form."""
        own = any(p is person for p, *_ in self.numbers) or any(p is person for p, *_ in self.ranks)
        return own or any(inside.about(person) for _, inside in self.absolutes)

    def part(self, person: Person) -> LinearForm:
        """The numbers of one person alone: what decides the direction of a bound or row."""
        return LinearForm(tuple(term for term in self.numbers if term[0] is person))


def merged(
    numbers: list[tuple[Person, str, Fraction]],
    ranks: list[tuple[Person, RankTable, Fraction]],
    absolutes: list[tuple[Fraction, LinearForm]],
    constant: Fraction,
) -> LinearForm:
    """A form with like terms added up and zero terms gone, in a fixed order."""
    sums: dict[tuple[Person, str], Fraction] = {}
    for person, name, c in numbers:
        sums[person, name] = sums.get((person, name), Fraction(0)) + c
    rank_sums: dict[tuple[Person, RankTable], Fraction] = {}
    for person, table, c in ranks:
        rank_sums[person, table] = rank_sums.get((person, table), Fraction(0)) + c
    kept = sorted(((p, n, c) for (p, n), c in sums.items() if c), key=lambda term: (term[1], term[0].value))
    kept_ranks = [(p, t, c) for (p, t), c in rank_sums.items() if c]
    kept_ranks.sort(key=lambda term: (term[1].attribute, term[1].by, repr(term[1].groups), term[0].value))
    return LinearForm(tuple(kept), tuple(kept_ranks), tuple((c, inside) for c, inside in absolutes if c), constant)


@dataclass(frozen=True)
class Compare:
    """``form ⋈ 0`` with ``operator`` one of ``<= < = !=``."""

    form: LinearForm
    operator: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Category:
    """The person's category is one of ``allowed`` (indices into the attribute's values)."""

    person: Person
    attribute: str
    allowed: frozenset[int]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class SameCategory:
    """Two categories have the same name (or, with ``equal`` False, different names)."""

    left: tuple[Person, str]
    right: tuple[Person, str]
    equal: bool
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class AllOf:
    """Every part holds; without parts: true."""

    parts: tuple[Core, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class AnyOf:
    """Some part holds; without parts: false."""

    parts: tuple[Core, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Leaf = Compare | Category | SameCategory
Core = Leaf | AllOf | AnyOf

TRUE, FALSE = AllOf(()), AnyOf(())


def leaves(core: Core) -> Iterator[Leaf]:
    """Every comparison of the tree, from left to right."""
    if isinstance(core, AllOf | AnyOf):
        for part in core.parts:
            yield from leaves(part)
    else:
        yield core


def is_about(core: Core, person: Person) -> bool:
    """Whether the truth of ``core`` can depend on this person."""
    if isinstance(core, Compare):
        return core.form.about(person)
    if isinstance(core, Category):
        return core.person is person
    if isinstance(core, SameCategory):
        return person in (core.left[0], core.right[0])
    return any(is_about(part, person) for part in core.parts)


def is_ranked(core: Core) -> bool:
    """Whether it takes a rank, so that training people's numbers are part of what it means."""
    if isinstance(core, Compare):
        return bool(core.form.ranks) or any(inside.ranks for _, inside in core.form.absolutes)
    return isinstance(core, AllOf | AnyOf) and any(map(is_ranked, core.parts))


Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairedPeople:
    """Two equally long tables of people, compared row by row."""

    x: Individuals
    other: Individuals

    def __len__(self) -> int:
        return len(self.x)

    def of(self, person: Person) -> Individuals:
        return self.x if person is Person.SELF else self.other

    def number(self, person: Person, name: str) -> Floats:
        return self.of(person).number(name)

    def code(self, person: Person, name: str) -> NDArray[np.int32]:
        return self.of(person).code(name)

    def rank(self, person: Person, table: RankTable) -> Floats:
        """1 + the distinct training values strictly above, within the person's group. Comparing floats is exact here:
        the decimal a float means grows with the float."""
        values, group = self.number(person, table.attribute), table.group_of[self.code(person, table.by)]
        ranks = np.ones(len(values))
        for g, known in enumerate(table.tables):
            member = group == g
            ranks[member] += len(known) - np.searchsorted(known, values[member], side="right")
        return ranks

    def take(self, rows: NDArray[np.intp]) -> PairedPeople:
        return PairedPeople(self.x.take(rows), self.other.take(rows))


def approximate(form: LinearForm, pair: PairedPeople) -> tuple[Floats, Floats]:
    """The form in floats, and how far that can be from its exact value.

    Every coefficient, every table value (a decimal, stored as the nearest float), every product and every sum errs by a
    factor within 1 ± u. With k terms no partial result passes through more than k + 3 of these, so the error is at most
    γ_{k+3} · Σ|coefficient · value| (Higham §3.1); 2(k + 4)u is above γ_{k+3} for every k < 2⁵⁰.
    """
    constant, of_numbers, of_ranks, of_absolutes = form.floats
    value: Any = constant  # one number until the first term makes it (rows,)
    size: Any = abs(constant)
    slack: Any = 0.0
    terms = [(c, pair.number(person, name)) for (person, name, _), c in zip(form.numbers, of_numbers, strict=True)]
    terms += [(c, pair.rank(person, table)) for (person, table, _), c in zip(form.ranks, of_ranks, strict=True)]
    for (_, inside), c in zip(form.absolutes, of_absolutes, strict=True):
        within, error = approximate(inside, pair)
        terms.append((c, np.abs(within)))
        slack = slack + 2 * abs(c) * error  # doubled: it also covers the rounding of this very line
    for coefficient, number in terms:
        product = number if coefficient == 1.0 else coefficient * number
        value = value + product
        size = size + np.abs(product)
    error = 2 * (len(terms) + 4) * UNIT_ROUNDOFF * size + (slack + SMALLEST_NORMAL * (len(terms) + 1))
    return (value, error) if terms else (np.full(len(pair), value), np.full(len(pair), error))
