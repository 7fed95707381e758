"""The paper's mixed-integer program of (network, cell): exact up to the solver's tolerances, and resting on its word.

One program per cell, the largest answer counts; a binary for every unstable ReLU and every free category. What is
reported is the solver's dual bound, never its best point. A solver computes in floats with tolerances, so its bound is
not a proof: the answer says ``trusted: highs …`` as the method that proved it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import final

import numpy as np

from lcifr.models.network import Network
from lcifr.prove.answer import Claim, FloatArray, Question
from lcifr.prove.method import SolverMethod
from lcifr.prove.networks.linear_bounds.cell_batch import tensors, view_cell
from lcifr.prove.networks.linear_bounds.linear import hidden_lines
from lcifr.prove.oracles.enumerate import surely_empty
from lcifr.prove.oracles.formulation import Formulation, LayerInterval, formulate
from lcifr.prove.oracles.solvers import Capability, Limits, Outcome, Session, Solver, SolverStatus
from lcifr.prove.witnesses import WITNESS_TOLERANCE
from lcifr.regions.region import Cell, Region

SLACK = 3e-7
"""Added to a solver's bound, absolute and relative: a few of its tolerances (1e-7 on reduced costs and rows), so that
an honest solver is not caught below a value that is reached. It does not make the bound a proof."""
NOT_EVEN_NEAR = 1e-4
"""A point that misses its region by more than this is not a matter of tolerances."""

LARGEST = 1e4
"""With coefficients or columns beyond this, a solver's absolute tolerances (1e-6) say nothing about the answer: HiGHS
was seen to be wrong by five orders of magnitude. Such a program is not asked; there is no bound."""


class _Code(IntEnum):
    OPTIMAL = 0
    LIMIT = 1
    EMPTY = 2
    NOTHING = 3


@dataclass(frozen=True)
class _Said:
    """What is believed of one solve: the bound, if any, why, and the point."""

    upper: float
    code: _Code
    point: FloatArray
    nodes: int


@final
class Milp(SolverMethod):
    """One mixed-integer program per person, cell and direction."""

    name = "milp"
    needs = frozenset({Capability.WHOLE_NUMBERS})
    writes_proofs = False
    any_device = False

    def _maximize(self, question: Question) -> Claim:
        people, k = question.directions.shape[:2]
        limits = Limits(question.budget.nodes, question.budget.seconds)
        upper, code = np.full((people, k), -np.inf), np.full((people, k), _Code.EMPTY, np.int8)
        witness, nodes = np.full((people, k, question.region.features), np.nan), np.zeros((people, k), np.int64)
        best = np.full((people, k), -np.inf)
        for cell in question.region.cells:
            known = intervals_of(question.network, cell)
            for person in np.flatnonzero(cell.present):
                said = self._cell(question, cell, int(person), known, limits)
                for direction, one in enumerate(said):
                    at = person, direction
                    nodes[at] += one.nodes
                    if code[at] != _Code.NOTHING and (one.upper > upper[at] or one.code is _Code.NOTHING):
                        upper[at], code[at] = one.upper, one.code
                    value = question.directions[at] @ question.network(np.nan_to_num(one.point))
                    if not np.isnan(one.point).any() and value > best[at]:
                        witness[at], best[at] = one.point, value
        witness[_nearly(question.region, witness)] = np.nan
        trusted = f"{self.name} ({self.solver.trusted})"
        names = (trusted, f"{trusted}, stopped at a limit", f"{self.name} (empty)", f"{self.name} (no bound)")
        return Claim(upper, code != _Code.NOTHING, witness, code == _Code.LIMIT, nodes, code, names)

    def _cell(
        self, question: Question, cell: Cell, person: int, known: Sequence[LayerInterval], limits: Limits
    ) -> list[_Said]:
        nothing = _Said(np.inf, _Code.NOTHING, np.full(question.region.features, np.nan), 0)
        if not all(np.isfinite((layer.lower[person], layer.upper[person])).all() for layer in known):
            return [nothing] * len(question.directions[person])
        program = CellProgram(question.network, cell, person, known, self.solver, limits)
        if not program.within_reach(question.directions[person]):
            return [nothing] * len(question.directions[person])
        empty: bool | None = None
        said = []
        for direction in question.directions[person]:
            offset, outcome = program.maximize(direction)
            if outcome.status is SolverStatus.INFEASIBLE and empty is None:
                empty = surely_empty(cell, person, question.region.features)
            said.append(_believed(outcome, offset, bool(empty), program.whole_point(outcome)))
        return said


class CellProgram:
    """One person's cell inside a solver."""

    def __init__(
        self, network: Network, cell: Cell, person: int, known: Sequence[LayerInterval], solver: Solver, limits: Limits
    ) -> None:
        self.network, self.cell, self.person = network, cell, person
        mine = [LayerInterval(layer.lower[person], layer.upper[person]) for layer in known]
        self.formulation: Formulation = formulate(network, cell, person, mine, whole=True)
        self.session: Session = solver.load(self.formulation.model, limits)

    def maximize(self, direction: FloatArray) -> tuple[float, Outcome]:
        """The constant part of direction · output, and what the solver says about the rest."""
        last, depth = self.network.layers[-1], self.network.depth
        weights = direction @ last.weight
        lost = self.formulation.lost(depth, weights)
        return float(direction @ last.bias) + lost, self.session.maximize(self.formulation.cost(depth, weights))

    def within_reach(self, directions: FloatArray) -> bool:
        """Whether no number of the program is so large that the solver's tolerances drown in it."""
        model, costs = self.formulation.model, directions @ self.network.layers[-1].weight
        parts = (model.value, model.lower, model.upper, costs)
        return all(np.abs(part).max(initial=0.0) <= LARGEST for part in parts)

    def whole_point(self, outcome: Outcome) -> FloatArray:
        """(features,) the solver's point with whole categories and inside the box; NaN where it has none."""
        if outcome.point is None:
            return np.full(self.network.inputs, np.nan)
        point, cell, person = outcome.point[: self.network.inputs].copy(), self.cell, self.person
        near = np.clip(point[cell.numeric], cell.lower[person], cell.upper[person])
        point[cell.numeric] = np.where(np.abs(near - point[cell.numeric]) < NOT_EVEN_NEAR, near, point[cell.numeric])
        for choice in cell.choices:
            point[choice.columns] = np.round(point[choice.columns])
        return point


def _believed(outcome: Outcome, offset: float, empty: bool, point: FloatArray) -> _Said:
    """Optimal, or stopped with a dual bound: a bound. Infeasible: only if the cell is surely empty. Else nothing."""
    upper = outcome.bound + offset
    if outcome.status is SolverStatus.INFEASIBLE and empty:
        return _Said(-np.inf, _Code.EMPTY, point, outcome.nodes)
    if outcome.status in (SolverStatus.OPTIMAL, SolverStatus.LIMIT) and np.isfinite(upper):
        code = _Code.OPTIMAL if outcome.status is SolverStatus.OPTIMAL else _Code.LIMIT
        return _Said(upper + SLACK * (1.0 + abs(upper)), code, point, outcome.nodes)
    return _Said(np.inf, _Code.NOTHING, point, outcome.nodes)


def intervals_of(network: Network, cell: Cell) -> list[LayerInterval]:
    """Proved intervals of every hidden layer, (people, width) each: what makes the big-M rows tight."""
    lines = hidden_lines(view_cell(tensors(network), cell).batch)
    return [LayerInterval(part.lo.numpy(), part.hi.numpy()) for part in lines]


def _nearly(region: Region, witness: FloatArray) -> np.ndarray:
    """(people, k) points that miss the region by tolerances only, but too far to be repaired."""
    points = np.nan_to_num(witness)
    return np.asarray(
        region.contains(points, tolerance=NOT_EVEN_NEAR) & ~region.contains(points, tolerance=WITNESS_TOLERANCE)
    )
