"""The universe of people who can exist, cut into cells: an interval for each number, a set of values for each category.

Cells are in the table's own units. Under ``whole`` an attribute that the schema calls whole is cut between k and k + 1,
so that every person is in exactly one cell; numbers that are not whole are cut at a point that both sides hold. An
index finds the cell of each of many people.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Encoding, Individuals, Schema
from lcifr.data.table import LARGEST_INTEGER
from lcifr.errors import RegionError
from lcifr.regions.region import BoolArray, Cell, Choice, FloatArray, Region

# The universe of people who can exist, cut into cells: an interval for each number, a set of values for each category.
#
# Cells are in the table's own units. Under ``whole`` an attribute that the schema calls whole is cut between k and k +
# 1, so that every person is in exactly one cell; numbers that are not whole are cut at a point that both sides hold.


@dataclass(frozen=True)
class UniverseCells:
    """Cells of the universe, many at once.

    Parameters
    ----------
    schema : whose attributes these are.
    lower, upper : (cells, numeric attributes) closed intervals, in the table's units.
    allowed : for each categorical attribute (cells, values) which of its values are in the cell.
    whole : whether whole-number attributes hold whole numbers only.
    """

    schema: Schema
    lower: FloatArray
    upper: FloatArray
    allowed: tuple[BoolArray, ...]
    whole: bool

    def __len__(self) -> int:
        return len(self.lower)

    @classmethod
    def everybody(cls, encoding: Encoding, *, whole: bool) -> Self:
        """The one cell that holds the whole universe of a schema, without the categories at which a model raises.

        Raises
        ------
        RegionError
            If a number has no declared range, or whole numbers that floats do not tell apart; if no one can exist.
        SchemaError
            If a declared range is larger than the model can take.
        """
        schema = encoding.schema
        _refuse_unranged(schema)
        if whole:
            _refuse_merged_numbers(schema)
        encoding.refuse_overflow()
        ends = [(a.lower, a.upper) for a in schema.numeric]
        lower, upper = np.array(ends, dtype=np.float64).reshape(-1, 2).T[:, None]
        counted = _counted(schema, whole)
        allowed = tuple(~encoding.is_outside(name)[None] for name in schema.names_categorical)
        lower, upper = np.where(counted, np.ceil(lower), lower), np.where(counted, np.floor(upper), upper)
        _refuse_empty(schema, lower[0] > upper[0], [not mask.any() for mask in allowed])
        return cls(schema, lower, upper, allowed, whole)

    def take(self, index: Any) -> Self:
        """Some of the cells."""
        return type(self)(
            self.schema, self.lower[index], self.upper[index], tuple(a[index] for a in self.allowed), self.whole
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Cells of the same universe, one after the other; at least one part."""
        allowed = tuple(np.concatenate(group) for group in zip(*(part.allowed for part in parts), strict=True))
        lower, upper = (np.concatenate(ends) for ends in ([p.lower for p in parts], [p.upper for p in parts]))
        return cls(parts[0].schema, lower, upper, allowed, parts[0].whole)

    @property
    def counted(self) -> BoolArray:
        """(numeric attributes,) whose whole numbers are counted; the lengths of the others are measured."""
        return _counted(self.schema, self.whole)

    def measures(self) -> list[Fraction]:
        """One number a cell: the product of counts (whole numbers, categories) and lengths, without rounding.

        A number whose declared range is a single point counts as 1.
        """
        single = np.array([a.lower == a.upper for a in self.schema.numeric], np.bool_)
        counted = self.counted
        found = []
        for row in range(len(self)):
            sizes: Iterable[Fraction] = (
                Fraction(1) if alone else Fraction(high) - Fraction(low) + int(count)
                for low, high, count, alone in zip(
                    self.lower[row].tolist(), self.upper[row].tolist(), counted, single, strict=True
                )
            )
            found.append(prod(sizes, start=Fraction(1)) * prod(int(a[row].sum()) for a in self.allowed))
        return found

    def is_single(self) -> BoolArray:
        """(cells,) whether one individual is all that is there."""
        alone = (self.lower == self.upper).all(1)
        for mask in self.allowed:
            alone &= mask.sum(1) == 1
        return np.asarray(alone)

    def contains(self, people: Individuals) -> BoolArray:
        """(cells,) whether the person of the same row is in the cell."""
        inside = ((people.numbers >= self.lower) & (people.numbers <= self.upper)).all(1)
        for j, mask in enumerate(self.allowed):
            inside &= mask[np.arange(len(self)), people.codes[:, j]]
        return np.asarray(inside)

    def region(self, encoding: Encoding) -> Region:
        """The encoded people of every cell, one region each."""
        lower, upper = encoding.scale_bounds(self.lower, self.upper)
        choices = tuple(
            Choice(np.arange(*encoding.columns(name).indices(len(encoding.features))), mask)
            for name, mask in zip(self.schema.names_categorical, self.allowed, strict=True)
        )
        present: BoolArray = np.asarray((lower <= upper).all(1))
        for choice in choices:
            present &= choice.allowed.any(1)
        cell = Cell(encoding.numeric_columns, lower, upper, choices, None, present)
        return Region(len(self), len(encoding.features), (cell,))

    def middles(self) -> Individuals:
        """A person in the middle of every cell; of a category its first value there."""
        middle = self.lower / 2 + self.upper / 2
        numbers = np.where(self.counted, np.floor(middle), middle)
        codes = [mask.argmax(1) for mask in self.allowed]
        return Individuals(self.schema, numbers, np.stack(codes, 1).astype(np.int32) if codes else _no_codes(len(self)))

    def draw(self, count: int, rng: np.random.Generator) -> Individuals:
        """``count`` people of every cell, cell by cell, each value of an attribute as likely as any other."""
        chance = rng.random((len(self) * count, self.lower.shape[1]))
        lower, upper = (np.repeat(ends, count, axis=0) for ends in (self.lower, self.upper))
        whole = np.minimum(lower + np.floor(chance * (upper - lower + 1)), upper)
        numbers = np.where(self.counted, whole, np.clip(lower + chance * (upper - lower), lower, upper))
        codes = [np.repeat(mask, count, axis=0) for mask in self.allowed]
        drawn = [np.where(mask, rng.random(mask.shape), -1.0).argmax(1) for mask in codes]
        return Individuals(
            self.schema, numbers, np.stack(drawn, 1).astype(np.int32) if drawn else _no_codes(len(numbers))
        )

    def cut_number(self, row: int, place: int) -> Self | None:
        """One cell cut in two at the middle of a number; None where there is nothing to cut."""
        low, high = float(self.lower[row, place]), float(self.upper[row, place])
        if self.counted[place]:
            left = low + np.floor((high - low) / 2)
            right = left + 1
        else:
            left = right = low / 2 + high / 2
        if not (low <= left < high and low < right <= high):
            return None
        two = self.take([row, row])
        lower, upper = two.lower.copy(), two.upper.copy()
        upper[0, place], lower[1, place] = left, right
        return type(self)(self.schema, lower, upper, two.allowed, self.whole)

    def cut_category(self, row: int, place: int, first: BoolArray) -> Self | None:
        """One cell cut in two: the values (values,) that are ``first``, and the others."""
        masks = np.stack([self.allowed[place][row] & first, self.allowed[place][row] & ~first])
        if not masks.any(1).all():
            return None
        two = self.take([row, row])
        allowed = (*two.allowed[:place], masks, *two.allowed[place + 1 :])
        return type(self)(self.schema, two.lower, two.upper, allowed, self.whole)


def _counted(schema: Schema, whole: bool) -> BoolArray:
    return np.array([whole and attribute.integer for attribute in schema.numeric], np.bool_)


def _no_codes(rows: int) -> Any:
    return np.zeros((rows, 0), np.int32)


def _refuse_unranged(schema: Schema) -> None:
    missing = [a.name for a in schema.numeric if a.lower is None or a.upper is None]
    if missing:
        names = ", ".join(f'"{name}"' for name in missing)
        raise RegionError(
            f"a sweep needs a range for every number; there is none for {names}",
            fix="add lower = … and upper = … to each of them in the schema: the least and largest value that a person "
            "can have, whether or not they are in the table",
        )


def _refuse_merged_numbers(schema: Schema) -> None:
    for a in schema.numeric:
        if a.integer and max(abs(a.lower or 0.0), abs(a.upper or 0.0)) > LARGEST_INTEGER:
            raise RegionError(
                f'"{a.name}" is declared to hold whole numbers beyond 2^53, which floats do not tell apart',
                fix="declare a smaller range in the schema, or leave integer out",
            )


def _refuse_empty(schema: Schema, no_number: BoolArray, no_value: Sequence[bool]) -> None:
    """Anything could be proved of an empty universe."""
    names = [*np.array(schema.names_numeric, object)[no_number].tolist()]
    names += [name for name, none in zip(schema.names_categorical, no_value, strict=True) if none]
    if names:
        raise RegionError(
            f'nobody can exist: the schema leaves "{names[0]}" no value that the model takes',
            fix="declare a range with a whole number in it, or values that the model knows",
        )


# The cell of a universe that a person is in, found for many people at once.
#
# For every attribute, the cells that hold a value are the same between two neighbouring ends of cells. They are kept as
# bits, one a cell, so that a person's cells are the bits that remain when those of all attributes are combined by
# "and".

IntArray = NDArray[np.int64]
Bits = NDArray[np.uint8]

AT_ONCE = 1 << 24
"""Bytes that are combined in one call."""


@dataclass(frozen=True)
class CellIndex:
    """The cells, which travel to other processes without their bits: these are made where they are needed."""

    cells: UniverseCells

    def __getstate__(self) -> dict[str, UniverseCells]:
        return {"cells": self.cells}

    def find(self, people: Individuals) -> IntArray:
        """(people,) the number of the first cell that holds each of them; -1 where none does."""
        found = np.full(len(people), -1, np.int64)
        if not len(self.cells):
            return found
        step = max(1, AT_ONCE // (1 + len(self.cells) // 8))
        for start in range(0, len(people), step):
            some = slice(start, start + step)
            found[some] = self._first(self._holding(people.take(some)))
        return found

    def _holding(self, people: Individuals) -> Bits:
        """(people, bytes) the bits of the cells that hold each of them."""
        held = np.tile(np.packbits(np.ones(len(self.cells), np.bool_)), (len(people), 1))
        for j, (ends, bits) in enumerate(self._numbers):
            held &= bits[_slot(ends, people.numbers[:, j])]
        for j, bits in enumerate(self._categories):
            held &= bits[people.codes[:, j]]
        return held

    @staticmethod
    def _first(held: Bits) -> IntArray:
        byte = (held != 0).argmax(1)
        mine = held[np.arange(len(held)), byte]
        bit = np.unpackbits(mine[:, None], axis=1).argmax(1)
        return np.where(mine == 0, -1, 8 * byte + bit)

    @cached_property
    def _numbers(self) -> list[tuple[FloatArray, Bits]]:
        """For each number the ends of all cells, rising, and the bits of every end and of what lies between two."""
        found = []
        for lower, upper in zip(self.cells.lower.T, self.cells.upper.T, strict=True):
            ends = np.unique(np.concatenate([lower, upper]))
            first, last = _slot(ends, lower), _slot(ends, upper)
            slots = np.arange(2 * len(ends) + 1)
            rows = [np.packbits((first <= slot) & (slot <= last)) for slot in slots]
            found.append((ends, np.stack(rows)))
        return found

    @cached_property
    def _categories(self) -> list[Bits]:
        return [np.packbits(mask.T, axis=1) for mask in self.cells.allowed]


def _slot(ends: FloatArray, values: FloatArray) -> IntArray:
    """Odd for a value that is an end itself, even between two: cells are closed."""
    place = np.searchsorted(ends, values, side="left")
    exact = ends[np.minimum(place, len(ends) - 1)] == values
    return np.asarray(2 * place + exact, np.int64)
