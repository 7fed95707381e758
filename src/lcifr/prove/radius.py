"""What is the exact answer? How far any similar individual can land from z = f(x): the proved radius and box."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from lcifr.bounds.scene import Layers, tensors
from lcifr.errors import LcifrError, UntrustedResultError
from lcifr.network import FLOOR, Network, gamma
from lcifr.prove.answer import Budget, FloatArray, within
from lcifr.prove.cascade import chunks
from lcifr.prove.engine import Task, deadline_of, run
from lcifr.prove.incumbent import Incumbent
from lcifr.prove.maximize import maximize
from lcifr.prove.method import ROW_SLACK, UNTRUSTED
from lcifr.similarity.region import Region

Proved = tuple[tuple[object, ...], ...]
Found = tuple[FloatArray, FloatArray, FloatArray, NDArray[np.int64], Proved | None]
"""Upper and lower ends (people, outputs), witness (people, features), nodes (people,), proofs."""


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
    latent, doubt = network(points), network.error(points)
    how = _by_engine if method == "cascade" else _by_method
    high, low, witness, nodes, found = how(network, latent, region, goal, tolerance, device, budget, proof, method)
    upper = np.maximum(high, np.nextafter(latent + doubt, np.inf))
    lower = np.minimum(low, np.nextafter(latent - doubt, -np.inf))
    epsilon = np.nextafter(np.maximum(upper - latent, latent - lower).max(1), np.inf)
    attained, witness = _attained(network, points, latent, region, witness, epsilon)
    return Radius(
        latent,
        epsilon,
        lower,
        upper,
        attained,
        witness,
        within(epsilon, attained, tolerance),
        nodes,
        found,
    )


def _directions(outputs: int) -> FloatArray:
    """(2·outputs, outputs): +e_j and −e_j in turn."""
    signs = np.zeros((2 * outputs, outputs))
    signs[np.arange(0, 2 * outputs, 2), np.arange(outputs)] = 1.0
    signs[np.arange(1, 2 * outputs, 2), np.arange(outputs)] = -1.0
    return signs


def _by_engine(
    network: Network,
    latent: FloatArray,
    region: Region,
    target: FloatArray | None,
    tolerance: float,
    device: str | None,
    budget: Budget | int | None,
    proof: bool,
    method: str,
) -> Found:
    """All directions of a person share one answer, so that only those that can still change ε are refined."""
    allowed = Budget(nodes=budget) if isinstance(budget, int) else budget or Budget()
    layers = tensors(network, device)
    people, outputs, features = region.people, network.outputs, region.features
    high, low = np.full((people, outputs), -np.inf), np.full((people, outputs), np.inf)
    witness, nodes = np.full((people, features), np.nan), np.zeros(people, dtype=np.int64)
    deadline = deadline_of(allowed)
    proofs: tuple[tuple[object, ...], ...] = ()
    for piece in chunks(people, 4 * outputs + features):
        count = piece.stop - piece.start
        task = _task(
            layers, latent[piece], region if count == people else region.take(piece), tolerance, allowed, deadline
        )
        if target is not None:
            task.incumbent.target = torch.as_tensor(target[piece], device=task.offset.device)
        result = run(replace(task, proof=proof))
        proofs += tuple(tuple(tuple(cells) for cells in person) for person in result.proof or ())
        upper = result.upper.cpu().numpy()
        high[piece], low[piece] = upper[:, 0::2], -upper[:, 1::2]
        witness[piece], nodes[piece] = task.incumbent.points(features), result.nodes.sum(1).cpu().numpy()
    return high, low, witness, nodes, proofs if proof else None


def _task(
    layers: Layers, latent: FloatArray, region: Region, tolerance: float, budget: Budget, deadline: float | None
) -> Task:
    device = layers[0][0].device
    signs = torch.as_tensor(_directions(latent.shape[1]), device=device)
    offset = -torch.as_tensor(latent, device=device) @ signs.T
    answer = torch.arange(region.people, device=device)[:, None].expand(-1, len(signs))
    reached = torch.zeros(region.people, dtype=torch.float64, device=device)  # by x itself, which is always covered
    incumbent = Incumbent(reached, None, tolerance)
    return Task(layers, region, signs, offset, answer, incumbent, budget, True, deadline)


def _by_method(
    network: Network,
    latent: FloatArray,
    region: Region,
    target: FloatArray | None,
    tolerance: float,
    device: str | None,
    budget: Budget | int | None,
    proof: bool,
    method: str,
) -> Found:
    """Every direction by itself, by any method; the target of ε becomes one of each direction."""
    signs = _directions(network.outputs)
    center = latent @ signs.T
    goal = None if target is None else center + target[:, None]
    answer = maximize(
        network,
        signs,
        region,
        target=goal,
        tolerance=tolerance,
        method=method,
        device=device,
        budget=budget,
        proof=proof,
    )
    far = (answer.best - center).argmax(1)
    witness = answer.witness[np.arange(region.people), far]
    found = None if answer.proof is None else tuple(tuple(row) for row in answer.proof)
    return answer.upper[:, 0::2], -answer.upper[:, 1::2], witness, answer.nodes.sum(1), found


def _attained(
    network: Network, x: FloatArray, latent: FloatArray, region: Region, witness: FloatArray, epsilon: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """What the witnesses surely reach, re-checked: inside the region, and not beyond the proved radius."""
    points, attained = np.array(x), np.zeros(len(x))
    found = np.flatnonzero(~np.isnan(witness[:, 0]))
    if len(found):
        found = found[region.take(found).contains(witness[found])]
        values, doubt = network(witness[found]), network.error(witness[found])
        slack = gamma(8) * (np.abs(values) + np.abs(latent[found]) + FLOOR)
        points[found] = witness[found]
        attained[found] = np.maximum((np.abs(values - latent[found]) - doubt - slack).max(1), 0.0)
    limit = epsilon
    if any(cell.rows is not None for cell in region.cells):
        limit = epsilon + ROW_SLACK * (1.0 + attained)
    if (attained > limit).any():
        person = int(np.argmax(attained - limit))
        raise UntrustedResultError(
            f"person {person}: {attained[person]!r} is reached beyond the radius {epsilon[person]!r}: {UNTRUSTED}"
        )
    return np.minimum(attained, epsilon), points
