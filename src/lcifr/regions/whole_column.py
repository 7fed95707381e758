"""Columns that hold encoded whole numbers: a search may split between one of them and the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lcifr.regions.cell import FloatArray


@dataclass(frozen=True)
class WholeColumn:
    """A feature column of a whole-number attribute.

    Parameters
    ----------
    attribute : its name in the schema. column : the feature column.
    first, last : the whole numbers, in the table's units, that anybody's region can hold.
    encode : whole numbers (n,) -> encoded values (n,), monotone.
    """

    attribute: str
    column: int
    first: int
    last: int
    encode: Callable[[FloatArray], FloatArray]

    @cached_property
    def _encoded(self) -> FloatArray:
        return np.asarray(self.encode(np.arange(self.first, self.last + 1, dtype=np.float64)))

    @property
    def falling(self) -> bool:
        """Whether larger numbers are encoded to smaller values."""
        return bool(self._encoded[0] > self._encoded[-1])

    @property
    def values(self) -> FloatArray:
        """The encoded values of all these numbers, ascending."""
        return self._encoded[::-1] if self.falling else self._encoded
