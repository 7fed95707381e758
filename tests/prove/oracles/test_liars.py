"""Backends and solvers that lie: each lie that can be caught is refused, and none becomes an upper bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from lcifr.errors import LcifrError, UntrustedResultError
from lcifr.prove.gate import ask, build_question
from lcifr.prove.oracles.enumerate import Enumerate
from lcifr.prove.oracles.lp import Lp
from lcifr.prove.oracles.milp import Milp
from lcifr.prove.oracles.solvers import (
    Capability,
    Limits,
    LinearProgram,
    Outcome,
    Session,
    Solver,
    SolverStatus,
    find_solver,
    solver_names,
)
from lcifr.prove.question import Answer, Engine, Question, Status
from tests.prove.confirming import refusals
from tests.prove.instances import random_instance

Lie = Callable[[Outcome, np.random.Generator], Outcome]


@dataclass(frozen=True)
class Stub(Engine):
    """A backend that answers honestly, but for what ``lie`` makes of it."""

    lie: Callable[[Answer], Answer]
    name = "stub"

    def answer(self, question: Question) -> Answer:
        return self.lie(Enumerate().answer(question))


class LyingSolver(Solver):
    """HiGHS, but for what ``lie`` makes of its outcomes."""

    name = "liar"
    can = frozenset(Capability)

    def __init__(self, lie: Lie) -> None:
        self.lie = lie

    def version(self) -> str:
        return "0"

    def _load(self, model: LinearProgram, limits: Limits) -> Session:
        return LyingSession(find_solver("highs").load(model, limits), self.lie)


class LyingSession(Session):
    def __init__(self, honest: Session, lie: Lie) -> None:
        self.honest, self.lie, self.rng = honest, lie, np.random.default_rng(0)

    def maximize(self, cost: np.ndarray) -> Outcome:
        return self.lie(self.honest.maximize(cost), self.rng)


def question(seed: int = 5, *, proof: bool = False) -> Question:
    """A question with one cell that is not empty."""
    one = random_instance(seed, people=2, hidden=[4, 3])
    return build_question(one.network, one.directions, one.region, proof=proof)


@cache
def seeds() -> list[int]:
    """Twelve questions whose regions are not empty."""
    return [seed for seed in range(40) if np.isfinite(ask(Enumerate(), question(seed)).upper).all()][:12]


def test_an_honest_stub_is_believed() -> None:
    answer = ask(Stub(lambda claim: claim), question(seeds()[0]))
    assert (answer.status == Status.EXACT).all()


@pytest.mark.parametrize(
    ("lie", "words"),
    [
        (lambda claim: replace(claim, upper=claim.upper - 1e-6), "is reached"),
        (lambda claim: replace(claim, upper=claim.upper * np.nan), "NaN"),
        (lambda claim: replace(claim, upper=np.full_like(claim.upper, -np.inf)), "is reached"),
        (lambda claim: replace(claim, witness=claim.witness + 7.0), "outside the region"),
        (lambda claim: replace(claim, witness=np.full_like(claim.witness, np.inf)), "outside the region"),
        (lambda claim: replace(claim, upper=claim.upper[:, :1]), "shape"),
        (lambda claim: replace(claim, witness=claim.witness[..., :-1]), "shape"),
        (lambda claim: replace(claim, status=claim.status[:, :1]), "shape"),
    ],
)
def test_a_backend_that_contradicts_the_facts_is_refused(lie: Callable[[Answer], Answer], words: str) -> None:
    with pytest.raises(UntrustedResultError, match=words):
        ask(Stub(lie), question(seeds()[0]))


def test_a_bound_without_a_status_behind_it_is_not_looked_at() -> None:
    none = Stub(lambda claim: replace(claim, upper=claim.upper - 5.0, status=np.full_like(claim.status, Status.FAILED)))
    answer = ask(none, question(seeds()[0]))
    assert np.isposinf(answer.upper).all()
    assert (answer.status == Status.FAILED).all()


@pytest.mark.parametrize("word", [Status.EXACT, Status.TARGET_REACHED, Status.EMPTY])
def test_what_an_engine_says_of_its_own_answer_counts_for_nothing(word: Status) -> None:
    """Neither best values nor words: both are computed by the gate, from points that it has looked at."""
    boast = Stub(
        lambda claim: replace(
            claim,
            witness=np.full_like(claim.witness, np.nan),
            best=claim.upper,
            status=np.full_like(claim.status, word),
        )
    )
    answer = ask(boast, question(seeds()[0]))
    assert np.isneginf(answer.best).all()
    assert (answer.status == Status.BOUNDED).all()


def test_a_bound_without_any_point_is_not_called_exact() -> None:
    blind = Stub(lambda claim: replace(claim, witness=np.full_like(claim.witness, np.nan)))
    assert (ask(blind, question(seeds()[0])).status == Status.BOUNDED).all()


NO_BOUND: dict[str, Lie] = {
    "infeasible": lambda said, rng: replace(said, status=SolverStatus.INFEASIBLE),
    "error with a bound": lambda said, rng: replace(said, status=SolverStatus.ERROR, bound=said.bound - 1.0),
    "time-out without a bound": lambda said, rng: replace(said, status=SolverStatus.LIMIT, bound=np.inf),
    "NaN": lambda said, rng: replace(said, bound=np.nan),
    "minus infinity": lambda said, rng: replace(said, bound=-np.inf),
}
CAUGHT: dict[str, Lie] = {
    "a bound that is too small": lambda said, rng: replace(said, bound=said.bound - 1e-4),
    "a time-out with a bound that is too small": lambda said, rng: replace(
        said, status=SolverStatus.LIMIT, bound=said.bound - 1
    ),
    "a point elsewhere": lambda said, rng: replace(said, point=None if said.point is None else said.point + 3.0),
}
DUALS: dict[str, Lie] = {
    "no duals": lambda said, rng: replace(said, duals=None),
    "NaN": lambda said, rng: replace(said, duals=None if said.duals is None else said.duals * np.nan),
    "infinite": lambda said, rng: replace(said, duals=None if said.duals is None else said.duals + np.inf),
    "huge": lambda said, rng: replace(said, duals=None if said.duals is None else said.duals * 1e90),
    "random": lambda said, rng: replace(said, duals=None if said.duals is None else rng.normal(size=said.duals.shape)),
    "negated": lambda said, rng: replace(said, duals=None if said.duals is None else -said.duals),
    "infeasible": lambda said, rng: replace(said, status=SolverStatus.INFEASIBLE),
    "infeasible by a random ray": lambda said, rng: replace(
        said, status=SolverStatus.INFEASIBLE, duals=None if said.duals is None else rng.normal(size=said.duals.shape)
    ),
    "error": lambda said, rng: replace(said, status=SolverStatus.ERROR),
    "bound far too small": lambda said, rng: replace(said, bound=-1e9),
}


@pytest.mark.parametrize("lie", NO_BOUND)
def test_what_is_no_bound_never_becomes_one(lie: str) -> None:
    for seed in seeds()[:4]:
        answer = ask(Milp(LyingSolver(NO_BOUND[lie])), question(seed))
        assert np.isposinf(answer.upper).all()
        assert (answer.status == Status.FAILED).all()


@pytest.mark.parametrize("lie", CAUGHT)
def test_a_solver_that_contradicts_its_own_point_is_caught(lie: str) -> None:
    for seed in seeds()[:4]:
        with pytest.raises(UntrustedResultError):
            ask(Milp(LyingSolver(CAUGHT[lie])), question(seed))


@pytest.mark.parametrize("lie", DUALS)
def test_a_lying_solver_can_loosen_the_relaxation_but_not_make_it_false(lie: str) -> None:
    for seed in seeds():
        asked = question(seed, proof=True)
        answer = ask(Lp(LyingSolver(DUALS[lie])), asked)
        assert (answer.upper >= ask(Enumerate(), question(seed)).upper).all()
        assert np.isfinite(answer.upper).all()
        assert not refusals(asked.network, asked.directions, asked.region, answer)


def test_an_answer_that_rests_on_a_solver_says_so() -> None:
    answer = ask(Milp(), question(seeds()[0]))
    assert {answer.methods[code] for code in answer.method.ravel()} == {
        f"milp (trusted: highs {find_solver().version()})"
    }


def test_solvers_are_found_by_their_files_and_every_status_of_highs_has_a_word() -> None:
    import highspy

    from lcifr.prove.oracles.highs import STATUSES

    assert {"highs", "gurobi"} <= set(solver_names())
    assert set(highspy.HighsModelStatus.__members__) - set(STATUSES) <= {"kMin", "kMax"}
    with pytest.raises(LcifrError, match="highs"):
        find_solver("higs")
