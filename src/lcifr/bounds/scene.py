"""What can it reach? A network seen from a cell: tensors that hold only what can move, for many people or nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from lcifr.network import FLOOR, Network, gamma
from lcifr.similarity.region import Cell

Layers = Sequence[tuple[Tensor, Tensor]]
UNIT_UP = 1.0 + 2.0**-50
"""Enlarges a radius by more than the rounding of the two operations that made it."""


@dataclass(frozen=True)
class Gauge:
    """How large the numbers of a computation can be, and so how far rounding can take it.

    The magnitude of layer i (the sum of the absolute values of all products that make up its neurons, and of the lines
    that replace them) is at most ``slope[i]·X + shift[i]`` where X is the largest |x| of a numeric feature:

        slope₀ = Σ_numeric |W₀|,  shift₀ = |b₀| + Σ_choices max |W₀|,
        slopeᵢ = 4|Wᵢ|·slopeᵢ₋₁,  shiftᵢ = 4|Wᵢ|·shiftᵢ₋₁ + |bᵢ|.

    The factor 4: a ReLU becomes s·y + t with 0 ≤ s ≤ 1 and |t| ≤ max(|lo|, |hi|), each at most the magnitude of the
    layer (and a hair more for outward rounding), and a coefficient that is 0 but for rounding may take either line.
    Every term of the final sum is then a product of factors with at most ``operations`` roundings on its way, in any
    order of summation, fused or not, so that the computed value differs from the exact one by at most
    γ_operations · magnitude (Higham, Accuracy and Stability, ch. 3). Underflow is covered by FLOOR.
    """

    slope: tuple[Tensor, ...]
    shift: tuple[Tensor, ...]
    unit: float

    @classmethod
    def of(cls, layers: Layers, numeric: Tensor, choices: Sequence[Tensor]) -> Gauge:
        """The gauge of a network whose first layer reads ``numeric`` columns and one-hot ``choices``."""
        first, bias = layers[0][0].detach().abs(), layers[0][1].detach().abs()
        slopes = [first[:, numeric].sum(1)]
        shift = bias + FLOOR
        for columns in choices:
            shift = shift + first[:, columns].amax(1)
        shifts = [shift]
        for weight, bias in layers[1:]:
            size = 4.0 * weight.detach().abs()
            slopes.append(size @ slopes[-1])
            shifts.append(size @ shifts[-1] + bias.detach().abs() + FLOOR)
        # the way back sums over the outputs as well, which no layer reads
        lengths = [layers[-1][0].shape[0], *(weight.shape[1] for weight, _ in layers)]
        operations = sum(length + 16 for length in lengths) + len(choices) + 64
        return cls(tuple(slopes), tuple(shifts), gamma(2 * operations))

    def doubt(self, layer: int, size: Tensor, largest: Tensor) -> Tensor:
        """Rounding of c·y at ``layer`` for |c| = ``size`` (…, K, width) and X = ``largest`` (n,) -> (n, K)."""
        rise, level = size @ self.slope[layer], size @ self.shift[layer]
        return self.unit * (rise * largest[:, None] + level + FLOOR)


@dataclass(frozen=True)
class RowsScene:
    """Linear rows seen from the same cell: value at the center (n, R) of G x − g, and how it moves."""

    base: Tensor
    weight: Tensor
    groups: tuple[Tensor, ...]
    slope: Tensor
    shift: Tensor


@dataclass(frozen=True)
class Scene:
    """n people (or nodes of a search tree), one cell each, and the network on it.

    Parameters
    ----------
    weight : (h, m) first layer, the numeric columns that move.
    groups : first layer of each free choice, (h, values) each.
    tail : the later layers, ``[(weight, bias), …]``.
    base : (n, h) first layer at what is fixed: bias, still numerics, settled categories. The center is not in it.
    lower, upper : (n, m) the box. allowed : (n, values) for each free choice.
    largest : (n,) largest |x| of any numeric feature.
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
    gauge: Gauge
    rows: RowsScene | None
    center: Tensor
    radius: Tensor

    def with_box(self, lower: Tensor, upper: Tensor, allowed: tuple[Tensor, ...]) -> Scene:
        """The same rows on other (smaller) cells."""
        center, radius = middle_of(lower, upper)
        return replace(self, lower=lower, upper=upper, allowed=allowed, center=center, radius=radius)

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

    def take(self, index: Tensor | slice) -> Scene:
        """The scene of some of the people, in the order asked for."""
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
class Stage:
    """Which columns of a cell move at all, and the scene on them.

    Parameters
    ----------
    moving : (m,) feature columns of ``scene.lower``; ``free`` : positions in ``cell.choices`` of ``scene.allowed``.
    """

    moving: np.ndarray
    free: tuple[int, ...]
    scene: Scene


def set_stage(layers: Layers, cell: Cell) -> Stage:
    """The scene of everybody in ``cell``; people who do not have the cell get whatever their numbers say.

    Settled choices are looked up (one column of the first layer), still numerics multiplied once; both end in ``base``.
    Differentiable in the layers.
    """
    weight, bias = layers[0]
    device = weight.device

    def tensor(array: np.ndarray) -> Tensor:
        whole = np.ascontiguousarray(array)
        return torch.as_tensor(whole if whole.flags.writeable else whole.copy(), device=device)

    present = cell.present
    moves = (cell.upper > cell.lower)[present].any(0)
    free = tuple(i for i, c in enumerate(cell.choices) if (c.allowed[present].sum(1) != 1).any())
    still, moving = cell.numeric[~moves], cell.numeric[moves]
    settled = [c for i, c in enumerate(cell.choices) if i not in free]
    hot = np.stack([c.columns[c.allowed.argmax(1)] for c in settled], 1) if settled else None
    values, index = tensor(cell.lower[:, ~moves]), None if hot is None else tensor(hot)

    def fixed(matrix: Tensor, vector: Tensor) -> Tensor:
        result = vector.expand(len(present), matrix.shape[0])
        if len(still):
            result = result + values @ matrix[:, tensor(still)].T
        if index is not None:
            result = result + torch.nn.functional.embedding_bag(index, matrix.T.contiguous(), mode="sum")
        return result

    columns = [tensor(cell.choices[i].columns) for i in free]
    ends = np.maximum(np.abs(cell.lower), np.abs(cell.upper)).max(1, initial=0.0)
    every = [tensor(c.columns) for c in cell.choices]
    lower, upper = tensor(cell.lower[:, moves]), tensor(cell.upper[:, moves])
    center, radius = middle_of(lower, upper)
    scene = Scene(
        weight=weight[:, tensor(moving)],
        groups=tuple(weight[:, c] for c in columns),
        tail=tuple(layers[1:]),
        base=fixed(weight, bias),
        lower=lower,
        upper=upper,
        allowed=tuple(tensor(cell.choices[i].allowed) for i in free),
        largest=tensor(ends),
        gauge=Gauge.of(layers, tensor(cell.numeric), every),
        rows=None,
        center=center,
        radius=radius,
    )
    if cell.rows is not None:
        matrix, level = tensor(cell.rows.G), tensor(cell.rows.g)
        size = matrix.abs()
        rows = RowsScene(
            base=fixed(matrix, -level),
            weight=matrix[:, tensor(moving)],
            groups=tuple(matrix[:, c] for c in columns),
            slope=size[:, tensor(cell.numeric)].sum(1),
            shift=sum((size[:, c].amax(1) for c in every), FLOOR + level.abs().amax(0)),
        )
        scene = replace(scene, rows=rows)
    return Stage(moving, free, scene)


def tensors(network: Network, device: str | None = None) -> Layers:
    """The layers of a frozen network as float64 tensors."""
    return [
        (torch.tensor(part.weight, device=device), torch.tensor(part.bias, device=device)) for part in network.layers
    ]
