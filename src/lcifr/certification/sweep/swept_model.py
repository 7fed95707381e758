"""SweptModel: what a sweep is about: a model, who counts as similar, and the arithmetic in which it is computed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.counterexample import CounterexampleChecker
from lcifr.certification.demands import (
    BoolArray,
    FloatArray,
    Limits,
    Outputs,
    is_strict,
    limits_of,
    outputs_at,
)
from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.reference import ReferencePredictions
from lcifr.certification.subject import Hashes, Subject
from lcifr.data import Encoding, Individuals
from lcifr.errors import LcifrError
from lcifr.models.additive import AdditiveTerms
from lcifr.models.function import Deployed
from lcifr.models.model import Model
from lcifr.models.network import scores_of
from lcifr.models.rule import Kind, Rule
from lcifr.phi.pairs import PairSpace
from lcifr.prove import Budget
from lcifr.regions.region import Cell, Choice, Region
from lcifr.regions.universe import UniverseCells
from lcifr.regions.whole_numbers import narrow_to_whole_numbers


@dataclass(frozen=True, eq=False)
class SweptModel:
    """Parameters
    ----------
    subject : what decides, and who is similar; a pair counts only if the library of such a model decides differently.
    """

    subject: Subject

    @property
    def encoder(self) -> FrozenEncoder:
        """φ and the function to z."""
        return self.subject.encoder

    @property
    def model(self) -> Model:
        """What decides on z."""
        return self.subject.model

    @property
    def rule(self) -> Rule:
        """How outputs become decisions."""
        return self.model.rule

    @property
    def encoding(self) -> Encoding:
        """Of people."""
        return self.encoder.encoding

    @property
    def hashes(self) -> Hashes:
        """What all that is found is about."""
        return self.subject.hashes

    @cached_property
    def pairs(self) -> PairSpace:
        """The similar pairs."""
        return PairSpace.of(self.encoder.similarity)

    @cached_property
    def ignores_changes(self) -> bool:
        """Whether the model reads nothing that φ lets differ: then both people of every pair have the same outputs."""
        changing = [name for name, other in self.pairs.others.items() if name != other]
        columns = [column for name in changing for column in self._columns(name)]
        return not (set(self.deployment.reads().tolist()) & set(columns))

    def _columns(self, name: str) -> range:
        return range(*self.encoding.columns(name).indices(len(self.encoding.features)))

    @cached_property
    def deployment(self) -> Deployed:
        """Encoder and model, in the arithmetic.

        Raises
        ------
        LcifrError
            For anything on the outputs of something else but a linear model on sums of terms: only these can be told
            apart.
        """
        found = self.subject.deployed
        if not found.is_composed or found.terms(self.encoding, self._everyone) is not None:
            return found
        if found.merged.jumps:
            raise LcifrError(
                f"{found.merged.describe()} behind an encoder cannot be swept", fix="audit people: `lcifr audit`"
            )
        raise LcifrError(
            "a network with hidden layers on the scores of trees cannot be swept", fix="learn a linear model on them"
        )

    @property
    def _everyone(self) -> Region:
        return UniverseCells.everybody(self.encoding, whole=False).region(self.encoding)

    @cached_property
    def additive(self) -> AdditiveTerms | None:
        """The model as a sum of terms of one attribute or two; None where it is none."""
        return self.deployment.terms(self.encoding, self._everyone)

    @cached_property
    def scores(self) -> FloatArray:
        """(scores, outputs) see :func:`scores_of`; the outputs themselves for numbers."""
        return np.eye(self.rule.outputs) if self.rule.kind is Kind.NUMBER else scores_of(self.rule)

    def score(self, people: Individuals) -> FloatArray:
        """(people, scores) by a plain forward pass."""
        return np.asarray(self.deployment.evaluate(self.encoding.encode(people)).values @ self.scores.T)

    def exactly(self, features: FloatArray) -> tuple[Fraction, ...]:
        """The outputs of one encoded person (features,), without rounding."""
        return self.deployment.exactly(features.tolist())

    def decide(self, people: Individuals) -> NDArray[Any]:
        """(people,) decisions in the model's own labels, by a plain forward pass."""
        return self.model.decide(self.deployment.evaluate(self.encoding.encode(people)).values)

    def checker(self, people: Individuals, *, without_library: bool = False) -> CounterexampleChecker:
        """For whom others are to be judged."""
        reference = None if without_library else self.subject.reference
        predicted = None if reference is None else ReferencePredictions(people, reference.decide(people))
        return CounterexampleChecker(self.subject, people, predicted)


# Whether everybody in a region is decided alike: what needs no pairs, and works for every kind of function.


def decided_alike(swept: SweptModel, region: Region, people: Individuals, budget: Budget) -> BoolArray:
    """(rows,) whether everybody in the region surely is decided as the person of the same row, who is in it.

    Of numbers: whether no two of them are as far apart as the tolerance.
    """
    rule, deployment = swept.rule, swept.deployment
    own = outputs_at(deployment, swept.encoding.encode(people))
    if swept.additive is not None:
        return _added_up(swept.additive, limits_of(rule, own), region, rule) & is_strict(rule, own)
    limits = limits_alike(swept, region, own)
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


def limits_alike(swept: SweptModel, region: Region, own: Outputs) -> Limits:
    """What the function must show on a region of people: all are decided as those with these outputs."""
    return limits_of(swept.rule, own).lowered(swept.deployment.room_over(region))


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
