"""The cascade's last step: what branch-and-bound left open, asked of a solver.

A solver's bound is not a proof. It counts only where no proof was asked for, it is marked ``milp (trusted: …)`` as who
proved it, and a solver that contradicts itself or a point that is reached is not counted at all.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from lcifr.errors import UntrustedResultError
from lcifr.prove.answer import Answer, Budget, Claim, FloatArray, Question, Status, within
from lcifr.prove.method import ROW_SLACK
from lcifr.prove.oracles.milp import Milp, intervals_of
from lcifr.prove.oracles.solvers import Solver
from lcifr.prove.witnesses import settle_witnesses

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


def open_directions(name: str, question: Question, claim: Claim) -> list[OpenDirection]:
    """Where the budget ended the work, the gap is wider than the tolerance and the target is not decided."""
    rows = np.flatnonzero(claim.exhausted.any(axis=1))
    part = replace(question, region=question.region.take(rows), directions=question.directions[rows])
    _, best = settle_witnesses(name, part, claim.witness[rows])
    upper = claim.upper[rows]
    matters = claim.exhausted[rows] & ~within(upper, best, question.tolerance)
    if question.target is not None:
        matters &= ~((upper < question.target[rows]) | (best > question.target[rows]))
    return [OpenDirection(int(rows[row]), int(k), float(best[row, k])) for row, k in np.argwhere(matters)]


def ask_solver(question: Question, claim: Claim, unresolved: list[OpenDirection], solver: Solver) -> Claim:
    """The claim with what the solver adds: a smaller bound (no proof was asked for), a better point, or nothing."""
    upper, witness, exhausted = claim.upper.copy(), claim.witness.copy(), claim.exhausted.copy()
    nodes, method, methods = claim.nodes.copy(), claim.method.copy(), list(claim.methods)
    for pair in unresolved:
        left = None if question.deadline is None else question.deadline - time.monotonic()
        if left is not None and left <= 0:
            break
        if _size(question, pair.person) > MOST:
            continue
        at, said = (pair.person, pair.direction), _ask(question, pair, solver, left)
        if said is None:
            name = f"{claim.methods[method[at]]} (milp by {solver.name} contradicted a point, not counted)"
        else:
            nodes[at] += said.nodes[0, 0]
            if said.best[0, 0] > pair.best:
                witness[at] = said.witness[0, 0]
            if question.proof or not said.upper[0, 0] < upper[at]:
                continue
            upper[at], exhausted[at] = said.upper[0, 0], said.status[0, 0] == Status.BUDGET
            name = said.methods[said.method[0, 0]]
        if name not in methods:
            methods.append(name)
        method[at] = methods.index(name)
    return replace(
        claim, upper=upper, witness=witness, exhausted=exhausted, nodes=nodes, method=method, methods=tuple(methods)
    )


def _size(question: Question, person: int) -> int:
    """How much a solver would have to decide in the person's largest cell."""
    cells = [cell for cell in question.region.take(slice(person, person + 1)).cells if cell.present[0]]
    free = [sum(max(0, int(choice.allowed[0].sum()) - 1) for choice in cell.choices) for cell in cells]
    unstable = [sum(int(part.unstable.sum()) for part in intervals_of(question.network, cell)) for cell in cells]
    return max((a + b for a, b in zip(free, unstable, strict=True)), default=0)


def _ask(question: Question, pair: OpenDirection, solver: Solver, seconds: float | None) -> Answer | None:
    """What the solver says about one pair, re-checked like every method; None where that refutes it."""
    person = slice(pair.person, pair.person + 1)
    direction: FloatArray = question.directions[person, pair.direction : pair.direction + 1]
    budget = Budget(max(1, question.budget.nodes // OURS), seconds)
    region = question.region.take(person)
    one = replace(question, directions=direction, region=region, target=None, budget=budget, device=None, proof=False)
    try:
        said = Milp(solver).maximize(one)
    except UntrustedResultError:
        return None
    slack = ROW_SLACK * (1.0 + abs(pair.best)) if any(cell.rows is not None for cell in region.cells) else 0.0
    return None if said.upper[0, 0] < pair.best - slack else said
