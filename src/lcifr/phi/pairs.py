"""Pairs of similar people as regions: x and x′ side by side are one person of a schema with both.

An attribute that φ keeps equal in all its cases is there once, the others twice, and φ becomes a formula about this one
person. Everything that holds for regions of people (outward rounding, categories, rows, whole numbers, decoding) then
holds for pairs: every similar pair of the universe encodes to a point of the pair region of x's cell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Encoding, Individuals, Schema
from lcifr.data.encoding import Feature
from lcifr.phi.core import Core, PairedPeople, PairRenaming, closed_over_whole_numbers, kept_equal
from lcifr.phi.lowering import Box, CellPlan, MixedRank, TooManyCells, bound_by_rows, build_cell, plan_cells
from lcifr.phi.similarity import MAX_CELLS, Similarity
from lcifr.phi.witness import FormulaOrigin
from lcifr.regions.cell import Cell, Choice
from lcifr.regions.region import Region
from lcifr.regions.universe import UniverseCells
from lcifr.regions.whole_numbers import narrow_to_whole_numbers

IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class PairSpace:
    """The schema, encoding and formula of pairs.

    Parameters
    ----------
    similarity : φ about two people.
    others : for each attribute of its schema, the name in the pair schema that x′ has it under; x has it under its own.
    """

    similarity: Similarity
    others: dict[str, str]

    @classmethod
    def of(cls, similarity: Similarity) -> PairSpace:
        """The pairs that a formula calls similar."""
        schema, shared = similarity.schema, kept_equal(similarity.core)
        others: dict[str, str] = {}
        for name in schema.names:
            others[name] = name if name in shared else _primed(name, {*schema.names, *others.values()})
        return cls(similarity, others)

    @cached_property
    def encoding(self) -> Encoding:
        """Of pairs."""
        return _pair_encoding(self.similarity.encoding, self.others)

    @cached_property
    def core(self) -> Core:
        """φ about one person of the pair schema, who is x′ in it."""
        return PairRenaming(self.others).of(self.similarity.core)

    @cached_property
    def plans(self) -> tuple[CellPlan, ...]:
        """The cells of pairs, before the cells of x are filled in."""
        return self.similarity.plan(self.core, self.encoding.schema)

    @cached_property
    def whole_plans(self) -> tuple[CellPlan, ...]:
        """The same of whole numbers where the schema says so: strict comparisons of these hold no one at their ends.

        Those of :attr:`plans` where ``!=`` would make too many of them; they also say what is wrong with a formula that
        has no cells at all.
        """
        schema = self.encoding.schema
        whole = frozenset(attribute.name for attribute in schema.numeric if attribute.integer)
        core = closed_over_whole_numbers(self.core, whole)
        try:
            return self.plans if core == self.core else plan_cells(core, schema, MAX_CELLS)
        except (TooManyCells, MixedRank):
            return self.plans

    @cached_property
    def _own(self) -> dict[str, str]:
        return {name: name for name in self.others}

    @cached_property
    def own_columns(self) -> IntArray:
        """(features,) the column of a pair that holds each feature of x."""
        return self._columns(self._own)

    @cached_property
    def other_columns(self) -> IntArray:
        """(features,) the column of a pair that holds each feature of x′."""
        return self._columns(self.others)

    def _columns(self, names: dict[str, str]) -> IntArray:
        slices = [self.encoding.columns(names[attribute.name]) for attribute in self.similarity.schema]
        return np.concatenate([np.arange(one.start, one.stop) for one in slices])

    def join(self, pair: PairedPeople) -> Individuals:
        """Two people as the pair that they are; what φ keeps equal is taken from x."""
        schema = self.encoding.schema
        numbers = np.empty((len(pair), len(schema.numeric)))
        codes = np.empty((len(pair), len(schema.categorical)), np.int32)
        for person, names in ((pair.other, self.others), (pair.x, self._own)):
            for name in self.similarity.schema.names_numeric:
                numbers[:, schema.names_numeric.index(names[name])] = person.number(name)
            for name in self.similarity.schema.names_categorical:
                codes[:, schema.names_categorical.index(names[name])] = person.code(name)
        return Individuals(schema, numbers, codes)

    def split(self, pairs: Individuals) -> PairedPeople:
        """Pairs as the two people they are."""
        return PairedPeople(self._people(pairs, self._own), self._people(pairs, self.others))

    def _people(self, pairs: Individuals, names: dict[str, str]) -> Individuals:
        schema, wide = self.similarity.schema, pairs.schema
        numbers = [wide.names_numeric.index(names[name]) for name in schema.names_numeric]
        codes = [wide.names_categorical.index(names[name]) for name in schema.names_categorical]
        return Individuals(schema, pairs.numbers[:, numbers], pairs.codes[:, codes])

    def region(self, cells: UniverseCells, *, as_written: bool = False) -> Region:
        """For each cell, every similar pair with x in it and x′ anywhere in the universe.

        as_written : whether strict comparisons are closed as they are written, which the exact checker does too; else
            those of whole numbers are rounded to the next one first.
        """
        encoding, rows = self.encoding, np.zeros(len(cells), np.intp)
        plans = self.whole_plans if cells.whole and not as_written else self.plans
        origin = FormulaOrigin(encoding, self._any_row.take(rows), self.core, plans)
        found = tuple(self._within(plan, self._over_universe(plan).take(rows), cells) for plan in plans)
        region = Region(len(cells), len(encoding.features), tuple(c for c in found if c.present.any()), origin)
        return narrow_to_whole_numbers(region, encoding) if cells.whole else region

    @cached_property
    def _any_row(self) -> Individuals:
        """One row: the regions of pairs are about x′ alone, so the x of the lowering is never looked at."""
        schema = self.encoding.schema
        return Individuals(schema, np.zeros((1, len(schema.numeric))), np.zeros((1, len(schema.categorical)), np.int32))

    def _over_universe(self, plan: CellPlan) -> Cell:
        """The cell of a plan with x anywhere, kept for the next cells."""
        if id(plan) not in self._cells:
            self._cells[id(plan)] = build_cell(plan, self._any_row, self.encoding)
        return self._cells[id(plan)]

    @cached_property
    def _cells(self) -> dict[int, Cell]:
        """By the identity of plans, which live as long as this does."""
        return {}

    def _within(self, plan: CellPlan, cell: Cell, cells: UniverseCells) -> Cell:
        """A cell of pairs with x in the cells of the universe; rows then narrow the numbers of x′."""
        box = self._box(plan, cells)
        lower, upper = box.encoded()
        empty = (box.lower > box.upper).any(1)
        narrowed = cell.between(np.maximum(cell.lower, lower), np.minimum(cell.upper, upper))
        choices = tuple(self._choice(choice, cells) for choice in narrowed.choices)
        present = narrowed.present & ~empty
        for choice in choices:
            present &= choice.allowed.any(1)
        return replace(narrowed, choices=choices, present=present)

    def _box(self, plan: CellPlan, cells: UniverseCells) -> Box:
        universe = UniverseCells.everybody(self.encoding, whole=cells.whole).take(np.zeros(len(cells), np.intp))
        box = Box(self.encoding, np.asfortranarray(universe.lower), np.asfortranarray(universe.upper))
        for j, name in enumerate(self.similarity.schema.names_numeric):
            place = self.encoding.schema.names_numeric.index(name)
            box.narrow(place, "lower", cells.lower[:, j])
            box.narrow(place, "upper", cells.upper[:, j])
        any_rows = self._any_row.take(np.zeros(len(cells), np.intp))
        bound_by_rows(box, plan, PairedPeople(any_rows, any_rows), tighten=True)
        return box

    def _choice(self, choice: Choice, cells: UniverseCells) -> Choice:
        feature = self.encoding.features[int(choice.columns[0])]
        names = self.similarity.schema.names_categorical
        mine = next((j for j, name in enumerate(names) if name == feature.attribute), None)
        return choice if mine is None else Choice(choice.columns, choice.allowed & cells.allowed[mine])


def _primed(name: str, taken: set[str]) -> str:
    """The name of x′'s attribute: one that nothing else has."""
    primed = f"{name}'"
    while primed in taken:
        primed += "'"
    return primed


def _pair_encoding(encoding: Encoding, others: dict[str, str]) -> Encoding:
    """Each attribute that is equal once, each other one twice, side by side; numbers by the same programs."""
    attributes, numeric = [], []
    names = encoding.schema.names_numeric
    for attribute in encoding.schema:
        for name in dict.fromkeys((attribute.name, others[attribute.name])):
            attributes.append(replace(attribute, name=name))
            if attribute.name in names:
                numeric.append(names.index(attribute.name))
    outside = frozenset(
        Feature(name, feature.value)
        for feature in encoding.outside
        for name in (feature.attribute, others[feature.attribute])
    )
    programs = tuple(encoding.programs[j] for j in numeric)
    return Encoding(
        Schema(tuple(attributes)), encoding.means[numeric], encoding.sds[numeric], programs=programs, outside=outside
    )
