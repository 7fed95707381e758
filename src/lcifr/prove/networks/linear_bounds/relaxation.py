"""A cell as the program that :mod:`interior` solves, and the optimum as a point of the cell."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lcifr.prove.networks.linear_bounds.cell_batch import CellBatch
from lcifr.prove.networks.linear_bounds.interior import NodeProgram
from lcifr.prove.networks.linear_bounds.linear import Lines
from lcifr.prove.networks.linear_bounds.search import CellPoints


@dataclass(frozen=True)
class Hidden:
    """The hidden layer split into what is linear, what is a hinge and what is a constraint; (n, h) each."""

    linear: Tensor
    intercept: Tensor
    hinge: Tensor
    sign: Tensor


def split_hidden(value: Tensor, line: Lines, phase: Tensor) -> Hidden:
    """The parts of neurons that the objective takes ``value`` (n, h) times, with their lines and phases."""
    unstable = (line.lo < 0) & (line.hi > 0)
    linear = torch.where(unstable, torch.where(value > 0, line.upper, 0.0), (line.lo >= 0).to(value.dtype))
    hinge = torch.where(unstable & (value < 0), -value, 0.0)
    return Hidden(linear, line.intercept, hinge, phase.to(value.dtype))


def make_program(batch: CellBatch, gain: Tensor, middle: Tensor, hidden: Hidden | None) -> NodeProgram:
    """The program of the module docstring of :mod:`interior`, hidden neurons first, then the linear rows."""
    radius, count, width = batch.radius, len(batch), batch.weight.shape[1]
    blocks, offsets, weights, masks = [], [], [], []
    if hidden is not None:
        sign = torch.where(hidden.sign == 0, 1.0, hidden.sign)
        whole = torch.cat([batch.weight, *batch.groups], 1)
        blocks.append(whole[None] * sign[:, :, None])
        offsets.append(middle * sign)
        weights.append(hidden.hinge)
        masks.append(hidden.sign != 0)
    if batch.rows is not None:
        rows = batch.rows
        blocks.append((-torch.cat([rows.weight, *rows.groups], 1))[None].expand(count, -1, -1))
        offsets.append(-(rows.base + batch.center @ rows.weight.T))
        weights.append(torch.zeros_like(offsets[-1]))
        masks.append(torch.ones_like(offsets[-1], dtype=torch.bool))
    total = width + sum(part.shape[1] for part in batch.groups)
    stretch = torch.cat([radius, torch.ones((count, total - width)).to(radius)], 1)
    if not blocks:
        blocks, offsets = [radius.new_zeros((count, 1, total))], [radius.new_zeros((count, 1))]
        weights, masks = [offsets[0]], [torch.zeros_like(offsets[0], dtype=torch.bool)]
    member = radius.new_zeros((len(batch.groups), total))
    start = width
    for index, part in enumerate(batch.groups):
        member[index, start : start + part.shape[1]] = 1.0
        start += part.shape[1]
    allowed = torch.cat(batch.allowed, 1) if batch.allowed else radius.new_zeros((count, 0), dtype=torch.bool)
    slope = torch.cat(blocks, 1) * stretch[:, None, :]
    if total == 0:  # nothing moves: one idle variable keeps the shapes alive
        idle = torch.zeros_like(batch.largest)[:, None]
        slope, stretch, gain, width = idle[:, :, None].expand(-1, slope.shape[1], 1), idle, idle, 1
        member = member.new_zeros((0, 1))
    return NodeProgram(
        gain * stretch, torch.cat(offsets, 1), slope, torch.cat(weights, 1), torch.cat(masks, 1), width, allowed, member
    )


def rounded(batch: CellBatch, x: Tensor) -> tuple[CellPoints, tuple[Tensor, ...]]:
    """The program's optimum as points of the cell, and (n,) for each choice how far it was from one category."""
    width = batch.weight.shape[1]
    numeric = batch.center + x[:, :width] * batch.radius
    numeric = torch.minimum(torch.maximum(numeric, batch.lower), batch.upper)
    hot, fraction, start = [], [], width
    for allowed in batch.allowed:
        share = torch.where(allowed, x[:, start : start + allowed.shape[1]], -torch.inf)
        hot.append(share.argmax(-1))
        fraction.append(1.0 - share.amax(-1))
        start += allowed.shape[1]
    return CellPoints(numeric, tuple(hot)), tuple(fraction)
