"""The narrow waist: S_φ(x) of many individuals at once, as a union of cells. Everything that proves reads this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.errors import RegionError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Choice:
    """One one-hot group: exactly one of ``columns`` is 1, and only an allowed one.

    Parameters
    ----------
    columns : (values,) feature columns of the group.
    allowed : (people, values) which of them the other individual may have.
    """

    columns: IntArray
    allowed: BoolArray


@dataclass(frozen=True)
class Rows:
    """Linear rows G x′ ≤ g.

    Parameters
    ----------
    G : (rows, features), the same for everybody.
    g : (people, rows).
    """

    G: FloatArray
    g: FloatArray


@dataclass(frozen=True)
class Cell:
    """A box over the numeric columns × one allowed category per choice, cut by linear rows; for many people at once.

    Parameters
    ----------
    numeric : (numerics,) the feature columns that are in no choice, ascending.
    lower, upper : (people, numerics) the box, in the order of ``numeric``.
    choices : the one-hot groups; together with ``numeric`` they hold every feature column exactly once.
    rows : linear rows, or None.
    present : (people,) who has this cell at all. Where it is False the other arrays mean nothing.
    """

    numeric: IntArray
    lower: FloatArray
    upper: FloatArray
    choices: tuple[Choice, ...]
    rows: Rows | None
    present: BoolArray


@dataclass(frozen=True)
class Region:
    """For each of ``people`` individuals, the union of the cells present for them.

    An individual without any present cell has an empty region: nobody is similar to them.
    """

    people: int
    features: int
    cells: tuple[Cell, ...]
