"""The best multipliers of a few programs, one after the other, by the simplex method of HiGHS.

The interior point of :mod:`interior` serves thousands of programs at once; for a handful it takes hundreds
of small operations a round. A simplex method is done with one of them before that, it ends in a vertex, and it does not
mind where linear rows leave no inside (an equation is two of them). Where the constraints contradict each other they
may be violated for a price: the multipliers of that program say that there is no point. Like those of the interior
point all of these are only proposals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcifr.prove.networks.linear_bounds.newton import Scaled

MOST = 300
"""Programs at most: with more of them at once, the interior point is as fast."""
PRICE = 1e4
"""Of leaving a constraint by its length, where the steepest slope of the objective is 1."""
OPTIONS = {
    "output_flag": False,
    "threads": 1,
    "presolve": "off",
    "solver": "simplex",
    "primal_feasibility_tolerance": 1e-10,  # a feasible program that is called infeasible is solved for a price
    "dual_feasibility_tolerance": 1e-10,
}

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class _One:
    """One program with only what takes part: q variables, h hinges, c constraints, and Σ = 1 for each choice.

    Minimise −gain·ξ + weight·y + PRICE·t with y ≥ offset + slope·ξ for hinges, offset + slope·ξ + t ≥ 0 for
    constraints, y and t not negative; t is 0 at first.
    """

    gain: FloatArray
    low: FloatArray
    weight: FloatArray
    hinges: FloatArray
    hinge_offset: FloatArray
    cuts: FloatArray
    cut_offset: FloatArray
    member: FloatArray

    def load(self, highs: Any, highspy: Any) -> None:
        """Hand it to the solver."""
        slacks = len(self.hinges) + len(self.cuts)
        rows = np.concatenate([-self.hinges, self.cuts, self.member])
        matrix = np.concatenate([rows, np.eye(len(rows), slacks)], 1)
        floor = np.concatenate([self.hinge_offset, -self.cut_offset, np.ones(len(self.member))])
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = matrix.shape
        lp.col_cost_ = np.concatenate([-self.gain, self.weight, np.full(len(self.cuts), PRICE)])
        lp.col_lower_ = np.concatenate([self.low, np.zeros(slacks)])
        high = [np.ones(len(self.gain)), np.full(len(self.hinges), np.inf), np.zeros(len(self.cuts))]
        lp.col_upper_ = np.concatenate(high)
        lp.row_lower_, lp.row_upper_ = floor, np.where(np.arange(len(rows)) < slacks, np.inf, floor)
        place = np.nonzero(matrix)
        begin = np.concatenate([[0], np.cumsum(np.bincount(place[0], minlength=len(rows)))])
        lp.a_matrix_.format_, lp.a_matrix_.start_ = highspy.MatrixFormat.kRowwise, begin.astype(np.int32)
        lp.a_matrix_.index_, lp.a_matrix_.value_ = place[1].astype(np.int32), matrix[place]
        highs.passModel(lp)

    def optimum(self, highs: Any, highspy: Any) -> Any:
        """The solver's solution, for a price where there is no other; None where there is none at all."""
        best = highspy.HighsModelStatus.kOptimal
        self.load(highs, highspy)
        highs.run()
        if highs.getModelStatus() != best:
            count, first = len(self.cuts), len(self.gain) + len(self.hinges)
            column = np.arange(first, first + count, dtype=np.int32)
            highs.changeColsBounds(count, column, np.zeros(count), np.full(count, np.inf))
            highs.run()
        solution = highs.getSolution()
        return solution if highs.getModelStatus() == best and solution.dual_valid else None


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
        hinge, cut, live = (np.flatnonzero(part[row]) for part in masks)
        gain, offset, slope, weight = (part[row] for part in parts)
        solution = _One(
            gain=gain[live],
            low=np.where(live < scaled.numeric, -1.0, 0.0),
            weight=weight[hinge],
            hinges=slope[hinge][:, live],
            hinge_offset=offset[hinge],
            cuts=slope[cut][:, live],
            cut_offset=offset[cut],
            member=member[:, live],
        ).optimum(highs, highspy)
        if solution is None:
            return None
        dual = np.array(solution.row_dual)
        hinges[row, hinge], cuts[row, cut] = dual[: len(hinge)], dual[len(hinge) : len(hinge) + len(cut)]
        x[row, live] = np.array(solution.col_value)[: len(live)]
    first, second, third = (torch.as_tensor(part, device=scaled.gain.device) for part in (hinges, cuts, x))
    return first, second, third


def _highspy() -> Any:
    import highspy

    return highspy
