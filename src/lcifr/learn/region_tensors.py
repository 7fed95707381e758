"""Regions as tensors, and the differentiable latent radius of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from lcifr.prove.networks.linear_bounds import Box, CellBatch, Layers, RowBatch, backward, hidden_lines
from lcifr.prove.networks.rounding import RoundingBound
from lcifr.regions.region import Cell, Region

ROW_STEPS = 8
"""Subgradient steps on the multipliers of linear rows: a loss needs a good bound, not the best one."""


@dataclass(frozen=True)
class CellTensors:
    """One cell of a region for all people, as tensors.

    Parameters
    ----------
    moving : (m,) numeric columns that differ from person to similar person; free : columns of each free choice.
    still : (people, features) fixed features (numbers and categories that cannot differ), 0 in the other columns.
    box : (people, m). allowed : (people, values) for each free choice.
    present : (people,) who has this cell. rows : (G, g), or None.
    """

    moving: Tensor
    free: tuple[Tensor, ...]
    still: Tensor
    box: Box
    allowed: tuple[Tensor, ...]
    present: Tensor
    everywhere: bool
    rows: tuple[Tensor, Tensor] | None

    @classmethod
    def of(cls, cell: Cell, features: int, dtype: torch.dtype, device: torch.device) -> CellTensors:
        """The cell as tensors; columns that move for no person are settled once and for all."""
        present = cell.present
        moves = (cell.upper > cell.lower)[present].any(0)
        free = [choice for choice in cell.choices if (choice.allowed[present].sum(1) != 1).any()]
        still = np.zeros((len(present), features))
        still[:, cell.numeric[~moves]] = cell.lower[:, ~moves]
        for choice in cell.choices:
            if not any(choice is other for other in free):
                still[:, choice.columns] = choice.allowed

        def number(array: np.ndarray) -> Tensor:
            return torch.as_tensor(np.ascontiguousarray(array), dtype=dtype, device=device)

        lower, upper = (number(np.where(present[:, None], end[:, moves], 0.0)) for end in (cell.lower, cell.upper))
        return cls(
            moving=torch.as_tensor(cell.numeric[moves], device=device),
            free=tuple(torch.as_tensor(choice.columns, device=device) for choice in free),
            still=number(np.where(present[:, None], still, 0.0)),
            box=Box.of(lower, upper),
            allowed=tuple(torch.as_tensor(choice.allowed, device=device) for choice in free),
            present=torch.as_tensor(present, device=device),
            everywhere=bool(present.all()),
            rows=None if cell.rows is None else (number(cell.rows.G), number(cell.rows.g)),
        )

    def members(self, index: Tensor) -> Tensor:
        """Positions in ``index`` (people of the batch) of those who have this cell."""
        if self.everywhere:
            return torch.arange(len(index), device=index.device)
        return self.present[index].nonzero()[:, 0]

    def batch(self, layers: Layers, who: Tensor) -> CellBatch:
        """The network on the cells of these people; differentiable in the layers, without the proofs' rounding."""
        weight, bias = layers[0]
        still = self.still[who]
        rows = None
        if self.rows is not None:
            matrix, level = self.rows
            zero = matrix.new_zeros(len(matrix))
            groups = tuple(matrix[:, columns] for columns in self.free)
            rows = RowBatch(still @ matrix.T - level[who], matrix[:, self.moving], groups, zero, zero)
        return CellBatch(
            weight=weight[:, self.moving],
            groups=tuple(weight[:, columns] for columns in self.free),
            tail=tuple(layers[1:]),
            base=torch.nn.functional.linear(still, weight, bias),
            box=self.box.take(who),
            allowed=tuple(allowed[who] for allowed in self.allowed),
            largest=still.new_zeros(len(still)),
            rounding=exact_rounding(layers),
            rows=rows,
        )


def exact_rounding(layers: Layers) -> RoundingBound[Tensor]:
    """No rounding error: a loss is not a proof."""
    nothing = tuple(weight.new_zeros(weight.shape[0]) for weight, _ in layers)
    return RoundingBound(nothing, nothing, 0.0)


@dataclass(frozen=True)
class RegionTensors:
    """The region of a population as tensors: one :class:`CellTensors` per cell."""

    people: int
    cells: tuple[CellTensors, ...]

    @classmethod
    def of(cls, region: Region, *, dtype: torch.dtype = torch.float64, device: str | None = None) -> RegionTensors:
        """Tensors of ``dtype`` on ``device``; memory is people × features, whatever the number of categories."""
        place = torch.device(device or "cpu")
        return cls(region.people, tuple(CellTensors.of(cell, region.features, dtype, place) for cell in region.cells))

    def batches(self, layers: Layers, index: Tensor) -> Iterator[tuple[Tensor, CellBatch]]:
        """For each cell: positions in the batch ``index`` of those who have it, and the network on it."""
        for cell in self.cells:
            members = cell.members(index)
            if len(members):
                yield members, cell.batch(layers, index if cell.everywhere else index[members])

    def radius(self, layers: Layers, latent: Tensor, index: Tensor) -> Tensor:
        """(batch,) ε: how far f(x′) can be from ``latent`` (batch, outputs) in any coordinate; differentiable.

        The bound is that of the proofs. Only the widest direction of a person has a gradient, so only that one is
        computed a second time with gradients; this is what keeps an epoch affordable.
        """
        result = latent.new_zeros(len(index))
        for members, batch in self.batches(layers, index):
            center = latent if len(members) == len(index) else latent[members]
            reach = widest(batch, center)
            if len(members) == len(index):
                result = torch.maximum(result, reach)
            else:
                result = torch.maximum(result, torch.zeros_like(result).index_put((members,), reach))
        return result


def widest(batch: CellBatch, center: Tensor) -> Tensor:
    """(n,) the largest proved distance from ``center`` (n, outputs) in any coordinate, with its gradient."""
    lines = hidden_lines(batch)
    outputs = center.shape[1]
    unit = torch.eye(outputs, dtype=center.dtype, device=center.device)
    signs = torch.cat([unit, -unit])
    # Rows must tighten every direction before the widest is known: one that was not tightened could hide it.
    rows = None if batch.rows is None else row_multipliers(batch, signs.expand(len(center), -1, -1))
    with torch.no_grad():
        far = backward(batch, signs if rows is None else signs.expand(len(center), -1, -1), lines, rows=rows).upper
        which = (far - center @ signs.T).argmax(1)
    direction = signs[which]
    if rows is not None:
        rows = rows[torch.arange(len(which), device=which.device), which][:, None, :]
    bound = backward(batch, direction[:, None, :], lines, rows=rows).upper[:, 0]
    return bound - (direction * center).sum(1)


def row_multipliers(batch: CellBatch, direction: Tensor) -> Tensor:
    """(n, K, R) multipliers λ ≥ 0 of the linear rows for directions (n, K, outputs); a few steps, the best ones kept.

    By the envelope theorem they are constants for the gradient in the weights.
    """
    batch = detached(batch)
    with torch.no_grad():
        lines = hidden_lines(batch)
    assert batch.rows is not None
    current = direction.new_zeros((*direction.shape[:2], batch.rows.weight.shape[0]))
    best, kept = direction.new_full(direction.shape[:2], torch.inf), current
    for step in range(ROW_STEPS):
        with torch.enable_grad():
            current = current.detach().requires_grad_()
            value = backward(batch, direction, lines, rows=current).upper
            (slope,) = torch.autograd.grad(value.sum(), current)
        with torch.no_grad():
            better = value < best
            best, kept = torch.where(better, value, best), torch.where(better[:, :, None], current, kept)
            # Polyak-like: the size of the slope says how far outside the rows the relaxed optimum is.
            length = value.abs().mean() / (slope.square().sum(2, keepdim=True) + 1e-12) / (2 + step)
            current = (current - length * slope).clamp(min=0)
    return kept.detach()


def detached(batch: CellBatch) -> CellBatch:
    """The same batch without gradients in the weights."""
    return replace(
        batch,
        weight=batch.weight.detach(),
        groups=tuple(part.detach() for part in batch.groups),
        tail=tuple((weight.detach(), bias.detach()) for weight, bias in batch.tail),
        base=batch.base.detach(),
    )
