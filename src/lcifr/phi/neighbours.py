"""Similar people in a table: neighbour counts, similar pairs, near misses, and the neighbours of one person."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcifr.data import Individuals
from lcifr.errors import RegionError
from lcifr.phi.core import AllOf, Core, Floats, PairedPeople
from lcifr.phi.formula import Span
from lcifr.phi.holds import evaluate
from lcifr.phi.lint import Example, find_false_part, sample_similar_pairs
from lcifr.phi.similarity import Similarity
from lcifr.regions.cell import IntArray

# Similar people in a table: neighbour counts, similar pairs and near misses.

Progress = Callable[[int, int], None]  # (people done, people in all)

MOST_ASKED = 500  # people whose neighbours are counted; the rest of the data are still compared with each of them
PAIRS_AT_ONCE = 50_000  # their columns stay in the cache
MISSES_LOOKED_AT = 1_000_000  # pairs among which those that just miss are looked for
KEPT = 50  # pairs of each block that examples are chosen from
SYNTHETIC_FOR = 20  # people for whom similar ones are made up where the data has none
EXAMPLES = 3


@dataclass(frozen=True)
class Neighbours:
    """How similar the people of a table are to one another.

    Parameters
    ----------
    people
        How many are in the table.
    asked : rows of those whose neighbours were counted: all people, or a random sample.
    counts : for each of them, how many others in the whole table are similar to them.
    similar, missed
        Pairs that are similar, and pairs that just miss; the rows of people in the table are in the examples.
    """

    people: int
    asked: IntArray
    counts: IntArray
    similar: tuple[Example, ...]
    missed: tuple[Example, ...]

    @property
    def is_sample(self) -> bool:
        return len(self.asked) < self.people

    @property
    def median(self) -> float:
        return float(np.median(self.counts))

    @property
    def largest(self) -> int:
        return int(self.counts.max())

    @property
    def largest_row(self) -> int:
        """Whose neighbourhood is the largest."""
        return int(self.asked[self.counts.argmax()])

    @property
    def share_isolated(self) -> float:
        """The share of those asked who have no one similar in the data."""
        return float((self.counts == 0).mean())

    def among(self, rows: Sequence[int]) -> Neighbours:
        """The same people in a larger table, of which these rows were looked at."""
        similar, missed = (tuple(one.among(rows) for one in some) for some in (self.similar, self.missed))
        return replace(self, asked=np.asarray(rows)[self.asked], similar=similar, missed=missed)


def find_neighbours(
    similarity: Similarity, people: Any, *, most: int = MOST_ASKED, seed: int = 0, progress: Progress | None = None
) -> Neighbours:
    """Compare people with all others in a table.

    Parameters
    ----------
    similarity
        The formula.
    people
        A table, anything the gate takes.
    most
        How many people to ask about at most: more are sampled. Each is compared with the whole table.
    seed
        Of the sample and of the choice of examples.
    progress
        Called with the number of people done and their number in all.
    """
    table = Individuals.read(people, similarity.schema)
    random = np.random.default_rng(seed)
    asked = random.permutation(len(table))[:most]
    counts = np.zeros(len(asked), np.intp)
    similar = []
    for done, pairs in _blocks(asked, len(table)):
        truth = evaluate(similarity.core, pairs.of(table))
        counts[done - pairs.people : done] = truth.reshape(pairs.people, -1).sum(axis=1)
        similar.append(pairs.take(_some(np.flatnonzero(truth), random)))
        if progress is not None:
            progress(done, len(asked))
    found = _choose_similar(_join(similar), table)
    found += _synthetic_examples(similarity, table, asked, EXAMPLES - len(found), seed)
    return Neighbours(len(table), asked, counts, found, _choose_missed(similarity, table, asked, random))


@dataclass(frozen=True)
class _RowPairs:
    """Pairs of rows of the table: each of some ``people`` with all others."""

    x: IntArray
    other: IntArray
    people: int = 0

    def take(self, index: IntArray) -> _RowPairs:
        return _RowPairs(self.x[index], self.other[index])

    def of(self, table: Individuals) -> PairedPeople:
        return PairedPeople(table.take(self.x), table.take(self.other))

    def examples(self, table: Individuals, order: IntArray) -> tuple[Example, ...]:
        """The first few in this order, no person twice."""
        chosen: list[int] = []
        seen: set[int] = set()
        for row in map(int, order):
            two = {int(self.x[row]), int(self.other[row])}
            if len(chosen) < EXAMPLES and not two & seen:
                chosen.append(row)
                seen |= two
        pair = self.of(table)
        return tuple(Example.of(pair, row, (int(self.x[row]), int(self.other[row]))) for row in chosen)


def _blocks(asked: IntArray, people: int) -> Iterator[tuple[int, _RowPairs]]:
    """Blocks of pairs of each person asked with all people, and how many of those asked are done after each."""
    step = max(1, PAIRS_AT_ONCE // people)
    for start in range(0, len(asked), step):
        block = asked[start : start + step]
        others = np.arange(people - 1)
        other = (others + (others >= block[:, None])).reshape(-1)  # the person's own row is stepped over
        yield start + len(block), _RowPairs(np.repeat(block, people - 1), other, len(block))


def _some(rows: IntArray, random: np.random.Generator) -> IntArray:
    return rows if len(rows) <= KEPT else random.choice(rows, KEPT, replace=False)


def _join(parts: list[_RowPairs]) -> _RowPairs:
    return _RowPairs(np.concatenate([part.x for part in parts]), np.concatenate([part.other for part in parts]))


def _differences(pair: PairedPeople) -> IntArray:
    """(rows,) in how many attributes the two differ."""
    numbers: IntArray = (pair.x.numbers != pair.other.numbers).sum(axis=1)
    codes: IntArray = (pair.x.codes != pair.other.codes).sum(axis=1)
    return numbers + codes


def _choose_similar(pairs: _RowPairs, table: Individuals) -> tuple[Example, ...]:
    """Those that differ most: they show how far similarity goes."""
    return pairs.examples(table, np.argsort(-_differences(pairs.of(table)), kind="stable"))


def _synthetic_examples(
    similarity: Similarity, table: Individuals, asked: IntArray, wanted: int, seed: int
) -> tuple[Example, ...]:
    """Similar people that could exist, where the data has too few."""
    if not wanted:
        return ()
    rows = asked[:SYNTHETIC_FOR]
    try:
        pair, rows = sample_similar_pairs(similarity, table.take(rows), rows, seed)
    except RegionError:
        return ()
    good = np.flatnonzero(evaluate(similarity.core, pair) & (_differences(pair) > 0))
    _, first = np.unique(rows[good], return_index=True)
    return tuple(Example.of(pair, int(row), (int(rows[row]), None)) for row in good[np.sort(first)][:wanted])


# -- pairs that just miss ----------------------------------------------------------------------------------------------


def _choose_missed(
    similarity: Similarity, table: Individuals, asked: IntArray, random: np.random.Generator
) -> tuple[Example, ...]:
    """Pairs that fail in as few parts of the formula as any, and of those the ones with the smallest loss."""
    parts = conjuncts(similarity.core)
    kept: list[_RowPairs] = []
    fewest = len(parts) + 1
    for _, pairs in _blocks(asked[: max(1, MISSES_LOOKED_AT // len(table))], len(table)):
        pair = pairs.of(table)
        failing: IntArray = np.sum([~evaluate(part, pair) for part in parts], axis=0)
        least = failing[failing > 0].min(initial=fewest)
        if least < fewest:
            kept, fewest = [], int(least)
        kept.append(pairs.take(_some(np.flatnonzero(failing == fewest), random)))
    missed = _join(kept) if kept else _RowPairs(asked[:0], asked[:0])
    return missed.examples(table, np.argsort(losses_of(similarity, missed.of(table)), kind="stable"))


def conjuncts(core: Core) -> tuple[Core, ...]:
    """The parts of a formula that must all hold."""
    return tuple(leaf for part in core.parts for leaf in conjuncts(part)) if isinstance(core, AllOf) else (core,)


def losses_of(similarity: Similarity, pair: PairedPeople) -> Floats:
    """(rows,) how far each pair is from being similar."""
    return similarity.loss(*(similarity.encoding.encode(people) for people in (pair.x, pair.other)))


# One person's neighbours in a table: who is similar to them, and who just is not, with the part that fails.

LISTED = 5
"""People of each kind."""
RANKED = 200
"""People who fail in the fewest parts; the nearest are looked for among them."""


@dataclass(frozen=True)
class NearMiss:
    """A person who is nearly similar, and the part of the formula that fails; None where it is all of it."""

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
    """Compare one person of a table with all others in it."""
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
