"""Thresholds of trees in the table's own units: where a column's encoded value passes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Encoding
from lcifr.regions.region import FloatArray


class PiecesBetween(NamedTuple):
    """edges : (pieces + 1,) with both ends. pieces : (pieces,)."""

    edges: tuple[float, ...]
    pieces: NDArray[np.intp]


@dataclass(frozen=True)
class TableThresholds:
    """Thresholds of one number, rising, in the table's units, as exact as :meth:`Encoding.unscale`.

    Parameters
    ----------
    values : (thresholds,). pieces : (thresholds + 1,) of each piece between them its number among the encoded pieces.
    """

    values: FloatArray
    pieces: NDArray[np.intp]

    def between(self, low: float, high: float) -> PiecesBetween:
        """Those pieces that reach into an interval."""
        inside = (self.values > low) & (self.values < high)
        first = int((self.values <= low).sum())
        edges = (float(low), *self.values[inside].tolist(), float(high))
        return PiecesBetween(edges, self.pieces[first : first + len(edges) - 1])


def in_table_units(thresholds: FloatArray, encoding: Encoding, attribute: str) -> TableThresholds:
    """Encoded thresholds (rising) of a number; without those that no value of the table passes, because it is clipped.

    Encodings are monotone; one that falls turns the pieces round.
    """
    j = encoding.schema.names_numeric.index(attribute)
    numbers = encoding.numbers
    values = thresholds * numbers.factors[j] + numbers.origins[j]
    pieces = np.arange(len(thresholds) + 1)
    if numbers.falling[j]:
        values, pieces = values[::-1], pieces[::-1]
    first, last = numbers.programs[j].unclipped
    start, stop = int((values <= first).sum()), int((values < last).sum())
    return TableThresholds(values[start:stop], pieces[start : stop + 1])
