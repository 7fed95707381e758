"""Whether everybody in a region is decided alike: what needs no pairs, and works for every kind of function."""

from __future__ import annotations

import numpy as np

from lcifr.certification.query import OWN_WORD, BoolArray, Outputs, Query, is_strict, outputs_at, query_of
from lcifr.certification.sweep.swept_model import SweptModel
from lcifr.data import Encoding, Individuals
from lcifr.models.rule import Kind
from lcifr.prove import Budget, maximize
from lcifr.regions.region import Cell, Choice, Region
from lcifr.regions.universe import UniverseCells
from lcifr.regions.whole_numbers import narrow_to_whole_numbers
from lcifr.similarity.pairs import PairSpace


def decided_alike(swept: SweptModel, region: Region, people: Individuals, budget: Budget) -> BoolArray:
    """(rows,) whether everybody in the region surely is decided as the person of the same row, who is in it.

    Of numbers: whether no two of them are as far apart as the tolerance.
    """
    rule, deployment = swept.rule, swept.deployment
    own = outputs_at(deployment, swept.encoding.encode(people))
    query = alike_query(swept, region, own)
    answer = maximize(
        deployment.merged,
        query.directions,
        region,
        target=None if rule.kind is Kind.NUMBER else query.limit,
        tolerance=query.precision,
        method=OWN_WORD,
        budget=budget,
    )
    if rule.kind is not Kind.NUMBER:
        return np.asarray((answer.upper < query.limit).all(1) & is_strict(rule, own))
    room = np.tile(deployment.room_over(region) * (1.0 + 1e-9), (1, 2))
    top, bottom = np.split(answer.upper + room, 2, axis=1)
    spread = top + bottom
    return np.asarray((spread + 1e-12 * (np.abs(top) + np.abs(bottom)) < rule.known_tolerance).all(1))


def alike_query(swept: SweptModel, region: Region, own: Outputs) -> Query:
    """What the function must show on a region of people: all are decided as those with these outputs."""
    return query_of(swept.rule, own).lowered(swept.deployment.room_over(region))


def reached_people(space: PairSpace, region: Region, cells: UniverseCells, encoding: Encoding) -> Region:
    """(cells,) boxes and categories that hold x and x′ of every pair of a cell."""
    own = cells.region(encoding).cells[0]
    found = (own, *(_others(space, cell, own) for cell in region.cells))
    people = Region(len(cells), len(encoding.features), found)
    return narrow_to_whole_numbers(people, encoding) if cells.whole else people


def _others(space: PairSpace, pairs: Cell, own: Cell) -> Cell:
    """The x′ of a cell of pairs, without its rows."""
    place = {int(column): j for j, column in enumerate(pairs.numeric)}
    theirs = [place[int(space.other_columns[column])] for column in own.numeric]
    groups = {int(choice.columns[0]): choice.allowed for choice in pairs.choices}
    choices = tuple(Choice(one.columns, groups[int(space.other_columns[one.columns[0]])]) for one in own.choices)
    return Cell(own.numeric, pairs.lower[:, theirs], pairs.upper[:, theirs], choices, None, pairs.present)
