"""The paper's mixed-integer program of (network, cell): exact up to the solver's tolerances, and resting on its word.

One program per cell, the largest answer counts; a binary for every unstable ReLU and every free category. What is
reported is the solver's dual bound, never its best point. A solver computes in floats with tolerances, so its bound is
not a proof: the answer says ``trusted: highs …`` as the method that proved it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import final

import numpy as np

from lcifr.errors import UntrustedResultError
from lcifr.models.network import Network
from lcifr.prove.gate import ROW_SLACK, WITNESS_TOLERANCE, ask, settle_witnesses
from lcifr.prove.networks.linear_bounds import hidden_lines, tensors, view_cell
from lcifr.prove.oracles.enumerate import surely_empty
from lcifr.prove.oracles.formulation import Formulation, LayerInterval, formulate
from lcifr.prove.oracles.solvers import Capability, Limits, Outcome, Session, Solver, SolverEngine, SolverStatus
from lcifr.prove.question import Answer, FloatArray, Question, Resources, Status, within
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
class _Solved:
    """What is believed of one solve: the bound, if any, why, and the point."""

    upper: float
    code: _Code
    point: FloatArray
    nodes: int


@final
class Milp(SolverEngine):
    """One mixed-integer program per person, cell and direction."""

    name = "milp"
    functions = Network
    needs = frozenset({Capability.WHOLE_NUMBERS})
    writes_proofs = False
    any_device = False

    def answer(self, question: Question) -> Answer:
        people, k = question.directions.shape[:2]
        limits = Limits(question.resources.nodes, question.resources.seconds)
        upper, code = np.full((people, k), -np.inf), np.full((people, k), _Code.EMPTY, np.int8)
        witness, nodes = np.full((people, k, question.region.features), np.nan), np.zeros((people, k), np.int64)
        best = np.full((people, k), -np.inf)
        for cell in question.region.cells:
            known = intervals_of(question.network, cell)
            for person in np.flatnonzero(cell.present):
                outcomes = self._cell(question, cell, int(person), known, limits)
                for direction, one in enumerate(outcomes):
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
        spent, failed = code == _Code.LIMIT, code == _Code.NOTHING
        return Answer.claimed(
            question, upper, witness, exhausted=spent, failed=failed, nodes=nodes, method=code, methods=names
        )

    def _cell(
        self, question: Question, cell: Cell, person: int, known: Sequence[LayerInterval], limits: Limits
    ) -> list[_Solved]:
        nothing = _Solved(np.inf, _Code.NOTHING, np.full(question.region.features, np.nan), 0)
        if not all(np.isfinite((layer.lower[person], layer.upper[person])).all() for layer in known):
            return [nothing] * len(question.directions[person])
        program = CellProgram(question.network, cell, person, known, self.solver, limits)
        if not program.within_reach(question.directions[person]):
            return [nothing] * len(question.directions[person])
        empty: bool | None = None
        outcomes = []
        for direction in question.directions[person]:
            offset, outcome = program.maximize(direction)
            if outcome.status is SolverStatus.INFEASIBLE and empty is None:
                empty = surely_empty(cell, person, question.region.features)
            outcomes.append(_believed(outcome, offset, bool(empty), program.whole_point(outcome)))
        return outcomes


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


def _believed(outcome: Outcome, offset: float, empty: bool, point: FloatArray) -> _Solved:
    """Optimal, or stopped with a dual bound: a bound. Infeasible: only if the cell is surely empty. Else nothing."""
    upper = outcome.bound + offset
    if outcome.status is SolverStatus.INFEASIBLE and empty:
        return _Solved(-np.inf, _Code.EMPTY, point, outcome.nodes)
    if outcome.status in (SolverStatus.OPTIMAL, SolverStatus.LIMIT) and np.isfinite(upper):
        code = _Code.OPTIMAL if outcome.status is SolverStatus.OPTIMAL else _Code.LIMIT
        return _Solved(upper + SLACK * (1.0 + abs(upper)), code, point, outcome.nodes)
    return _Solved(np.inf, _Code.NOTHING, point, outcome.nodes)


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


# The cascade's last step: what branch-and-bound left open, asked of a solver.
#
# A solver's bound is not a proof. It counts only where no proof was asked for, it is marked ``milp (trusted: …)`` as
# who proved it, and a solver that contradicts itself or a point that is reached is not counted at all.

OURS = 10
"""Our nodes for one of a solver's: it solves linear programs one after the other where we bound a batch."""
MOST = 100
"""Unstable ReLUs and free categories of one cell. A solver does not finish larger programs within such a limit,
and each of its nodes then costs a good part of a second."""


@dataclass(frozen=True)
class OpenDirection:
    """A person and direction that is still open, and the best value found for it."""

    person: int
    direction: int
    best: float


def open_directions(name: str, question: Question, claim: Answer) -> list[OpenDirection]:
    """Where the budget ended the work, the gap is wider than the tolerance and the target is not decided."""
    exhausted = claim.status == Status.BUDGET
    rows = np.flatnonzero(exhausted.any(axis=1))
    _, best = settle_witnesses(name, question.take(rows), claim.witness[rows])
    upper = claim.upper[rows]
    matters = exhausted[rows] & ~within(upper, best, question.tolerance)
    if question.target is not None:
        matters &= ~((upper < question.target[rows]) | (best > question.target[rows]))
    return [OpenDirection(int(rows[row]), int(k), float(best[row, k])) for row, k in np.argwhere(matters)]


def ask_solver(question: Question, claim: Answer, unresolved: list[OpenDirection], solver: Solver) -> Answer:
    """The claim with what the solver adds: a smaller bound (no proof was asked for), a better point, or nothing."""
    upper, witness, status = claim.upper.copy(), claim.witness.copy(), claim.status.copy()
    nodes, method, methods = claim.nodes.copy(), claim.method.copy(), list(claim.methods)
    for pair in unresolved:
        left = None if question.deadline is None else question.deadline - time.monotonic()
        if left is not None and left <= 0:
            break
        if _size(question, pair.person) > MOST:
            continue
        at, found = (pair.person, pair.direction), _ask(question, pair, solver, left)
        if found is None:
            name = f"{claim.methods[method[at]]} (milp by {solver.name} contradicted a point, not counted)"
        else:
            nodes[at] += found.nodes[0, 0]
            if found.best[0, 0] > pair.best:
                witness[at] = found.witness[0, 0]
            if question.proof or not found.upper[0, 0] < upper[at]:
                continue
            upper[at] = found.upper[0, 0]
            status[at] = Status.BUDGET if found.status[0, 0] == Status.BUDGET else Status.BOUNDED
            name = found.methods[found.method[0, 0]]
        if name not in methods:
            methods.append(name)
        method[at] = methods.index(name)
    return replace(
        claim, upper=upper, witness=witness, status=status, nodes=nodes, method=method, methods=tuple(methods)
    )


def _size(question: Question, person: int) -> int:
    """How much a solver would have to decide in the person's largest cell."""
    cells = [cell for cell in question.region.take(slice(person, person + 1)).cells if cell.present[0]]
    free = [sum(max(0, int(choice.allowed[0].sum()) - 1) for choice in cell.choices) for cell in cells]
    unstable = [sum(int(part.unstable.sum()) for part in intervals_of(question.network, cell)) for cell in cells]
    return max((a + b for a, b in zip(free, unstable, strict=True)), default=0)


def _ask(question: Question, pair: OpenDirection, solver: Solver, seconds: float | None) -> Answer | None:
    """What the solver says about one pair, re-checked like every method; None where that refutes it."""
    person = question.take(slice(pair.person, pair.person + 1))
    direction: FloatArray = person.directions[:, pair.direction : pair.direction + 1]
    resources = Resources(max(1, question.resources.nodes // OURS), seconds)
    one = replace(person, directions=direction, target=None, resources=resources, proof=False)
    try:
        answer = ask(Milp(solver), one)
    except UntrustedResultError:
        return None
    slack = ROW_SLACK * (1.0 + abs(pair.best)) if any(cell.rows is not None for cell in person.region.cells) else 0.0
    return None if answer.upper[0, 0] < pair.best - slack else answer
