"""The contract of every proof method: a final public method validates, asks the backend, and re-checks every claim."""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from lcifr.errors import LcifrError, NetworkError, RegionError, UntrustedResultError, did_you_mean
from lcifr.models.network import FLOOR, LARGEST, Network, gamma
from lcifr.prove.answer import Answer, Budget, Claim, FloatArray, Question, Status, within
from lcifr.prove.networks.linear_bounds.inside import pull_inside
from lcifr.regions.region import Region

WITNESS_TOLERANCE = 1e-6
"""A solver's witness may miss its region by its own feasibility tolerance; it is pulled inside before it counts."""
ROW_SLACK = 1e-8
"""Whether a point satisfies a linear row is decided up to the rounding of a dot product, so a witness on a row may lie
outside by that much, and beat a true bound by that times the slope of the function. Boxes and categories are exact."""
ROOMS = ("lcifr.prove.networks", "lcifr.prove.oracles")
"""Where methods live: one file each, named like the method."""
UNTRUSTED = "no result of this run can be trusted"


class Method(ABC):
    """One way to answer ``maximize``. A method is one file of a room in ``ROOMS``, named like the method."""

    name: ClassVar[str]

    @final
    def maximize(self, question: Question) -> Answer:
        """Ask the backend and believe only what can be checked.

        Raises
        ------
        UntrustedResultError
            The backend returned NaN, a witness outside the region, or an upper bound below a value that is attained.
        """
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


def find_method(name: str) -> Method:
    """The method called ``name``: the one in the file ``<name>.py`` of a room of methods."""
    if name in _modules():
        module = importlib.import_module(_modules()[name])
        for kind in vars(module).values():
            if _is_method(kind) and kind.name == name:
                return kind()  # type: ignore[no-any-return]
    known = sorted(method_names())
    raise LcifrError(
        f'there is no method "{name}".{did_you_mean(name, known)}', fix="one of " + ", ".join(f'"{n}"' for n in known)
    )


def method_names() -> Iterator[str]:
    """The names of all methods, found by looking at the files of their rooms."""
    for name, place in _modules().items():
        module = importlib.import_module(place)
        if any(_is_method(kind) and kind.name == name for kind in vars(module).values()):
            yield name


def build_question(
    network: Network,
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
    best = np.where(found, surely_reached(question.network, question.directions, points), -np.inf)
    return np.where(found[..., None], points, np.nan), best


def surely_reached(network: Network, directions: FloatArray, points: FloatArray) -> FloatArray:
    """A lower bound on direction · network(point) in exact arithmetic; (people, k, …) -> (people, k)."""
    values, error = network(points), network.error(points)
    size = np.abs(directions)
    slack = gamma(network.outputs + 8)
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


def _modules() -> dict[str, str]:
    """Where each file of the rooms of methods can be imported from, by its name."""
    found: dict[str, str] = {}
    for room in ROOMS:
        package = importlib.import_module(room)
        found |= {module.name: f"{room}.{module.name}" for module in pkgutil.iter_modules(package.__path__)}
    return found


def _is_method(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Method) and kind is not Method
