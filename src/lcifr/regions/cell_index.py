"""Which of many cells of a universe somebody is in, found for many people at once.

For every attribute, the cells that hold a value are the same between two neighbouring ends of cells. They are kept as
bits, one a cell, so that a person's cells are the bits that remain when those of all attributes are combined by "and".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Individuals
from lcifr.regions.region import FloatArray
from lcifr.regions.universe import UniverseCells

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
