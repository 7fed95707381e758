"""What is the exact answer? How far any similar individual can land from z = f(x): the proved radius and box."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from lcifr.bounds.scene import tensors
from lcifr.errors import LcifrError, UntrustedResultError
from lcifr.network import FLOOR, Network, gamma
from lcifr.prove import compiled
from lcifr.prove.answer import Budget, FloatArray, within
from lcifr.prove.cascade import CHUNK
from lcifr.prove.engine import Task, deadline_of, run
from lcifr.prove.incumbent import Incumbent
from lcifr.prove.maximize import maximize
from lcifr.prove.method import ROW_SLACK, UNTRUSTED
from lcifr.similarity.region import Region

Proved = tuple[tuple[object, ...], ...]


@dataclass(frozen=True)
class _Found:
    """Upper and lower ends (people, outputs), witness (people, features), nodes (people,), proofs."""

    high: FloatArray
    low: FloatArray
    witness: FloatArray
    nodes: NDArray[np.int64]
    proof: Proved | None


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
    wanted = _Wanted(network, tolerance, method, device, allowed, proof, deadline_of(allowed))
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


@dataclass(frozen=True)
class _Wanted:
    """What is asked of everybody."""

    network: Network
    tolerance: float
    method: str
    device: str | None
    budget: Budget
    proof: bool
    deadline: float | None

    def chunk(self, region: Region) -> int:
        """How many people at once, so that memory does not grow with them; other methods see to that themselves."""
        if self.method != "cascade":
            return max(1, region.people)
        width = 4 * self.network.outputs + region.features
        return max(1, (compiled.CHUNK if self.compiled(region) else CHUNK) // width)

    def compiled(self, region: Region) -> bool:
        """Whether the kernel answers."""
        return compiled.covers(self.network, region, self.device, self.proof)


def _of_chunk(wanted: _Wanted, x: FloatArray, region: Region, target: FloatArray | None) -> Radius:
    network = wanted.network
    latent, doubt = network(x), network.error(x)
    if wanted.method != "cascade":
        found = _by_method(wanted, latent, region, target)
    elif wanted.compiled(region):
        found = _by_kernel(wanted, latent, region, target)
    else:
        found = _by_engine(wanted, latent, region, target)
    upper = np.maximum(found.high, np.nextafter(latent + doubt, np.inf))
    lower = np.minimum(found.low, np.nextafter(latent - doubt, -np.inf))
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


def _directions(outputs: int) -> FloatArray:
    """(2·outputs, outputs): +e_j and −e_j in turn."""
    signs = np.zeros((2 * outputs, outputs))
    signs[np.arange(0, 2 * outputs, 2), np.arange(outputs)] = 1.0
    signs[np.arange(1, 2 * outputs, 2), np.arange(outputs)] = -1.0
    return signs


def _by_kernel(wanted: _Wanted, latent: FloatArray, region: Region, target: FloatArray | None) -> _Found:
    """The same as :func:`_by_engine`, compiled."""
    from lcifr.prove.compiled.call import answer_chunk

    offset = np.empty((region.people, 2 * wanted.network.outputs))
    offset[:, 0::2], offset[:, 1::2] = -latent, latent
    found = answer_chunk(
        wanted.network,
        region,
        _directions(wanted.network.outputs),
        offset,
        None if target is None else target[:, None],
        np.zeros((region.people, 1)),  # reached by x itself, which is always covered
        wanted.tolerance,
        wanted.budget,
        together=True,
        branch=True,
        deadline=wanted.deadline,
    )
    return _Found(found.upper[:, 0::2], -found.upper[:, 1::2], found.witness[:, 0], found.nodes.sum(1), None)


def _by_engine(wanted: _Wanted, latent: FloatArray, region: Region, target: FloatArray | None) -> _Found:
    """All directions of a person share one answer, so that only those that can still change ε are refined."""
    layers = tensors(wanted.network, wanted.device)
    device = layers[0][0].device
    signs = torch.as_tensor(_directions(latent.shape[1]), device=device)
    offset = -torch.as_tensor(latent, device=device) @ signs.T
    answer = torch.arange(region.people, device=device)[:, None].expand(-1, len(signs))
    reached = torch.zeros(region.people, dtype=torch.float64, device=device)  # by x itself, which is always covered
    goal = None if target is None else torch.as_tensor(target, device=device)
    incumbent = Incumbent(reached, goal, wanted.tolerance)
    task = Task(
        layers, region, signs, offset, answer, incumbent, wanted.budget, True, wanted.deadline, proof=wanted.proof
    )
    result = run(task)
    proofs = tuple(tuple(tuple(cells) for cells in person) for person in result.proof or ())
    upper = result.upper.cpu().numpy()
    witness, nodes = incumbent.points(region.features), result.nodes.sum(1).cpu().numpy()
    return _Found(upper[:, 0::2], -upper[:, 1::2], witness, nodes, proofs if wanted.proof else None)


def _by_method(wanted: _Wanted, latent: FloatArray, region: Region, target: FloatArray | None) -> _Found:
    """Every direction by itself, by any method; the target of ε becomes one of each direction."""
    signs = _directions(wanted.network.outputs)
    center = latent @ signs.T
    answer = maximize(
        wanted.network,
        signs,
        region,
        target=None if target is None else center + target[:, None],
        tolerance=wanted.tolerance,
        method=wanted.method,
        device=wanted.device,
        budget=wanted.budget,
        proof=wanted.proof,
    )
    far = (answer.best - center).argmax(1)
    witness = answer.witness[np.arange(region.people), far]
    found = None if answer.proof is None else tuple(tuple(row) for row in answer.proof)
    return _Found(answer.upper[:, 0::2], -answer.upper[:, 1::2], witness, answer.nodes.sum(1), found)


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
