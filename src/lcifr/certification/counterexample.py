"""Counterexamples: similar people, in the table's own units, with another decision.

Nothing is believed that is not re-checked: ``holds`` on the decoded pair, and two plain forward passes whose difference
is beyond rounding, here and on every machine that computes in the arithmetic of the verdict. Simple means: attributes
go back to the person's own value one by one while it still counts, and numbers lose digits while it still counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import comb
from typing import Any

import numpy as np

from lcifr.certification.demands import (
    BoolArray,
    FloatArray,
    IntArray,
    Limits,
    Outputs,
    RoughError,
    is_strict,
    outputs_at,
    surely_differ,
)
from lcifr.certification.reference import ReferencePredictions
from lcifr.certification.subject import Subject
from lcifr.data import Encoding, Individuals
from lcifr.models.rule import Kind
from lcifr.prove import Budget
from lcifr.regions.region import Cell, Choice, Region

AT_ONCE = 1_000
"""Pairs that are tried in one call, unless there are more people."""
DIGITS = (1, 2, 3, 4, 6, 9, 12)


def with_rows(people: Individuals, rows: Any, others: Individuals) -> Individuals:
    """The same people with others in some rows."""
    numbers, codes = people.numbers.copy(), people.codes.copy()
    numbers[rows], codes[rows] = others.numbers, others.codes
    return Individuals(people.schema, numbers, codes)


@dataclass(frozen=True)
class Pairs:
    """x and a similar x′ with another decision, for each row; meaningful where ``found`` (rows,) is true."""

    x: Individuals
    other: Individuals
    found: BoolArray

    @classmethod
    def none(cls, x: Individuals) -> Pairs:
        """Nothing found yet: everyone stands for themselves."""
        return cls(x, x, np.zeros(len(x), np.bool_))

    def take(self, index: Any) -> Pairs:
        """Those of some rows."""
        return Pairs(self.x.take(index), self.other.take(index), self.found[index])

    def replaced(self, rows: IntArray, part: Pairs) -> Pairs:
        """The same with the pairs that were found for some of the rows."""
        hit = np.flatnonzero(part.found)
        rows, some, found = rows[hit], part.take(hit), self.found.copy()
        found[rows] = True
        return Pairs(with_rows(self.x, rows, some.x), with_rows(self.other, rows, some.other), found)


class CounterexampleChecker:
    """People, their outputs in an arithmetic, and whether proposed others are counterexamples to them there."""

    def __init__(self, subject: Subject, people: Individuals, predicted: ReferencePredictions | None = None) -> None:
        """``predicted`` : by the library that the model comes from; None for a model without one."""
        self.subject, self.people, self.predicted = subject, people, predicted
        self.encoder, self.model, self.deployment = subject.encoder, subject.model, subject.deployed
        known = None if predicted is None or not predicted.is_about(people) else predicted
        features = None if known is None else known.features
        self.features = subject.encoding.encode(people) if features is None else features
        self._rough = RoughError(self.deployment)
        self.own = self._own_outputs(None if known is None else known.outputs)

    def _own_outputs(self, known: Outputs | None) -> Outputs:
        """Of the people: with one error for all, and each with their own where that leaves their decision open.

        A number is compared with others to within its error, so there everyone has their own.
        """
        rough = self._rough.among(self.features)
        if known is None:
            found = outputs_at(self.deployment, self.features, rough)
        else:  # a forward pass does not depend on the arithmetic
            found = Outputs(known.values, known.rounding_error, np.tile(rough, (len(known.values), 1)))
        if not self.deployment.is_exact:
            number = self.model.rule.kind is Kind.NUMBER
            unsure = np.flatnonzero(~is_strict(self.model.rule, found) | number)
            found.deployment_error[unsure] = self.deployment.error_at(self.features[unsure])
        return found

    def without_library(self) -> CounterexampleChecker:
        """The same people and outputs; only the model as it was read is asked."""
        other = copy(self)
        other.predicted = None
        return other

    def is_counterexample(self, rows: IntArray, others: Individuals) -> BoolArray:
        """(rows,) whether ``others`` are real, similar to these people, and surely decided otherwise."""
        real = in_universe(others)
        similar = self.encoder.similarity.holds(self.people.take(rows), others)
        features, own = self.encoder.encoding.encode(others), self.own.take(rows)
        outputs = outputs_at(self.deployment, features, self._rough.among(features))
        good: BoolArray = real & similar & surely_differ(self.model.rule, own, outputs)
        if not self.deployment.is_exact:
            close = np.flatnonzero(real & similar & ~good & surely_differ(self.model.rule, own, outputs.exactly()))
            outputs = replace(outputs.take(close), deployment_error=self.deployment.error_at(features[close]))
            good[close] = surely_differ(self.model.rule, own.take(close), outputs)
        if self.predicted is not None and good.any():
            assert self.subject.reference is not None
            decided = self.subject.reference.decide(others.take(good))
            good[good] = self.model.differ(self.predicted.own[rows[good]], decided)
        return good


def in_universe(people: Individuals) -> BoolArray:
    """(people,) whether the universe holds them: whole numbers where the schema says so, within declared ranges."""
    good = np.isfinite(people.numbers).all(1)
    for j, attribute in enumerate(people.schema.numeric):
        values = people.numbers[:, j]
        if attribute.integer:
            good &= values == np.rint(values)
        if attribute.lower is not None:
            good &= values >= attribute.lower
        if attribute.upper is not None:
            good &= values <= attribute.upper
    return np.asarray(good)


def first_counterexamples(checker: CounterexampleChecker, region: Region, rows: IntArray, points: FloatArray) -> Pairs:
    """Of each of the people ``rows``, the first of k points (rows, k, features) that is a counterexample."""
    blank: BoolArray = np.asarray(np.isnan(points).any(-1))
    decoded = region.decode(np.where(blank[..., None], checker.features[rows][:, None], points))
    k = points.shape[1]
    counted: BoolArray = checker.is_counterexample(np.repeat(rows, k), decoded.individuals).reshape(-1, k)
    good: BoolArray = np.logical_and.reduce([counted, decoded.confirmed, ~blank])
    chosen = decoded.individuals.take(np.arange(len(rows)) * k + good.argmax(1))
    return Pairs(checker.people.take(rows), chosen, np.asarray(good.any(1)))


def simplify(checker: CounterexampleChecker, found: Pairs) -> Pairs:
    """Move attributes back one by one, then shorten what is left, as long as it still is a counterexample.

    A library is asked about what comes out, and about every step only where it decides otherwise there: calls of it
    cost far more than ours, and it hardly ever differs.
    """
    rows = np.flatnonzero(found.found)
    if checker.predicted is None or not len(rows):
        return _simplified(checker, rows, found)
    result = _simplified(checker.without_library(), rows, found)
    refused = rows[~checker.is_counterexample(rows, result.other.take(rows))]
    slowly = _simplified(checker, refused, found)
    return result.replaced(refused, slowly.take(refused))


def _simplified(checker: CounterexampleChecker, rows: IntArray, found: Pairs) -> Pairs:
    """The same with simpler x′ for the people ``rows``."""
    if len(rows) == 0:
        return found
    own, others = checker.people.take(rows), found.other.take(rows)
    _move_back(checker, rows, others, own)
    moved = others.numbers != own.numbers
    turn = moved.cumsum(1)  # the number of a column among those of its person that are moved
    for one in range(1, int(turn[:, -1:].max(initial=0)) + 1):
        _shorten(checker, rows, others, *np.nonzero(moved & (turn == one)))
    return replace(found, other=with_rows(found.other, rows, others))


def _move_back(checker: CounterexampleChecker, rows: IntArray, others: Individuals, own: Individuals) -> None:
    """Attributes of the others back to the person's own values, one after the other, where they still count.

    What one by one would do, in a few calls: of the attributes that are left, the first, the first two, … go back at
    once. All go back before the first that fails, which stays as it is; then the same with those behind it. Of many
    people one attribute at a time, because there a call costs less than what is tried in vain.
    """
    left = np.concatenate([others.codes != own.codes, others.numbers != own.numbers], axis=1)
    split = own.codes.shape[1]
    while len(people := np.flatnonzero(left.any(1))):
        turn = left.cumsum(1)  # the number of an attribute among those that are left
        count = np.minimum(turn[people, -1], max(1, AT_ONCE // len(people)))
        start = np.cumsum(count) - count
        who = np.repeat(people, count)
        upto = np.arange(len(who)) - np.repeat(start, count) + 1
        back = left[who] & (turn[who] <= upto[:, None])
        codes = np.where(back[:, :split], own.codes[who], others.codes[who])
        numbers = np.where(back[:, split:], own.numbers[who], others.numbers[who])
        good = checker.is_counterexample(rows[who], Individuals(own.schema, numbers, codes))
        first = np.minimum.reduceat(np.where(good, left.shape[1] + 1, upto), start)  # that fails
        moved = np.minimum(first - 1, count)
        back = left[people] & (turn[people] <= moved[:, None])
        others.codes[people] = np.where(back[:, :split], own.codes[people], others.codes[people])
        others.numbers[people] = np.where(back[:, split:], own.numbers[people], others.numbers[people])
        left[people] &= turn[people] > (moved + (first <= count))[:, None]


def _shorten(
    checker: CounterexampleChecker,
    rows: IntArray,
    others: Individuals,
    moved: IntArray,
    column: IntArray,
) -> None:
    """A number of some of the others with the fewest digits with which they still count; all tried at once.

    Parameters
    ----------
    moved, column : of whom, and which number; no row is there twice.
    """
    values = [shorter_numbers(value) for value in others.numbers[moved, column].tolist()]
    count = [len(some) for some in values]
    if sum(count):
        again, place = np.repeat(moved, count), np.repeat(column, count)
        shorter = others.take(again)
        shorter.numbers[np.arange(len(again)), place] = list(chain.from_iterable(values))
        good = np.flatnonzero(checker.is_counterexample(rows[again], shorter))
        # of several, the last and shortest stays
        others.numbers[again[good], place[good]] = shorter.numbers[good, place[good]]


def shorter_numbers(value: float) -> list[float]:
    """The value rounded to fewer and fewer digits, where that changes it."""
    found: list[float] = []
    for digits in DIGITS:
        shorter = float(f"{value:.{digits}g}")
        if shorter == value:  # more digits change nothing either
            break
        found.append(shorter)
    return found[::-1]


# Counterexamples in as few attributes as possible: the search over trees asked again about some attributes only.
#
# A counterexample that the search finds may differ in more attributes than it takes. Here everything but a few
# attributes is held at the person's own values, and the same question is asked of what is left: one attribute, then
# two, and so on. Where every such question has an answer, fewer attributes would not do.

SETS = 64
"""Sets of attributes of one size that are tried for a person; of more, only those within the counterexample."""
CALLS = 400
"""Questions in all, each about all people with the same set."""
BUDGET = Budget(nodes=2_000)


def with_fewest_attributes(checker: CounterexampleChecker, region: Region, limits: Limits, found: Pairs) -> Pairs:
    """The same counterexamples of a tree model on people as they are, or others that differ in fewer attributes."""
    own, result = checker.people, found
    free, left, size = free_attributes(region, checker.encoder.encoding), CALLS, 0
    while left > 0:
        size += 1
        differ = differing(own, result.other) & result.found[:, None]
        rows = np.flatnonzero(differ.sum(1) > size)
        if not len(rows):
            break
        for chosen, asked in list(_sets(rows, free, differ, size))[:left]:
            more = asked[differing(own.take(asked), result.other.take(asked)).sum(1) > size]
            if len(more):
                result = result.replaced(more, _ask(checker, region, limits, more, chosen))
            left -= 1
    changed = np.asarray(differing(found.other, result.other).any(1))
    return replace(simplify(checker, replace(result, found=changed)), found=found.found)


def differing(people: Individuals, others: Individuals) -> BoolArray:
    """(people, attributes) where they differ, in the order of the schema."""
    names = people.schema.names
    masks = {name: people.number(name) != others.number(name) for name in people.schema.names_numeric}
    masks |= {name: people.code(name) != others.code(name) for name in people.schema.names_categorical}
    return np.stack([masks[name] for name in names], axis=1)


def free_attributes(region: Region, encoding: Encoding) -> BoolArray:
    """(people, attributes) which may differ between two people who are both similar to one."""
    free = np.zeros((region.people, len(encoding.schema.names)), np.bool_)
    for number, cell in enumerate(region.cells):
        for place, name in enumerate(encoding.schema.names):
            first = encoding.columns(name).start
            if name in encoding.schema.names_numeric:
                j = int(np.searchsorted(cell.numeric, first))
                wide = cell.upper[:, j] > cell.lower[:, j]
            else:
                wide = next(c.allowed for c in cell.choices if c.columns[0] == first).sum(1) > 1
            free[:, place] |= cell.present & (wide | (number > 0))  # another cell may hold another value
    return free


def _sets(rows: IntArray, free: BoolArray, differ: BoolArray, size: int) -> Iterator[tuple[tuple[int, ...], IntArray]]:
    """Sets of so many attributes, each with the people for whom it may be enough; those of most people first."""
    asked: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for row in rows.tolist():
        pool = np.flatnonzero(free[row] | differ[row]).tolist()
        if comb(len(pool), size) > SETS:
            pool = np.flatnonzero(differ[row]).tolist()
        if comb(len(pool), size) <= SETS:
            for chosen in combinations(pool, size):
                asked[chosen].append(row)
    for chosen in sorted(asked, key=lambda one: -len(asked[one])):
        yield chosen, np.array(asked[chosen])


def _ask(
    checker: CounterexampleChecker, region: Region, limits: Limits, rows: IntArray, chosen: tuple[int, ...]
) -> Pairs:
    """Counterexamples for the people ``rows`` in which only the chosen attributes differ."""
    encoding = checker.encoder.encoding
    names = [encoding.schema.names[place] for place in chosen]
    part = held_at(region.take(rows), checker.features[rows], encoding, names)
    answer = limits.take(rows).ask(checker.deployment.merged, part, budget=BUDGET)
    return first_counterexamples(checker, part, rows, answer.witness)


def held_at(region: Region, x: FloatArray, encoding: Encoding, names: list[str]) -> Region:
    """The region with everything but some attributes at the people's own values x (people, features)."""
    moving = np.zeros(region.features, np.bool_)
    for name in names:
        moving[encoding.columns(name)] = True
    return replace(region, cells=tuple(_held(cell, x, moving) for cell in region.cells))


def _held(cell: Cell, x: FloatArray, moving: BoolArray) -> Cell:
    own, fixed = x[:, cell.numeric], ~moving[cell.numeric]
    inside = ((own >= cell.lower) & (own <= cell.upper)) | ~fixed
    present = cell.present & inside.all(1)
    choices = []
    for choice in cell.choices:
        allowed = choice.allowed
        if not moving[choice.columns[0]]:
            allowed = allowed & (x[:, choice.columns] == 1.0)
        present = present & allowed.any(1)
        choices.append(Choice(choice.columns, allowed))
    lower, upper = (np.where(fixed, own, end) for end in (cell.lower, cell.upper))
    return Cell(cell.numeric, lower, upper, tuple(choices), cell.rows, present)
