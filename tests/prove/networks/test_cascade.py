"""The cascade's last step: a solver is asked only about what is open, says so, and never stands in for a proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from lcifr.prove.gate import ask, build_question
from lcifr.prove.maximize import Branch, Cascade
from lcifr.prove.oracles.enumerate import Enumerate
from lcifr.prove.oracles.solvers import (
    Capability,
    Limits,
    LinearProgram,
    Outcome,
    Session,
    Solver,
    SolverStatus,
    find_solver,
)
from lcifr.prove.question import Answer, Question, Resources, Status
from tests.prove.confirming import refusals
from tests.prove.instances import random_instance

TOLERANCE = 1e-6
OPEN = (0, 4, 7, 10, 30, 36)
"""Questions that one node of branch-and-bound does not answer: two cells, linear rows, a single open pair, …"""


def question(seed: int, **changes: Any) -> Question:
    one = random_instance(seed, people=2, hidden=[5, 4])
    changes = {"resources": 1, "tolerance": TOLERANCE, **changes}
    return build_question(one.network, one.directions, one.region, **changes)


class Watched(Solver):
    """HiGHS, its objectives counted and its answers changed."""

    name = "watched"
    can = frozenset(Capability)

    def __init__(self, lie: Callable[[Outcome], Outcome] = lambda said: said) -> None:
        self.lie, self.asked, self.limits = lie, 0, Limits()

    def version(self) -> str:
        return "0"

    def _load(self, model: LinearProgram, limits: Limits) -> Session:
        self.limits = limits
        return _WatchedSession(self, find_solver().load(model, limits))


class _WatchedSession(Session):
    def __init__(self, solver: Watched, inner: Session) -> None:
        self.solver, self.inner = solver, inner

    def maximize(self, cost: np.ndarray) -> Outcome:
        self.solver.asked += 1
        return self.solver.lie(self.inner.maximize(cost))


def words(answer: Answer) -> np.ndarray:
    return np.array(answer.methods, dtype=object)[answer.method]


@cache
def branched(seed: int) -> Answer:
    """What one node of branch-and-bound says; something is always left open."""
    found = ask(Branch(), question(seed))
    assert (found.status == Status.BUDGET).any()
    return found


@pytest.mark.parametrize("seed", OPEN)
def test_a_solver_closes_what_branching_left_open_and_says_so(seed: int) -> None:
    asked, before = question(seed), branched(seed)
    found, truth = ask(Cascade(), asked), ask(Enumerate(), asked).upper
    assert (found.upper >= truth).all()
    assert (found.upper <= before.upper).all()
    assert (found.best >= before.best).all()
    lower = found.upper < before.upper
    assert lower.any() or (found.status == Status.BUDGET).any()
    assert all(str(word).startswith("milp (") for word in words(found)[lower])
    assert not any("trusted" in str(word) for word in words(found)[~lower])


def test_with_a_few_nodes_the_solver_is_exact() -> None:
    for seed in OPEN[:4]:
        asked = replace(question(seed), resources=Resources(nodes=1))
        found, truth = ask(Cascade(Generous()), asked), ask(Enumerate(), asked).upper
        there = np.isfinite(truth)
        assert (found.upper[there] - truth[there] <= 2 * TOLERANCE * (1 + np.abs(truth[there]))).all()
        assert set(words(found)[there]) <= {"bounds", "branch", f"milp (trusted: generous {find_solver().version()})"}


class Generous(Watched):
    """Ignores the limit on nodes."""

    name = "generous"

    def version(self) -> str:
        return find_solver().version()

    def _load(self, model: LinearProgram, limits: Limits) -> Session:
        return _WatchedSession(self, find_solver().load(model, Limits()))


@pytest.mark.parametrize("seed", OPEN[:4])
def test_a_trusted_bound_never_replaces_a_proved_one(seed: int) -> None:
    asked = question(seed, proof=True)
    before, found = ask(Branch(), asked), ask(Cascade(), asked)
    assert (found.upper == before.upper).all()
    assert not any("trusted" in str(word) for word in words(found).ravel())
    assert not refusals(asked.network, asked.directions, asked.region, found)
    assert (found.best >= before.best).all()


def test_nothing_is_asked_where_it_cannot_change_the_answer() -> None:
    for seed in OPEN[:3]:
        before = branched(seed)
        for target in (before.upper + 1.0, before.best - 1.0):
            solver = Watched()
            found = ask(Cascade(solver), question(seed, target=np.where(np.isfinite(target), target, 0.0)))
            decided = np.isfinite(before.best) & np.isfinite(before.upper)
            assert (found.status[decided] != Status.BUDGET).all()
            assert solver.asked == 0 or not decided.all()
    solver = Watched()
    ask(Cascade(solver), question(OPEN[0], resources=Resources(nodes=1, seconds=1e-9)))
    assert solver.asked == 0  # no time left


def test_only_the_open_pairs_are_asked_within_limits() -> None:
    for seed in OPEN[:4]:
        asked, solver = question(seed, resources=10), Watched()
        left = ask(Branch(), asked).status == Status.BUDGET
        ask(Cascade(solver), asked)
        assert solver.asked <= left.sum() * len(asked.region.cells)
        assert solver.limits.nodes in (None, 1)


def test_a_program_that_is_too_large_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lcifr.prove.oracles.milp.MOST", 0)
    solver = Watched()
    found = ask(Cascade(solver), question(OPEN[0]))
    assert solver.asked == 0
    assert (found.upper == branched(OPEN[0]).upper).all()


LIES: dict[str, Callable[[Outcome], Outcome]] = {
    "too small": lambda said: replace(said, bound=said.bound - 10.0),
    "too small, no point": lambda said: replace(said, bound=-1e6, point=None),
    "infeasible": lambda said: replace(said, status=SolverStatus.INFEASIBLE),
    "error": lambda said: replace(said, status=SolverStatus.ERROR),
    "not a number": lambda said: replace(said, bound=np.nan),
    "elsewhere": lambda said: replace(said, point=None if said.point is None else said.point + 3.0),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lying_solver_changes_nothing(lie: str) -> None:
    for seed in OPEN[:3]:
        before, found = branched(seed), ask(Cascade(Watched(LIES[lie])), question(seed))
        there = np.isfinite(before.best)
        assert (found.upper == before.upper)[there].all()
        assert not any("trusted" in str(word) for word in words(found)[there])
