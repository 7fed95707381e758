"""The doctor: known answers from what is installed, and no mercy for a solver that lies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lcifr.prove.oracles import solvers
from lcifr.prove.oracles.highs import Highs
from lcifr.prove.oracles.solvers import Outcome, Session, Solver, SolverStatus
from tests.story import lcifr


def doctor(code: int):
    return lcifr("doctor", "--json", cwd=Path.cwd(), expect=code).json


def test_what_is_installed_answers_rightly():
    found = doctor(0)
    states = {one["name"]: one["state"] for one in found["solvers"]}
    assert states["highs"] == states["engine: branch"] == states["engine: milp"] == "right"
    assert states["gurobi"] in ("right", "absent", "broken")
    assert found["optional"]["torch"]
    assert {"onnxruntime", "skops", "xgboost", "ray", "starlette", "gurobipy", "polars"} <= set(found["optional"])
    assert "Everything works" in lcifr("doctor", cwd=Path.cwd()).out


LIES = {
    "a bound that is too small": lambda said: replace(said, bound=said.bound - 1e-3),
    "a bound that is too large": lambda said: replace(said, bound=said.bound + 1e-3),
    "NaN": lambda said: replace(said, bound=float("nan")),
    "infeasible": lambda said: Outcome(SolverStatus.INFEASIBLE, np.inf, None, None, 0, 0.0),
    "always feasible": lambda said: replace(said, status=SolverStatus.OPTIMAL, bound=1.0),
    "a limit that nobody set": lambda said: replace(said, status=SolverStatus.LIMIT),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_solver_that_lies_is_found_out(monkeypatch, lie):
    class Liar(Solver):
        name = "highs"

        def version(self) -> str:
            return "0"

        def _load(self, model, limits):
            honest = Highs().load(model, limits)

            class Lying(Session):
                def maximize(self, cost):
                    return LIES[lie](honest.maximize(cost))

            return Lying()

    monkeypatch.setattr(solvers, "find_solver", lambda name="highs": Liar())
    found = doctor(1)
    assert found["well"] is False
    assert next(one for one in found["solvers"] if one["name"] == "highs")["state"] == "wrong"


def test_a_solver_that_does_not_run(monkeypatch):
    class Broken(Highs):
        def _load(self, model, limits):
            raise RuntimeError("no licence")

    monkeypatch.setattr(solvers, "find_solver", lambda name="highs": Broken())
    found = doctor(1)
    assert next(one for one in found["solvers"] if one["name"] == "highs")["detail"].endswith("no licence")
