"""Small programs and networks whose answers are known, for solvers that might be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lcifr.prove.oracles.solvers import LinearProgram, Solver, SolverStatus

NEAR = 1e-6


@dataclass(frozen=True)
class Canary:
    """One program; ``answer`` is its maximum, or None where nothing is feasible."""

    name: str
    model: LinearProgram
    cost: Any
    answer: float | None

    def ask(self, solver: Solver) -> str:
        """What is wrong with the solver's answer; empty where nothing is."""
        said = solver.load(self.model).maximize(np.asarray(self.cost, dtype=np.float64))
        if self.answer is None:
            return "" if said.status is SolverStatus.INFEASIBLE else f"says {said.status.value}, nothing is feasible"
        if said.status is not SolverStatus.OPTIMAL:
            return f"says {said.status.value}, the maximum is {self.answer:g}"
        if not abs(said.bound - self.answer) <= NEAR * (1 + abs(self.answer)):
            return f"says {said.bound:g}, the maximum is {self.answer:g}"
        return ""


def canaries() -> list[Canary]:
    """A knapsack, a parity that only whole numbers break, a plain linear program, and three tried out in full."""
    parity = _model([[2.0, 2.0, 2.0]], [3.0], [3.0])
    return [
        Canary("knapsack", _model([[3.0, 4.0, 2.0]], [-np.inf], [6.0]), (10.0, 13.0, 7.0), 20.0),
        Canary("parity", parity, (1.0, 1.0, 1.0), None),
        Canary("linear", _model([[3.0, 4.0, 2.0]], [-np.inf], [6.0], whole=False), (10.0, 13.0, 7.0), 20.25),
        *(_tried_out(seed) for seed in range(3)),
    ]


def _model(rows: Any, low: Any, high: Any, *, whole: bool = True) -> LinearProgram:
    """Columns between 0 and 1, whole or not."""
    matrix = np.asarray(rows, dtype=np.float64)
    count, columns = matrix.shape
    return LinearProgram(
        lower=np.zeros(columns),
        upper=np.ones(columns),
        whole=np.full(columns, whole),
        row_lower=np.asarray(low, dtype=np.float64),
        row_upper=np.asarray(high, dtype=np.float64),
        start=np.arange(0, matrix.size + 1, columns, dtype=np.int32),
        index=np.tile(np.arange(columns, dtype=np.int32), count),
        value=matrix.ravel(),
    )


def _tried_out(seed: int) -> Canary:
    """Ten switches under three limits; all 1,024 settings are tried."""
    random = np.random.default_rng(seed)
    rows, cost = random.integers(-9, 20, (3, 10)).astype(np.float64), random.integers(1, 30, 10).astype(np.float64)
    limit = np.maximum(rows, 0).sum(1) // 2
    settings = ((np.arange(1024)[:, None] >> np.arange(10)) & 1).astype(np.float64)
    feasible = (settings @ rows.T <= limit).all(1)
    answer = float((settings @ cost)[feasible].max())
    return Canary(f"tried out {seed}", _model(rows, [-np.inf] * 3, limit), cost, answer)


def engine_answers(method: str) -> str:
    """What a method of :func:`lcifr.maximize` gets wrong; empty where nothing is."""
    from lcifr.models.network import Network
    from lcifr.prove import maximize
    from lcifr.regions.region import Region

    # relu(a − b) − relu(a + b) on [−1, 1]²: at most 2 (a = 1, b = −1), at least −2 (a = b = 1).
    hidden = (np.array([[1.0, -1.0], [1.0, 1.0]]), np.zeros(2))
    network = Network.from_arrays([hidden, (np.array([[1.0, -1.0]]), np.zeros(1))])
    region = Region.from_arrays(-np.ones((1, 2)), np.ones((1, 2)))
    answer = maximize(network, [[1.0], [-1.0]], region, method=method)
    for upper, best in zip(answer.upper[0], answer.best[0], strict=True):
        if not (2.0 <= upper <= 2.0 + 1e-5 and best <= 2.0 + 1e-9):
            return f"says at most {upper:g} and reaches {best:g}; the maximum is 2"
    return ""
