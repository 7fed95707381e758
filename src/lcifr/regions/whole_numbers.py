"""Integer tightening of regions: box bounds moved inward to whole numbers.

φ speaks about individuals, and where the schema says ``integer`` an individual has a whole number. A region is a box of
reals, so its bounds may be moved to the outermost whole numbers between them without losing anybody.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lcifr.data import Encoding
from lcifr.regions.region import Cell, Region
from lcifr.semantics.holds import Booleans, Floats

LARGEST = 2.0**50


def narrow_to_whole_numbers(region: Region, encoding: Encoding) -> Region:
    """The region with the bounds of whole-number attributes moved inward to whole numbers."""
    whole = whole_columns(encoding)
    if not whole.any():
        return region
    return replace(region, cells=tuple(_narrowed(cell, encoding, whole) for cell in region.cells))


def whole_columns(encoding: Encoding) -> Booleans:
    """(numeric attributes,) which the schema says are whole."""
    return np.array([attribute.integer for attribute in encoding.schema.numeric], dtype=np.bool_)


def _narrowed(cell: Cell, encoding: Encoding, whole: Booleans) -> Cell:
    lower, upper = _outermost(cell.lower, encoding, 1), _outermost(cell.upper, encoding, -1)
    return cell.between(np.where(whole, lower, cell.lower), np.where(whole, upper, cell.upper))


def _outermost(bounds: Floats, encoding: Encoding, sign: int) -> Floats:
    """The outermost encoded whole number within an encoded end. Encoding is monotone: trying neighbours is exact."""
    near = np.rint(encoding.unscale(bounds))
    found = bounds
    inward = np.where(encoding.numbers.falling, -sign, sign)
    for step in (2, 1, 0, -1, -2):  # the last that fits is the outermost
        tried = encoding.scale(near + inward * step)
        found = np.where(sign * tried >= sign * bounds, tried, found)
    # Decoding is off by less than 1 up to here; beyond, the bound stays as it is.
    exact = np.abs(near) + np.abs(encoding.numbers.origins) < LARGEST
    if not encoding.standardises:
        exact &= encoding.decode_error(np.abs(near) + 2) < 1.0
    return np.where(exact, found, bounds)
