"""The consumer: the same decision on the whole ball, from z and ε alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from lcifr.artifacts.handover import Representation
from lcifr.certification.box_bounds import ball, bound_on_box, find_largest_radius
from lcifr.certification.deployment import deploy_model
from lcifr.certification.query import (
    FloatArray,
    is_strict,
    outputs_at,
    query_around_latent,
)
from lcifr.certification.verdicts import Certificates, Reason, Verdict, words
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.chain import choose_for
from lcifr.models.deployed import REFUSED
from lcifr.models.load import read_model
from lcifr.models.model import Model
from lcifr.models.trees.trees import Trees
from lcifr.prove import Budget
from lcifr.regions.region import Region

Where = Literal["ball", "box"]


def certify(
    representation: Representation,
    model: Any,
    *,
    on: Where = "ball",
    groups: Sequence[Sequence[Any]] | None = None,
    tolerance: float | None = None,
    budget: Budget | int | None = None,
    device: str | None = None,
    largest_radius: bool = True,
    arithmetic: str | None = None,
) -> Certificates:
    """Prove, person by person, that everybody similar gets the same decision.

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
    deployed = choose_for(arithmetic, known.computed)
    options = dict[str, Any](budget=budget, device=device, farthest=largest_radius)
    return certify_model(representation, known, on=on, arithmetic=deployed, **options)


def certify_model(
    representation: Representation,
    known: Model,
    *,
    on: Where,
    arithmetic: Arithmetic,
    budget: Budget | int | None = None,
    device: str | None = None,
    farthest: bool = False,
) -> Certificates:
    """:func:`certify` of a model that is read already; ``farthest``: whether to look for the largest radius."""
    handed = representation.provenance.arithmetic
    if known.function.inputs != representation.width:
        raise NetworkError(
            f"the model takes {known.function.inputs} numbers, the representation gives {representation.width}",
            fix="train the model on these latents",
        )
    deployment = deploy_model(known, arithmetic)
    there = outputs_at(deployment, representation.latent)
    asked = query_around_latent(known.rule, there)
    lower, upper = surroundings(representation, on)
    error = deployment.room_over(Region.from_arrays(lower, upper))
    query = asked.lowered(error)
    bound = bound_on_box(deployment.merged, query, lower, upper, budget, device)
    margin = query.margin(bound.upper).min(1)
    jumps = isinstance(known.function, Trees)
    unknown = np.full(len(there.values), handed is Arithmetic.EXACT and (jumps or arithmetic is not Arithmetic.EXACT))
    sure = (margin > 0) & is_strict(known.rule, there) & ~unknown
    exact = query_around_latent(known.rule, there.exactly())
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
    if farthest:
        widest = find_largest_radius(deployment, asked, representation.latent, device)
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
        arithmetic=arithmetic,
        handover_arithmetic=handed,
    )


def surroundings(representation: Representation, on: str) -> tuple[FloatArray, FloatArray]:
    """(people, width) ends of the ball, rounded outward, or of the box."""
    if on == "box":
        return representation.lower, representation.upper
    if on != "ball":
        raise LcifrError(f"on={on!r} is unknown", fix='say "ball" or "box"')
    return ball(representation.latent, representation.radius)
