"""The gate of proof methods: a question that a method cannot answer is refused, and what stands in the way is named."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from lcifr import Network, Region, maximize
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.function import Function
from lcifr.prove import networks, oracles
from lcifr.prove.gate import ask, build_question
from lcifr.prove.maximize import METHODS, find_method
from lcifr.prove.oracles.highs import Highs
from lcifr.prove.oracles.milp import Milp
from lcifr.prove.oracles.solvers import Capability, SolverEngine, find_solver, solver_names
from lcifr.prove.question import Engine

NETWORK = Network.from_arrays([([[1.0, -1.0], [0.5, 2.0]], [0.0, -0.5]), ([[1.0, -1.0]], [0.25])])
REGION = Region.from_arrays([[-1.0, 0.0]], [[1.0, 2.0]])


class Floor(Function):
    """A function that no method answers about."""

    inputs, outputs = 2, 1

    def __call__(self, points: Any) -> np.ndarray:
        return np.floor(np.asarray(points)).sum(-1, keepdims=True)

    def error(self, points: Any) -> np.ndarray:
        return np.zeros((*np.shape(points)[:-1], 1))

    def exactly(self, point: Any) -> tuple[Fraction, ...]:
        return (sum((Fraction(int(np.floor(x))) for x in point), Fraction(0)),)

    def to_bytes(self) -> bytes:
        return b"floor"

    @property
    def native(self) -> Arithmetic:
        return Arithmetic.EXACT


def test_every_method_of_the_rooms_is_listed_by_its_name() -> None:
    for room in (networks, oracles):
        for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)
    found, waiting = set[str](), [Engine]
    while waiting:
        waiting += (kind := waiting.pop()).__subclasses__()
        if kind.__module__.startswith("lcifr."):
            found.add(kind.name)
    assert found - {""} == set(METHODS)
    assert all(find_method(name).name == name for name in METHODS)


@pytest.mark.parametrize("method", METHODS)
def test_a_plain_question_is_accepted_by_everybody(method: str) -> None:
    assert find_method(method).accepts(build_question(NETWORK, [[1.0]], REGION)) is None


@pytest.mark.parametrize("method", METHODS)
def test_another_kind_of_function_is_named(method: str) -> None:
    with pytest.raises(LcifrError, match=f'"{method}" cannot answer.*Floor') as caught:
        maximize(Floor(), [[1.0]], REGION, method=method)  # type: ignore[arg-type]
    assert "Network" in str(caught.value.fix)


def test_what_is_no_function_at_all_is_refused_with_the_way_to_make_one() -> None:
    with pytest.raises(NetworkError, match="Linear is not a function") as caught:
        maximize(torch.nn.Linear(2, 1), [[1.0]], REGION)  # type: ignore[arg-type]
    assert "from_torch" in str(caught.value.fix)


@pytest.mark.parametrize("method", METHODS)
def test_a_proof_is_written_or_the_question_refused(method: str) -> None:
    if find_method(method).writes_proofs:
        assert maximize(NETWORK, [[1.0]], REGION, method=method, proof=True).proof is not None
    else:
        with pytest.raises(LcifrError, match="writes no proofs"):
            maximize(NETWORK, [[1.0]], REGION, method=method, proof=True)


@pytest.mark.parametrize("method", METHODS)
def test_a_device_that_is_not_used_or_not_there_is_named(method: str) -> None:
    with pytest.raises(LcifrError, match='device="nowhere"'):
        maximize(NETWORK, [[1.0]], REGION, method=method, device="nowhere")


@pytest.mark.parametrize("method", METHODS)
def test_a_solver_is_chosen_by_name_where_one_is_asked(method: str) -> None:
    if isinstance(find_method(method), SolverEngine):
        chosen = maximize(NETWORK, [[1.0]], REGION, method=method, solver="highs")
        assert (chosen.upper == maximize(NETWORK, [[1.0]], REGION, method=method).upper).all()
    else:
        with pytest.raises(LcifrError, match="asks no solver"):
            maximize(NETWORK, [[1.0]], REGION, method=method, solver="highs")


def test_an_unknown_solver_is_named_with_those_there_are() -> None:
    with pytest.raises(LcifrError, match=r'no solver "gurobbi".*"gurobi"') as caught:
        maximize(NETWORK, [[1.0]], REGION, method="milp", solver="gurobbi")
    assert "highs" in str(caught.value.fix)


def test_a_solver_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gurobipy", None)
    with pytest.raises(LcifrError, match="Gurobi is not installed") as caught:
        maximize(NETWORK, [[1.0]], REGION, method="milp", solver="gurobi")
    assert "lcifr[gurobi]" in str(caught.value.fix)


@pytest.mark.parametrize("name", sorted(solver_names()))
def test_every_solver_says_what_it_can_do(name: str) -> None:
    assert find_solver(name).can <= frozenset(Capability)


def test_a_solver_without_whole_numbers_is_not_asked_for_them() -> None:
    class Relaxing(Highs):
        name = "relaxing"
        can = frozenset({Capability.DUALS})

    question = build_question(NETWORK, [[1.0]], REGION)
    obstacle = Milp(Relaxing()).accepts(question)
    assert obstacle is not None
    assert "whole numbers" in obstacle.reason
    with pytest.raises(LcifrError, match="relaxing"):
        ask(Milp(Relaxing()), question)
