"""Linear rows as penalties: a question with rows becomes one that the kernel knows.

For any s ≥ 0, every x′ with G x′ ≤ g has f(x′) = f(x′) − s·Σ relu(G x′ − g), so the largest value of the right side
over the whole box and all categories is a bound of f over the points that the rows leave. The right side is a network:
one more neuron for each row, one more output for their sum. No strength s can make the bound too small, whatever it is;
and once s is at least as large as the best multipliers of the rows, the bound is as tight as the rows themselves (an
exact penalty). Whether it was is seen by the best point: it keeps to the rows, or a larger s is tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lcifr.models.network import LARGEST, Network
from lcifr.prove.answer import FloatArray
from lcifr.prove.networks.balance import to_size
from lcifr.prove.networks.kernel.shape import KernelAnswer
from lcifr.prove.networks.linear_bounds.inside import pull_inside
from lcifr.regions.region import Cell, LinearRows, Region

START = 4.0
"""The first strength, in units of the steepest slope that the network can have."""
GROWTH, ROUNDS = 32.0, 3
"""Three strengths, from 4 to 4,096 times that slope. Larger ones would cost more in rounding terms than they find."""
NEAR = 1e-6
"""A best point that leaves the rows by no more than this is pulled inside; one that is further away shows that the
penalty was too weak."""
MARGIN = 1e-9
"""Of the sum of all |G x|: far more than the rounding of thousands of terms."""


def with_penalties(network: Network, cell: Cell) -> tuple[Network, Cell]:
    """The network with a last output −Σ relu(G x − g), and the cell without rows; g is a numeric that stands still."""
    assert cell.rows is not None
    rows, (first, last) = _to_reach(to_size(cell.rows), cell), network.layers
    count, hidden, features = len(rows.G), len(first.bias), network.inputs
    weight = np.block([[first.weight, np.zeros((hidden, count))], [rows.G, -np.eye(count)]])
    out = np.block([[last.weight, np.zeros((network.outputs, count))], [np.zeros((1, hidden)), -np.ones((1, count))]])
    bias = np.concatenate([first.bias, np.zeros(count)])
    whole = Network.from_arrays([(weight, bias), (out, np.append(last.bias, 0.0))])
    numeric = np.concatenate([cell.numeric, features + np.arange(count)])
    lower, upper = np.concatenate([cell.lower, rows.g], 1), np.concatenate([cell.upper, rows.g], 1)
    return whole, replace(cell, numeric=numeric, lower=lower, upper=upper, rows=None)


def _to_reach(rows: LinearRows, cell: Cell) -> LinearRows:
    """The same rows with g not far from what G x can be in the cell, because large numbers cost rounding terms.

    Where G x stays below g anyway, a smaller g says as much; one below everything that G x can be only grows.
    """
    matrix = rows.G[:, cell.numeric]
    plus, minus = np.maximum(matrix, 0.0), np.minimum(matrix, 0.0)
    with np.errstate(invalid="ignore", over="ignore"):  # of people who do not have the cell
        high = cell.upper @ plus.T + cell.lower @ minus.T
        low = cell.lower @ plus.T + cell.upper @ minus.T
        size = np.maximum(np.abs(cell.lower), np.abs(cell.upper)) @ np.abs(matrix).T
        for choice in cell.choices:
            part, allowed = rows.G[:, choice.columns], choice.allowed[:, None, :]
            if part.any():
                high = high + np.where(allowed, part, -np.inf).max(-1)
                low = low + np.where(allowed, part, np.inf).min(-1)
                size = size + np.abs(part).max(-1)
        margin = MARGIN * (1.0 + size)
        level = np.where(rows.g > high + margin, high + margin, np.maximum(rows.g, low - 1.0 - margin))
    return LinearRows(rows.G, np.where(np.isfinite(level), level, rows.g))


def strength_of(network: Network, directions: FloatArray) -> FloatArray:
    """(…, K) the first strength for directions (…, K, outputs)."""
    first, last = network.layers
    with np.errstate(over="ignore", invalid="ignore"):
        slope = (np.abs(directions @ last.weight) @ np.abs(first.weight)).max(-1, initial=0.0)
    return np.minimum(START * np.where(slope > 0, slope, 1.0), LARGEST)


def answer_by_penalty(
    ask: Callable[[NDArray[np.int64], float], KernelAnswer], region: Region
) -> tuple[KernelAnswer, NDArray[np.int64]]:
    """Ask with larger and larger strengths until everybody's best points keep to the rows.

    Parameters
    ----------
    ask : people (indices) and how many times the first strength -> what the kernel finds about them.

    Returns
    -------
    What was found, with witnesses in the region or NaN; and who (indices) no strength was enough for.
    """
    rest = np.arange(region.people)
    found: KernelAnswer | None = None
    for power in range(ROUNDS):
        again = ask(rest, GROWTH**power)
        inside, witness = _pulled(region.take(rest), again.witness)
        again = again._replace(witness=witness)
        found = again if found is None else _merged(found, rest, again)
        rest = rest[~inside]
        if len(rest) == 0:
            break
    assert found is not None
    return found, rest


def _merged(found: KernelAnswer, who: NDArray[np.int64], again: KernelAnswer) -> KernelAnswer:
    """The smaller bounds, the later points (and whether the budget ended the search for them), all nodes."""
    found.upper[who] = np.minimum(found.upper[who], again.upper)
    found.nodes[who] += again.nodes
    found.exhausted[who], found.witness[who] = again.exhausted, again.witness
    found.branched[who] |= again.branched
    return found


def _pulled(region: Region, witness: FloatArray) -> tuple[NDArray[np.bool_], FloatArray]:
    """(people,) whether all best points are in the region or close to it, and the points, NaN where they are not."""
    there = ~np.isnan(witness[:, :, 0])
    points = np.where(there[..., None], witness, 0.0)
    inside = region.contains(points)
    near = ~inside & there & region.contains(points, tolerance=NEAR)
    rows = np.flatnonzero(near.any(1))
    if len(rows):
        part = region.take(rows)
        points[rows] = pull_inside(part, points[rows])
        inside[rows] = part.contains(points[rows])
    kept = there & inside
    return np.asarray((inside | ~there).all(1)), np.where(kept[..., None], points, np.nan)
