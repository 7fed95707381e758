"""The consumer: the same decision on the whole ball or box, from z and its radius alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lcifr.certification.demands import (
    CERTIFICATE_METHOD,
    BoolArray,
    FloatArray,
    Limits,
    is_strict,
    limits_around_latent,
    outputs_at,
)
from lcifr.certification.handover import Representation
from lcifr.certification.verdicts import Certificates, Reason, Verdict, words
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.function import REFUSED, Deployed, Function
from lcifr.models.loading import read_model
from lcifr.models.network import choose_for
from lcifr.models.rounding import FLOOR, gamma
from lcifr.prove import Budget, Resources, Status, maximize
from lcifr.regions.region import Region

# Bounds of a model on boxes of z, and the largest ball on which its decision is proved the same.

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
    function: Function, limits: Limits, lower: FloatArray, upper: FloatArray, resources: Resources
) -> RegionBounds:
    """The largest value of every direction on every box: in closed form if the model is linear, else by the engine."""
    if function.affine is not None:
        found = upper_on_box(function.affine, limits, lower, upper)
        return RegionBounds(found, found, np.zeros(len(found), np.bool_))  # tight up to rounding
    region = Region.from_arrays(lower, upper)
    if limits.at is not None:
        return _bound_apart(function, limits, region, resources)
    answer = limits.ask(function, region, budget=resources)
    return RegionBounds(answer.upper, answer.best, (answer.status == Status.BUDGET).any(1))


def _bound_apart(function: Function, limits: Limits, region: Region, resources: Resources) -> RegionBounds:
    """Bounds of opposite directions that share a limit: plain ones, then up to equal shares of it, then to the end."""
    plain = maximize(function, limits.directions, region, **_plain(function, 1, resources))
    upper, best, exhausted = plain.upper.copy(), plain.best.copy(), np.zeros(region.people, np.bool_)
    for shared in (True, False):
        margin = limits.margin(upper)
        rows = np.flatnonzero((margin <= 0).any(1) & (limits.margin(best) >= 0).all(1))
        if len(rows) == 0:
            break
        target = np.where(np.isfinite(margin), upper + margin / 2, -np.inf)[rows] if shared else None
        answer = limits.take(rows).ask(function, region.take(rows), target=target, budget=resources)
        upper[rows], best[rows] = np.minimum(upper[rows], answer.upper), np.maximum(best[rows], answer.best)
        exhausted[rows] = (answer.status == Status.BUDGET).any(1)
    return RegionBounds(upper, best, exhausted)


def _plain(function: Function, nodes: int, resources: Resources) -> dict[str, Any]:
    """How ``maximize`` gives a quick bound: that of networks needs no nodes; of what jumps, a search of a few nodes."""
    if function.jumps:
        return {"method": CERTIFICATE_METHOD, "budget": nodes, "device": resources.device}
    return {"method": "bounds", "device": resources.device}


def find_largest_radius(deployment: Deployed, asked: Limits, latent: FloatArray, resources: Resources) -> FloatArray:
    """(people,) a radius up to which the decision is proved the same; by bisection if not linear: on plain bounds of
    networks, on short searches of trees.

    ``asked`` leaves no room yet for what is rounded on the ball, which is more on a larger one.
    """
    if deployment.merged.affine is not None:
        return _widest_of_linear(deployment, deployment.merged.affine, asked, latent)
    function, options = deployment.merged, _plain(deployment.merged, SHORT, resources)

    def good(radius: FloatArray) -> BoolArray:
        region = Region.from_arrays(*ball(latent, radius))
        limits = asked.lowered(deployment.room_over(region))
        target = limits.limit if limits.at is None else None
        bound = maximize(function, limits.directions, region, target=target, **options)
        return np.asarray((limits.margin(bound.upper) > 0).all(1))

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


def _widest_of_linear(deployment: Deployed, affine: Affine, asked: Limits, latent: FloatArray) -> FloatArray:
    """(people,) the same in closed form."""
    widest = widest_ball(affine, asked.lowered(deployment.error_at(latent)), latent)
    if deployment.is_as_asked:
        return widest
    reach = np.minimum(widest, FARTHEST)
    error = deployment.room_over(Region.from_arrays(*ball(latent, reach)))
    return np.minimum(reach, widest_ball(affine, asked.lowered(error), latent))


Affine = tuple[FloatArray, FloatArray]
"""Weight (outputs, width) and bias (outputs,)."""


def _coefficients(affine: Affine, limits: Limits) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """direction · (W z + b) as c · z + d: c (people, k, width), d (people, k), and |direction|·|W|, |direction|·|b|.

    The sizes come with FLOOR, which covers what underflows in c and d.
    """
    (weight, bias), size = affine, np.abs(limits.directions)
    return (
        limits.directions @ weight,
        limits.directions @ bias,
        size @ np.abs(weight) + FLOOR,
        size @ np.abs(bias) + FLOOR,
    )


def upper_on_box(affine: Affine, limits: Limits, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """(people, k) a number that direction · (W z + b) does not exceed on the box, in exact arithmetic.

    The best corner by sign. Each of products and sums errs by a factor within 1 ± u, and no partial result passes
    through more than outputs + width + 4 of them, so γ of that many, times the sum of absolute values, covers all.
    """
    c, d, size, size_bias = _coefficients(affine, limits)
    best = np.maximum(c * lower[:, None], c * upper[:, None]).sum(-1) + d
    far = np.maximum(np.abs(lower), np.abs(upper))[:, None]
    slack = gamma(sum(affine[0].shape) + 16) * ((size * far).sum(-1) + size_bias)
    return np.asarray(np.nextafter(best + 2 * slack, np.inf))


def widest_ball(affine: Affine, limits: Limits, latent: FloatArray) -> FloatArray:
    """(people,) the largest ball around z on which every direction surely stays below its limit; 0 where none does."""
    c, d, size, size_bias = _coefficients(affine, limits)
    many, sides = sum(affine[0].shape) + 16, 1 if limits.at is None else 2  # opposite ones grow together
    slack = 2 * sides * gamma(many) * ((size * np.abs(latent)[:, None]).sum(-1) + size_bias + np.abs(limits.limit))
    room = limits.margin((c * latent[:, None]).sum(-1) + d) - slack
    norm = sides * (size.sum(-1) * gamma(many) * 2 + np.abs(c).sum(-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(norm > 0, room * (1 - 4 * gamma(many)) / norm, np.where(room > 0, np.inf, 0.0))
    return np.asarray(np.maximum(found, 0.0).min(1))


# The consumer: the same decision on the whole ball, from z and ε alone.

CertifyOn = Literal["ball", "box"]


def certify(
    representation: Representation,
    model: Any,
    *,
    on: CertifyOn = "ball",
    groups: Sequence[Sequence[Any]] | None = None,
    tolerance: float | None = None,
    budget: Budget | int | None = None,
    device: str | None = None,
    largest_radius: bool = True,
    arithmetic: str | None = None,
) -> Certificates:
    """Prove, person by person, that everyone similar gets the same decision.

    A consumer has z and not f(x), which is somewhere in the ball. So of a number it is proved that no two points there,
    z included, differ by the tolerance or more. An audit, which knows f(x), measures from there and certifies more.

    Parameters
    ----------
    representation : what the producer handed over.
    model : a :class:`lcifr.models.network.Network`, one of this package's classifiers, or a fitted model of
        scikit-learn, XGBoost or LightGBM. Of trees a hand-over in exact arithmetic says nothing: they jump, and
        a machine's z may be a little beside its box.
    on : the ball, as in the paper, or the tighter box.
    groups : classes that count as one decision. tolerance : for regression, in units of the target.
    budget, device : as for :func:`lcifr.prove.maximize`; who runs out of budget is undecided.
    largest_radius : whether to look for it; in closed form for a linear model, by bisection otherwise.
    arithmetic : in which the model is computed, as for :func:`lcifr.audit`; the hand-over names the encoder's. A float
        verdict on a hand-over in exact arithmetic is undecided.
    """
    known = read_model(model, groups, tolerance)
    chosen, handed = choose_for(arithmetic, (known.function,)), representation.provenance.arithmetic
    if known.function.inputs != representation.width:
        raise NetworkError(
            f"the model takes {known.function.inputs} numbers, the representation gives {representation.width}",
            fix="train the model on these latents",
        )
    resources = Resources.of(budget, device)
    deployment = known.function.deployed(chosen)
    there = outputs_at(deployment, representation.latent)
    asked = limits_around_latent(known.rule, there)
    lower, upper = surroundings(representation, on)
    error = deployment.room_over(Region.from_arrays(lower, upper))
    limits = asked.lowered(error)
    bound = bound_on_box(deployment.merged, limits, lower, upper, resources)
    margin = limits.margin(bound.upper).min(1)
    jumps = known.function.jumps
    unknown = np.full(len(there.values), handed is Arithmetic.EXACT and (jumps or chosen is not Arithmetic.EXACT))
    sure = (margin > 0) & is_strict(known.rule, there) & ~unknown
    exact = limits_around_latent(known.rule, there.exactly())
    reasons = {
        Reason.NONE: sure,
        Reason.EXACT_BALL: unknown,
        Reason.OVERFLOW: (error >= REFUSED).any(1),
        Reason.TIE: ~is_strict(known.rule, there.exactly()),
        Reason.WIDE: (exact.margin(bound.best) < 0).any(1),
        Reason.ROUNDING: (exact.margin(bound.upper) > 0).all(1),
        Reason.BUDGET: bound.exhausted,
    }
    widest = np.full(len(there.values), np.nan)
    if largest_radius:
        widest = find_largest_radius(deployment, asked, representation.latent, resources)
        widest = np.where(unknown, 0.0, widest)
        widest = np.where(sure & (on == "ball"), np.maximum(widest, representation.radius), widest)
    return Certificates(
        ids=representation.ids,
        verdict=words(Verdict, {Verdict.CERTIFIED: sure}, Verdict.UNDECIDED),
        prediction=known.decide(there.values),
        margin=margin,
        largest_radius=widest,
        reason=words(Reason, reasons, Reason.LOOSE),  # type: ignore[arg-type]
        radius_status=representation.radius_status,
        vacuous=representation.vacuous,
        on=on,
        model=known,
        arithmetic=chosen,
        handover_arithmetic=handed,
    )


def surroundings(representation: Representation, on: str) -> tuple[FloatArray, FloatArray]:
    """(people, width) ends of the ball, rounded outward, or of the box."""
    if on == "box":
        return representation.lower, representation.upper
    if on != "ball":
        raise LcifrError(f"on={on!r} is unknown", fix='say "ball" or "box"')
    return ball(representation.latent, representation.radius)
