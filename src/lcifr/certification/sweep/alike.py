"""Whether everyone in a region of the universe is decided alike, asked without pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.demands import (
    BoolArray,
    Limits,
    Outputs,
    is_strict,
    limits_of,
    outputs_at,
)
from lcifr.certification.subject import Subject
from lcifr.data import Encoding, Individuals
from lcifr.errors import LcifrError
from lcifr.models.additive import AdditiveTerms
from lcifr.models.rule import Kind, Rule
from lcifr.phi.pairs import PairSpace
from lcifr.prove import Budget
from lcifr.regions.region import Cell, Choice, Region
from lcifr.regions.universe import UniverseCells
from lcifr.regions.whole_numbers import narrow_to_whole_numbers


def refuse_unsweepable(subject: Subject) -> None:
    """Of anything on the outputs of something else, only linear models on sums of terms can be swept.

    Raises
    ------
    LcifrError
        For others, with what they are.
    """
    deployed = subject.deployed
    if not deployed.is_composed or subject.terms is not None:
        return
    if deployed.merged.jumps:
        raise LcifrError(
            f"{deployed.merged.describe()} behind an encoder cannot be swept", fix="audit people: `lcifr audit`"
        )
    raise LcifrError(
        "a network with hidden layers on the scores of trees cannot be swept", fix="learn a linear model on them"
    )


# Whether everyone in a region is decided alike: that needs no pairs, and works for every kind of function.


def decided_alike(subject: Subject, region: Region, people: Individuals, budget: Budget) -> BoolArray:
    """(rows,) whether everyone in the region surely is decided as the person of the same row, who is in it.

    Of numbers: whether no two of them are as far apart as the tolerance.
    """
    rule, deployment = subject.rule, subject.deployed
    own = outputs_at(deployment, subject.encoding.encode(people))
    if subject.terms is not None:
        return _added_up(subject.terms, limits_of(rule, own), region, rule) & is_strict(rule, own)
    limits = limits_alike(subject, region, own)
    far = {"target": None} if rule.kind is Kind.NUMBER else {}  # of numbers, how far apart they are
    answer = limits.ask(deployment.merged, region, budget=budget, **far)
    if rule.kind is not Kind.NUMBER:
        return np.asarray((answer.upper < limits.limit).all(1) & is_strict(rule, own))
    room = np.tile(deployment.room_over(region) * (1.0 + 1e-9), (1, 2))
    top, bottom = np.split(answer.upper + room, 2, axis=1)
    spread = top + bottom
    return np.asarray((spread + 1e-12 * (np.abs(top) + np.abs(bottom)) < rule.known_tolerance).all(1))


def _added_up(terms: AdditiveTerms, limits: Limits, region: Region, rule: Rule) -> BoolArray:
    """The same of additive models, in closed form."""
    upper = terms.largest(region, limits.directions)
    if rule.kind is not Kind.NUMBER:
        return np.asarray((upper < limits.limit).all(1))
    top, bottom = np.split(upper, 2, axis=1)
    return np.asarray((top + bottom + 1e-12 * (np.abs(top) + np.abs(bottom)) < rule.known_tolerance).all(1))


def limits_alike(subject: Subject, region: Region, own: Outputs) -> Limits:
    """What the function must show on a region of people: all are decided as those with these outputs."""
    return limits_of(subject.rule, own).lowered(subject.deployed.room_over(region))


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
