"""Synthetic pairs of people, sampled from regions and recombined from real people."""

from __future__ import annotations

import numpy as np

from lcifr.data import Individuals
from lcifr.errors import RegionError
from lcifr.regions.cell import IntArray
from lcifr.similarity.language.formula import Span
from lcifr.similarity.semantics.core import AllOf, AnyOf, Core, PairedPeople
from lcifr.similarity.semantics.holds import evaluate
from lcifr.similarity.similarity import Similarity

PEOPLE, POINTS = 100, 10  # people whose neighbours are invented, and neighbours of each
SLOW_PEOPLE, SLOW_POINTS = 20, 4  # where cells have linear rows, every point is a small program of its own


def synthesize_pairs(similarity: Similarity, people: Individuals, seed: int = 0) -> PairedPeople:
    """Pairs of a real person and an invented one, many of them similar and many just not."""
    random = np.random.default_rng(seed)
    some = people.take(np.sort(random.permutation(len(people))[:PEOPLE]))
    mixed = _mix(some, people, random)
    try:
        drawn, _ = sample_similar_pairs(similarity, some, np.arange(len(some)), seed)
    except RegionError:
        return mixed
    return PairedPeople(*(_joined(one, two) for one, two in ((mixed.x, drawn.x), (mixed.other, drawn.other))))


def sample_similar_pairs(
    similarity: Similarity, people: Individuals, rows: IntArray, seed: int = 0
) -> tuple[PairedPeople, IntArray]:
    """Each person beside points of their region, as people in the data's units; φ may just fail on some.

    Returns the pairs, and of each pair the person's entry in ``rows``.
    """
    slow = any(plan.rows for plan in similarity.plans)
    region = similarity.region(people.take(slice(SLOW_PEOPLE)) if slow else people)
    points = region.sample(SLOW_POINTS if slow else POINTS, seed=seed)
    reached = np.flatnonzero(~np.isnan(points).any(axis=(1, 2)))
    each = np.repeat(reached, points.shape[1])
    found = region.take(reached).decode(points[reached]).individuals
    return PairedPeople(people.take(each), found), rows[each]


def _mix(some: Individuals, people: Individuals, random: np.random.Generator) -> PairedPeople:
    """Each person beside copies of themselves that have a few attributes of somebody else."""
    x = some.take(np.repeat(np.arange(len(some)), POINTS))
    donors = people.take(random.integers(0, len(people), len(x)))
    taken = random.random((len(x), len(people.schema))) < random.random((len(x), 1)) ** 2
    numeric = np.array([name in people.schema.names_numeric for name in people.schema.names], dtype=bool)
    numbers, codes = x.numbers.copy(), x.codes.copy()
    np.copyto(numbers, donors.numbers, where=taken[:, numeric])
    np.copyto(codes, donors.codes, where=taken[:, ~numeric])
    return PairedPeople(x, Individuals(people.schema, numbers, codes))


def _joined(one: Individuals, two: Individuals) -> Individuals:
    numbers = np.concatenate((one.numbers, two.numbers))
    return Individuals(one.schema, numbers, np.concatenate((one.codes, two.codes)))


def shrink(similarity: Similarity, pair: PairedPeople) -> PairedPeople:
    """One pair that is similar one way only, with as many attributes made equal as that allows."""
    for name in similarity.schema.names:
        numbers, codes = pair.other.numbers.copy(), pair.other.codes.copy()
        if name in similarity.schema.names_numeric:
            j = similarity.schema.names_numeric.index(name)
            numbers[:, j] = pair.x.numbers[:, j]
        else:
            j = similarity.schema.names_categorical.index(name)
            codes[:, j] = pair.x.codes[:, j]
        closer = PairedPeople(pair.x, Individuals(similarity.schema, numbers, codes))
        if evaluate(similarity.core, closer)[0] and not evaluate(similarity.core, swapped(closer))[0]:
            pair = closer
    return pair


def swapped(pair: PairedPeople) -> PairedPeople:
    """The two with their places changed."""
    return PairedPeople(pair.other, pair.x)


def find_false_part(core: Core, pair: PairedPeople) -> Span | None:
    """The smallest part of a formula that is to blame for its being false on one pair; None where it is all of it."""
    span = None
    while isinstance(core, AllOf):
        failing = [part for part in core.parts if not evaluate(part, pair)[0]]
        if not failing:
            return span
        core = failing[0]
        span = core.span
    if isinstance(core, AnyOf) and len(core.parts) == 1:
        return core.parts[0].span
    return span or core.span
