"""Pairs of similar people who are decided differently: offered, re-checked, turned into a change for a whole cell."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from lcifr.certification.counterexample import CounterexampleChecker, Pairs, in_universe, simplify
from lcifr.certification.demands import BoolArray, FloatArray
from lcifr.certification.subject import Subject
from lcifr.certification.sweep.alike import decided_alike
from lcifr.data import Categorical, Individuals, Numeric
from lcifr.models.rule import Kind
from lcifr.phi.core import AllOf, AnyOf, Category, Compare, Core, LinearForm, PairedPeople, SameCategory, is_ranked
from lcifr.phi.formula import Person
from lcifr.prove import Budget
from lcifr.regions.region import Region
from lcifr.regions.universe import UniverseCells
from lcifr.regions.whole_numbers import narrow_to_whole_numbers

# Pairs of similar people who are decided differently: decoded, confirmed, and made as alike as possible.

SAMPLED = 32
"""Pairs that are drawn from a cell before anything is searched."""


def find_pairs(
    subject: Subject,
    cells: UniverseCells,
    region: Region,
    points: FloatArray | None = None,
    *,
    without_library: bool = False,
) -> Pairs:
    """Of each cell the first point that is a pair decided differently.

    Parameters
    ----------
    region : the similar pairs of each cell.
    points : (cells, k, features), NaN where there is none; None for a sample, whose points are not moved onto people.
    """
    result, sampled = Pairs.none(cells.middles()), points is None
    points = draw_pairs(subject, cells, SAMPLED) if points is None else points
    blank: BoolArray = np.asarray(np.isnan(points).any(-1))
    at, which = np.nonzero(~blank)
    if not len(at):
        return result
    flat = points[at, which]
    people = subject.pairs.encoding.decode(flat) if sampled else region.take(at).decode(flat).individuals
    pair = subject.pairs.split(people)
    good = cells.take(at).contains(pair.x) & in_universe(pair.x)
    some = np.flatnonzero(good)
    for as_read in (True, False):  # the library is asked about the few that the model as it was read decides otherwise
        if not len(some):
            return result
        x = pair.x.take(some)
        checker = CounterexampleChecker(subject, x, None if as_read else subject.library_decisions(x))
        some = some[checker.is_counterexample(np.arange(len(some)), pair.other.take(some))]
        if subject.reference is None or without_library:
            break
    cell, first = np.unique(at[some], return_index=True)
    some = some[first]
    return result.replaced(cell, Pairs(pair.x.take(some), pair.other.take(some), np.ones(len(cell), np.bool_)))


def draw_pairs(subject: Subject, cells: UniverseCells, count: int) -> FloatArray:
    """(cells, count, features) encoded pairs: x anywhere in the cell, and x′ among those similar to this x.

    Of one x, the similar people are mostly a box: far quicker to draw from than from all pairs of a cell. Where there
    are none, x stands for both.
    """
    space, similarity = subject.pairs, subject.similarity
    x = cells.draw(count, np.random.default_rng(0))
    around = similarity.region(x)
    reached = (narrow_to_whole_numbers(around, subject.encoding) if cells.whole else around).sample(1)[:, 0]
    empty: BoolArray = np.asarray(np.isnan(reached).any(1))
    other = subject.encoding.decode(np.where(empty[:, None], subject.encoding.encode(x), reached))
    points = space.encoding.encode(space.join(PairedPeople(x, other)))
    return points.reshape(len(cells), count, points.shape[1])


def simplified(subject: Subject, pairs: Pairs) -> Pairs:
    """The same with x′ as much like x as it can be."""
    rows = np.flatnonzero(pairs.found)
    if not len(rows):
        return pairs
    some = pairs.take(rows)
    checker = CounterexampleChecker(subject, some.x, subject.library_decisions(some.x))
    return pairs.replaced(rows, simplify(checker, some))


# Cells in which everyone has a counterexample: one change that φ admits for all of them, both decisions proved.


def violating_everywhere(subject: Subject, cells: UniverseCells, pairs: Pairs, budget: Budget) -> BoolArray:
    """(cells,) where the change from x to x′ of the cell's pair makes a violation of everyone in the cell."""
    found = np.zeros(len(cells), np.bool_)
    if subject.rule.kind is Kind.NUMBER:
        return found
    changes = [FixedChange(cells.take([row]), pairs.take([row])) for row in range(len(cells))]
    asked = [
        row
        for row, change in enumerate(changes)
        if pairs.found[row] and change.is_exact and change.always(subject.similarity.core)
    ]
    if not asked:
        return found
    rows = np.array(asked)
    before = _alike(subject, cells.take(rows), pairs.x.take(rows), budget)
    moved = UniverseCells.joined([changes[row].moved for row in asked])
    found[rows] = before & _alike(subject, moved, pairs.other.take(rows), budget)
    return found


def _alike(subject: Subject, cells: UniverseCells, people: Individuals, budget: Budget) -> BoolArray:
    return decided_alike(subject, people_of(subject, cells), people, budget)


def people_of(subject: Subject, cells: UniverseCells) -> Region:
    """(cells,) everyone in each cell."""
    region = cells.region(subject.encoding)
    return narrow_to_whole_numbers(region, subject.encoding) if cells.whole else region


class FixedChange:
    """What turns x into x′, applied to everyone in a cell: categories are set, whole numbers are moved."""

    def __init__(self, cell: UniverseCells, pair: Pairs) -> None:
        schema = cell.schema
        self.cell, self.schema = cell, schema
        shift = pair.other.numbers[0] - pair.x.numbers[0]
        self.shift = dict(zip(schema.names_numeric, shift.tolist(), strict=True))
        self.codes = {
            name: int(pair.other.codes[0, j])
            for j, name in enumerate(schema.names_categorical)
            if pair.other.codes[0, j] != pair.x.codes[0, j]
        }

    @property
    def is_exact(self) -> bool:
        """Whether x + shift is a number of the table for everyone, within the declared ranges: whole numbers only."""
        for j, attribute in enumerate(self.schema.numeric):
            shift = self.shift[attribute.name]
            if shift and not (self.cell.counted[j] and self._in_range(j, attribute)):
                return False
        return True

    def _in_range(self, j: int, attribute: Numeric) -> bool:
        moved = self.moved
        assert attribute.lower is not None
        assert attribute.upper is not None
        return bool(moved.lower[0, j] >= attribute.lower and moved.upper[0, j] <= attribute.upper)

    @property
    def moved(self) -> UniverseCells:
        """Where the x′ of the cell's people are."""
        shift = np.array([self.shift[name] for name in self.schema.names_numeric])
        allowed = []
        for name, mask in zip(self.schema.names_categorical, self.cell.allowed, strict=True):
            only = np.zeros_like(mask)
            only[0, self.codes.get(name, 0)] = True
            allowed.append(only if name in self.codes else mask)
        cell = self.cell
        return UniverseCells(self.schema, cell.lower + shift, cell.upper + shift, tuple(allowed), cell.whole)

    def always(self, core: Core) -> bool:
        """Whether φ(x, x′) surely holds for everyone in the cell; False where the intervals do not show it."""
        if isinstance(core, AllOf):
            return all(map(self.always, core.parts))
        if isinstance(core, AnyOf):
            return any(map(self.always, core.parts))
        if isinstance(core, Category):
            return self._values(core.person, core.attribute) <= core.allowed
        if isinstance(core, SameCategory):
            return self._same(core)
        return self._compares(core)

    def _values(self, person: Person, name: str) -> frozenset[int]:
        if person is Person.OTHER and name in self.codes:
            return frozenset({self.codes[name]})
        mask = self.cell.allowed[self.schema.names_categorical.index(name)]
        return frozenset(np.flatnonzero(mask[0]).tolist())

    def _same(self, core: SameCategory) -> bool:
        if core.left[1] == core.right[1] not in self.codes:  # x′ has what x has
            return core.equal
        one, other = self._texts(*core.left), self._texts(*core.right)
        return len(one | other) == 1 if core.equal else not one & other

    def _texts(self, person: Person, name: str) -> set[str]:
        attribute = self.schema[name]
        assert isinstance(attribute, Categorical)
        return {attribute.values[code] for code in self._values(person, name)}

    def _compares(self, core: Compare) -> bool:
        if is_ranked(core):  # intervals say nothing of a rank, inside |…| neither
            return False
        low, high = self._range(core.form)
        return {"<=": high <= 0, "<": high < 0, "=": low == high == 0, "!=": low > 0 or high < 0}[core.operator]

    def _range(self, form: LinearForm) -> tuple[Fraction, Fraction]:
        """Between which numbers the form is, for everyone in the cell."""
        low = high = form.constant
        slopes: dict[str, Fraction] = {}
        for person, name, c in form.numbers:
            slopes[name] = slopes.get(name, Fraction(0)) + c
            if person is Person.OTHER:
                low, high = (end + c * Fraction(self.shift[name]) for end in (low, high))
        for name, slope in slopes.items():
            j = self.schema.names_numeric.index(name)
            ends = [slope * Fraction(str(end)) for end in (self.cell.lower[0, j], self.cell.upper[0, j])]
            low, high = low + min(ends), high + max(ends)
        for c, inside in form.absolutes:
            first, last = self._range(inside)
            least = Fraction(0) if first <= 0 <= last else min(abs(first), abs(last))
            ends = [c * least, c * max(abs(first), abs(last))]
            low, high = low + min(ends), high + max(ends)
        return low, high
