"""Whether everybody in a region is decided alike: what needs no pairs, and works for every kind of function."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.query import OWN_WORD, BoolArray, Outputs, Query, is_strict, outputs_at, query_of
from lcifr.certification.sweep.additive_models.terms import AdditiveTerms
from lcifr.certification.sweep.swept_model import SweptModel
from lcifr.data import Encoding, Individuals
from lcifr.models.rule import Kind, Rule
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
    if swept.additive is not None:
        return _added_up(swept.additive, query_of(rule, own), region, rule) & is_strict(rule, own)
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


def _added_up(terms: AdditiveTerms, query: Query, region: Region, rule: Rule) -> BoolArray:
    """The same of additive models, in closed form."""
    upper = terms.largest(region, query.directions)
    if rule.kind is not Kind.NUMBER:
        return np.asarray((upper < query.limit).all(1))
    top, bottom = np.split(upper, 2, axis=1)
    return np.asarray((top + bottom + 1e-12 * (np.abs(top) + np.abs(bottom)) < rule.known_tolerance).all(1))


def alike_query(swept: SweptModel, region: Region, own: Outputs) -> Query:
    """What the function must show on a region of people: all are decided as those with these outputs."""
    return query_of(swept.rule, own).lowered(swept.deployment.room_over(region))


def reached_people(space: PairSpace, region: Region, cells: UniverseCells, encoding: Encoding) -> Region:
    """(cells,) boxes and categories that hold x and x′ of every pair of a cell."""
    own = cells.region(encoding).cells[0]
    found = (own, *(PersonCells.of(space, cell).other for cell in region.cells))
    people = Region(len(cells), len(encoding.features), found)
    return narrow_to_whole_numbers(people, encoding) if cells.whole else people


@dataclass(frozen=True)
class PersonCells:
    """The x, and the x′, of a cell of pairs, in the columns of people and without the rows between the two."""

    own: Cell
    other: Cell

    @classmethod
    def of(cls, space: PairSpace, pairs: Cell) -> PersonCells:
        """Both boxes."""
        return cls(_side(space, pairs, space.own_columns), _side(space, pairs, space.other_columns))


def _side(space: PairSpace, pairs: Cell, columns: NDArray[np.intp]) -> Cell:
    """Parameters
    ----------
    columns : (features,) where a pair holds the columns of this one of its people.
    """
    encoding = space.similarity.encoding
    place = {int(column): j for j, column in enumerate(pairs.numeric)}
    mine = [place[int(columns[column])] for column in encoding.numeric_columns]
    groups = {int(choice.columns[0]): choice.allowed for choice in pairs.choices}
    choices = []
    for name in encoding.schema.names_categorical:
        own = np.arange(*encoding.columns(name).indices(len(encoding.features)))
        choices.append(Choice(own, groups[int(columns[own[0]])]))
    return Cell(
        encoding.numeric_columns, pairs.lower[:, mine], pairs.upper[:, mine], tuple(choices), None, pairs.present
    )
