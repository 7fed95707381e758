"""Counterexamples in as few attributes as possible: the search over trees asked again about some attributes only.

A counterexample that the search finds may differ in more attributes than it takes. Here everything but a few attributes
is held at the person's own values, and the same question is asked of what is left: one attribute, then two, and so on.
Where every such question has an answer, fewer attributes would not do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.counterexample import Counterexamples, Trial, offer, simplify
from lcifr.certification.query import BoolArray, FloatArray, Query
from lcifr.data import Encoding, Individuals
from lcifr.prove import Budget
from lcifr.regions.region import Cell, Choice, Region

SETS = 64
"""Sets of attributes of one size that are tried for a person; of more, only those within the counterexample."""
CALLS = 400
"""Questions in all, each about everybody with the same set."""
BUDGET = Budget(nodes=2_000)


def with_fewest_attributes(trial: Trial, region: Region, query: Query, found: Counterexamples) -> Counterexamples:
    """The same counterexamples of a tree model on people as they are, or others that differ in fewer attributes."""
    own = trial.people
    others = Individuals(own.schema, found.others.numbers.copy(), found.others.codes.copy())
    result = Counterexamples(others, found.found)
    free, left, size = free_attributes(region, trial.encoder.encoding), CALLS, 0
    while left > 0:
        size += 1
        differ = differing(own, result.others) & result.found[:, None]
        rows = np.flatnonzero(differ.sum(1) > size)
        if not len(rows):
            break
        for chosen, asked in list(_sets(rows, free, differ, size))[:left]:
            _ask(trial, region, query, asked, chosen, result, size)
            left -= 1
    changed = np.asarray(differing(found.others, result.others).any(1))
    return Counterexamples(simplify(trial, Counterexamples(result.others, changed)).others, found.found)


def differing(people: Individuals, others: Individuals) -> BoolArray:
    """(people, attributes) where they differ, in the order of the schema."""
    names = people.schema.names
    masks = {name: people.number(name) != others.number(name) for name in people.schema.names_numeric}
    masks |= {name: people.code(name) != others.code(name) for name in people.schema.names_categorical}
    return np.stack([masks[name] for name in names], axis=1)


def free_attributes(region: Region, encoding: Encoding) -> BoolArray:
    """(people, attributes) which somebody similar may have otherwise than somebody else similar."""
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


def _sets(
    rows: NDArray[np.intp], free: BoolArray, differ: BoolArray, size: int
) -> Iterator[tuple[tuple[int, ...], NDArray[np.intp]]]:
    """Sets of so many attributes, each with the people for whom it may be enough; what most people share first."""
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
    trial: Trial,
    region: Region,
    query: Query,
    rows: NDArray[np.intp],
    chosen: tuple[int, ...],
    result: Counterexamples,
    size: int,
) -> None:
    """Fill in counterexamples for people (of ``rows``) in which only the chosen attributes differ."""
    rows = rows[differing(trial.people.take(rows), result.others.take(rows)).sum(1) > size]
    if not len(rows):
        return
    encoding = trial.encoder.encoding
    names = [encoding.schema.names[place] for place in chosen]
    part = held_at(region.take(rows), trial.features[rows], encoding, names)
    answer = query.take(rows).ask(trial.asked.merged, part, budget=BUDGET)
    offer(trial, part, rows, answer.witness, result)


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
