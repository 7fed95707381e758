"""Bounds of a model on boxes of z, and the largest ball on which its decision is proved the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lcifr.certification.query import OWN_WORD, BoolArray, FloatArray, Query
from lcifr.models.deployed import Deployment
from lcifr.models.network import FLOOR, Network, gamma
from lcifr.models.trees.deployed import TreesDeployment
from lcifr.models.trees.trees import Trees
from lcifr.prove import Status, maximize
from lcifr.regions.region import Region

DOUBLINGS, HALVINGS = 12, 12
"""Steps towards the largest radius of a model that is not linear: a factor of 4096, then three digits."""

SHORT = 200
"""Nodes of one step of these about trees."""

FARTHEST = 1e30
"""Where z does not matter every radius is good in exact arithmetic; a machine's numbers overflow somewhere."""


def ball(latent: FloatArray, radius: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(people, width) ends of balls, rounded outward."""
    return (
        np.asarray(np.nextafter(latent - radius[:, None], -np.inf)),
        np.asarray(np.nextafter(latent + radius[:, None], np.inf)),
    )


@dataclass(frozen=True)
class RegionBounds:
    """upper : (people, k) proved. best : (people, k) reached. exhausted : (people,) the budget ended the work."""

    upper: FloatArray
    best: FloatArray
    exhausted: BoolArray


def bound_on_box(
    network: Network | Trees, query: Query, lower: FloatArray, upper: FloatArray, budget: Any, device: str | None
) -> RegionBounds:
    """The largest value of every direction on every box: in closed form if the model is linear, else by the engine."""
    if isinstance(network, Network) and network.depth == 0:
        found = upper_on_box(network, query, lower, upper)
        return RegionBounds(found, found, np.zeros(len(found), np.bool_))  # tight up to rounding
    region = Region.from_arrays(lower, upper)
    if query.at is not None:
        return _bound_apart(network, query, region, budget, device)
    answer = query.ask(network, region, budget=budget, device=device)
    return RegionBounds(answer.upper, answer.best, (answer.status == Status.BUDGET).any(1))


def _bound_apart(
    network: Network | Trees, query: Query, region: Region, budget: Any, device: str | None
) -> RegionBounds:
    """Bounds of opposite directions that share a limit: plain ones, then up to equal shares of it, then to the end."""
    method, nodes = (OWN_WORD, 1) if isinstance(network, Trees) else ("bounds", None)
    plain = maximize(network, query.directions, region, method=method, budget=nodes, device=device)
    upper, best, exhausted = plain.upper.copy(), plain.best.copy(), np.zeros(region.people, np.bool_)
    for shared in (True, False):
        margin = query.margin(upper)
        rows = np.flatnonzero((margin <= 0).any(1) & (query.margin(best) >= 0).all(1))
        if len(rows) == 0:
            break
        answer = maximize(
            network,
            query.directions[rows],
            region.take(rows),
            target=np.where(np.isfinite(margin), upper + margin / 2, -np.inf)[rows] if shared else None,
            tolerance=query.precision,
            method=OWN_WORD,
            budget=budget,
            device=device,
        )
        upper[rows], best[rows] = np.minimum(upper[rows], answer.upper), np.maximum(best[rows], answer.best)
        exhausted[rows] = (answer.status == Status.BUDGET).any(1)
    return RegionBounds(upper, best, exhausted)


def find_largest_radius(
    deployment: Deployment | TreesDeployment, asked: Query, latent: FloatArray, device: str | None
) -> FloatArray:
    """(people,) a radius up to which the decision is proved the same; by bisection if not linear: on plain bounds of
    networks, on short searches of trees.

    ``asked`` leaves no room yet for what is rounded on the ball, which is more on a larger one.
    """
    if isinstance(deployment, Deployment) and deployment.merged.depth == 0:
        return _widest_of_linear(deployment, deployment.merged, asked, latent)
    trees = isinstance(deployment, TreesDeployment)
    method, budget = (OWN_WORD, SHORT) if trees else ("bounds", None)

    def good(radius: FloatArray) -> BoolArray:
        region = Region.from_arrays(*ball(latent, radius))
        query = asked.lowered(deployment.room_over(region))
        target = query.limit if query.at is None else None
        options = dict[str, Any](target=target, method=method, budget=budget, device=device)
        bound = maximize(deployment.merged, query.directions, region, **options)
        return np.asarray((query.margin(bound.upper) > 0).all(1))

    size = np.maximum(np.abs(latent).max(1), 1e-3)
    low, high = np.zeros(len(latent)), size / 2**DOUBLINGS
    growing = np.ones(len(latent), np.bool_)
    for _ in range(2 * DOUBLINGS):
        growing &= good(high)
        if not growing.any():
            break
        low, high = np.where(growing, high, low), np.where(growing, 2 * high, high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        fine = good(middle)
        low, high = np.where(fine, middle, low), np.where(fine, high, middle)
    return low


def _widest_of_linear(deployment: Deployment, network: Network, asked: Query, latent: FloatArray) -> FloatArray:
    """(people,) the same in closed form."""
    widest = widest_ball(network, asked.lowered(deployment.error_at(latent)), latent)
    if deployment.is_exact and len(deployment.factors) == 1:
        return widest
    reach = np.minimum(widest, FARTHEST)
    error = deployment.room_over(Region.from_arrays(*ball(latent, reach)))
    return np.minimum(reach, widest_ball(network, asked.lowered(error), latent))


def _coefficients(model: Network, query: Query) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """direction · (W z + b) as c · z + d: c (people, k, width), d (people, k), and |direction|·|W|, |direction|·|b|.

    The sizes come with FLOOR, which covers what underflows in c and d.
    """
    layer = model.layers[0]
    size = np.abs(query.directions)
    return (
        query.directions @ layer.weight,
        query.directions @ layer.bias,
        size @ np.abs(layer.weight) + FLOOR,
        size @ np.abs(layer.bias) + FLOOR,
    )


def upper_on_box(model: Network, query: Query, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """(people, k) a number that direction · model(z) does not exceed on the box, in exact arithmetic.

    The best corner by sign. Each of products and sums errs by a factor within 1 ± u, and no partial result passes
    through more than outputs + width + 4 of them, so γ of that many, times the sum of absolute values, covers all.
    """
    c, d, size, size_bias = _coefficients(model, query)
    best = np.maximum(c * lower[:, None], c * upper[:, None]).sum(-1) + d
    far = np.maximum(np.abs(lower), np.abs(upper))[:, None]
    slack = gamma(model.outputs + model.inputs + 16) * ((size * far).sum(-1) + size_bias)
    return np.asarray(np.nextafter(best + 2 * slack, np.inf))


def widest_ball(model: Network, query: Query, latent: FloatArray) -> FloatArray:
    """(people,) the largest ball around z on which every direction surely stays below its limit; 0 where none does."""
    c, d, size, size_bias = _coefficients(model, query)
    many, sides = model.outputs + model.inputs + 16, 1 if query.at is None else 2  # opposite ones grow together
    slack = 2 * sides * gamma(many) * ((size * np.abs(latent)[:, None]).sum(-1) + size_bias + np.abs(query.limit))
    room = query.margin((c * latent[:, None]).sum(-1) + d) - slack
    norm = sides * (size.sum(-1) * gamma(many) * 2 + np.abs(c).sum(-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(norm > 0, room * (1 - 4 * gamma(many)) / norm, np.where(room > 0, np.inf, 0.0))
    return np.asarray(np.maximum(found, 0.0).min(1))
