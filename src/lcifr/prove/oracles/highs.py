"""HiGHS, built in. Its feasibility tolerances stay as they are: with 1e-9 it can call a feasible program infeasible."""

from __future__ import annotations

from typing import Any

import numpy as np

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
    "kOptimal": SolverStatus.OPTIMAL,
    "kInfeasible": SolverStatus.INFEASIBLE,
    "kTimeLimit": SolverStatus.LIMIT,
    "kIterationLimit": SolverStatus.LIMIT,
    "kSolutionLimit": SolverStatus.LIMIT,  # what mip_max_nodes reports
    "kInterrupt": SolverStatus.LIMIT,
    "kHighsInterrupt": SolverStatus.LIMIT,
    "kMemoryLimit": SolverStatus.LIMIT,
    "kNotset": SolverStatus.ERROR,
    "kLoadError": SolverStatus.ERROR,
    "kModelError": SolverStatus.ERROR,
    "kPresolveError": SolverStatus.ERROR,
    "kSolveError": SolverStatus.ERROR,
    "kPostsolveError": SolverStatus.ERROR,
    "kModelEmpty": SolverStatus.ERROR,
    "kUnboundedOrInfeasible": SolverStatus.ERROR,  # every column is bounded, so this would be a contradiction
    "kUnbounded": SolverStatus.ERROR,
    "kObjectiveBound": SolverStatus.ERROR,  # we set no objective bound or target, so these are not expected
    "kObjectiveTarget": SolverStatus.ERROR,
    "kUnknown": SolverStatus.ERROR,
}
"""Every status of HiGHS. One that is not here is an error too."""

ABSOLUTE_GAP = 1e-9
"""Below the tolerance of any question; the relative gap is 0, or a bound would be loose by 1e-4 of its size."""


class Highs(Solver):
    """HiGHS through highspy."""

    name = "highs"
    can = frozenset({Capability.WHOLE_NUMBERS, Capability.DUALS})

    def version(self) -> str:
        return str(_highspy().Highs().version())

    def _load(self, model: LinearProgram, limits: Limits) -> Session:
        return _HighsSession(model, limits)


class _HighsSession(Session):
    def __init__(self, model: LinearProgram, limits: Limits) -> None:
        highspy = _highspy()
        self.whole = bool(model.whole.any())
        self.columns = np.arange(len(model.lower), dtype=np.int32)
        self.limits = limits
        self.highs: Any = highspy.Highs()
        options = {"output_flag": False, "threads": 1, "mip_rel_gap": 0.0, "mip_abs_gap": ABSOLUTE_GAP}
        if self.whole and limits.nodes is not None:
            options["mip_max_nodes"] = limits.nodes
        for option, value in options.items():
            self.highs.setOptionValue(option, value)
        self.loaded = self.highs.passModel(_lp(highspy, model)) != highspy.HighsStatus.kError

    def maximize(self, cost: FloatArray) -> Outcome:
        highs = self.highs
        highs.clearSolver()  # every objective from the same start: answers do not depend on the order of questions
        highs.changeColsCost(len(cost), self.columns, np.ascontiguousarray(cost, dtype=np.float64))
        before = highs.getRunTime()
        if self.limits.seconds is not None:
            highs.setOptionValue("time_limit", before + self.limits.seconds)  # HiGHS counts over all runs
        highs.run()
        status = STATUSES.get(highs.getModelStatus().name, SolverStatus.ERROR) if self.loaded else SolverStatus.ERROR
        info, solution = highs.getInfo(), highs.getSolution()
        point = np.array(solution.col_value) if solution.value_valid else None
        bound = np.inf
        if status in (SolverStatus.OPTIMAL, SolverStatus.LIMIT) and self.whole:
            bound = float(info.mip_dual_bound)
        elif status is SolverStatus.OPTIMAL:
            bound = float(info.objective_function_value)
        nodes = max(int(info.mip_node_count), 0) if self.whole else 0
        return Outcome(status, bound, point, self._duals(status, solution), nodes, highs.getRunTime() - before)

    def _duals(self, status: SolverStatus, solution: Any) -> FloatArray | None:
        if self.whole:
            return None
        if status is SolverStatus.OPTIMAL and solution.dual_valid:
            return np.array(solution.row_dual)
        if status is SolverStatus.INFEASIBLE:
            _, there, ray = self.highs.getDualRay()
            return np.array(ray) if there else None
        return None


def _highspy() -> Any:
    import highspy

    return highspy


def _lp(highspy: Any, model: LinearProgram) -> Any:
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(model.lower), len(model.row_lower)
    lp.col_cost_ = np.zeros(len(model.lower))
    lp.col_lower_, lp.col_upper_ = model.lower, model.upper
    lp.row_lower_, lp.row_upper_ = model.row_lower, model.row_upper
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = model.start, model.index, model.value
    if model.whole.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[int(whole)] for whole in model.whole]
    return lp
