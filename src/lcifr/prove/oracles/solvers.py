"""The contract of every solver; one file each beside this.

A solver is asked for bounds, not for solutions: what counts is ``Outcome.bound``, its dual bound, never the best point
that it happened to find. Its word is not a proof: an answer that rests on it says so (``trusted: …``).
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import cache, cached_property
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import LcifrError, did_you_mean
from lcifr.prove.question import Engine, Obstacle, Question

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class SolverStatus(Enum):
    """The few words that every status of every solver is mapped to."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    LIMIT = "limit"
    """Stopped by a limit on time, nodes or iterations. Its dual bound, if it has one, is still a bound."""
    ERROR = "error"
    """Everything else, unknown statuses included. Never a bound."""


class Capability(StrEnum):
    """What a solver can do besides finding the maximum of a linear program."""

    WHOLE_NUMBERS = "whole numbers"
    DUALS = "duals"
    """Of an optimum, and a ray where a program is infeasible."""


@dataclass(frozen=True)
class LinearProgram:
    """lower ≤ columns ≤ upper, row_lower ≤ A · columns ≤ row_upper, some columns whole numbers.

    Parameters
    ----------
    lower, upper : (columns,); whole : (columns,) booleans.
    row_lower, row_upper : (rows,), infinite where there is no limit.
    start, index, value : A row by row: row i has the columns ``index[start[i]:start[i + 1]]`` with these values.
    """

    lower: FloatArray
    upper: FloatArray
    whole: NDArray[np.bool_]
    row_lower: FloatArray
    row_upper: FloatArray
    start: IntArray
    index: IntArray
    value: FloatArray


@dataclass(frozen=True)
class Limits:
    """When a solver has to stop: after so many nodes, or seconds if given."""

    nodes: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Outcome:
    """What a solver says about one objective.

    Parameters
    ----------
    bound : its dual bound, an upper bound on the maximum; +inf where it has none.
    point : (columns,) the best point it found, or None.
    duals : (rows,) for a program without whole numbers at its optimum, or where it is infeasible a ray; or None.
    """

    status: SolverStatus
    bound: float
    point: FloatArray | None
    duals: FloatArray | None
    nodes: int
    seconds: float


class Session(ABC):
    """A model inside a solver, ready for many objectives."""

    @abstractmethod
    def maximize(self, cost: FloatArray) -> Outcome:
        """The maximum of cost · columns."""


class Solver(ABC):
    """One solver. Its file is imported when it is asked for, its package when it is used."""

    name: ClassVar[str]
    can: ClassVar[frozenset[Capability]]
    """What it can do; a method that needs more does not ask it."""

    @abstractmethod
    def version(self) -> str:
        """The version that answers here; raises LcifrError with the way to install it where it is missing."""

    @abstractmethod
    def _load(self, model: LinearProgram, limits: Limits) -> Session:
        """Hand the model to the solver."""

    @final
    def load(self, model: LinearProgram, limits: Limits | None = None) -> Session:
        """Hand the model to the solver; infinite or NaN coefficients are refused before they can do harm."""
        if not all(np.isfinite(part).all() for part in (model.lower, model.upper, model.value)):
            raise LcifrError("a linear program with columns or coefficients that are not finite")
        return self._load(model, limits or Limits())

    @final
    @property
    def trusted(self) -> str:
        """What an answer that rests on this solver says about itself."""
        return f"trusted: {self.name} {self.version()}"


def solver_names() -> tuple[str, ...]:
    """The solvers there are; each is a module of its own beside this one."""
    return "gurobi", "highs"


def find_solver(name: str = "highs") -> Solver:
    """The solver of the module with this name."""
    known = sorted(solver_names())
    if name not in known:
        fix = "one of " + ", ".join(f'"{other}"' for other in known)
        raise LcifrError(f'there is no solver "{name}".{did_you_mean(name, known)}', fix=fix)
    return _kind_of(name)()


@cache
def _kind_of(name: str) -> type[Solver]:
    module = importlib.import_module(f"lcifr.prove.oracles.{name}")
    kinds = [k for k in vars(module).values() if isinstance(k, type) and issubclass(k, Solver) and k is not Solver]
    [kind] = kinds
    return kind


# Small programs and networks whose answers are known, for solvers that might be wrong.

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
        outcome = solver.load(self.model).maximize(np.asarray(self.cost, dtype=np.float64))
        if self.answer is None:
            wrong = outcome.status is not SolverStatus.INFEASIBLE
            return f"says {outcome.status.value}, nothing is feasible" if wrong else ""
        if outcome.status is not SolverStatus.OPTIMAL:
            return f"says {outcome.status.value}, the maximum is {self.answer:g}"
        if not abs(outcome.bound - self.answer) <= NEAR * (1 + abs(self.answer)):
            return f"says {outcome.bound:g}, the maximum is {self.answer:g}"
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


class SolverEngine(Engine, ABC):
    """An engine that asks a solver.

    Parameters
    ----------
    solver : who is asked; HiGHS, which can do all that any method needs, where none is given.
    """

    needs: ClassVar[frozenset[Capability]]
    """What the solver must be able to do."""

    def __init__(self, solver: Solver | None = None) -> None:
        self._named = solver

    @cached_property
    def solver(self) -> Solver:
        """Looked for with the first question to it: most questions never come so far."""
        return self._named or find_solver()

    def accepts(self, question: Question) -> Obstacle | None:
        """As every engine, with a solver that can do what is needed."""
        missing = "" if self._named is None else ", ".join(sorted(self.needs - self._named.can))
        if missing:
            return Obstacle(f'the solver "{self.solver.name}" has no {missing}', 'use solver="highs"')
        return super().accepts(question)
