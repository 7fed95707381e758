"""How far any similar individual can land from z = f(x): the proved radius and box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.errors import LcifrError
from lcifr.models.function import Function
from lcifr.models.network import Network, as_network
from lcifr.models.trees import Trees, box_around, is_exact_over
from lcifr.prove.gate import Method, build_question
from lcifr.prove.maximize import find_method, maximize
from lcifr.prove.question import Answer, Budget, FloatArray, Interrupted, Question, SharedAnswer, within
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
    proof: tuple[Sequence[Any], ...] | None = None


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
    goal = None if target is None else np.broadcast_to(np.asarray(target, np.float64), (region.people,))[:, None]
    question = build_question(
        network,
        signed_outputs(network.outputs),
        replace(region, origin=None),  # what its columns mean matters to nobody here
        target=goal,
        tolerance=tolerance,
        budget=budget,
        device=device,
        proof=proof,
    )
    chosen = find_method(method)
    step = chosen.at_once(question, together=True)
    if step >= region.people:
        return _of_chunk(chosen, question, points)
    whole = _blank(region.people, network.outputs, region.features, proof)
    for start in range(0, region.people, step):
        piece = slice(start, start + step)
        try:
            whole = _put(whole, piece, _of_chunk(chosen, question.take(piece), points[piece]))
        except Interrupted as stopped:
            whole = _put(whole, piece, stopped.known)
            rest = slice(min(start + step, region.people), region.people)
            raise Interrupted(_put(whole, rest, _unknown(question, points[rest]))) from None
    return whole


def _unknown(question: Question, x: FloatArray) -> Radius:
    """People of whom nothing is proved."""
    latent, each = question.network(x), np.zeros(len(x))
    ends = np.full(latent.shape, np.inf)
    proof: tuple[Sequence[Any], ...] | None = tuple([] for _ in x) if question.proof else None
    return Radius(
        latent, each + np.inf, -ends, ends, each, x, np.zeros(len(x), np.bool_), np.zeros(len(x), np.int64), proof
    )


@cache
def signed_outputs(outputs: int) -> FloatArray:
    """(2·outputs, outputs) the directions +e_j and −e_j in turn; read-only."""
    signs = np.zeros((2 * outputs, outputs))
    signs[np.arange(0, 2 * outputs, 2), np.arange(outputs)] = 1.0
    signs[np.arange(1, 2 * outputs, 2), np.arange(outputs)] = -1.0
    signs.setflags(write=False)
    return signs


def _of_chunk(method: Method, question: Question, x: FloatArray) -> Radius:
    """All directions of a person share one answer, ε, so that only those that can still change it are refined."""
    latent, rounding_error = question.network(x), question.network.error(x)
    offset = np.empty((len(x), 2 * latent.shape[1]))
    offset[:, 0::2], offset[:, 1::2] = -latent, latent
    shared = SharedAnswer(offset, np.zeros(len(x)))  # 0 is reached by x itself, which is always covered
    target = None if question.target is None else question.target[:, :1]
    try:
        answer = method.maximize(replace(question, shared=shared, target=target))
    except Interrupted as stopped:
        raise Interrupted(_around(stopped.known, question, x, latent, rounding_error)) from None
    return _around(answer, question, x, latent, rounding_error)


def _around(
    answer: Answer, question: Question, x: FloatArray, latent: FloatArray, rounding_error: FloatArray
) -> Radius:
    """Ball and box around z from the bounds of all directions."""
    # x itself: its error term counts every rounding twice, which leaves room for the one of these sums
    upper = np.maximum(answer.upper[:, 0::2], latent + rounding_error)
    lower = np.minimum(-answer.upper[:, 1::2], latent - rounding_error)
    epsilon = np.nextafter(np.maximum(upper - latent, latent - lower).max(1), np.inf)
    attained = np.minimum(answer.best[:, 0], epsilon)
    witness = np.where(np.isnan(answer.witness[:, 0, :1]), x, answer.witness[:, 0])
    exact = within(epsilon, attained, question.tolerance)
    proof = None if answer.proof is None else tuple(answer.proof)
    return Radius(latent, epsilon, lower, upper, attained, witness, exact, answer.nodes.sum(1), proof)


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


@dataclass(frozen=True)
class ProvedBox:
    """Of people z (people, width), the proved box around it, and (people,) whether the radius is known to be tight."""

    latent: FloatArray
    lower: FloatArray
    upper: FloatArray
    exact: NDArray[np.bool_]


def prove_box(function: Function, x: FloatArray, region: Region, *, tight: bool = False, **options: Any) -> ProvedBox:
    """Where everybody similar lands: by a search for networks, in closed form for trees.

    Parameters
    ----------
    tight : whether every end of the box is as near as the tolerance; else only those are that the radius needs.
    """
    if isinstance(function, Trees):
        box = box_around(function, x, region)
        return ProvedBox(function(x), box.lower, box.upper, is_exact_over(function, region))
    network = as_network(function)
    if tight:
        return _tight_box(network, x, region, **options)
    found = radius(network, x, region, **options)
    return ProvedBox(found.latent, found.lower, found.upper, found.exact)


def _tight_box(function: Network, x: FloatArray, region: Region, *, tolerance: float, **options: Any) -> ProvedBox:
    """Each end by a search of its own; no solver's word counts, as in every verdict."""
    directions = signed_outputs(function.outputs)
    answer = maximize(function, directions, region, tolerance=tolerance, method="branch", **options)
    latent, rounding_error = function(x), function.error(x)
    upper = np.maximum(answer.upper[:, 0::2], latent + rounding_error)
    lower = np.minimum(-answer.upper[:, 1::2], latent - rounding_error)
    return ProvedBox(latent, lower, upper, np.asarray(within(answer.upper, answer.best, tolerance).all(1)))
