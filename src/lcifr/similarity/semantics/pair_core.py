"""Core trees about x and x′ as core trees about one person of the pair schema, and what they keep equal in both."""

from __future__ import annotations

from dataclasses import dataclass

from lcifr.similarity.language.formula import Person
from lcifr.similarity.semantics.core import (
    TRUE,
    AllOf,
    AnyOf,
    Category,
    Compare,
    Core,
    LinearForm,
    RankTable,
    SameCategory,
    merged,
)


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
