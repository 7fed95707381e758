"""The contract of every proof method: a final public method validates, asks the backend, and re-checks every claim."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from lcifr.errors import LcifrError, NetworkError, RegionError, UntrustedResultError
from lcifr.models.function import Function
from lcifr.models.network import FLOOR, LARGEST, Network, gamma
from lcifr.prove.answer import Answer, Budget, Claim, FloatArray, Question, Status, within
from lcifr.prove.networks.linear_bounds.inside import pull_inside
from lcifr.prove.oracles.solvers import Capability, Solver, find_solver
from lcifr.regions.region import Region

WITNESS_TOLERANCE = 1e-6
"""A solver's witness may miss its region by its own feasibility tolerance; it is pulled inside before it counts."""
ROW_SLACK = 1e-8
"""Whether a point satisfies a linear row is decided up to the rounding of a dot product, so a witness on a row may lie
outside by that much, and beat a true bound by that times the slope of the function. Boxes and categories are exact."""
UNTRUSTED = "no result of this run can be trusted"


@dataclass(frozen=True)
class Obstacle:
    """Why a method cannot answer a question: what stands in the way, and what to do."""

    reason: str
    fix: str


class Method(ABC):
    """One way to answer ``maximize``. A method is one file of a room of methods, named like the method
    (see :mod:`lcifr.prove.catalogue`)."""

    name: ClassVar[str]
    functions: ClassVar[tuple[type[Function], ...]] = (Network,)
    """The kinds of functions that it can answer about."""
    writes_proofs: ClassVar[bool] = True
    """Whether ``proof=True`` gives a proof of every bound."""
    any_device: ClassVar[bool] = True
    """Whether it computes where ``device`` says, or on the CPU only."""

    def accepts(self, question: Question) -> Obstacle | None:
        """None for a question that this method can answer; otherwise what stands in the way."""
        if not isinstance(question.function, self.functions):
            known, found = ", ".join(kind.__name__ for kind in self.functions), type(question.function).__name__
            return Obstacle(f"the function is of the kind {found}", f"it answers about {known}")
        if question.proof and not self.writes_proofs:
            return Obstacle("it writes no proofs", 'leave proof=True out, or use method="branch"')
        return find_device_obstacle(question.device, self.any_device)

    @final
    def maximize(self, question: Question) -> Answer:
        """Ask the backend and believe only what can be checked.

        Raises
        ------
        LcifrError
            The method does not accept the question; with what stands in the way.
        UntrustedResultError
            The backend returned NaN, a witness outside the region, or an upper bound below a value that is attained.
        """
        obstacle = self.accepts(question)
        if obstacle is not None:
            raise LcifrError(f'method "{self.name}" cannot answer this: {obstacle.reason}', fix=obstacle.fix)
        claim = self._maximize(question)
        _check_shapes(self.name, claim, question)
        upper = np.where(claim.proved, claim.upper, np.inf)
        if np.isnan(upper).any():
            raise UntrustedResultError(f"{self.name} returned NaN as an upper bound: {UNTRUSTED}")
        witness, best = settle_witnesses(self.name, question, claim.witness)
        _check_order(self.name, upper, best, any(cell.rows is not None for cell in question.region.cells))
        best = np.minimum(best, upper)
        status = _status(upper, best, claim, question)
        return Answer(upper, best, witness, status, claim.method, claim.methods, claim.nodes, claim.proof)

    @abstractmethod
    def _maximize(self, question: Question) -> Claim:
        """The backend's own work; nothing it returns is believed unchecked."""


class SolverMethod(Method):
    """A method that asks a solver.

    Parameters
    ----------
    solver : who is asked; HiGHS where none is given.
    """

    needs: ClassVar[frozenset[Capability]]
    """What the solver must be able to do."""

    def __init__(self, solver: Solver | None = None) -> None:
        self.solver = solver or find_solver()

    def accepts(self, question: Question) -> Obstacle | None:
        """As every method, with a solver that can do what is needed."""
        missing = ", ".join(sorted(self.needs - self.solver.can))
        if missing:
            return Obstacle(f'the solver "{self.solver.name}" has no {missing}', 'use solver="highs"')
        return super().accepts(question)


def find_device_obstacle(device: str | None, any_device: bool) -> Obstacle | None:
    """What is wrong with a device as torch names it; None where it is there and can be used."""
    if device in (None, "cpu"):
        return None
    if not any_device:
        return Obstacle(f'it computes on the CPU, and device="{device}" was given', "leave device out")
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as problem:
        said = str(problem).splitlines()[0]
        return Obstacle(f'device="{device}" cannot be used here: {said}', "leave device out, or name one that is there")
    return None


def build_question(
    network: Function,
    directions: ArrayLike,
    region: Region,
    *,
    target: ArrayLike | None = None,
    tolerance: float = 1e-6,
    budget: Budget | int | None = None,
    device: str | None = None,
    proof: bool = False,
) -> Question:
    """Check the arguments of ``maximize`` and bring them to their full shapes."""
    if not isinstance(network, Function):
        raise NetworkError(
            f"{type(network).__name__} is not a function that can be proved about",
            fix="Network.from_torch reads a torch module, Network.from_arrays weights and biases",
        )
    rows = np.asarray(directions, dtype=np.float64)
    if rows.ndim == 2:
        rows = np.broadcast_to(rows, (region.people, *rows.shape))
    if rows.ndim != 3 or rows.shape[0] != region.people or rows.shape[2] != network.outputs:
        raise NetworkError(
            f"directions have the shape {np.shape(directions)}; expected (k, {network.outputs}) or "
            f"({region.people}, k, {network.outputs})",
            fix="one row per direction, one column per output of the network",
        )
    if not (np.abs(rows) <= LARGEST).all():
        raise NetworkError(
            f"directions hold NaN, infinity, or a number beyond {LARGEST:g}", fix="scale them: only the sign matters"
        )
    if region.features != network.inputs:
        raise RegionError(
            f"the region has {region.features} features, the network takes {network.inputs}",
            fix="lower the formula with the encoding the network was trained on",
        )
    if not tolerance > 0:
        raise LcifrError(f"tolerance is {tolerance}; expected a positive number", fix="for example 1e-6")
    goal = None if target is None else np.broadcast_to(np.asarray(target, dtype=np.float64), rows.shape[:2])
    if goal is not None and np.isnan(goal).any():
        raise LcifrError("target holds NaN", fix="pass numbers, or None for no target")
    allowed = Budget(nodes=budget) if isinstance(budget, int) else budget or Budget()
    return Question(network, rows, region, goal, tolerance, allowed, device, proof)


def settle_witnesses(name: str, question: Question, witness: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Witnesses that are inside the region, and the values they reach for certain; NaN and −inf for the others.

    A witness that misses the region by more than a solver's tolerance is refused. One that misses it by less is pulled
    inside, and forgotten where that fails.
    """
    found = np.asarray(~np.isnan(witness).any(axis=-1))
    if not found.any():
        return witness, np.full(found.shape, -np.inf)
    points = np.where(found[..., None], witness, 0.0)
    inside = question.region.contains(points)
    near = question.region.contains(points, tolerance=WITNESS_TOLERANCE)
    if (found & ~near & ~inside).any():
        person, direction = np.argwhere(found & ~near & ~inside)[0]
        raise UntrustedResultError(
            f"{name} returned a witness outside the region (person {person}, direction {direction}): {UNTRUSTED}"
        )
    if (found & ~inside).any():
        points = pull_inside(question.region, points)
        found &= question.region.contains(points)
    best = np.where(found, surely_reached(question.function, question.directions, points), -np.inf)
    return np.where(found[..., None], points, np.nan), best


def surely_reached(function: Function, directions: FloatArray, points: FloatArray) -> FloatArray:
    """A lower bound on direction · function(point) in exact arithmetic; (people, k, …) -> (people, k)."""
    values, error = function(points), function.error(points)
    size = np.abs(directions)
    slack = gamma(function.outputs + 8)
    rounding_error = ((size * (error + slack * (np.abs(values) + FLOOR))).sum(-1) + slack * FLOOR) * (1 + 2 * slack)
    reached = (directions * values).sum(-1) - rounding_error
    return np.where(np.isnan(reached), -np.inf, reached)  # a forward pass that overflows shows nothing


def _check_shapes(name: str, claim: Claim, question: Question) -> None:
    shape = question.directions.shape[:2]
    found = [claim.upper.shape, claim.proved.shape, claim.exhausted.shape, claim.nodes.shape, claim.method.shape]
    if any(s != shape for s in found) or claim.witness.shape != (*shape, question.region.features):
        raise UntrustedResultError(f"{name} returned arrays of the wrong shape: {UNTRUSTED}")


def _check_order(name: str, upper: FloatArray, best: FloatArray, with_rows: bool) -> None:
    """A value above a bound is a lie. Both sides are rigorous, so without linear rows there is no slack at all."""
    slack = ROW_SLACK * (1.0 + np.abs(best)) if with_rows else 0.0
    wrong = upper < best - slack
    if wrong.any():
        person, direction = np.argwhere(wrong)[0]
        raise UntrustedResultError(
            f"{name} claims the upper bound {upper[person, direction]!r} where {best[person, direction]!r} is reached "
            f"(person {person}, direction {direction}): {UNTRUSTED}"
        )


def _status(upper: FloatArray, best: FloatArray, claim: Claim, question: Question) -> np.ndarray:
    status = np.full(upper.shape, Status.BOUNDED, dtype=np.int8)
    status[claim.exhausted] = Status.BUDGET
    status[np.isposinf(upper)] = Status.FAILED
    if question.target is not None:
        status[(upper < question.target) | (best > question.target)] = Status.TARGET_REACHED
    status[within(upper, best, question.tolerance)] = Status.EXACT
    status[np.isneginf(upper)] = Status.EMPTY
    return status
