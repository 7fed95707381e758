"""Gurobi, for those who have it: the extra ``gurobi`` and a licence of your own."""

from __future__ import annotations

from typing import Any

import numpy as np

from lcifr.errors import LcifrError
from lcifr.prove.oracles.solvers import (
    Capability,
    FloatArray,
    Limits,
    LinearProgram,
    Outcome,
    Session,
    Solver,
    SolverStatus,
)

STATUSES = {
    2: SolverStatus.OPTIMAL,
    3: SolverStatus.INFEASIBLE,
    7: SolverStatus.LIMIT,  # iterations
    8: SolverStatus.LIMIT,  # nodes
    9: SolverStatus.LIMIT,  # time
    10: SolverStatus.LIMIT,  # solutions
    11: SolverStatus.LIMIT,  # interrupted
    13: SolverStatus.ERROR,  # suboptimal
    16: SolverStatus.LIMIT,  # work
    17: SolverStatus.LIMIT,  # memory
}
"""Gurobi's status codes by number; those that are not here (loaded, unbounded, cutoff, numeric, …) are errors."""


class Gurobi(Solver):
    """Gurobi through gurobipy."""

    name = "gurobi"
    can = frozenset({Capability.WHOLE_NUMBERS, Capability.DUALS})

    def version(self) -> str:
        return ".".join(str(part) for part in _gurobipy().gurobi.version())

    def _load(self, model: LinearProgram, limits: Limits) -> Session:
        return _GurobiSession(model, limits)


class _GurobiSession(Session):
    def __init__(self, model: LinearProgram, limits: Limits) -> None:
        package = _gurobipy()
        self.whole = bool(model.whole.any())
        try:
            environment = package.Env(params={"OutputFlag": 0})
        except package.GurobiError as problem:
            raise LcifrError(f"Gurobi does not start: {problem}", fix="install its licence, or use HiGHS") from None
        self.model: Any = package.Model(env=environment)
        options: dict[str, float] = {
            "Threads": 1,
            "MIPGap": 0.0,
            "MIPGapAbs": 1e-9,
            "InfUnbdInfo": 1,
            "DualReductions": 0,
        }
        options |= {"NodeLimit": limits.nodes} if limits.nodes is not None else {}
        options |= {"TimeLimit": limits.seconds} if limits.seconds is not None else {}
        for option, value in options.items():
            self.model.setParam(option, value)
        kinds = np.where(model.whole, "B", "C").tolist()
        self.columns = self.model.addMVar(len(model.lower), lb=model.lower, ub=model.upper, vtype=kinds)
        self.rows, self.owner = [], []
        for row in range(len(model.row_lower)):
            part = slice(int(model.start[row]), int(model.start[row + 1]))
            value = model.value[part] @ self.columns[model.index[part].tolist()]
            low, high = model.row_lower[row], model.row_upper[row]
            for there, rule in ((np.isfinite(high), value <= high), (np.isfinite(low) and low != high, value >= low)):
                if there:
                    self.rows.append(self.model.addConstr(value == high if low == high else rule))
                    self.owner.append(row)
        self.count = len(model.row_lower)

    def maximize(self, cost: FloatArray) -> Outcome:
        self.model.reset()
        self.model.setObjective(cost @ self.columns, _gurobipy().GRB.MAXIMIZE)
        self.model.optimize()
        status = STATUSES.get(int(self.model.Status), SolverStatus.ERROR)
        bounded = status is SolverStatus.OPTIMAL or (status is SolverStatus.LIMIT and self.whole)
        bound = float(self.model.ObjBound if self.whole else self.model.ObjVal) if bounded else np.inf
        point = np.array(self.columns.X) if self.model.SolCount else None
        nodes = int(self.model.NodeCount) if self.whole else 0
        return Outcome(status, bound, point, self._duals(status), nodes, float(self.model.Runtime))

    def _duals(self, status: SolverStatus) -> FloatArray | None:
        if self.whole or status not in (SolverStatus.OPTIMAL, SolverStatus.INFEASIBLE):
            return None
        result = np.zeros(self.count)
        for row, owner in zip(self.rows, self.owner, strict=True):
            result[owner] += float((row.Pi if status is SolverStatus.OPTIMAL else row.FarkasDual).item())
        return result


def _gurobipy() -> Any:
    try:
        import gurobipy
    except ImportError:
        raise LcifrError("Gurobi is not installed", fix='pip install "lcifr[gurobi]", and a licence') from None
    return gurobipy
