"""Bounds of a whole chunk of people at once, on any device torch knows: what a GPU is good at.

One backward pass with plain lines for everybody's directions, and for each answer, where points are asked for, one walk
from the vertex that its largest bound points at. Whoever this leaves open is asked about by the compiled search, on the
CPU. Bounds are in float64 with their rounding term (:mod:`lcifr.prove.networks.rounding`), which holds for sums in any
order, fused or not, and so on every device that rounds as IEEE 754 says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from lcifr.prove.answer import FloatArray
from lcifr.prove.networks.linear_bounds.cell_batch import CellView, Layers, tensors, view_cell
from lcifr.prove.networks.linear_bounds.linear import Reach, backward, hidden_lines
from lcifr.prove.networks.linear_bounds.search import assemble, climb, vertex_of
from lcifr.prove.networks.request import Findings, Request
from lcifr.regions.region import Cell

CACHE = 800_000
"""People × directions × hidden neurons bounded at once on a CPU. What is really made is people × directions × moving
columns, several times smaller: some MB, which stay in the cache."""
MEMORY = 400_000_000
"""The same on a GPU, where large batches are what makes it fast: a few GB."""


@torch.no_grad()
def bound_people(request: Request, *, climbing: bool = True) -> Findings:
    """Plain bounds of all directions, and the best point found for each answer: its most promising direction's.

    ``climbing`` : whether to look for points at all.
    """
    layers = tensors(request.network, request.device)
    found = Findings.blank(request.offset.shape, request.answers, request.region.features)
    best = request.reached.copy()
    for cell in request.region.cells:
        for who in _pieces(layers, cell, found.upper.shape[1]):
            reach = _bound_piece(request, layers, cell.take(who), who, found)
            if climbing:
                _climb_piece(request, reach, cell.take(who), who, found, best)
    return found


def _pieces(layers: Layers, cell: Cell, directions: int) -> Iterator[NDArray[np.intp]]:
    """People who have the cell, so many at a time that their numbers fit."""
    index = np.flatnonzero(cell.present)
    size = max(1, directions * max(weight.shape[0] for weight, _ in layers))
    step = max(16, (CACHE if layers[0][0].device.type == "cpu" else MEMORY) // size)
    for start in range(0, len(index), step):
        yield index[start : start + step]


@dataclass(frozen=True)
class _Reached:
    """The bounds of some people on a cell: ``upper`` (n, K), of ``directions`` (K, outputs) or (n, K, outputs)."""

    view: CellView
    directions: torch.Tensor
    reach: Reach
    upper: torch.Tensor


def _bound_piece(request: Request, layers: Layers, cell: Cell, who: NDArray[np.intp], found: Findings) -> _Reached:
    view = view_cell(layers, cell)
    alike = request.directions.ndim == 2
    chosen = request.directions if alike else request.directions[who]
    directions = torch.as_tensor(chosen, device=view.batch.base.device)
    reach = backward(view.batch, directions, hidden_lines(view.batch))
    upper = torch.where(torch.isnan(reach.upper), torch.inf, reach.upper)
    found.upper[who] = np.maximum(found.upper[who], upper.cpu().numpy())
    return _Reached(view, directions, reach, upper)


def _climb_piece(
    request: Request, bounded: _Reached, cell: Cell, who: NDArray[np.intp], found: Findings, best: FloatArray
) -> None:
    batch, directions, upper = bounded.view.batch, bounded.directions, bounded.upper
    device, alike = batch.base.device, directions.dim() == 2
    every = torch.arange(len(who), device=device)
    promising = (upper + torch.as_tensor(request.offset[who], device=device)).argmax(1)
    asked = [promising] if request.together else [torch.full_like(every, k) for k in range(upper.shape[1])]
    for answer, which in enumerate(asked):
        direction = directions[which] if alike else directions[every, which]
        points, value = climb(batch, direction, vertex_of(batch, bounded.reach, which))
        reached = value.cpu().numpy() + request.offset[who, which.cpu().numpy()]
        better = np.flatnonzero(reached > best[who, answer])
        chosen = torch.as_tensor(better, device=device)
        found.witness[who[better], answer] = assemble(bounded.view, cell, chosen, points.take(chosen))
        best[who[better], answer] = reached[better]
