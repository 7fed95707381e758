"""Histograms with round bin edges and bounded tails."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcifr.drawing.axes import round_step

BARS = 24
WHOLE = 48
"""Whole numbers with a bar each; more are counted together."""
TAIL = 0.005  # share of values on each side that the end bars take in, however far away they are


@dataclass(frozen=True)
class Histogram:
    """Counts between edges.

    Parameters
    ----------
    edges : (bars + 1,) rising, round numbers. counts : for each kind of person (bars,) counts.
    beyond : how many values lie below the first and above the last edge; the end bars count them too.
    left_out : how many values are not finite, and in no bar.
    """

    edges: tuple[float, ...]
    counts: Mapping[str, tuple[int, ...]]
    beyond: tuple[int, int] = (0, 0)
    left_out: int = 0

    @property
    def bars(self) -> int:
        return len(self.edges) - 1


def histogram(
    values: NDArray[np.float64], kinds: Mapping[str, NDArray[np.bool_]], *, around_zero: bool = False
) -> Histogram | None:
    """Count ``values`` (people,) for every kind, a mask (people,); None where there is nothing to count.

    Values at the very end of float64, as people have to whom nobody is similar, are no values.

    Parameters
    ----------
    around_zero : whether zero is an edge wherever the values lie, as margins need it, of which only those above zero
        prove something: no bar then holds both kinds, not even an end bar that takes in what lies beyond it.
    """
    finite = np.isfinite(values) & (np.abs(values) < 1e300)
    shown = values[finite]
    if not len(shown):
        return None
    edges = _edges(shown, around_zero)
    # A value on an edge is counted to the left of it: a margin of zero proves nothing.
    place = np.clip(np.searchsorted(edges, shown, side="left") - 1, 0, len(edges) - 2)
    counts = {
        name: tuple(np.bincount(place[mask[finite]], minlength=len(edges) - 1).tolist()) for name, mask in kinds.items()
    }
    beyond = int((shown < edges[0]).sum()), int((shown > edges[-1]).sum())
    return Histogram(tuple(edges.tolist()), counts, beyond, int((~finite).sum()))


def whole_histogram(values: NDArray[np.float64]) -> Histogram | None:
    """A bar for each of a few whole numbers, in the middle of it; None where there are too many between the ends."""
    low, high = int(values.min()), int(values.max())
    if high - low >= WHOLE:
        return None
    counts = np.bincount((values - low).astype(np.int64), minlength=high - low + 1)
    edges = np.arange(low, high + 2) - 0.5
    return Histogram(tuple(edges.tolist()), {"people": tuple(counts.tolist())})


def _edges(values: NDArray[np.float64], around_zero: bool) -> NDArray[np.float64]:
    low, high = np.quantile(values, [TAIL, 1 - TAIL])
    if not high > low:
        low, high = values.min(), values.max()
    if around_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if not high > low:
        low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
    step = round_step((high - low) / BARS)
    first, last = math.floor(low / step), math.ceil(high / step)
    if around_zero:  # however few lie on the other side of zero, they get a bar there
        first, last = min(first, -int(values.min() <= 0)), max(last, int(values.max() > 0))
    # Products of whole numbers and a decimal, as they are written: 3 · 0.1 is 0.3 and not 0.30000000000000004.
    return np.array([float(f"{k * step:.12g}") for k in range(first, max(last, first + 1) + 1)])
