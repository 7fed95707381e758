"""What holds of every answer, whoever gives it, beside the exact maximum: each law that is broken, by name."""

from __future__ import annotations

import numpy as np

from lcifr.prove.gate import ROW_SLACK
from lcifr.prove.question import Answer, Status
from lcifr.prove.radius import Radius
from tests.prove.instances import Instance


def _named(laws: dict[str, np.ndarray | bool]) -> list[str]:
    return [law for law, kept in laws.items() if not np.all(kept)]


def _slack(one: Instance, truth: np.ndarray) -> np.ndarray:
    """How far a witness may beat the truth: not at all, or by the rounding of linear rows."""
    rows = any(cell.rows is not None for cell in one.region.cells)
    steep = float(np.prod([np.abs(layer.weight).sum(1).max() + 1.0 for layer in one.network.layers]))
    size = 1.0 + np.abs(np.where(np.isfinite(truth), truth, 0.0))
    return (10 * ROW_SLACK * steep if rows else 0.0) * size


def broken_by_answer(one: Instance, answer: Answer, truth: np.ndarray, tolerance: float) -> list[str]:
    """Laws of ``maximize`` without a target; ``truth`` (people, k) is the exact maximum, rounded up."""
    there, found = np.isfinite(truth), np.isfinite(answer.best)
    exact = answer.status == Status.EXACT
    with np.errstate(invalid="ignore"):
        excess = np.where(there, answer.upper - truth, 0.0)
    points = np.where(found[..., None], answer.witness, 0.0)
    return _named(
        {
            "a bound is a number": ~np.isnan(answer.upper),
            "no bound is below the maximum": answer.upper >= truth,
            "no value is above the maximum": answer.best <= truth + _slack(one, truth),
            "what is called exact is": ~exact | (excess <= tolerance * (1 + np.abs(np.where(there, truth, 0.0)))),
            "a witness is a point of the region": one.region.contains(points, tolerance=1e-7) | ~found,
            "nobody is called empty who is not": (answer.status != Status.EMPTY) | ~there,
            "minus infinity is for empty regions": ~np.isneginf(answer.upper) | ~there,
        }
    )


def broken_by_verdict(answer: Answer, truth: np.ndarray, target: np.ndarray, decided: bool) -> list[str]:
    """Laws of ``maximize`` with a target that the truth is clearly on one side of.

    ``decided``: whether everybody is to be decided whom the budget allows. Where weights differ by a factor of 1e12,
    the rounding of a value may be larger than the distance to the target, and undecided is the honest answer.
    """
    open_still = (answer.status == Status.BUDGET) | (not decided)
    return _named(
        {
            "what is called below the target is": ~(answer.upper < target) | (truth < target),
            "what is called above the target is": ~(answer.best > target) | (truth > target),
            "who is below is certified": (answer.upper < target) | (truth > target) | open_still,
            "who is above is refuted": (answer.best > target) | (truth < target) | open_still,
        }
    )


def broken_by_radius(found: Radius, truth: Radius, tolerance: float) -> list[str]:
    """Laws of ``radius`` beside the oracle's: both cover the same people, around the same latents."""
    room = tolerance * (1 + truth.attained)
    ends = np.maximum(found.upper - found.latent, found.latent - found.lower).max(1)
    return _named(
        {
            "no radius is below what is reached": found.radius >= truth.attained,
            "the ball holds the box": ends <= found.radius,
            "nothing is reached beyond the oracle's radius": found.attained <= truth.radius + 1e-7 * (1 + truth.radius),
            "what is called exact is": ~found.exact | (found.radius <= truth.radius + room),
        }
    )
