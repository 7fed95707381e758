"""Local search for the best point of a cell: jumps between vertices along the gradient."""

from __future__ import annotations

import numpy as np

from lcifr.prove.networks.kernel.best_first import keep_point
from lcifr.prove.networks.kernel.deep.node import keeps_rows, value_at_point
from lcifr.prove.networks.kernel.deep.shape import Bench, HiddenLayers, Rows
from lcifr.prove.networks.kernel.jit import compiled
from lcifr.prove.networks.kernel.node import vertex_of
from lcifr.prove.networks.kernel.shape import KernelAnswer, MovingCell, Objectives


@compiled
def climb(
    layers: HiddenLayers,
    rows: Rows,
    objectives: Objectives,
    found: KernelAnswer,
    cell: MovingCell,
    i: int,
    row: int,
    k: int,
    answer: int,
    jumps: int,
    bench: Bench,
) -> bool:
    """Jump from the bench's point along the gradient, and keep what is better. Whether the target is surely passed."""
    last = -np.inf
    rounding_error = layers.unit * (objectives.rise[row, k] * cell.largest[0] + objectives.shift[row, k])
    for _ in range(jumps + 1):
        value = value_at_point(layers, objectives, cell, row, k, bench)
        if value + objectives.offset[i, k] > found.best[i, answer] and keeps_rows(cell, rows, bench):
            settled = keep_point(objectives, found, cell, i, k, answer, value, rounding_error, bench)
            if settled:
                return True
        if not value > last:
            break
        last = value
        vertex_of(cell, cell.allow, bench)
    return False
