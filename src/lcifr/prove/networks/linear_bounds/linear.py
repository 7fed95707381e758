"""One linear bound (CROWN) with free slopes and multipliers, in closed form on a cell.

Any slopes α of the lower lines in [0, 1], any split multipliers β and any row multipliers λ ≥ 0 give a valid bound;
choosing them well only tightens it. It is differentiable in the weights: the certified-training loss is this function.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lcifr.prove.networks.linear_bounds.cell_batch import CellBatch

NEARLY = 1e-9
"""A neuron whose interval touches 0 by this share of its width is given the line of its stable side. The exact checker
may see it as stable, and then both use the same line."""


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
        if coefficient.dim() == 2 and self.upper.dim() == 2:  # everybody's directions alike: one matrix product
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
    middle = batch.base + batch.center @ batch.weight.T
    reach = batch.radius @ batch.weight.abs().T
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
    direction : (K, width) alike for everybody, or (n, K, width).
    lines : of the hidden layers below ``layer``, first layer first.
    rows : (n, K, R) multipliers λ ≥ 0 of the linear rows, or None.
    """
    layer = batch.depth if layer is None else layer
    coefficient, constant = direction, batch.base.new_zeros(())
    extra = batch.base.new_zeros(())  # rounding that β and λ add to what that of the direction covers
    middle = batch.base + batch.center @ batch.weight.T
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
        value = value - (rows * (part.base + batch.center @ part.weight.T)[:, None]).sum(-1)
        slopes = slopes - rows @ part.weight
        groups = [group - rows @ weight for group, weight in zip(groups, part.groups, strict=True)]
        size = rows.detach().abs()
        extra = extra + batch.rounding.unit * ((size @ part.slope) * batch.largest[:, None] + size @ part.shift)
    value = value + torch.bmm(slopes.abs(), batch.radius[:, :, None])[:, :, 0]
    for group, allowed in zip(groups, batch.allowed, strict=True):
        value = value + torch.where(allowed[:, None, :], group, -torch.inf).amax(-1)
    upper = value + batch.rounding.rounding_error(layer, direction.detach().abs(), batch.largest) + extra
    return Reach(upper, slopes, tuple(groups))


def _shared(batch: CellBatch, direction: Tensor, line: Lines, middle: Tensor) -> tuple[Tensor, Tensor, list[Tensor]]:
    """One hidden layer, everybody's directions (K, width) alike: value at the middle (n, K) and slopes, by products.

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
