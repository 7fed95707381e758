"""The contract of every solver; one file each beside this.

A solver is asked for bounds, not for solutions: what counts is ``Outcome.bound``, its dual bound, never the best point
that it happened to find. Its word is not a proof: an answer that rests on it says so (``trusted: …``).
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import cache
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import LcifrError, did_you_mean

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


@cache
def solver_names() -> tuple[str, ...]:
    """The solvers there are, found by looking at the files of this folder."""
    return tuple(found.name for found in pkgutil.iter_modules(__path__))


def find_solver(name: str = "highs") -> Solver:
    """The solver in the file ``solvers/<name>.py``."""
    known = sorted(solver_names())
    if name not in known:
        fix = "one of " + ", ".join(f'"{other}"' for other in known)
        raise LcifrError(f'there is no solver "{name}".{did_you_mean(name, known)}', fix=fix)
    return _kind_of(name)()


@cache
def _kind_of(name: str) -> type[Solver]:
    module = importlib.import_module(f"{__name__}.{name}")
    kinds = [k for k in vars(module).values() if isinstance(k, type) and issubclass(k, Solver) and k is not Solver]
    [kind] = kinds
    return kind
