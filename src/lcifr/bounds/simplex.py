"""What can it reach? The best multipliers of a few programs, one after the other, by the simplex method of HiGHS.

The interior point of :mod:`lcifr.bounds.interior` serves thousands of programs at once; for a handful it takes hundreds
of small operations a round. A simplex method is done with one of them before that, it ends in a vertex, and it does not
mind where linear rows leave no inside (an equation is two of them). Constraints may be violated for a price (the same
exact penalties as in :mod:`lcifr.prove.compiled.penalty`): every program then has an optimum, and the multipliers of an
empty one say that it is empty. Like those of the interior point they are only proposals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcifr.bounds.newton import Scaled

MOST = 300
"""Programs at most: with more of them at once, the interior point is as fast."""
PRICE = 1e4
"""Of leaving a constraint by its length, where the steepest slope of the objective is 1: larger multipliers than this
are not found. They are rare, and a larger price would make the solver's tolerances show."""
OPTIONS = {"output_flag": False, "threads": 1, "presolve": "off", "solver": "simplex"}

FloatArray = NDArray[np.float64]


def solve_each(scaled: Scaled) -> tuple[Tensor, Tensor, Tensor] | None:
    """Multipliers of hinges and constraints (n, k) each and the points (n, q); None where the solver fails."""
    highspy = _highspy()
    highs = highspy.Highs()
    for option, value in OPTIONS.items():
        highs.setOptionValue(option, value)
    parts = [part.cpu().numpy() for part in (scaled.gain, scaled.offset, scaled.slope, scaled.weight)]
    masks = [part.cpu().numpy() for part in (scaled.hinge, scaled.constraint, scaled.live)]
    member = scaled.member.cpu().numpy()
    hinges, cuts, x = np.zeros_like(parts[1]), np.zeros_like(parts[1]), np.zeros_like(parts[0])
    for row in range(len(x)):
        hinge, constraint, live = (np.flatnonzero(part[row]) for part in masks)
        gain, offset, slope, weight = (part[row] for part in parts)
        lp = highspy.HighsLp()
        _fill(
            lp,
            highspy.MatrixFormat.kRowwise,
            cost=np.concatenate([-gain[live], weight[hinge], np.full(len(constraint), PRICE)]),
            low=np.concatenate([np.where(live < scaled.numeric, -1.0, 0.0), np.zeros(len(hinge) + len(constraint))]),
            high=np.concatenate([np.ones(len(live)), np.full(len(hinge) + len(constraint), np.inf)]),
            rows=np.concatenate([-slope[hinge][:, live], slope[constraint][:, live], member[:, live]]),
            slacks=len(hinge) + len(constraint),
            floor=np.concatenate([offset[hinge], -offset[constraint], np.ones(len(member))]),
        )
        highs.passModel(lp)
        highs.run()
        solution = highs.getSolution()
        if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal or not solution.dual_valid:
            return None
        dual = np.array(solution.row_dual)
        hinges[row, hinge] = dual[: len(hinge)]
        cuts[row, constraint] = dual[len(hinge) : len(hinge) + len(constraint)]
        x[row, live] = np.array(solution.col_value)[: len(live)]
    first, second, third = (torch.as_tensor(part, device=scaled.gain.device) for part in (hinges, cuts, x))
    return first, second, third


def _fill(
    lp: Any,
    rowwise: Any,
    cost: FloatArray,
    low: FloatArray,
    high: FloatArray,
    rows: FloatArray,
    slacks: int,
    floor: FloatArray,
) -> None:
    """Minimise cost·(ξ, t) with rows·ξ + t ≥ floor in the first ``slacks`` rows, and equality in the others."""
    count, width = rows.shape
    matrix = np.concatenate([rows, np.eye(count, slacks)], 1)
    lp.num_col_, lp.num_row_ = width + slacks, count
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, low, high
    lp.row_lower_, lp.row_upper_ = floor, np.where(np.arange(count) < slacks, np.inf, floor)
    place = np.nonzero(matrix)
    lp.a_matrix_.format_ = rowwise
    lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum(np.bincount(place[0], minlength=count))]).astype(np.int32)
    lp.a_matrix_.index_, lp.a_matrix_.value_ = place[1].astype(np.int32), matrix[place]


def _highspy() -> Any:
    import highspy

    return highspy
