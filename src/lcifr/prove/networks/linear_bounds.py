"""Linear bounds of networks over many cells at once, in torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcifr.models.network import Network
from lcifr.models.rounding import FLOOR
from lcifr.prove.networks.rounding import UNIT_UP, RoundingBound, largest_numbers
from lcifr.prove.question import Question
from lcifr.regions.region import Cell

# A network restricted to a cell: tensors that hold only what can vary, for many people or nodes.

Layers = Sequence[tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class RowBatch:
    """Linear rows on the same cell: the value (n, R) of G x − g at the center, and how it varies."""

    base: Tensor
    weight: Tensor
    groups: tuple[Tensor, ...]
    slope: Tensor
    shift: Tensor


@dataclass(frozen=True)
class Box:
    """(n, m) lower and upper ends, the middle, and how far the box reaches from there."""

    lower: Tensor
    upper: Tensor
    center: Tensor
    radius: Tensor

    @classmethod
    def of(cls, lower: Tensor, upper: Tensor) -> Box:
        """The box between two ends; the reach is rounded up, and exactly 0 where nothing moves."""
        center = (lower + upper) * 0.5
        reach = torch.maximum(upper - center, center - lower)
        return cls(lower, upper, center, torch.where(reach > 0, reach * UNIT_UP + 1e-300, reach))

    def take(self, index: Tensor | slice) -> Box:
        """The boxes of some of the people."""
        return Box(self.lower[index], self.upper[index], self.center[index], self.radius[index])


@dataclass(frozen=True)
class CellBatch:
    """n people (or nodes of a search tree), one cell each, and the network on it.

    Parameters
    ----------
    weight : (h, m) first layer, the numeric columns that move.
    groups : first layer of each free choice, (h, values) each.
    tail : the later layers, ``[(weight, bias), …]``.
    base : (n, h) the first layer's fixed part: bias, constant numerics, fixed categories. The center is not in it.
    box : (n, m) of the numeric columns that move. allowed : (n, values) for each free choice.
    largest : (n,) largest |x| of any numeric feature; infinite, and with it every bound, beyond LARGEST.
    """

    weight: Tensor
    groups: tuple[Tensor, ...]
    tail: tuple[tuple[Tensor, Tensor], ...]
    base: Tensor
    box: Box
    allowed: tuple[Tensor, ...]
    largest: Tensor
    rounding: RoundingBound[Tensor]
    rows: RowBatch | None

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
            box=self.box.take(index),
            allowed=tuple(allowed[index] for allowed in self.allowed),
            largest=self.largest[index],
            rows=replace(rows, base=rows.base[index]) if rows is not None else None,
        )


@dataclass(frozen=True)
class CellView:
    """Which columns of a cell move at all, and the batch on them.

    Parameters
    ----------
    moving : (m,) feature columns of ``batch.box``; ``free`` : positions in ``cell.choices`` of ``batch.allowed``.
    """

    moving: np.ndarray
    free: tuple[int, ...]
    batch: CellBatch


def view_cell(layers: Layers, cell: Cell) -> CellView:
    """The batch of all people in ``cell``; results for people without this cell are meaningless.

    Fixed choices are looked up (one column of the first layer), constant numerics are multiplied once; both go into
    ``base``. Differentiable in the layers.
    """
    weight, bias = layers[0]
    tensor = partial(_tensor, device=weight.device)
    moves = np.asarray((cell.upper > cell.lower)[cell.present].any(0))
    free = tuple(i for i, c in enumerate(cell.choices) if (c.allowed[cell.present].sum(1) != 1).any())
    still = _Still.of(cell, ~moves, free, weight.device)
    moving = cell.numeric[moves]
    columns = _CellColumns(tensor(cell.numeric), tensor(moving), [tensor(c.columns) for c in cell.choices], free)
    batch = CellBatch(
        weight=weight[:, columns.moving],
        groups=columns.groups(weight),
        tail=tuple(layers[1:]),
        base=still.at(weight, bias),
        box=Box.of(tensor(cell.lower[:, moves]), tensor(cell.upper[:, moves])),
        allowed=tuple(tensor(cell.choices[i].allowed) for i in free),
        largest=tensor(largest_numbers(cell)),
        rounding=RoundingBound.of(
            [(part.detach(), shift.detach()) for part, shift in layers], columns.numeric, columns.choices
        ),
        rows=None if cell.rows is None else _row_batch(tensor(cell.rows.G), tensor(cell.rows.g), columns, still),
    )
    return CellView(moving, free, batch)


def _tensor(array: np.ndarray, device: torch.device) -> Tensor:
    whole = np.ascontiguousarray(array)
    return torch.as_tensor(whole if whole.flags.writeable else whole.copy(), device=device)


@dataclass(frozen=True)
class _CellColumns:
    """Feature columns of a cell: all numerics, those that vary, and each choice; ``free`` : which choices are free."""

    numeric: Tensor
    moving: Tensor
    choices: list[Tensor]
    free: tuple[int, ...]

    def groups(self, matrix: Tensor) -> tuple[Tensor, ...]:
        """The columns of each free choice."""
        return tuple(matrix[:, self.choices[i]] for i in self.free)


@dataclass(frozen=True)
class _Still:
    """The fixed part of a cell, for n people: ``values`` (n, ·) of numeric ``columns``, and fixed categories."""

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


# One linear bound (CROWN) with free slopes and multipliers, in closed form on a cell.
#
# Any slopes α of the lower lines in [0, 1], any split multipliers β and any row multipliers λ ≥ 0 give a valid bound;
# choosing them well only tightens it. It is differentiable in the weights: the certified-training loss is this
# function.

NEARLY = 1e-9
"""A neuron whose interval crosses 0 by no more than this share of its width gets the line of its stable side. The exact
checker may see it as stable, and then both use the same line."""


@dataclass(frozen=True)
class Lines:
    """Intervals of one hidden layer before its ReLU, and the lines that replace the ReLU on them.

    Parameters
    ----------
    lo, hi : (n, h) proved interval.
    upper : (n, h) or (n, K, h) slope of the line above; its intercept follows from the interval.
    lower : (n, h) or (n, K, h) slope of the line below, through 0.
    beta : (n, K, h) or None: multiplier of y ≥ lo (positive) or y ≤ hi (negative).
    """

    lo: Tensor
    hi: Tensor
    upper: Tensor
    lower: Tensor
    beta: Tensor | None = None

    @property
    def intercept(self) -> Tensor:
        """max(relu(lo) − s·lo, relu(hi) − s·hi): the line of slope s that lies above ReLU at both ends."""
        lo, hi = _like(self.lo, self.upper), _like(self.hi, self.upper)
        # relu(y) − s·y = max(y, 0) − s·y; written with one product each
        return torch.maximum(
            torch.addcmul(lo.clamp(min=0), lo, self.upper, value=-1.0),
            torch.addcmul(hi.clamp(min=0), hi, self.upper, value=-1.0),
        )

    @property
    def alike(self) -> bool:
        """Whether the same lines serve all directions, and no multipliers."""
        return self.upper.dim() == 2 and self.lower.dim() == 2 and self.beta is None

    def pull(self, coefficient: Tensor) -> tuple[Tensor, Tensor]:
        """c·relu(y) ≤ c′·y + d: the new coefficients (n, K, h) and d (n, K), from c of shape (K, h) or (n, K, h)."""
        upper, lower, intercept = _wide(self.upper), _wide(self.lower), self.intercept
        positive = coefficient.clamp(min=0)
        if coefficient.dim() == 2 and self.upper.dim() == 2:  # all people's directions alike: one matrix product
            constant = intercept @ positive.T
        else:
            constant = (positive * _wide(intercept)).sum(-1)
        pulled = coefficient * torch.where(coefficient > 0, upper, lower)
        if self.beta is not None:
            anchor = torch.where(self.beta > 0, _wide(self.lo), _wide(self.hi))
            pulled, constant = pulled + self.beta, constant - (self.beta * anchor).sum(-1)
        return pulled, constant


@dataclass(frozen=True)
class Reach:
    """The result of one backward pass.

    Parameters
    ----------
    upper : (n, K) proved bound, rounded outward. coefficient : (n, K, m) of the moving numerics in the linear bound.
    groups : (n, K, values) coefficients of each free choice.
    """

    upper: Tensor
    coefficient: Tensor
    groups: tuple[Tensor, ...]


def lines_for(lo: Tensor, hi: Tensor) -> Lines:
    """The chord above, and below whichever of 0 and y encloses the smaller area."""
    lower = (hi > -lo).to(lo.dtype)
    width = (hi - lo).clamp(min=torch.finfo(lo.dtype).tiny)
    upper = torch.where(lo >= 0, 1.0, torch.where(hi <= 0, 0.0, hi / width))
    return Lines(lo, hi, upper, settle(lo, hi, lower))


def settle(lo: Tensor, hi: Tensor, lower: Tensor) -> Tensor:
    """Lower slopes in [0, 1], those of stable and nearly stable neurons on their stable side."""
    margin = NEARLY * (hi - lo)
    lower = torch.where(lo >= -margin, 1.0, lower.clamp(0.0, 1.0))
    return torch.where(hi <= margin, 0.0, lower)


def first_interval(batch: CellBatch) -> tuple[Tensor, Tensor]:
    """(n, h) each: the closed-form interval of the first layer on the cell, rounded outward."""
    middle = batch.base + batch.box.center @ batch.weight.T
    reach = batch.box.radius @ batch.weight.abs().T
    low, high = middle - reach, middle + reach
    for weight, allowed in zip(batch.groups, batch.allowed, strict=True):
        high = high + torch.where(allowed[:, None, :], weight, -torch.inf).amax(-1)
        low = low + torch.where(allowed[:, None, :], weight, torch.inf).amin(-1)
    rounding = batch.rounding
    rounding_error = rounding.unit * (batch.largest[:, None] * rounding.slope[0] + rounding.shift[0])
    return low - rounding_error, high + rounding_error


def backward(
    batch: CellBatch, direction: Tensor, lines: list[Lines], *, layer: int | None = None, rows: Tensor | None = None
) -> Reach:
    """An upper bound of direction · y at ``layer`` (default: the output) over every x′ of the cell.

    Parameters
    ----------
    direction : (K, width) alike for all people, or (n, K, width).
    lines : of the hidden layers below ``layer``, first layer first.
    rows : (n, K, R) multipliers λ ≥ 0 of the linear rows, or None.
    """
    layer = batch.depth if layer is None else layer
    coefficient, constant = direction, batch.base.new_zeros(())
    extra = batch.base.new_zeros(())  # rounding that β and λ add to what that of the direction covers
    middle = batch.base + batch.box.center @ batch.weight.T
    if layer == 1 and direction.dim() == 2 and lines[0].alike and len(batch) >= batch.columns:
        value, slopes, groups = _shared(batch, direction, lines[0], middle)
    else:
        for index in reversed(range(layer)):
            weight, bias = batch.tail[index]
            constant = constant + coefficient @ bias
            coefficient, moved = lines[index].pull(coefficient @ weight)
            constant = constant + moved
            beta = lines[index].beta
            if beta is not None:
                extra = extra + batch.rounding.rounding_error(index, 2.0 * beta.detach().abs(), batch.largest)
        slopes, groups = coefficient @ batch.weight, [coefficient @ weight for weight in batch.groups]
        if coefficient.dim() == 2:
            value = constant + middle @ coefficient.T
            slopes = slopes.expand(len(batch), *slopes.shape)
            groups = [part.expand(len(batch), *part.shape) for part in groups]
        else:
            value = constant + torch.bmm(coefficient, middle[:, :, None])[:, :, 0]
    if rows is not None and batch.rows is not None:
        part = batch.rows
        value = value - (rows * (part.base + batch.box.center @ part.weight.T)[:, None]).sum(-1)
        slopes = slopes - rows @ part.weight
        groups = [group - rows @ weight for group, weight in zip(groups, part.groups, strict=True)]
        size = rows.detach().abs()
        extra = extra + batch.rounding.unit * ((size @ part.slope) * batch.largest[:, None] + size @ part.shift)
    value = value + torch.bmm(slopes.abs(), batch.box.radius[:, :, None])[:, :, 0]
    for group, allowed in zip(groups, batch.allowed, strict=True):
        value = value + torch.where(allowed[:, None, :], group, -torch.inf).amax(-1)
    upper = value + batch.rounding.rounding_error(layer, direction.detach().abs(), batch.largest) + extra
    return Reach(upper, slopes, tuple(groups))


def _shared(batch: CellBatch, direction: Tensor, line: Lines, middle: Tensor) -> tuple[Tensor, Tensor, list[Tensor]]:
    """One hidden layer, directions (K, width) alike for all people: value at the middle (n, K) and slopes, by products.

    The slope of column i in the bound of direction k is Σ_j (c⁺_kj·upper_j + c⁻_kj·lower_j)·W_ji. With the products
    c·W made once, it is one matrix product for all people, and nothing of the size people × directions × neurons is
    ever made. Sums run over 2h terms, one half of them exact zeros: the rounding counts twice the length of every sum.
    """
    weight, bias = batch.tail[0]
    value = direction @ weight
    positive, negative = value.clamp(min=0), value.clamp(max=0)
    sides = torch.cat([positive, negative], 1)
    whole = torch.cat([batch.weight, *batch.groups], 1)
    table = sides.T[:, :, None] * torch.cat([whole, whole])[:, None, :]
    lines = torch.cat([line.upper, line.lower], 1)
    slopes = (lines @ table.flatten(1)).view(len(batch), len(direction), whole.shape[1])
    at_middle = (lines * torch.cat([middle, middle], 1)) @ sides.T
    constant = direction @ bias + line.intercept @ positive.T
    sizes = [batch.weight.shape[1], *(part.shape[1] for part in batch.groups)]
    numeric, *groups = torch.split(slopes, sizes, 2)
    return constant + at_middle, numeric, groups


def hidden_lines(batch: CellBatch, phases: list[Tensor] | None = None) -> list[Lines]:
    """Intervals and lines of every hidden layer: closed form in the first, linear ∩ interval bounds in the others.

    Parameters
    ----------
    phases : for each hidden layer (n, h) int8, −1 where y ≤ 0 was decided, +1 where y ≥ 0, 0 else; or None.
    """
    found: list[Lines] = []
    for layer in range(batch.depth):
        if layer == 0:
            lo, hi = first_interval(batch)
        else:
            lo, hi = _deeper_interval(batch, found, layer)
        if phases is not None:
            hi = torch.where(phases[layer] < 0, hi.clamp(max=0), hi)
            lo = torch.where(phases[layer] > 0, lo.clamp(min=0), lo)
        found.append(lines_for(lo, hi))
    return found


def _deeper_interval(batch: CellBatch, lines: list[Lines], layer: int) -> tuple[Tensor, Tensor]:
    """Linear bounds intersected with interval arithmetic: neither is always tighter."""
    width = batch.tail[layer - 1][0].shape[0]
    unit = torch.eye(width, dtype=batch.base.dtype, device=batch.base.device)
    both = torch.cat([unit, -unit])
    upper = torch.minimum(backward(batch, both, lines, layer=layer).upper, interval(batch, both, lines, layer=layer))
    return -upper[:, width:], upper[:, :width]


def interval(batch: CellBatch, direction: Tensor, lines: list[Lines], *, layer: int | None = None) -> Tensor:
    """(n, K) direction · y at ``layer`` by interval arithmetic from the layer below alone, rounded outward.

    Without a hidden layer below, this is the closed form on the cell.
    """
    layer = batch.depth if layer is None else layer
    if layer == 0:
        return backward(batch, direction, lines, layer=0).upper
    weight, bias = batch.tail[layer - 1]
    value = direction @ weight
    low, high = lines[layer - 1].lo.clamp(min=0), lines[layer - 1].hi.clamp(min=0)
    if value.dim() == 2:
        result = high @ value.clamp(min=0).T + low @ value.clamp(max=0).T
    else:
        result = (value.clamp(min=0) * high[:, None] + value.clamp(max=0) * low[:, None]).sum(-1)
    return result + direction @ bias + batch.rounding.rounding_error(layer, direction.detach().abs(), batch.largest)


def _wide(part: Tensor) -> Tensor:
    return part[:, None, :] if part.dim() == 2 else part


def _like(part: Tensor, other: Tensor) -> Tensor:
    return part[:, None, :] if other.dim() == 3 and part.dim() == 2 else part


# Interval bounds only, for everyone in the question.

CHUNK = 4_000_000
"""People × (directions + features) of one chunk: some tens of MB, so that memory does not grow with the people."""


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
