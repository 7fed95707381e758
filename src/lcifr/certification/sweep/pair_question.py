"""Asks about cells of the universe whether any pair of similar people in them is decided differently."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.audit import audit_region
from lcifr.certification.counterexample import CounterexampleChecker, Pairs
from lcifr.certification.demands import BoolArray, FloatArray, Limits, is_strict, outputs_at
from lcifr.certification.subject import Subject
from lcifr.certification.sweep.additive import AdditiveQuestion
from lcifr.certification.sweep.alike import decided_alike, reached_people
from lcifr.certification.sweep.pairs import draw_pairs, find_pairs, simplified
from lcifr.certification.sweep.result import CellStatus
from lcifr.certification.verdicts import Verdict
from lcifr.data import Individuals, Numeric
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.function import Deployed, Function
from lcifr.models.network import crossings
from lcifr.models.rule import Kind, Rule
from lcifr.prove import Budget
from lcifr.regions.cell import Cell
from lcifr.regions.region import Region
from lcifr.regions.universe import UniverseCells
from lcifr.regions.whole_numbers import narrow_to_whole_numbers

# Individuals that an audit leaves undecided, settled by trying everyone similar, ties included.
#
# Where all numbers of similar people are whole, they can be counted: each is decided by a plain forward pass, and
# exactly where that is too close to a tie. In exact arithmetic the rule then says what a tie is. On machines it may
# fall either way, and all that is known is whether any two decisions differ strictly before rounding.

MOST = 2_048
"""People similar to one who are tried; an individual with more stays open."""
Outputs = tuple[Fraction, ...]


@dataclass(frozen=True)
class Settled:
    """What is known about one individual, and the other person in a violation; not ``strict`` if it rests on a tie."""

    standing: CellStatus
    other: Individuals | None = None
    strict: bool = True


def settle(subject: Subject, person: Individuals) -> Settled:
    """What is known of one individual (one row) after everyone similar has been tried."""
    others = everyone_similar(subject, person)
    if others is None:
        return Settled(CellStatus.OPEN)
    people = Individuals.joined([person, others])
    if _surely_alike(subject, people):
        return Settled(CellStatus.PROVED)
    values = [subject.deployed.exactly(row.tolist()) for row in subject.encoding.encode(people)]
    comparison = ExactComparison(subject.rule)
    found = [comparison.differ(values[0], other) for other in values[1:]]
    strictly = [row for row, one in enumerate(found) if one.strictly]
    if not subject.deployed.is_exact:  # what differs beyond rounding too, the audit has found
        return Settled(CellStatus.OPEN if strictly else CellStatus.CROSSINGS)
    differ = strictly or [row for row, one in enumerate(found) if one.by_rule]
    differ = [row for row in differ if _library_agrees(subject, person, others.take([row]))]
    if differ:
        return Settled(CellStatus.VIOLATING, others.take(differ[:1]), bool(strictly))
    return Settled(CellStatus.OPEN if any(one.by_rule is not False for one in found) else CellStatus.PROVED)


def everyone_similar(subject: Subject, person: Individuals) -> Individuals | None:
    """All people similar to one; None where they cannot be counted, or are too many."""
    region = narrow_to_whole_numbers(subject.similarity.region(person), subject.encoding)
    found = []
    for cell in region.cells:
        if cell.present[0]:
            choices = _values_of(subject, cell, person)
            if choices is None or prod(map(len, choices)) > MOST:
                return None
            found += list(product(*choices))
    numeric = len(person.schema.numeric)
    rows = np.array(sorted(set(found)), dtype=np.float64).reshape(-1, numeric + len(person.schema.categorical))
    people = Individuals(person.schema, rows[:, :numeric], rows[:, numeric:].astype(np.int32))
    similar = subject.similarity.holds(person.take(np.zeros(len(people), np.intp)), people)
    return people.take(similar)


def _values_of(subject: Subject, cell: Cell, person: Individuals) -> list[list[float]] | None:
    """For each number, then for each category, the values in one person's cell; None where a number is not whole."""
    encoding, own = subject.encoding, person.numbers[0]
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
    """The first and the last number that a person can have."""
    lower = -np.inf if attribute.lower is None else attribute.lower
    upper = np.inf if attribute.upper is None else attribute.upper
    return (float(np.ceil(lower)), float(np.floor(upper))) if attribute.integer else (float(lower), float(upper))


def _surely_alike(subject: Subject, people: Individuals) -> bool:
    """Whether all are decided as the first is, whatever is rounded."""
    outputs = outputs_at(subject.deployed, subject.encoding.encode(people))
    if subject.rule.kind is Kind.NUMBER or outputs.may_overflow.any():
        return False
    group = subject.rule.group_of[subject.rule.decide(outputs.values)]
    return bool(is_strict(subject.rule, outputs).all() and (group == group[0]).all())


def _library_agrees(subject: Subject, person: Individuals, other: Individuals) -> bool:
    reference = subject.reference
    if reference is None:
        return True
    one, two = (reference.decide(people) for people in (person, other))
    return bool(subject.model.differ(one, two)[0])


@dataclass(frozen=True)
class Difference:
    """Whether two decisions differ ``strictly``, and ``by_rule``, ties included; None where that is unknown."""

    strictly: bool
    by_rule: bool | None


@dataclass(frozen=True)
class ExactComparison:
    """Whether two decisions differ, by their exact outputs."""

    rule: Rule

    def differ(self, one: Outputs, other: Outputs) -> Difference:
        """Whether the decisions about two people differ, at all and strictly."""
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
        """The group that the rule decides for, ties as it has them; None within a band, where it is unknown."""
        if self.rule.band != (0.0, 0.0):
            return self._group(value)
        if self.rule.kind is Kind.SIGN:
            return int(value[0] > 0)
        return int(self.rule.group_of[value.index(max(value))])


# Pairs near the boundary between two decisions, found by halving the way from one to the other.
#
# Two similar people who are decided differently both stand close to where the decision changes. So the way between two
# people of a cell who are decided differently is halved again and again, and a pair that stands half-way is tried.
# Bounds are not asked for: what this finds, a search would find after thousands of nodes.

DRAWN = 64
"""Pairs of a cell from which the ends of the ways are taken."""
WAYS = 16
HALVINGS = 12


def find_near_boundary(subject: Subject, cells: UniverseCells, region: Region) -> Pairs:
    """Pairs found between people of a cell who are decided differently."""
    result = Pairs.none(cells.middles())
    if not len(cells) or (
        subject.rule.kind is Kind.NUMBER and subject.rule.outputs > 1
    ):  # several numbers have no sides
        return result
    points = draw_pairs(subject, cells, DRAWN)
    decisions = _decisions(subject, points)
    rows = np.flatnonzero((decisions != decisions[:, :1]).any(1))
    one, other, first = _ends(points[rows], decisions[rows])
    for _ in range(HALVINGS):
        left = np.flatnonzero(~result.found[rows])
        if not len(left):
            break
        middle, here = 0.5 * (one[left] + other[left]), rows[left]
        found = find_pairs(subject, cells.take(here), region.take(here), middle, without_library=True)
        result = result.replaced(here, found)
        alike = (_decisions(subject, middle) == first[left])[:, :, None]
        one[left], other[left] = np.where(alike, middle, one[left]), np.where(alike, other[left], middle)
    rows = rows[result.found[rows]]
    if not len(rows):
        return result
    # the library is asked once: for a few people its answer takes as long as all of the above
    good, some = np.zeros(len(cells), np.bool_), result.take(rows)
    checker = CounterexampleChecker(subject, some.x, subject.library_decisions(some.x))
    good[rows] = checker.is_counterexample(np.arange(len(rows)), some.other)
    return replace(result, found=good)


def _decisions(subject: Subject, points: FloatArray) -> NDArray[np.generic]:
    """(rows, k) what x of each pair is decided."""
    people = subject.pairs.encoding.decode(points.reshape(-1, points.shape[2]))
    decided = subject.model.decide(subject.scores(subject.pairs.split(people).x))
    return np.asarray(decided).reshape(points.shape[:2])


def _ends(points: FloatArray, decisions: NDArray[np.generic]) -> tuple[FloatArray, FloatArray, NDArray[np.generic]]:
    """(rows, ways, features) where ways begin and end, and (rows, ways) the decision where they begin."""
    begins: BoolArray = np.asarray(decisions == decisions[:, :1])
    rng = np.random.default_rng(0)
    one = np.empty((len(points), WAYS, points.shape[2]))
    other = np.empty_like(one)
    for row, side in enumerate(begins):
        one[row] = points[row, rng.choice(np.flatnonzero(side), WAYS)]
        other[row] = points[row, rng.choice(np.flatnonzero(~side), WAYS)]
    return one, other, np.repeat(decisions[:, :1], WAYS, axis=1)


# Questions about cells of the universe: whether any similar pair with x in one is decided differently.
#
# A cell is proved where everyone in its pairs is decided alike. Of networks, where that is not so, the two
# decisions are one product network, asked in both orders.

ROUND_UP = 1.0 + 1e-9
Attempted = tuple[BoolArray, FloatArray]
"""(cells,) which are proved, and (cells, k, columns of pairs) points at which a pair may be decided differently."""
Attempt = Callable[[Region, UniverseCells, Budget], Attempted]


@dataclass(frozen=True)
class CellAnswers:
    """Parameters
    ----------
    proved : (cells,) no similar pair with x in the cell is decided differently.
    pairs : where a pair is known that is, the pair.
    strict : (cells,) whether what is known covers ties; else it is proved for strict crossings only, or refuted by a
        tie.
    """

    proved: BoolArray
    pairs: Pairs
    strict: BoolArray


@dataclass(frozen=True, eq=False)
class PairQuestion:
    """Asks about cells; what does not depend on them is made once."""

    subject: Subject

    def ask(self, cells: UniverseCells, budget: Budget, *, thoroughly: bool = True) -> CellAnswers:
        """What is known of each cell after this much work: a few pairs are drawn first, and searched for only then.

        Unless ``thoroughly``, only what is cheap is done: drawing, and the first way to a proof.
        """
        pairs, strict = Pairs.none(cells.middles()), np.ones(len(cells), np.bool_)
        if self._same_outputs:
            return CellAnswers(strict, pairs, strict)
        region = self.subject.pairs.region(cells)
        proved = ~region.nonempty
        for find in (find_pairs, find_near_boundary) if thoroughly else (find_pairs,):
            left = np.flatnonzero(~proved & ~pairs.found)
            pairs = pairs.replaced(left, find(self.subject, cells.take(left), region.take(left)))
        for attempt in self._attempts if thoroughly else self._attempts[:1]:
            left = np.flatnonzero(~proved & ~pairs.found)
            if len(left):
                proved[left], points = attempt(region.take(left), cells.take(left), budget)
                open_, points = left[~proved[left]], points[~proved[left]]
                pairs = pairs.replaced(open_, find_pairs(self.subject, cells.take(open_), region.take(open_), points))
        return CellAnswers(proved, simplified(self.subject, pairs), strict)

    @property
    def _attempts(self) -> tuple[Attempt, ...]:
        """Ways to prove a cell, the cheap ones first."""
        subject, scores = (
            self.subject,
            len(self.subject.score_directions),
        )  # none where all classes count as one decision
        if subject.terms is not None and scores:
            return (self._add_up,) if scores == 1 else (self._add_up, self._ask_alike)
        if self.copies is None or not scores:
            return (self._ask_alike,)
        if subject.rule.kind is Kind.NUMBER:
            return (self._ask_network,)
        return (self._ask_alike, self._ask_network)

    @property
    def _same_outputs(self) -> bool:
        """Whether both of every pair have the same outputs and so the same decision, at a tie too.

        Machines may round them differently, and within a rule's band the decision is unknown.
        """
        subject = self.subject
        return subject.deployed.is_exact and subject.rule.band == (0.0, 0.0) and subject.ignores_changes

    def ask_individuals(self, people: Individuals, budget: Budget) -> CellAnswers:
        """The same for cells of one individual each, by an audit, which can settle more than pairs can."""
        ids = tuple(range(len(people)))
        subject, predicted = self.subject, self.subject.library_decisions(people)
        lowered = subject.region(people)
        found = audit_region(subject, people, lowered, ids, budget=budget, modular=False, predicted=predicted)
        proved, strict, pairs = (
            found.certified,
            np.ones(len(people), np.bool_),
            Pairs(people, found.others, found.violated),
        )
        for row in np.flatnonzero(found.verdict == Verdict.UNDECIDED).tolist():
            settled = settle(self.subject, people.take([row]))
            strict[row] = settled.strict and settled.standing is not CellStatus.CROSSINGS
            proved[row] = settled.standing in (CellStatus.PROVED, CellStatus.CROSSINGS)
            if settled.other is not None:
                pairs = pairs.replaced(np.array([row]), Pairs(people.take([row]), settled.other, np.ones(1, np.bool_)))
        return CellAnswers(proved, pairs, strict)

    # -- one function at a time ----------------------------------------------------------------------------------------

    def _add_up(self, region: Region, cells: UniverseCells, budget: Budget) -> Attempted:
        assert self.subject.terms is not None
        return AdditiveQuestion(self.subject, self.subject.terms).proved(region), _no_points(region)

    def _ask_alike(self, region: Region, cells: UniverseCells, budget: Budget) -> Attempted:
        """Whether everyone in a cell's pairs is decided alike: a network once, where its product is two."""
        reach = reached_people(self.subject.pairs, region, cells, self.subject.encoding)
        return decided_alike(self.subject, reach, cells.middles(), budget), _no_points(region)

    # -- networks: one product, asked in both orders -------------------------------------------------------------------

    @cached_property
    def copies(self) -> Function | None:
        """The outputs at x and at x′ of a pair; None where the model has no such function."""
        space = self.subject.pairs
        return self.subject.deployed.twice(space.own_columns, space.other_columns, len(space.encoding.features))

    @cached_property
    def both(self) -> Deployed:
        """Both copies with the crossings of their scores, over the reals."""
        assert self.copies is not None
        copies = self.copies.deployed(Arithmetic.EXACT)
        if self.subject.rule.kind is Kind.NUMBER:
            return copies
        return crossings(self.subject.score_directions, self._middle).deployed(Arithmetic.EXACT).after(copies)

    @property
    def _middle(self) -> float:
        """Around which a score's sides lie: a lead of one class over another is compared with 0, whatever its band."""
        return self.subject.rule.middle if self.subject.rule.kind is Kind.SIGN else 0.0

    def limits(self, region: Region, whole: bool) -> Limits:
        """What the product must show on a region of pairs: no pair is decided differently, ties included."""
        directions = self._directions(self.both.merged.outputs)
        room = np.abs(self.subject.score_directions) @ self._room(whole)
        beside = np.einsum("ko,po->pk", np.abs(directions), self.both.merging_error(region))
        limit = (self._limit - np.repeat(room, 2)[None] - beside) - 1e-12 * np.abs(self._limit)
        return Limits(np.broadcast_to(directions, (len(limit), *directions.shape)), limit)

    def _ask_network(self, region: Region, cells: UniverseCells, budget: Budget) -> Attempted:
        limits = self.limits(region, cells.whole)
        answer = limits.ask(self.both.merged, region, budget=budget)
        return np.asarray((answer.upper < limits.limit).all(1)), answer.witness

    def _directions(self, outputs: int) -> FloatArray:
        """(2 · scores, outputs) both orders of each score."""
        if self.subject.rule.kind is not Kind.NUMBER:
            return np.eye(outputs)
        apart = np.concatenate([self.subject.score_directions, -self.subject.score_directions], axis=1)
        return np.stack([apart, -apart], axis=1).reshape(-1, outputs)

    @cached_property
    def _limit(self) -> float:
        """What every direction must stay below, if nothing is rounded."""
        rule = self.subject.rule
        if rule.kind is Kind.NUMBER:
            return rule.known_tolerance
        if rule.kind is Kind.CLASS:
            return 0.0 - rule.band[1]
        return 0.0 - max(rule.middle - rule.band[0], rule.band[1] - rule.middle) * ROUND_UP

    def _room(self, whole: bool) -> FloatArray:
        """(outputs,) how far a machine can be from the merged function, of anyone who can exist, twice for numbers."""
        if whole not in self._rooms:
            everybody = UniverseCells.everybody(self.subject.encoding, whole=whole)
            found = self.subject.deployed.room_over(everybody.region(self.subject.encoding))[0] * ROUND_UP
            self._rooms[whole] = np.asarray(found * (2.0 if self.subject.rule.kind is Kind.NUMBER else 1.0))
        return self._rooms[whole]

    @cached_property
    def _rooms(self) -> dict[bool, FloatArray]:
        return {}


def _no_points(region: Region) -> FloatArray:
    return np.empty((region.people, 0, region.features))
