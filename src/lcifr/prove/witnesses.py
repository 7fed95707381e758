"""Witnesses: points that a method claims to have found, pulled into the region, and what they surely reach."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import UntrustedResultError
from lcifr.models.function import Function
from lcifr.models.network import FLOOR, gamma
from lcifr.prove.answer import FloatArray, Question
from lcifr.prove.networks.linear_bounds.inside import pull_inside

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
    if len(people):  # nobody else is looked at: most people are certified before any point is
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
        directions = directions[:1]  # alike for everybody
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
