"""The gate of proof engines: it validates a question, asks an engine, and re-checks every claim of its answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.errors import LcifrError, NetworkError, RegionError, UntrustedResultError
from lcifr.models.function import Function
from lcifr.models.rounding import FLOOR, LARGEST, gamma
from lcifr.prove.question import Answer, CodeArray, Engine, Interrupted, Obstacle, Question, Resources, Status, within
from lcifr.regions.cell import cell_contains, row_excess
from lcifr.regions.region import Cell, FloatArray, Region

# Points brought into a region as whole individuals: categories whole, rows respected.

ROUNDS = 50
"""Alternating projections move a point that is already within a solver's tolerance; a few rounds are enough."""
PUSH = 1e-13
"""Rows are entered a little beyond their boundary, or a corner of two rows would be approached for ever. The first
round does without: between the two rows of an equation there is no room for that."""


def pull_inside(region: Region, points: FloatArray) -> FloatArray:
    """Each point moved into one of its cells, the nearest that works; unchanged where none does.

    Parameters
    ----------
    points : (people, k, features), near the region already: this is a repair, not a search.
    """
    missing = ~region.contains(points)
    if not missing.any():
        return points
    result = np.array(points)
    distance = np.full(missing.shape, np.inf)
    for cell in region.cells:
        landed = pull_into_cell(cell, points)
        away = np.abs(landed - points).max(axis=-1)
        better = missing & cell_contains(cell, landed) & (away < distance)
        result[better], distance[better] = landed[better], away[better]
    return result


def pull_into_cell(cell: Cell, points: FloatArray) -> FloatArray:
    """(people, k, features): each group rounded to its largest allowed category, numerics into the box and the rows."""
    landed = np.array(points)
    for choice in cell.choices:
        scores = np.where(choice.allowed[:, None, :], points[:, :, choice.columns], -np.inf)
        landed[:, :, choice.columns] = np.arange(len(choice.columns)) == scores.argmax(axis=2)[..., None]
    lower, upper = cell.lower[:, None, :], np.maximum(cell.lower, cell.upper)[:, None, :]
    landed[:, :, cell.numeric] = np.clip(landed[:, :, cell.numeric], lower, upper)
    if cell.rows is None:
        return landed
    steps = cell.rows.G[:, cell.numeric]
    norms = np.maximum((steps**2).sum(axis=1), np.finfo(float).tiny)
    for turn in range(ROUNDS):
        if (row_excess(cell.rows, landed) <= 0.0).all():
            break
        for row, step, norm, g in zip(cell.rows.G, steps, norms, cell.rows.g.T, strict=True):
            over = landed @ row - g[:, None]
            size = 1.0 + np.abs(g)[:, None]
            over = np.where(over > 0, over + PUSH * size * (turn > 0), 0.0) / norm
            landed[:, :, cell.numeric] = np.clip(landed[:, :, cell.numeric] - over[..., None] * step, lower, upper)
    return landed


# Witnesses: points that a method claims to have found, pulled into the region, and what they surely reach.

WITNESS_TOLERANCE = 1e-6
"""A solver's witness may miss its region by its own feasibility tolerance; it is pulled inside before it counts."""
UNTRUSTED = "no result of this run can be trusted"


def settle_witnesses(name: str, question: Question, witness: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Witnesses that are inside the region, and what they surely reach in each direction; NaN and −inf for the others.

    A witness that misses the region by more than a solver's tolerance is refused. One that misses it by less is pulled
    inside, and forgotten where that fails.
    """
    people = np.flatnonzero(~np.isnan(witness[..., 0]).all(axis=1))
    if len(people) == len(witness):
        return _settle(name, question, witness, people)
    points, best = np.full(witness.shape, np.nan), np.full(question.directions.shape[:2], -np.inf)
    if len(people):  # no others are checked: most people are certified before any point is found
        points[people], best[people] = _settle(name, question.take(people), witness[people], people)
    return points, best


def _settle(
    name: str, question: Question, witness: FloatArray, people: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """The same of people who have a witness; ``people`` are their numbers in the whole question."""
    found = np.asarray(~np.isnan(witness).any(axis=-1))
    points = np.where(found[..., None], witness, 0.0)
    inside = question.region.contains(points)
    if (found & ~inside).any():
        near = question.region.contains(points, tolerance=WITNESS_TOLERANCE)
        if (found & ~near & ~inside).any():
            row, direction = np.argwhere(found & ~near & ~inside)[0]
            who = f"person {people[row]}, direction {direction}"
            raise UntrustedResultError(f"{name} returned a witness outside the region ({who}): {UNTRUSTED}")
        points = pull_inside(question.region, points)
        found &= question.region.contains(points)
    best = np.where(found, surely_reached(question.function, question.directions, points), -np.inf)
    return np.where(found[..., None], points, np.nan), best


def surely_reached(function: Function, directions: FloatArray, points: FloatArray) -> FloatArray:
    """A lower bound on direction · function(point) in exact arithmetic.

    Parameters
    ----------
    directions : (people, k, outputs). points : (people, k, features), or (people, 1, features) for all directions.

    Returns
    -------
    (people, k)
    """
    values, error = function(points), function.error(points)
    if points.shape[1] != directions.shape[1] and directions.strides[0] == 0:
        directions = directions[:1]  # alike for all people
    slack = gamma(function.outputs + 8)
    spread = _along(np.abs(directions), error + slack * (np.abs(values) + FLOOR))
    reached = _along(directions, values) - (spread + slack * FLOOR) * (1 + 2 * slack)
    return np.where(np.isnan(reached), -np.inf, reached)  # a forward pass that overflows shows nothing


def _along(directions: FloatArray, values: FloatArray) -> FloatArray:
    """(people, k) direction · value, summed in any order; values (people, k, outputs) or (people, 1, outputs)."""
    if directions.shape[1] == values.shape[1]:
        return np.asarray((directions * values).sum(-1))
    if len(directions) == 1:
        return np.asarray(values[:, 0] @ directions[0].T)
    return np.asarray(np.matmul(directions, values[:, 0, :, None])[..., 0])


# The gate: it validates a question, asks an engine, and re-checks every claim of its answer.

ROW_SLACK = 1e-8
"""Whether a point satisfies a linear row is decided up to the rounding of a dot product, so a witness on a row may lie
outside by that much, and beat a true bound by that times the slope of the function. Boxes and categories are exact."""


def ask(engine: Engine, question: Question) -> Answer:
    """Ask an engine and believe only what can be checked.

    Raises
    ------
    LcifrError
        The engine does not accept the question; with what stands in the way.
    Interrupted
        Ctrl-C; with the answer as far as it is known.
    UntrustedResultError
        The engine returned NaN, a witness outside the region, or an upper bound below a value that is attained.
    """
    obstacle = engine.accepts(question) or find_device_obstacle(question.resources.device, engine.any_device)
    if obstacle is not None:
        raise LcifrError(f'method "{engine.name}" cannot answer this: {obstacle.reason}', fix=obstacle.fix)
    apart = question.shared is not None and not engine.shares(question)
    claim = _direction_by_direction(engine, question) if apart else engine.answer(question)
    _check_shapes(engine.name, claim, question)
    failed = claim.status == Status.FAILED
    upper = np.where(failed, np.inf, claim.upper) if failed.any() else claim.upper
    if np.isnan(upper).any():
        raise UntrustedResultError(f"{engine.name} returned NaN as an upper bound: {UNTRUSTED}")
    witness, best = _best(engine.name, question, claim.witness, upper)
    bound = upper if question.shared is None else question.shared.largest_bound(upper)
    status = _status(bound, best, claim.status, question)
    answer = replace(claim, upper=upper, best=best, witness=witness, status=status)
    if claim.interrupted:
        raise Interrupted(answer)
    return answer


def _best(name: str, question: Question, witness: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Witnesses that count, and what they surely reach (people, answers), which no upper bound may lie below."""
    shared = question.shared
    if np.isnan(witness[..., 0]).all():
        return witness, question.reached()
    witness, reached = settle_witnesses(name, question, witness)
    _check_order(name, upper, reached, any(cell.rows is not None for cell in question.region.cells))
    reached = np.minimum(reached, upper)
    return witness, reached if shared is None else shared.largest_value(reached)


def _direction_by_direction(engine: Engine, question: Question) -> Answer:
    """A shared answer from answers of its own for every direction, the target moved by each offset."""
    target = None if question.target is None else question.target - question.offset
    answer = ask(engine, replace(question, shared=None, target=target))
    far = (answer.best + question.offset).argmax(1)
    spent = (answer.status == Status.BUDGET).any(1, keepdims=True)
    return replace(
        answer,
        witness=answer.witness[np.arange(len(far)), far][:, None],
        status=np.where(spent, Status.BUDGET, Status.BOUNDED).astype(np.int8),
    )


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
        reason = str(problem).splitlines()[0]
        return Obstacle(
            f'device="{device}" cannot be used here: {reason}', "leave device out, or name one that is there"
        )
    return None


def build_question(
    network: Function,
    directions: ArrayLike,
    region: Region,
    *,
    target: ArrayLike | None = None,
    tolerance: float = 1e-6,
    resources: Resources | int | None = None,
    proof: bool = False,
) -> Question:
    """Check the arguments of ``maximize`` and bring them to their full shapes; ``resources`` may be nodes alone."""
    if not isinstance(network, Function):
        raise NetworkError(
            f"{type(network).__name__} is not a function that can be proved about",
            fix="Network.from_torch reads a torch module, Network.from_arrays weights and biases",
        )
    given = np.asarray(directions, dtype=np.float64)
    rows = np.broadcast_to(given, (region.people, *given.shape)) if given.ndim == 2 else given
    if rows.ndim != 3 or rows.shape[0] != region.people or rows.shape[2] != network.outputs:
        raise NetworkError(
            f"directions have the shape {np.shape(directions)}; expected (k, {network.outputs}) or "
            f"({region.people}, k, {network.outputs})",
            fix="one row per direction, one column per output of the network",
        )
    if not (np.abs(given) <= LARGEST).all():
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
    level = None if target is None else np.asarray(target, dtype=np.float64)
    if level is not None and np.isnan(level).any():
        raise LcifrError("target holds NaN", fix="pass numbers, or None for no target")
    goal = None if level is None else np.broadcast_to(level, rows.shape[:2])
    allowed = Resources.of(resources)
    return Question(network, rows, region, goal, tolerance, allowed, proof, deadline=allowed.deadline())


def _check_shapes(name: str, claim: Answer, question: Question) -> None:
    shape = question.directions.shape[:2]
    found = [claim.upper.shape, claim.nodes.shape, claim.method.shape]
    answers = (shape[0], question.answers)
    if (
        any(one != shape for one in found)
        or claim.status.shape != answers
        or claim.witness.shape != (*answers, question.region.features)
    ):
        raise UntrustedResultError(f"{name} returned arrays of the wrong shape: {UNTRUSTED}")


def _check_order(name: str, upper: FloatArray, best: FloatArray, with_rows: bool) -> None:
    """A value above a bound is a lie. Both sides are rigorous, so without linear rows there is no slack at all."""
    wrong = upper < (best - ROW_SLACK * (1.0 + np.abs(best)) if with_rows else best)
    if wrong.any():
        person, direction = np.argwhere(wrong)[0]
        raise UntrustedResultError(
            f"{name} claims the upper bound {upper[person, direction]!r} where {best[person, direction]!r} is reached "
            f"(person {person}, direction {direction}): {UNTRUSTED}"
        )


def _status(upper: FloatArray, best: FloatArray, claimed: CodeArray, question: Question) -> CodeArray:
    """(people, answers), from bounds and best values of the answers."""
    status = np.full(upper.shape, Status.BOUNDED, dtype=np.int8)
    status[claimed == Status.BUDGET] = Status.BUDGET
    status[np.isposinf(upper)] = Status.FAILED
    if question.target is not None:
        status[(upper < question.target) | (best > question.target)] = Status.TARGET_REACHED
    status[within(upper, best, question.tolerance)] = Status.EXACT
    status[np.isneginf(upper)] = Status.EMPTY
    return status
