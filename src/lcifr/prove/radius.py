"""How far any similar individual can land from z = f(x): the proved radius and box."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.errors import LcifrError, UntrustedResultError
from lcifr.models.network import FLOOR, Network, gamma
from lcifr.prove.answer import Budget, FloatArray, within
from lcifr.prove.ends import Wanted, find_ends
from lcifr.prove.method import ROW_SLACK, UNTRUSTED
from lcifr.prove.networks.batched.engine import deadline_of
from lcifr.prove.networks.linear_bounds.inside import pull_inside
from lcifr.regions.region import Region


@dataclass(frozen=True)
class Radius:
    """Per person: where similar individuals can land.

    Parameters
    ----------
    latent : (people, outputs) z = f(x), the stored float64 numbers that ball and box are around.
    radius : (people,) ε: ‖f(x′) − z‖∞ ≤ ε for every x′ of the region and for x itself, in exact arithmetic.
    lower, upper : (people, outputs) the proved box, which contains f(x′) and f(x). Its coordinates are as tight as the
        radius needs, not more.
    attained : (people,) the largest ‖f(x′) − z‖∞ found, at ``witness`` (people, features); 0 and x itself where nothing
        else was found.
    exact : (people,) radius − attained ≤ tolerance · (1 + attained).
    nodes : (people,) branch-and-bound nodes spent.
    proof : ``proof[person][2·output]`` (upper side) and ``[2·output + 1]`` (lower side), or None.
    """

    latent: FloatArray
    radius: FloatArray
    lower: FloatArray
    upper: FloatArray
    attained: FloatArray
    witness: FloatArray
    exact: NDArray[np.bool_]
    nodes: NDArray[np.int64]
    proof: tuple[tuple[object, ...], ...] | None = None


def radius(
    network: Network,
    x: ArrayLike,
    region: Region,
    *,
    target: ArrayLike | None = None,
    tolerance: float = 1e-6,
    method: str = "cascade",
    device: str | None = None,
    budget: Budget | int | None = None,
    proof: bool = False,
) -> Radius:
    """The smallest proved ball around z = f(x) that contains f(x′) for every x′ of the region, and f(x).

    Parameters
    ----------
    x : (people, features) the encoded individuals; covered even where their region is empty or leaves them out.
    target : stop as soon as ε is known to lie strictly on one side of it; broadcast to (people,).
    tolerance, method, device, budget, proof : as for :func:`lcifr.prove.maximize`.
    """
    points = np.ascontiguousarray(x, dtype=np.float64)
    if points.shape != (region.people, region.features):
        raise LcifrError(
            f"x has the shape {points.shape}, the region ({region.people} people, {region.features} features)",
            fix="encode the same people that the region was made for",
        )
    if not np.isfinite(points).all():
        raise LcifrError("x holds NaN or infinity", fix="encode a checked table")
    goal = None if target is None else np.array(np.broadcast_to(target, (region.people,)), dtype=np.float64)
    allowed = Budget(nodes=budget) if isinstance(budget, int) else budget or Budget()
    wanted = Wanted(network, tolerance, method, device, allowed, proof, deadline_of(allowed))
    region = replace(region, origin=None)  # what its columns mean matters to nobody here
    step = wanted.chunk(region)
    if step >= region.people:
        return _of_chunk(wanted, points, region, goal)
    whole = _blank(region.people, network.outputs, region.features, proof)
    for start in range(0, region.people, step):
        piece = slice(start, start + step)
        part = _of_chunk(wanted, points[piece], region.take(piece), None if goal is None else goal[piece])
        whole = _put(whole, piece, part)
    return whole


def _of_chunk(wanted: Wanted, x: FloatArray, region: Region, target: FloatArray | None) -> Radius:
    network = wanted.network
    latent, rounding_error = network(x), network.error(x)
    found = find_ends(wanted, latent, region, target)
    # x itself: its error term counts every rounding twice, which leaves room for the one of these sums
    upper, lower = np.maximum(found.high, latent + rounding_error), np.minimum(found.low, latent - rounding_error)
    epsilon = np.nextafter(np.maximum(upper - latent, latent - lower).max(1), np.inf)
    attained, witness = _attained(network, x, latent, region, found.witness, epsilon)
    exact = within(epsilon, attained, wanted.tolerance)
    return Radius(latent, epsilon, lower, upper, attained, witness, exact, found.nodes, found.proof)


def _blank(people: int, outputs: int, features: int, proof: bool) -> Radius:
    box, each = (people, outputs), (people,)
    return Radius(
        np.empty(box),
        np.empty(each),
        np.empty(box),
        np.empty(box),
        np.empty(each),
        np.empty((people, features)),
        np.empty(each, np.bool_),
        np.empty(each, np.int64),
        () if proof else None,
    )


def _put(whole: Radius, piece: slice, part: Radius) -> Radius:
    """Copy what was found about some of the people to their places."""
    for name in ("latent", "radius", "lower", "upper", "attained", "witness", "exact", "nodes"):
        getattr(whole, name)[piece] = getattr(part, name)
    return whole if part.proof is None else replace(whole, proof=(whole.proof or ()) + part.proof)


def _attained(
    network: Network, x: FloatArray, latent: FloatArray, region: Region, witness: FloatArray, epsilon: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """What the witnesses surely reach, re-checked: inside the region, and not beyond the proved radius."""
    points, attained = np.array(x), np.zeros(len(x))
    with_rows = any(cell.rows is not None for cell in region.cells)
    found = np.flatnonzero(~np.isnan(witness[:, 0]))
    if len(found):
        part = region if len(found) == len(x) else region.take(found)
        if with_rows:  # a witness stands on a row, up to rounding
            witness[found] = pull_inside(part, witness[found][:, None])[:, 0]
        found = found[part.contains(witness[found])]
        values, rounding_error = network(witness[found]), network.error(witness[found])
        slack = gamma(8) * (np.abs(values) + np.abs(latent[found]) + FLOOR)
        points[found] = witness[found]
        attained[found] = np.maximum((np.abs(values - latent[found]) - rounding_error - slack).max(1), 0.0)
    limit = epsilon + ROW_SLACK * (1.0 + attained) if with_rows else epsilon
    if (attained > limit).any():
        person = int(np.argmax(attained - limit))
        raise UntrustedResultError(
            f"person {person}: {attained[person]!r} is reached beyond the radius {epsilon[person]!r}: {UNTRUSTED}"
        )
    return np.minimum(attained, epsilon), points
