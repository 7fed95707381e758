"""The best multipliers of a network with at most one hidden layer, by a batched interior point.

With one hidden layer the relaxed problem of a node is a small linear program: maximise a linear function minus weighted
hinges over box × simplices, cut by linear constraints (splits and rows). Its dual variables are the slopes α and the
multipliers β, λ of the linear bound. They are found for thousands of nodes at once by Mehrotra's predictor-corrector
method, and for a few of them by :mod:`simplex`; whatever these return is only a proposal, the bound is
computed by ``linear.backward``.

    minimise   −g·ξ + w·y     y ≥ 0,  y ≥ z + Uξ  (hinges),   z + Uξ ≥ 0  (constraints),   ξ in the cell
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lcifr.prove.networks.linear_bounds.newton import Scaled, State
from lcifr.prove.networks.linear_bounds.simplex import MOST, solve_each

ROUNDS = 30


@dataclass(frozen=True)
class NodeProgram:
    """n programs of the same shape, scaled: numerics in [−1, 1], categories on a simplex.

    Parameters
    ----------
    gain : (n, q) g. offset : (n, k) z. slope : (n, k, q) U. weight : (n, k) w, 0 where there is no hinge.
    constraint : (n, k) bool. numeric : how many of the q variables are numerics; the others are categories.
    allowed : (n, q − numeric) bool. member : (groups, q) 1 where a variable belongs to the group, else 0.
    """

    gain: Tensor
    offset: Tensor
    slope: Tensor
    weight: Tensor
    constraint: Tensor
    numeric: int
    allowed: Tensor
    member: Tensor


@dataclass(frozen=True)
class Solution:
    """slope : (n, k) α in [0, 1]. multiplier : (n, k) ≥ 0. x : (n, q) relaxed point. value : (n,) dual bound."""

    slope: Tensor
    multiplier: Tensor
    x: Tensor
    value: Tensor


def solve(program: NodeProgram, enough: Tensor | None = None) -> Solution:
    """The best multipliers seen on the way, for each program; no more work where the bound is ``enough`` (n,).

    Only hinges and constraints take part: they are packed to the front, solved, and put back in their places.
    """
    part = (program.weight > 0) | program.constraint
    width = max(1, int(part.sum(1).max())) if len(part) else 1
    if width == part.shape[1]:
        return _solve(program, enough)
    place = part.to(torch.int8).argsort(1, descending=True)[:, :width]
    packed = replace(
        program,
        offset=program.offset.gather(1, place),
        slope=program.slope.gather(1, place[:, :, None].expand(-1, -1, program.slope.shape[2])),
        weight=program.weight.gather(1, place),
        constraint=program.constraint.gather(1, place),
    )
    solution = _solve(packed, enough)
    blank = torch.zeros_like(program.weight)
    return replace(
        solution,
        slope=blank.scatter(1, place, solution.slope),
        multiplier=blank.scatter(1, place, solution.multiplier),
    )


def _solve(program: NodeProgram, enough: Tensor | None) -> Solution:
    hinge = program.weight > 0
    norms = program.slope.abs().sum(-1)
    norms = torch.where(norms > 0, norms, 1.0)
    weight = program.weight * norms
    scale = torch.maximum(program.gain.abs().amax(-1, keepdim=True), weight.amax(-1, keepdim=True)).clamp(min=1e-300)
    live = torch.cat([torch.ones_like(program.gain[:, : program.numeric], dtype=torch.bool), program.allowed], 1)
    scaled = Scaled(
        torch.where(live, program.gain / scale, 0.0),
        program.offset / norms,
        torch.where(live[:, None], program.slope / norms[:, :, None], 0.0),
        torch.where(hinge, weight / scale, 1.0),
        hinge,
        program.constraint,
        live,
        program.numeric,
        program.member,
    )
    goal = torch.full_like(scale[:, 0], -torch.inf) if enough is None else enough / scale[:, 0]
    best = _by_simplex(scaled) if _few(program) else None
    best = best or _by_newton(scaled, goal)
    slope = torch.where(hinge, (best.v2 / scaled.weight).clamp(0, 1), 0.0)
    multiplier = torch.where(program.constraint, best.v3.clamp(min=0) * scale / norms, 0.0)
    return Solution(slope, multiplier, best.x, best.value * scale[:, 0])


def _few(program: NodeProgram) -> bool:
    """Whether to solve one after the other: few programs on a CPU, cut by constraints."""
    return len(program.gain) <= MOST and not program.gain.is_cuda and bool(program.constraint.any())


def _by_simplex(scaled: Scaled) -> _Best | None:
    found = solve_each(scaled)
    return None if found is None else _Best(scaled.bound(found[0], found[1]), *found)


def _by_newton(scaled: Scaled, goal: Tensor) -> _Best:
    state = scaled.start()
    best = _Best(scaled.bound(state.v2, state.v3), state.v2, state.v3, state.x)
    for _ in range(ROUNDS):
        if not scaled.advance(state, best.value <= goal):
            break
        best = best.improved(scaled.bound(state.v2, state.v3), state)
    return best


@dataclass(frozen=True)
class _Best:
    value: Tensor
    v2: Tensor
    v3: Tensor
    x: Tensor

    def improved(self, value: Tensor, state: State) -> _Best:
        better = value < self.value
        wide = better[:, None]
        return _Best(
            torch.where(better, value, self.value),
            torch.where(wide, state.v2, self.v2),
            torch.where(wide, state.v3, self.v3),
            torch.where(wide, state.x, self.x),
        )
