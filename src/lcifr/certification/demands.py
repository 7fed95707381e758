"""Limits on linear outputs: if everyone similar stays below them, everyone similar gets the same decision.

With one output, its sign must stay the same; with several, the group that the largest belongs to; a number must stay
within a tolerance. Each demand is a few linear outputs that must stay strictly below a limit; ties never count for a
certificate or for a counterexample. :mod:`lcifr.models.rule` defines decisions and when two are the same; this module
adds the room for rounding errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.models.function import REFUSED, Deployed, Function
from lcifr.models.rounding import FLOOR, gamma
from lcifr.models.rule import Kind, Rule
from lcifr.prove import Answer, maximize
from lcifr.regions.region import Region


@dataclass(frozen=True)
class Outputs:
    """Parameters
    ----------
    values : (people, outputs) computed in float64, here.
    rounding_error : (people, outputs) how far ``values`` can be from exact arithmetic.
    deployment_error : (people, outputs) how far a machine that computes in the deployed arithmetic can be from exact;
        0 for exact arithmetic, REFUSED where it may overflow.
    """

    values: FloatArray
    rounding_error: FloatArray
    deployment_error: FloatArray

    @property
    def error(self) -> FloatArray:
        """(people, outputs) how far ``values`` can be from what a machine computes."""
        return np.asarray(self.rounding_error + self.deployment_error)

    @property
    def may_overflow(self) -> BoolArray:
        """(people,) whether a machine may overflow."""
        return np.asarray((self.deployment_error >= REFUSED).any(1))

    def exactly(self) -> Outputs:
        """The same outputs, for a comparison with exact arithmetic."""
        return replace(self, deployment_error=np.zeros_like(self.values))

    def take(self, rows: NDArray[np.int64]) -> Outputs:
        """The outputs of some of the people."""
        return Outputs(self.values[rows], self.rounding_error[rows], self.deployment_error[rows])


def outputs_at(deployment: Deployed, points: FloatArray, error: FloatArray | None = None) -> Outputs:
    """The outputs at latents or encoded people (people, inputs), by plain forward passes through the factors.

    Parameters
    ----------
    error : (outputs,) of the deployment, at least that of each; None to compute it for each.
    """
    found = deployment.evaluate(points)
    each = deployment.error_at(points) if error is None else np.tile(error, (len(points), 1))
    return Outputs(found.values, 2.0 * found.error, each)


FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

CERTIFICATE_METHOD = "branch"
"""The method for every certificate. The cascade would ask a MILP solver about what branching leaves open; certificates
never depend on a solver's answer."""
PRECISION = 1e-6
"""The precision of an answer if the limit is a decision: closer outputs are nearly a tie. For a number it is a share of
the tolerance, because labels come in any unit, from millionths to billions."""
FINEST = 1e-9
"""The engine solves programs in float64: with a finer precision it would branch without end."""


@dataclass(frozen=True)
class Limits:
    """What a certificate must show: direction · output < limit for everyone similar.

    Parameters
    ----------
    directions : (people, k, outputs)
    limit : (people, k)
    at : None; or (people, k) the directions at z, rounded up. Then the first half of the directions are opposite to
        the second, and two opposite ones stay below the limit *together*: no two points, z included, are so far apart.
    precision : what the engine may take as equal, absolute plus relative; small compared to the tolerance of a number.
    """

    directions: FloatArray
    limit: FloatArray
    at: FloatArray | None = None
    precision: float = PRECISION

    def margin(self, upper: FloatArray) -> FloatArray:
        """(people, k) how far below the limits everything stays, given bounds (people, k) of the directions."""
        if self.at is None:
            return np.asarray(self.limit - upper)
        top = np.maximum(upper, self.at)
        back = np.roll(top, top.shape[1] // 2, axis=1)
        room = gamma(8) * (np.abs(top) + np.abs(back) + self.limit + FLOOR)
        return np.asarray(self.limit - (top + back) - room)

    def lowered(self, error: FloatArray) -> Limits:
        """The same for outputs that can be off by an error (people, outputs): limits that leave room for it."""
        room = np.einsum("pko,po->pk", np.abs(self.directions), error) * (1.0 + 1e-9)
        return replace(self, limit=self.limit - (room if self.at is None else 2.0 * room))

    def ask(self, function: Function, region: Region, **options: Any) -> Answer:
        """What the engine can prove about the directions over each person's region, and the best points it finds there.

        Unless ``options`` of :func:`lcifr.maximize` say otherwise, it stops as soon as it knows on which side of the
        limit the largest value is.
        """
        stop = dict[str, Any](target=self.limit, tolerance=self.precision, method=CERTIFICATE_METHOD)
        return maximize(function, self.directions, region, **(stop | options))

    def take(self, rows: IntArray) -> Limits:
        """The limits for some of the people."""
        at = None if self.at is None else self.at[rows]
        return Limits(self.directions[rows], self.limit[rows], at, self.precision)


def limits_of(rule: Rule, own: Outputs) -> Limits:
    """What must be shown for each person, given their own outputs."""
    values, people = own.values, len(own.values)
    if rule.kind is Kind.SIGN:
        above, (lower, upper) = values > rule.middle, rule.band
        return Limits(np.where(above, -1.0, 1.0)[:, :, None], np.where(above, -upper, lower) + 0.0)
    if rule.kind is Kind.CLASS:
        return _other_groups(rule, rule.decide(values))
    signs, tolerance = np.concatenate([np.eye(rule.outputs), -np.eye(rule.outputs)]), rule.known_tolerance
    limit = values @ signs.T + tolerance
    room = own.error @ np.abs(signs).T + 2 * gamma(8) * (np.abs(limit) + tolerance + FLOOR)
    directions = np.broadcast_to(signs, (people, *signs.shape))
    return Limits(directions, limit - room, precision=_precision(tolerance, limit))


def limits_around_latent(rule: Rule, there: Outputs) -> Limits:
    """The same from the outputs at z, if f(x) is not known: it may be anywhere among the similar points.

    If all of them have one class, so has f(x). A number at z does not determine the number at f(x): two numbers, each
    within the tolerance of the one at z, may be twice as far from each other.
    """
    limits = limits_of(rule, there)
    if rule.kind is not Kind.NUMBER:
        return limits
    at = np.concatenate([there.values, -there.values], axis=1) + np.concatenate([there.error, there.error], axis=1)
    return replace(limits, limit=np.full_like(limits.limit, rule.known_tolerance), at=np.nextafter(at, np.inf))


def is_strict(rule: Rule, own: Outputs) -> BoolArray:
    """(people,) whether the decision that the rule makes from the values is certain, whatever is rounded."""
    if rule.kind is Kind.NUMBER:
        return np.ones(len(own.values), np.bool_)
    room = own.error + gamma(8) * np.abs(own.values)
    if rule.kind is Kind.SIGN:
        value, off, (lower, upper) = own.values[:, 0], room[:, 0], rule.band
        return np.asarray((value + off < lower) | (value - off > upper))
    limits = limits_of(rule, own)
    reached = np.einsum("pko,po->pk", limits.directions, own.values)
    room = np.einsum("pko,po->pk", np.abs(limits.directions), room)
    return np.asarray((reached + room < limits.limit).all(1))


def surely_differ(rule: Rule, own: Outputs, other: Outputs) -> BoolArray:
    """(people,) whether two decisions certainly differ, whatever is rounded in their outputs."""
    if rule.kind is Kind.NUMBER:
        gap, size = np.abs(other.values - own.values), np.abs(own.values) + np.abs(other.values)
        room = own.error + other.error + gamma(8) * size
        return np.asarray((gap - room > rule.known_tolerance).any(1))
    strict, mine = is_strict(rule, own), rule.decide(own.values)
    if rule.kind is Kind.SIGN:
        return np.asarray(strict & is_strict(rule, other) & (mine != rule.decide(other.values)))
    inside = rule.group_of[mine][:, None] == rule.group_of[None]
    best_inside = np.where(inside, other.values + other.error, -np.inf).max(1)
    best_outside = np.where(inside, -np.inf, other.values - other.error).max(1)
    return np.asarray(strict & (best_outside > best_inside + rule.band[1]))


def _other_groups(rule: Rule, prediction: IntArray) -> Limits:
    """Demand that every class outside the predicted one's group stays below it, by more than the band."""
    people = len(prediction)
    outside = [[c for c in range(rule.outputs) if c not in group] for group in rule.groups]
    most = max(map(len, outside))
    if most == 0:
        return Limits(np.zeros((people, 1, rule.outputs)), np.ones((people, 1)))
    # Where groups differ in size, some people have fewer classes outside: their last one is asked twice.
    padded = np.array([(row + row[-1:] * most)[:most] if row else [-1] * most for row in outside])
    others = padded[rule.group_of[prediction]]
    directions = np.zeros((people, most, rule.outputs))
    rows, columns = np.indices(others.shape)
    directions[rows, columns, others] = 1.0
    directions[rows, columns, prediction[:, None]] -= 1.0
    return Limits(directions, np.full((people, most), 0.0 - rule.band[1]))


def _precision(tolerance: float, limit: FloatArray) -> float:
    """The engine stops at a gap of precision · (1 + |output|): at most a share of the tolerance, for everyone."""
    share = PRECISION * tolerance / (1.0 + float(np.abs(limit).max(initial=0.0)))
    return min(PRECISION, max(share, FINEST))


class RoughError:
    """One error of a deployment for all points; computed again only for points outside all earlier ones.

    It is then computed for a box that is wider by half on either side, so that this happens only a few times.
    """

    def __init__(self, deployment: Deployed) -> None:
        self._deployment, self._error, self._ends = deployment, np.zeros(deployment.outputs), np.zeros((2, 0))

    def among(self, points: FloatArray) -> FloatArray:
        """(outputs,) an upper bound of the error at each of the points (people, features)."""
        if self._deployment.is_exact or len(points) == 0:
            return self._error
        low, high = points.min(0), points.max(0)
        if not self._ends.size or (low < self._ends[0]).any() or (high > self._ends[1]).any():
            known = self._ends if self._ends.size else np.array([low, high])
            low, high = np.minimum(low, known[0]), np.maximum(high, known[1])
            wider = 0.5 * (high - low)
            self._ends = np.array([low - wider, high + wider])
            self._error = self._deployment.error_among(self._ends)
        return self._error
