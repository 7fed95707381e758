"""One step of the interior point of :mod:`interior`, for all programs at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

SMALL = 1e-11
"""Complementarity, relative to the scaled objective, at which a program counts as solved."""
STEP = 0.995
RIDGE = 1e-14
"""Keeps a factorisation alive at the end of the path; refinement removes most of its effect."""


@dataclass
class State:
    """Iterates: x, and slack s and dual v of y ≥ 0, y ≥ z + Ux, z + Ux ≥ 0, x ≤ 1, and x ≥ −1 or x ≥ 0.

    Slacks are carried along rather than recomputed: near the solution their differences would be lost to rounding.
    """

    x: Tensor
    s1: Tensor
    s2: Tensor
    s3: Tensor
    s4: Tensor
    s5: Tensor
    v1: Tensor
    v2: Tensor
    v3: Tensor
    v4: Tensor
    v5: Tensor


@dataclass(frozen=True)
class Scaled:
    """Programs with rows of length 1 and objectives of size 1; ``live`` (n, q): variables that can be other than 0."""

    gain: Tensor
    offset: Tensor
    slope: Tensor
    weight: Tensor
    hinge: Tensor
    constraint: Tensor
    live: Tensor
    numeric: int
    member: Tensor

    def start(self) -> State:
        """The center of the cell, hinges one unit above, duals on the same level."""
        x = torch.zeros_like(self.gain)
        ones, upper = torch.ones_like(x), torch.ones_like(x)
        low = torch.ones_like(x)
        if len(self.member):
            share = self.live.to(x.dtype) @ self.member.T  # (n, groups) how many are allowed
            x = torch.where(self.live, (1.0 / share.clamp(min=1)) @ self.member, 0.0)
            x[:, : self.numeric] = 0.0
            low = torch.where(self.live & (x > 0), x, ones)
        upper[:, self.numeric :] = 0.0  # categories have no upper end of their own
        reached = self.offset + (self.slope @ x[:, :, None])[:, :, 0]
        first = reached.clamp(min=0) + 1
        unit, half = torch.ones_like(reached), self.weight * 0.5
        return State(x, first, first - reached, reached.clamp(min=1), ones, low, half, half, unit, upper, ones)

    def bound(self, v2: Tensor, v3: Tensor) -> Tensor:
        """(n,) the dual value: what these multipliers of hinges and constraints prove."""
        v2, v3 = torch.where(self.hinge, v2, 0.0), torch.where(self.constraint, v3, 0.0)
        pull = v3 - v2
        slopes = self.gain + (pull[:, None, :] @ self.slope)[:, 0]
        value = (pull * self.offset).sum(-1) + slopes[:, : self.numeric].abs().sum(-1)
        for member in self.member:
            value = value + torch.where(self.live & (member > 0), slopes, -torch.inf).amax(-1)
        return torch.where(torch.isnan(value), torch.inf, value)

    def advance(self, state: State, done: Tensor) -> bool:
        """One predictor-corrector step for all programs; False when all are solved."""
        product = (state.v1 * state.s1 + state.v2 * state.s2) * self.hinge + state.v3 * state.s3 * self.constraint
        ends = state.v5 * state.s5 * self.live + state.v4 * state.s4
        count = 2 * self.hinge.sum(-1) + self.constraint.sum(-1) + self.live.sum(-1) + self.numeric
        mu = (product.sum(-1) + ends.sum(-1)) / count
        done = done | (mu < SMALL)
        if bool(done.all()):
            return False
        solver = _Newton(self, state)
        affine = solver.step(torch.zeros_like(mu)[:, None], None)
        primal, dual = solver.lengths(affine)
        after = solver.complementarity(affine, primal, dual) / count
        center = mu * (after / mu).clamp(0, 1) ** 3
        final = solver.step(center[:, None], affine)
        primal, dual = solver.lengths(final)
        going = torch.where(done, 0.0, STEP)[:, None]
        solver.move(final, primal * going, dual * going)
        return True


@dataclass(frozen=True)
class _NewtonStep:
    x: Tensor
    s1: Tensor
    s2: Tensor
    s3: Tensor
    v1: Tensor
    v2: Tensor
    v3: Tensor
    v4: Tensor
    v5: Tensor

    @property
    def s4(self) -> Tensor:
        return -self.x

    @property
    def s5(self) -> Tensor:
        return self.x


class _Newton:
    """The linear system of one iterate, factorised once and used twice."""

    def __init__(self, problem: Scaled, state: State) -> None:
        self.problem, self.state = problem, state
        self.d1, self.d2, self.d3 = state.v1 / state.s1, state.v2 / state.s2, state.v3 / state.s3
        self.d4, self.d5 = state.v4 / state.s4, state.v5 / state.s5
        self.both = self.d1 + self.d2
        # (n, 3k + 2q) which slacks and duals take part, in the order of _packed
        self.parts = torch.cat([problem.hinge, problem.hinge, problem.constraint, state.v4 > 0, problem.live], 1)
        curve = torch.where(problem.hinge, self.d1 * self.d2 / self.both, torch.where(problem.constraint, self.d3, 0.0))
        self.curve = curve
        slope = problem.slope
        if len(problem.member):  # steps keep Σp = 1, so this adds nothing but keeps the matrix far from singular
            self.member = problem.member * problem.live[:, None, :]  # (n, groups, q)
            slope = torch.cat([slope, self.member], 1)
            curve = torch.cat([curve, torch.ones_like(self.member[:, :, 0])], 1)
        self.solve = _factorised(slope, curve, torch.where(problem.live, self.d4 + self.d5, 1.0))
        reached = problem.offset + (problem.slope @ state.x[:, :, None])[:, :, 0]
        self.residual = torch.where(problem.constraint, reached - state.s3, 0.0)
        if len(problem.member):
            self.spread = self.solve(self.member.mT)  # (n, q, groups)
            self.schur = self.member @ self.spread

    def step(self, center: Tensor, before: _NewtonStep | None) -> _NewtonStep:
        """The Newton step towards complementarity ``center``, with Mehrotra's correction from ``before``."""
        p, state = self.problem, self.state
        e1, e2, e3, e4, e5 = (self._pull(kind, center, before) for kind in "12345")
        e4, e5 = torch.where(state.v4 > 0, e4, 0.0), torch.where(p.live, e5, 0.0)
        h2 = torch.where(p.hinge, (e2 * self.d1 - e1 * self.d2) / self.both + state.v2, 0.0)
        h3 = torch.where(p.constraint, e3 - self.d3 * self.residual + state.v3, 0.0)
        ends = e5 + state.v5 - e4 - state.v4
        right = torch.where(p.live, p.gain - ((h2 - h3)[:, None, :] @ p.slope)[:, 0] + ends, 0.0)
        dx = self.solve(right[:, :, None])
        if len(p.member):
            dx = dx - self.spread @ torch.linalg.solve_ex(self.schur, self.member @ dx)[0]
        dx = torch.where(p.live, dx[:, :, 0], 0.0)
        moved = (p.slope @ dx[:, :, None])[:, :, 0]
        dy = torch.where(p.hinge, (e1 + e2 + self.d2 * moved) / self.both, 0.0)
        ds2, ds3 = torch.where(p.hinge, dy - moved, 0.0), torch.where(p.constraint, moved + self.residual, 0.0)
        # in the form of the reduced system, so that its residual is that of the dual constraints (e − d·ds cancels)
        dv2 = torch.where(p.hinge, h2 - state.v2 + self.curve * moved, 0.0)
        dv1 = -dv2
        dv3 = torch.where(p.constraint, h3 - state.v3 - self.curve * moved, 0.0)
        dv4 = torch.where(state.v4 > 0, e4 + self.d4 * dx, 0.0)
        return _NewtonStep(dx, dy, ds2, ds3, dv1, dv2, dv3, dv4, torch.where(p.live, e5 - self.d5 * dx, 0.0))

    def _pull(self, kind: str, center: Tensor, before: _NewtonStep | None) -> Tensor:
        slack, dual = getattr(self.state, "s" + kind), getattr(self.state, "v" + kind)
        if before is not None:
            center = center - getattr(before, "s" + kind) * getattr(before, "v" + kind)
        return center / slack - dual  # type: ignore[no-any-return]

    def lengths(self, step: _NewtonStep) -> tuple[Tensor, Tensor]:
        """(n, 1) each: the longest primal and dual steps that keep everything positive, at most 1."""
        state = self.state
        primal = _longest(_packed(state, "s"), _packed(step, "s"), self.parts)
        dual = _longest(_packed(state, "v"), _packed(step, "v"), self.parts)
        return primal, dual

    def complementarity(self, step: _NewtonStep, primal: Tensor, dual: Tensor) -> Tensor:
        """(n,) the sum of slack · dual after the step."""
        p, state = self.problem, self.state

        def after(kind: str) -> Tensor:
            slack = getattr(state, "s" + kind) + primal * getattr(step, "s" + kind)
            return slack * (getattr(state, "v" + kind) + dual * getattr(step, "v" + kind))  # type: ignore[no-any-return]

        neurons = (after("1") + after("2")) * p.hinge + after("3") * p.constraint
        return neurons.sum(-1) + (after("4") + after("5") * p.live).sum(-1)

    def move(self, step: _NewtonStep, primal: Tensor, dual: Tensor) -> None:
        """Take the step, unless it is not a number (a singular system): then stay."""
        fine = torch.isfinite(step.x).all(-1, keepdim=True)
        fine = fine & torch.isfinite(step.v1 + step.v2 + step.v3).all(-1, keepdim=True)
        for name in ("x", "s1", "s2", "s3", "s4", "s5", "v1", "v2", "v3", "v4", "v5"):
            change = torch.where(fine, getattr(step, name), 0.0) * (dual if name[0] == "v" else primal)
            setattr(self.state, name, getattr(self.state, name) + change)


def _factorised(slope: Tensor, curve: Tensor, diagonal: Tensor) -> Callable[[Tensor], Tensor]:
    """A solver of (diag + Uᵀ·curve·U) x = right, in the smaller of the two spaces, refined once."""
    rows, columns = slope.shape[1], slope.shape[2]
    root = slope * curve.clamp(min=0).sqrt()[:, :, None]
    if columns <= rows:
        matrix = torch.diag_embed(diagonal) + root.mT @ root
        shrink = matrix.diagonal(dim1=1, dim2=2).rsqrt()[:, :, None]  # unit diagonal: the best simple preconditioner
        factor = torch.linalg.cholesky_ex(matrix * shrink * shrink.mT + RIDGE * torch.eye(columns).to(matrix))[0]

        def through(right: Tensor) -> Tensor:
            return torch.cholesky_solve(right * shrink, factor) * shrink
    else:
        thin = root / diagonal[:, None, :]
        inner = torch.eye(rows).to(root) + thin @ root.mT
        shrink = inner.diagonal(dim1=1, dim2=2).rsqrt()[:, :, None]
        factor = torch.linalg.cholesky_ex(inner * shrink * shrink.mT + RIDGE * torch.eye(rows).to(inner))[0]

        def through(right: Tensor) -> Tensor:
            return right / diagonal[:, :, None] - thin.mT @ (
                torch.cholesky_solve(thin @ right * shrink, factor) * shrink
            )

    def refined(right: Tensor) -> Tensor:
        first = through(right)
        rest = right - diagonal[:, :, None] * first - root.mT @ (root @ first)
        return first + through(rest)

    return refined


def _packed(parts: State | _NewtonStep, kind: str) -> Tensor:
    """(n, 3k + 2q) all slacks ("s") or all duals ("v") side by side: a few large operations cost less than many."""
    return torch.cat([getattr(parts, f"{kind}{number}") for number in range(1, 6)], 1)


def _longest(value: Tensor, change: Tensor, mask: Tensor) -> Tensor:
    ratio = torch.where(mask & (change < 0), -value / change, torch.inf)
    if ratio.shape[-1] == 0:
        return torch.ones((len(ratio), 1), dtype=value.dtype, device=value.device)
    return ratio.amin(-1, keepdim=True).clamp(max=1.0)
