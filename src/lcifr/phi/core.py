"""Core tree: a formula in negation normal form with sets, sd and ranks resolved; and its canonical form.

A handful of node kinds, negation already pushed to the leaves by the paper's rules ("Full Encoding"). Truth, regions,
losses and the canonical form that the exact checker reads are all made from this tree, so that they cannot drift apart.
The values of its linear forms on pairs of people are floats with an error bound.

The canonical form is the input of the exact checker and of hashes: four kinds of node in plain lists (``all``, ``any``,
a category, a comparison). Absolute values, equality of numbers and equality of category names are written out as what
they mean, so that a checker has less to know.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Categorical, Encoding, Individuals, Schema
from lcifr.data.encoding import UNIT_ROUNDOFF
from lcifr.errors import SimilarityError
from lcifr.phi.formula import (
    NOWHERE,
    Absolute,
    And,
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
    Span,
    Value,
    Within,
    attributes_in,
    quote_name,
)

# Core tree: a formula in negation normal form with sets, sd and ranks resolved.
#
# A handful of node kinds, negation already pushed to the leaves by the paper's rules ("Full Encoding"). Truth, regions,
# losses and the canonical form that the exact checker reads are all made from this tree, so that they cannot drift
# apart. The values of its linear forms on pairs of people are floats with an error bound.

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


# Core trees about x and x′ as core trees about one person of the pair schema, and what they keep equal in both.


def kept_equal(core: Core) -> frozenset[str]:
    """The attributes that are equal in x and x′ whenever ``core`` holds, as far as its writing shows."""
    if isinstance(core, AllOf):
        return frozenset().union(*map(kept_equal, core.parts))
    if isinstance(core, AnyOf) and core.parts:
        return frozenset.intersection(*map(kept_equal, core.parts))
    if isinstance(core, SameCategory) and core.equal and {core.left, core.right} == _both(core.left[1]):
        return frozenset({core.left[1]})
    if isinstance(core, Compare) and core.operator == "=" and _is_difference(core.form):
        return frozenset({core.form.numbers[0][1]})
    return frozenset()


def _both(name: str) -> set[tuple[Person, str]]:
    return {(Person.SELF, name), (Person.OTHER, name)}


def _is_difference(form: LinearForm) -> bool:
    """Whether it is c · (x′ − x) of one attribute and nothing else."""
    if form.ranks or form.absolutes or form.constant or len(form.numbers) != 2:
        return False
    (_, one, c), (_, other, d) = form.numbers
    return one == other and c == -d


@dataclass(frozen=True)
class PairRenaming:
    """A core tree about x and x′ as one about x′ of the pair schema alone."""

    others: dict[str, str]

    def name(self, person: Person, name: str) -> str:
        return name if person is Person.SELF else self.others[name]

    def of(self, core: Core) -> Core:
        if isinstance(core, AllOf):
            return AllOf(tuple(map(self.of, core.parts)), core.span)
        if isinstance(core, AnyOf):
            return AnyOf(tuple(map(self.of, core.parts)), core.span)
        if isinstance(core, Category):
            return Category(Person.OTHER, self.name(core.person, core.attribute), core.allowed, core.span)
        if isinstance(core, SameCategory):
            left, right = ((Person.OTHER, self.name(*side)) for side in (core.left, core.right))
            if left == right:
                return TRUE if core.equal else AnyOf((), core.span)
            return SameCategory(left, right, core.equal, core.span)
        return Compare(self.form(core.form), core.operator, core.span)

    def form(self, form: LinearForm) -> LinearForm:
        numbers = [(Person.OTHER, self.name(person, name), c) for person, name, c in form.numbers]
        ranks = [
            (Person.OTHER, RankTable(self.name(person, t.attribute), self.name(person, t.by), t.groups), c)
            for person, t, c in form.ranks
        ]
        absolutes = [(c, self.form(inside)) for c, inside in form.absolutes]
        return merged(numbers, ranks, absolutes, form.constant)


# Resolution of the syntax tree to the core tree, with sets, sd, ranks and negation; and its canonical form.
#
# The canonical form is the input of the exact checker and of hashes: four kinds of node in plain lists (``all``,
# ``any``, a category, a comparison). Absolute values, equality of numbers and equality of category names are written
# out as what they mean, so that a checker has less to know.

# The paper's rules for ¬(t ⋈ t′), on t − t′ ⋈ 0; True marks that the sides change places.
_NEGATED = {"=": ("!=", False), "!=": ("=", False), "<=": ("<", True), "<": ("<=", True)}


def resolve(formula: Formula, schema: Schema, encoding: Encoding) -> Core:
    """The core tree of ``formula`` for the scales and training people of ``encoding``."""
    return _Resolver(schema, encoding).walk(formula, positive=True)


class _Resolver:
    def __init__(self, schema: Schema, encoding: Encoding) -> None:
        self.schema = schema
        self.encoding = encoding

    def walk(self, node: Formula, *, positive: bool) -> Core:
        if isinstance(node, Not):
            return self.walk(node.part, positive=not positive)
        if isinstance(node, Implies):
            condition = self.walk(node.condition, positive=not positive)
            parts: tuple[Core, ...] = (condition, self.walk(node.consequence, positive=positive))
            return AnyOf(parts, node.span) if positive else AllOf(parts, node.span)
        if isinstance(node, And) and positive:
            # What is true by its writing leaves no trace: a formula means, and hashes, the same with and without it.
            parts = tuple(self.walk(part, positive=True) for part in node.parts if not self._asks_nothing(part))
            return parts[0] if len(parts) == 1 < len(node.parts) else AllOf(parts, node.span)
        if isinstance(node, And | Or):
            parts = tuple(self.walk(part, positive=positive) for part in node.parts)
            return AllOf(parts, node.span) if isinstance(node, And) == positive else AnyOf(parts, node.span)
        if isinstance(node, Same | Within):
            parts = tuple(self._of_attribute(node, name, positive) for name in attributes_in(node.set, self.schema))
            return AllOf(parts, node.span) if positive else AnyOf(parts, node.span)
        if isinstance(node, Free):
            return TRUE if positive else FALSE
        return self._leaf(node, positive)

    def _asks_nothing(self, node: Formula) -> bool:
        """Whether this is ``free(…)``, or speaks of a set that is empty."""
        if isinstance(node, Same | Within):
            return not attributes_in(node.set, self.schema)
        return isinstance(node, Free) or (isinstance(node, And) and all(map(self._asks_nothing, node.parts)))

    def _of_attribute(self, node: Same | Within, name: str, positive: bool) -> Core:
        if isinstance(self.schema[name], Categorical):
            return SameCategory((Person.OTHER, name), (Person.SELF, name), positive, node.span)
        difference = LinearForm(((Person.SELF, name, Fraction(-1)), (Person.OTHER, name, Fraction(1))))
        if isinstance(node, Same):
            return Compare(difference, "=" if positive else "!=", node.span)
        # 0.3 sd means 0.3 (exactly) times the training data's standard deviation (a float, taken exactly).
        limit = node.distance * (self._sd(name) if node.in_sd else 1)
        return _compare(LinearForm(absolutes=((Fraction(1), difference),), constant=-limit), "<=", positive, node.span)

    def _sd(self, name: str) -> Fraction:
        sd = self.encoding.sd(name)
        if sd == 0:
            known = quote_name(name)
            raise SimilarityError(
                f'"{name}" is (nearly) the same for everyone in the table that standard deviations are taken from, so '
                f"it has no standard deviation, and a distance in sd says nothing about it",
                fix=f"leave it out of the set and hold it equal: `numeric except {known} within 0.3 sd and "
                f"same({known})`; or give a distance in its own unit: `{known} within 1`",
            )
        return Fraction(sd)

    def _leaf(self, node: Comparison | CategoryComparison | Membership, positive: bool) -> Core:
        if isinstance(node, Membership):
            return self._category(node.left, frozenset(node.values), positive, node.span)
        if isinstance(node, CategoryComparison):
            equal = (node.operator == "=") == positive
            if isinstance(node.right, str):
                return self._category(node.left, frozenset({node.right}), equal, node.span)
            left, right = node.left, node.right
            same = (left.person, left.attribute), (right.person, right.attribute)
            return SameCategory(*same, equal, node.span) if same[0] != same[1] else (TRUE if equal else FALSE)
        left_form, right_form, operator = self._form(node.left), self._form(node.right), node.operator
        if operator in (">", ">="):
            left_form, right_form, operator = right_form, left_form, operator.replace(">", "<")
        compared = _compare(left_form.plus(right_form.times(Fraction(-1))), operator, positive, node.span)
        return _with_each_absolute(compared)

    def _category(self, value: Value, texts: frozenset[str], inside: bool, span: Span) -> Category:
        attribute = self.schema[value.attribute]
        assert isinstance(attribute, Categorical)
        allowed = frozenset(code for code, text in enumerate(attribute.values) if (text in texts) == inside)
        return Category(value.person, value.attribute, allowed, span)

    def _form(self, linear: Linear) -> LinearForm:
        numbers, ranks, absolutes = [], [], []
        for coefficient, variable in linear.terms:
            if isinstance(variable, Value):
                numbers.append((variable.person, variable.attribute, coefficient))
            elif isinstance(variable, Rank):
                ranks.append((variable.person, self._rank_table(variable), coefficient))
            elif isinstance(variable, Absolute):
                absolutes.append((coefficient, self._form(variable.inside)))
        return merged(numbers, ranks, absolutes, linear.constant)

    def _rank_table(self, rank: Rank) -> RankTable:
        people = self.encoding.ranked
        if people is None:
            raise SimilarityError(
                f"rank({rank.attribute} by {rank.by}) is taken among the training people, and they are not at hand",
                fix="fit the Encoding on the training table, or read the formula's saved canonical form",
            )
        by = self.schema[rank.by]
        assert isinstance(by, Categorical)
        codes = range(len(by.values))
        if rank.values is None:
            groups = [frozenset({code}) for code in codes]
        else:
            inside = frozenset(code for code in codes if by.values[code] in rank.values)
            groups = [group for group in (inside, frozenset(codes) - inside) if group]
        tables = tuple((group, distinct_values(people, rank.attribute, rank.by, group)) for group in groups)
        return RankTable(rank.attribute, rank.by, tables)


def distinct_values(people: Individuals, attribute: str, by: str, codes: frozenset[int]) -> tuple[float, ...]:
    """The values of a number among people of these categories, each once, ascending; both have to be known."""
    member = np.isin(people.code(by), list(codes)) & ~np.isnan(people.number(attribute))
    return tuple(float(value) for value in np.unique(people.number(attribute)[member]))


def _with_each_absolute(node: Compare) -> Core:
    """|t| + |u| ≤ k, and what follows from it: |t| ≤ k and |u| ≤ k.

    A distance that adds up attributes bounds each of them, but no single half-space of it does: it is said here, where
    everything that reads the tree sees it.
    """
    form = node.form
    together = len(form.absolutes) > 1 and all(c > 0 for c, _ in form.absolutes)
    if not together or node.operator == "!=" or form.part(Person.OTHER).numbers:
        return node
    operator = "<=" if node.operator == "=" else node.operator
    each = (Compare(replace(form, absolutes=(absolute,)), operator, node.span) for absolute in form.absolutes)
    return AllOf((node, *each), node.span)


def _compare(form: LinearForm, operator: str, positive: bool, span: Span) -> Compare:
    if positive:
        return Compare(form, operator, span)
    opposite, swapped = _NEGATED[operator]
    return Compare(form.times(Fraction(-1)) if swapped else form, opposite, span)


def canonical(core: Core, schema: Schema) -> list[Any]:
    """Plain values; exact rationals as ``[p, q]``."""
    if isinstance(core, AllOf | AnyOf):
        return ["all" if isinstance(core, AllOf) else "any", *(canonical(part, schema) for part in core.parts)]
    if isinstance(core, Category):
        return ["category", _who(core.person), core.attribute, sorted(core.allowed)]
    if alike := kept_equal(core):
        return ["same", *alike]
    if isinstance(core, SameCategory):
        return canonical(name_by_name(core, schema), schema)
    form = core.form
    if form.absolutes:
        return canonical(without_absolute(core), schema)
    if core.operator in ("=", "!=") and form.ranks:
        return canonical(two_sided(core), schema)
    numbers = [[_fraction(c), _who(person), name] for person, name, c in form.numbers]
    ranks = [[_fraction(c), _who(person), *_rank(table)] for person, table, c in form.ranks]
    return ["compare", core.operator, _fraction(form.constant), numbers + ranks]


def _fraction(value: Fraction) -> list[int]:
    return [value.numerator, value.denominator]


def _who(person: Person) -> str:
    return "self" if person is Person.SELF else "other"


def _rank(table: RankTable) -> list[Any]:
    return [table.attribute, table.by, [[sorted(codes), list(values)] for codes, values in table.groups]]


def name_by_name(node: SameCategory, schema: Schema) -> Core:
    """One alternative for each name of one of the two; of x rather than x′, which whole sets are then allowed for."""
    first, second = sorted((node.left, node.right), key=lambda side: side[0] is Person.OTHER)
    one, other = schema[first[1]], schema[second[1]]
    assert isinstance(one, Categorical)
    assert isinstance(other, Categorical)
    parts = []
    for code, text in enumerate(one.values):
        match = frozenset(k for k, name in enumerate(other.values) if (name == text) == node.equal)
        parts.append(AllOf((Category(*first, frozenset({code})), Category(*second, match)), node.span))
    return AnyOf(tuple(parts), node.span)


def two_sided(node: Compare) -> Core:
    """``t = 0`` as t ≤ 0 and −t ≤ 0, ``t != 0`` as t < 0 or −t < 0."""
    operator = "<=" if node.operator == "=" else "<"
    sides = tuple(Compare(node.form.times(Fraction(s)), operator, node.span) for s in (1, -1))
    return AllOf(sides, node.span) if node.operator == "=" else AnyOf(sides, node.span)


def without_absolute(node: Compare) -> Core:
    """The first |t| of a comparison replaced by t and −t: both must hold where it counts upward, else one of them."""
    if node.operator in ("=", "!="):
        return two_sided(node)
    (c, inside), *others = node.form.absolutes
    rest = replace(node.form, absolutes=tuple(others))
    cases = tuple(Compare(rest.plus(inside.times(s * c)), node.operator, node.span) for s in (1, -1))
    return AllOf(cases, node.span) if c > 0 else AnyOf(cases, node.span)


# Core trees over whole numbers: strict comparisons as closed ones, ``!=`` as two sides.
#
# Regions are closed, so ``age' > 1`` holds age′ = 1 too. Where every number of a comparison is whole, it says the same
# as ``age' >= 2``, and the closed region holds no one else.


def closed_over_whole_numbers(core: Core, whole: frozenset[str]) -> Core:
    """The same for people whose attributes ``whole`` are whole numbers; no comparison of these alone is strict."""
    if isinstance(core, AllOf):
        return AllOf(tuple(closed_over_whole_numbers(part, whole) for part in core.parts), core.span)
    if isinstance(core, AnyOf):
        return AnyOf(tuple(closed_over_whole_numbers(part, whole) for part in core.parts), core.span)
    if not isinstance(core, Compare) or not _is_whole(core.form, whole):
        return core
    if core.form.absolutes:
        return closed_over_whole_numbers(without_absolute(core), whole)
    if not core.form.numbers:
        return core
    if core.operator == "!=":
        return closed_over_whole_numbers(two_sided(core), whole)
    return _closed(core)


def _is_whole(form: LinearForm, whole: frozenset[str]) -> bool:
    """Whether all that varies in it are whole numbers."""
    numbers = all(name in whole for _, name, _ in form.numbers)
    return numbers and not form.ranks and all(_is_whole(inside, whole) for _, inside in form.absolutes)


def _closed(core: Compare) -> Core:
    """Σ aᵢ·vᵢ ⋈ k with coprime whole aᵢ: the sum is whole, so k is rounded to a whole number that it can reach."""
    scale = _step(core.form)
    form = core.form.times(1 / scale)
    limit = -form.constant
    if core.operator == "=":
        return core if limit.denominator == 1 else FALSE
    whole = math.ceil(limit) - 1 if core.operator == "<" else math.floor(limit)
    return Compare(replace(form, constant=Fraction(-whole)), "<=", core.span)


def _step(form: LinearForm) -> Fraction:
    """The largest number of which all coefficients are whole multiples."""
    below = math.lcm(*(c.denominator for *_, c in form.numbers))
    return Fraction(math.gcd(*(int(c * below) for *_, c in form.numbers)), below)
