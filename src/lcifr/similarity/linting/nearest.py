"""One person's neighbours in a table: who is similar to them, and who just is not, with the part that fails."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcifr.data import Individuals
from lcifr.regions.cell import IntArray
from lcifr.similarity.language.formula import Span
from lcifr.similarity.linting.finding import Example
from lcifr.similarity.linting.neighbours import conjuncts, losses_of
from lcifr.similarity.linting.synthetic_pairs import find_false_part
from lcifr.similarity.semantics.core import PairedPeople
from lcifr.similarity.semantics.holds import evaluate
from lcifr.similarity.similarity import Similarity

LISTED = 5
"""People of each kind."""
RANKED = 200
"""People who fail in the fewest parts, among whom the nearest are looked for."""


@dataclass(frozen=True)
class NearMiss:
    """Somebody who just is not similar, and the part of the formula that fails; None where it is all of it."""

    example: Example
    failing: Span | None


@dataclass(frozen=True)
class PersonNeighbours:
    """Who of a table is similar to one person.

    Parameters
    ----------
    count : how many others are. compared : how many others there are.
    similar : those who differ most, up to five. missed : those who are nearest to being similar, up to five.
    """

    count: int
    compared: int
    similar: tuple[Example, ...]
    missed: tuple[NearMiss, ...]


def neighbours_of(similarity: Similarity, people: Individuals, row: int) -> PersonNeighbours:
    """Compare one person of a table with everybody else in it."""
    others = np.delete(np.arange(len(people)), row)
    pair = PairedPeople(people.take(np.full(len(others), row)), people.take(others))
    holds = evaluate(similarity.core, pair)
    differing = (pair.x.numbers != pair.other.numbers).sum(1) + (pair.x.codes != pair.other.codes).sum(1)
    near = np.flatnonzero(holds)
    near = near[np.argsort(-differing[near], kind="stable")][:LISTED]
    return PersonNeighbours(
        int(holds.sum()),
        len(others),
        tuple(Example.of(pair, int(place), (row, int(others[place]))) for place in near),
        tuple(_near_misses(similarity, pair, np.flatnonzero(~holds), row, others)),
    )


def _near_misses(
    similarity: Similarity, pair: PairedPeople, places: IntArray, row: int, others: IntArray
) -> list[NearMiss]:
    """Those who fail in the fewest parts, and of them those with the smallest loss."""
    if not len(places):
        return []
    missed = PairedPeople(pair.x.take(places), pair.other.take(places))
    failing = np.sum([~evaluate(part, missed) for part in conjuncts(similarity.core)], axis=0)
    first = np.argsort(failing, kind="stable")[:RANKED]
    some = PairedPeople(missed.x.take(first), missed.other.take(first))
    order = first[np.lexsort((losses_of(similarity, some), failing[first]))][:LISTED]
    found = []
    for place in order:
        one = PairedPeople(missed.x.take([place]), missed.other.take([place]))
        example = Example.of(one, 0, (row, int(others[places[place]])))
        found.append(NearMiss(example, find_false_part(similarity.core, one)))
    return found
