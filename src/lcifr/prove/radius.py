"""How far any similar individual can land from z = f(x): the proved radius and box."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.errors import LcifrError
from lcifr.models.function import Function
from lcifr.prove.gate import ask, build_question
from lcifr.prove.maximize import find_method, maximize
from lcifr.prove.question import (
    Answer,
    Engine,
    FloatArray,
    Interrupted,
    Proofs,
    ProvedBox,
    Question,
    Resources,
    SharedAnswer,
    engine_of,
    joined,
    within,
)
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
    proof: Proofs | None = None


def radius(
    network: Function,
    x: ArrayLike,
    region: Region,
    *,
    target: ArrayLike | None = None,
    tolerance: float = 1e-6,
    method: str = "cascade",
    device: str | None = None,
    budget: Resources | int | None = None,
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
        replace(region, origin=None),  # what its columns mean does not matter here
        target=goal,
        tolerance=tolerance,
        resources=Resources.of(budget, device),
        proof=proof,
    )
    engine = find_method(method)
    step, parts = engine.at_once(question, together=True), list[Radius]()
    for start in range(0, max(1, region.people), step):
        piece = slice(start, start + step)
        part = question if step >= region.people else question.take(piece)
        try:
            parts.append(_of_chunk(engine, part, points[piece]))
        except Interrupted as stopped:
            parts += [stopped.known, _unknown(question, points[start + step :])]
            raise Interrupted(joined(parts)) from None
    return joined(parts)


def _unknown(question: Question, x: FloatArray) -> Radius:
    """The result for people about whom nothing is proved."""
    latent, each = question.function(x), np.zeros(len(x))
    ends, no = np.full(latent.shape, np.inf), np.zeros(len(x), np.int64)
    return Radius(latent, each + np.inf, -ends, ends, each, x, no > 0, no, [[] for _ in x] if question.proof else None)


@cache
def signed_outputs(outputs: int) -> FloatArray:
    """(2·outputs, outputs) the directions +e_j and −e_j in turn; read-only."""
    signs = np.zeros((2 * outputs, outputs))
    signs[np.arange(0, 2 * outputs, 2), np.arange(outputs)] = 1.0
    signs[np.arange(1, 2 * outputs, 2), np.arange(outputs)] = -1.0
    signs.setflags(write=False)
    return signs


def _of_chunk(engine: Engine, question: Question, x: FloatArray) -> Radius:
    """All directions of a person share one answer, ε, so that only those that can still change it are refined."""
    latent = question.function(x)
    offset = np.empty((len(x), 2 * latent.shape[1]))
    offset[:, 0::2], offset[:, 1::2] = -latent, latent
    shared = SharedAnswer(offset, np.zeros(len(x)))  # 0 is reached by x itself, which is always covered
    target = None if question.target is None else question.target[:, :1]
    try:
        return _around(ask(engine, replace(question, shared=shared, target=target)), question, x, latent)
    except Interrupted as stopped:
        raise Interrupted(_around(stopped.known, question, x, latent)) from None


def _around(answer: Answer, question: Question, x: FloatArray, latent: FloatArray) -> Radius:
    """Ball and box around z from the bounds of all directions."""
    lower, upper = _box_of(answer, question.function, x, latent)
    epsilon = np.nextafter(np.maximum(upper - latent, latent - lower).max(1), np.inf)
    attained = np.minimum(answer.best[:, 0], epsilon)
    witness = np.where(np.isnan(answer.witness[:, 0, :1]), x, answer.witness[:, 0])
    exact = within(epsilon, attained, question.tolerance)
    return Radius(latent, epsilon, lower, upper, attained, witness, exact, answer.nodes.sum(1), answer.proof)


def _box_of(answer: Answer, function: Function, x: FloatArray, latent: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends, proved by bounds of all signed outputs; the error of x has room for rounding the sums."""
    error = function.error(x)  # it counts every rounding twice
    return np.minimum(-answer.upper[:, 1::2], latent - error), np.maximum(answer.upper[:, 0::2], latent + error)


def prove_box(
    function: Function, x: FloatArray, region: Region, *, tolerance: float, tight: bool, resources: Resources
) -> ProvedBox:
    """Where everyone similar lands: in closed form where there is one, else by a search.

    Parameters
    ----------
    tight : whether every end of the box is as near as the tolerance; else only those are that the radius needs.
    """
    if (box := engine_of(function).box(function, x, region)) is not None:
        return box
    if not tight:
        found = radius(function, x, region, tolerance=tolerance, budget=resources)
        return ProvedBox(found.latent, found.lower, found.upper, found.exact)
    # Each end by a search of its own; no solver's word counts, as in every verdict.
    directions, latent = signed_outputs(function.outputs), function(x)
    answer = maximize(function, directions, region, tolerance=tolerance, method="branch", budget=resources)
    exact = np.asarray(within(answer.upper, answer.best, tolerance).all(1))
    return ProvedBox(latent, *_box_of(answer, function, x, latent), exact)
