"""Integer tightening of regions: box bounds moved inward to whole numbers.

φ speaks about individuals, and where the schema says ``integer`` an individual has a whole number. A region is a box of
reals, so its bounds may be moved to the outermost whole numbers between them without losing anyone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from lcifr.data import Encoding
from lcifr.data.program import Program
from lcifr.regions.region import BoolArray, Cell, FloatArray, Region, WholeColumn

LARGEST = 2.0**50
MOST = 1_000_000
"""Whole numbers of a column between which proofs may split; one with more counts as real, which proves less."""


def narrow_to_whole_numbers(region: Region, encoding: Encoding) -> Region:
    """The region with the bounds of whole-number attributes moved inward to whole numbers, and marked as theirs."""
    whole = whole_columns(encoding)
    if not whole.any():
        return region
    cells = tuple(_narrowed(cell, encoding, whole) for cell in region.cells)
    return replace(region, cells=cells, whole=_columns(cells, encoding, whole))


def _columns(cells: Sequence[Cell], encoding: Encoding, whole: BoolArray) -> tuple[WholeColumn, ...]:
    """The columns that a person's region lets move, with the numbers between which proofs may split."""
    found = []
    for place in np.flatnonzero(whole).tolist():
        low = [cell.lower[cell.present, place] for cell in cells]
        high = [cell.upper[cell.present, place] for cell in cells]
        lower, upper = np.concatenate([np.zeros(0), *low]), np.concatenate([np.zeros(0), *high])
        if not (upper > lower).any():
            continue
        program = encoding.programs[place]
        raw = np.rint(program.factor * np.array([lower.min(), upper.max()]) + program.origin)
        first, last = int(raw.min()) - 1, int(raw.max()) + 1
        if max(abs(first), abs(last)) < LARGEST and last - first <= MOST:
            attribute = encoding.schema.numeric[place].name
            found.append(_column(attribute, int(encoding.numeric_columns[place]), *_widened(first, last), program))
    return tuple(found)


def _widened(first: int, last: int) -> tuple[int, int]:
    """Ends at multiples of a power of two, up to four times as far apart: other people soon share them."""
    step = 1 << (last - first).bit_length()
    return first // step * step, -(-last // step) * step


@lru_cache(maxsize=16)
def _column(attribute: str, column: int, first: int, last: int, program: Program) -> WholeColumn:
    """The column, kept for the next people: it may have a million numbers to encode."""
    return WholeColumn(attribute, column, first, last, program)


def whole_columns(encoding: Encoding) -> BoolArray:
    """(numeric attributes,) which the schema says are whole."""
    return np.array([attribute.integer for attribute in encoding.schema.numeric], dtype=np.bool_)


def _narrowed(cell: Cell, encoding: Encoding, whole: BoolArray) -> Cell:
    lower, upper = _outermost(cell.lower, encoding, 1), _outermost(cell.upper, encoding, -1)
    return cell.between(np.where(whole, lower, cell.lower), np.where(whole, upper, cell.upper))


def _outermost_of_five(
    bounds: FloatArray, near: FloatArray, inward: FloatArray, within: np.ufunc, encoding: Encoding
) -> FloatArray:
    found = bounds
    for step in (2, 1, 0, -1, -2):  # the last that fits is the outermost
        tried = encoding.scale(near + inward * step)
        found = np.where(within(tried, bounds), tried, found)
    return found


def _outermost(bounds: FloatArray, encoding: Encoding, sign: int) -> FloatArray:
    """The outermost encoded whole number within an encoded end. Encoding is monotone: trying neighbours is exact."""
    near = np.rint(encoding.unscale(bounds))
    inward = np.where(encoding.numbers.falling, -sign, sign)
    within = np.greater_equal if sign > 0 else np.less_equal
    there = encoding.scale(near)
    fits = within(there, bounds)
    beside = encoding.scale(near + np.where(fits, -inward, inward))
    found = np.where(fits, there, beside)
    rows = np.flatnonzero((fits == within(beside, bounds)).any(1))
    if len(rows):  # the outermost is further away
        found[rows] = _outermost_of_five(bounds[rows], near[rows], inward, within, encoding)
    # Decoding is off by less than 1 up to here; beyond, the bound stays as it is.
    exact = np.abs(near) + np.abs(encoding.numbers.origins) < LARGEST
    if not encoding.standardises:
        exact &= encoding.decode_error(np.abs(near) + 2) < 1.0
    return np.where(exact, found, bounds)
