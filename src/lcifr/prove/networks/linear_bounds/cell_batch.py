"""A network seen from a cell: tensors that hold only what can move, for many people or nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcifr.models.network import FLOOR, Network
from lcifr.prove.networks.rounding import UNIT_UP, RoundingBound, largest_numbers
from lcifr.regions.region import Cell

Layers = Sequence[tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class RowBatch:
    """Linear rows seen from the same cell: value at the center (n, R) of G x − g, and how it moves."""

    base: Tensor
    weight: Tensor
    groups: tuple[Tensor, ...]
    slope: Tensor
    shift: Tensor


@dataclass(frozen=True)
class CellBatch:
    """n people (or nodes of a search tree), one cell each, and the network on it.

    Parameters
    ----------
    weight : (h, m) first layer, the numeric columns that move.
    groups : first layer of each free choice, (h, values) each.
    tail : the later layers, ``[(weight, bias), …]``.
    base : (n, h) first layer at what is fixed: bias, still numerics, settled categories. The center is not in it.
    lower, upper : (n, m) the box. allowed : (n, values) for each free choice.
    largest : (n,) largest |x| of any numeric feature; infinite, and with it every bound, beyond LARGEST.
    center, radius : (n, m) follow from the box.
    """

    weight: Tensor
    groups: tuple[Tensor, ...]
    tail: tuple[tuple[Tensor, Tensor], ...]
    base: Tensor
    lower: Tensor
    upper: Tensor
    allowed: tuple[Tensor, ...]
    largest: Tensor
    rounding: RoundingBound[Tensor]
    rows: RowBatch | None
    center: Tensor
    radius: Tensor

    @property
    def depth(self) -> int:
        """How many hidden layers."""
        return len(self.tail)

    @property
    def columns(self) -> int:
        """How many columns move: numerics, and the categories of free choices."""
        return int(self.weight.shape[1] + sum(part.shape[1] for part in self.groups))

    def __len__(self) -> int:
        return int(self.base.shape[0])

    def take(self, index: Tensor | slice) -> CellBatch:
        """The batch of some of the people, in the order asked for."""
        rows = self.rows
        return replace(
            self,
            base=self.base[index],
            lower=self.lower[index],
            upper=self.upper[index],
            allowed=tuple(allowed[index] for allowed in self.allowed),
            largest=self.largest[index],
            center=self.center[index],
            radius=self.radius[index],
            rows=replace(rows, base=rows.base[index]) if rows is not None else None,
        )


def middle_of(lower: Tensor, upper: Tensor) -> tuple[Tensor, Tensor]:
    """The middle of a box and how far it reaches from there, rounded up; exactly 0 where nothing moves."""
    center = (lower + upper) * 0.5
    reach = torch.maximum(upper - center, center - lower)
    return center, torch.where(reach > 0, reach * UNIT_UP + 1e-300, reach)


@dataclass(frozen=True)
class CellView:
    """Which columns of a cell move at all, and the batch on them.

    Parameters
    ----------
    moving : (m,) feature columns of ``batch.lower``; ``free`` : positions in ``cell.choices`` of ``batch.allowed``.
    """

    moving: np.ndarray
    free: tuple[int, ...]
    batch: CellBatch


def view_cell(layers: Layers, cell: Cell) -> CellView:
    """The batch of everybody in ``cell``; people who do not have the cell get whatever their numbers say.

    Settled choices are looked up (one column of the first layer), still numerics multiplied once; both end in ``base``.
    Differentiable in the layers.
    """
    weight, bias = layers[0]
    tensor = partial(_tensor, device=weight.device)
    moves = np.asarray((cell.upper > cell.lower)[cell.present].any(0))
    free = tuple(i for i, c in enumerate(cell.choices) if (c.allowed[cell.present].sum(1) != 1).any())
    still = _Still.of(cell, ~moves, free, weight.device)
    moving = cell.numeric[moves]
    columns = _CellColumns(tensor(cell.numeric), tensor(moving), [tensor(c.columns) for c in cell.choices], free)
    lower, upper = tensor(cell.lower[:, moves]), tensor(cell.upper[:, moves])
    center, radius = middle_of(lower, upper)
    batch = CellBatch(
        weight=weight[:, columns.moving],
        groups=columns.groups(weight),
        tail=tuple(layers[1:]),
        base=still.at(weight, bias),
        lower=lower,
        upper=upper,
        allowed=tuple(tensor(cell.choices[i].allowed) for i in free),
        largest=tensor(largest_numbers(cell)),
        rounding=RoundingBound.of(
            [(part.detach(), shift.detach()) for part, shift in layers], columns.numeric, columns.choices
        ),
        rows=None if cell.rows is None else _row_batch(tensor(cell.rows.G), tensor(cell.rows.g), columns, still),
        center=center,
        radius=radius,
    )
    return CellView(moving, free, batch)


def _tensor(array: np.ndarray, device: torch.device) -> Tensor:
    whole = np.ascontiguousarray(array)
    return torch.as_tensor(whole if whole.flags.writeable else whole.copy(), device=device)


@dataclass(frozen=True)
class _CellColumns:
    """Feature columns of a cell: of all numerics, of those that move, of every choice; which choices are ``free``."""

    numeric: Tensor
    moving: Tensor
    choices: list[Tensor]
    free: tuple[int, ...]

    def groups(self, matrix: Tensor) -> tuple[Tensor, ...]:
        """The columns of each free choice."""
        return tuple(matrix[:, self.choices[i]] for i in self.free)


@dataclass(frozen=True)
class _Still:
    """What of a cell does not move, for n people: ``values`` (n, ·) of numeric ``columns``, and settled categories."""

    people: int
    columns: Tensor | None
    values: Tensor
    hot: Tensor | None

    @classmethod
    def of(cls, cell: Cell, stays: NDArray[np.bool_], free: tuple[int, ...], device: torch.device) -> _Still:
        settled = [c for i, c in enumerate(cell.choices) if i not in free]
        hot = np.stack([c.columns[c.allowed.argmax(1)] for c in settled], 1) if settled else None
        columns = _tensor(cell.numeric[stays], device) if stays.any() else None
        values = _tensor(cell.lower[:, stays], device)
        return cls(len(cell.present), columns, values, None if hot is None else _tensor(hot, device))

    def at(self, matrix: Tensor, vector: Tensor) -> Tensor:
        """(n, height) matrix·x + vector of this part of x."""
        result = vector.expand(self.people, matrix.shape[0])
        if self.columns is not None:
            result = result + self.values @ matrix[:, self.columns].T
        if self.hot is not None:
            result = result + torch.nn.functional.embedding_bag(self.hot, matrix.T.contiguous(), mode="sum")
        return result


def _row_batch(matrix: Tensor, level: Tensor, columns: _CellColumns, still: _Still) -> RowBatch:
    size = matrix.abs()
    return RowBatch(
        base=still.at(matrix, -level),
        weight=matrix[:, columns.moving],
        groups=columns.groups(matrix),
        slope=size[:, columns.numeric].sum(1),
        shift=sum((size[:, c].amax(1) for c in columns.choices), FLOOR + level.abs().amax(0)),
    )


def tensors(network: Network, device: str | None = None) -> Layers:
    """The layers of a frozen network as float64 tensors."""
    return [
        (torch.tensor(part.weight, device=device), torch.tensor(part.bias, device=device)) for part in network.layers
    ]
