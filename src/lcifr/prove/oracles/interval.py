"""Interval arithmetic alone: the loosest sound bound, and the yardstick of the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import final

import numpy as np
import torch

from lcifr.models.network import Network
from lcifr.prove.networks import NetworkEngine
from lcifr.prove.networks.linear_bounds import CellBatch, Lines, first_interval, interval, lines_for, tensors, view_cell
from lcifr.prove.proof import interval_leaves
from lcifr.prove.question import Answer, Engine, Question

CHUNK = 4_000_000
"""People × (directions + features) of one chunk: some tens of MB, so that memory does not grow with the people."""


@final
class IntervalArithmetic(Engine):
    """Layer by layer, each neuron by itself."""

    name = "interval"
    functions = Network

    def answer(self, question: Question) -> Answer:
        upper = interval_bounds(question)
        blank = NetworkEngine().answer(replace(question, branch=False))  # for its witnesses
        proof = interval_leaves(question.directions, question.region, upper) if question.proof else None
        return replace(blank, upper=upper, methods=(self.name,), proof=proof)


@torch.no_grad()
def interval_bounds(question: Question) -> np.ndarray:
    """(people, k) by intervals, the largest over the cells of each person."""
    layers = tensors(question.network, question.resources.device)
    people, k, _ = question.directions.shape
    result = np.full((people, k), -np.inf)
    for piece in _chunks(people, k * 8 + question.region.features):
        part = question.region.take(piece)
        directions = torch.as_tensor(np.array(question.directions[piece]), device=question.resources.device)
        for cell in part.cells:
            if cell.present.any():
                upper = forward_intervals(view_cell(layers, cell).batch, directions).cpu().numpy()
                upper = np.where(np.isnan(upper), np.inf, upper)
                result[piece] = np.where(cell.present[:, None], np.maximum(result[piece], upper), result[piece])
    return result


def forward_intervals(batch: CellBatch, directions: torch.Tensor) -> torch.Tensor:
    """(n, K) the output interval's upper end for directions (n, K, outputs)."""
    lines: list[Lines] = []
    for layer in range(batch.depth):
        if layer == 0:
            low, high = first_interval(batch)
        else:
            unit = torch.eye(batch.tail[layer - 1][0].shape[0]).to(batch.base)
            high = interval(batch, unit, lines, layer=layer)
            low = -interval(batch, -unit, lines, layer=layer)
        lines.append(lines_for(low, high))
    return interval(batch, directions, lines)


def _chunks(people: int, width: int) -> Iterator[slice]:
    """Slices of the people, ``width`` numbers each, that hold ``CHUNK`` numbers."""
    step = max(1, CHUNK // max(width, 1))
    for start in range(0, people, step):
        yield slice(start, min(people, start + step))
