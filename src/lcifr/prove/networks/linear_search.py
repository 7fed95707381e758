"""Bounds of whole chunks of people in torch, their multipliers optimised, and the proofs of plain ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lcifr.prove.networks.linear_bounds import (
    CellBatch,
    CellView,
    Layers,
    Lines,
    Reach,
    RowBatch,
    backward,
    hidden_lines,
    tensors,
    view_cell,
)
from lcifr.prove.proof import CellProof, Leaf, Multipliers, NeuronBound, ProvedBound, ReluLine, entries
from lcifr.prove.question import Answer, FloatArray, Question
from lcifr.regions.region import Cell

# Proofs of plain bounds, as the exact checker reads them: one leaf with the lines of a backward pass.


@torch.no_grad()
def plain_proofs(question: Question, upper: FloatArray) -> list[list[list[CellProof]]]:
    """For each person and direction the proofs, cell by cell, of what `bound_people` found."""
    layers, (people, k) = tensors(question.network), upper.shape
    proofs: list[list[list[CellProof]]] = [[[] for _ in range(k)] for _ in range(people)]
    for number, cell in enumerate(question.region.cells):
        index = np.flatnonzero(cell.present)
        if len(index) == 0:
            continue
        view = view_cell(layers, cell.take(index))
        lines = hidden_lines(view.batch)
        for row, person in enumerate(index):
            ends = ends_by(lines, row)
            for direction, bound, found in zip(
                question.directions[person], upper[person].tolist(), proofs[person], strict=True
            ):
                leaf = Leaf(multipliers(view, torch.tensor(direction), lines, row), ends=ends)
                found.append(CellProof(number, (ProvedBound(entries(direction), bound, (leaf,)),)))
    return proofs


def multipliers(view: CellView, direction: Tensor, lines: list[Lines], row: int) -> Multipliers:
    """The lines of one backward pass, sparse: only neurons whose coefficient does not become 0 have one."""
    coefficient = direction
    found: list[ReluLine] = []
    for layer in reversed(range(len(lines))):
        line = lines[layer]
        value = coefficient @ view.batch.tail[layer][0]
        slope = torch.where(value > 0, line.upper[row], line.lower[row])
        slope = torch.where(value != 0, slope, 0.0)
        coefficient = value * slope
        needed = slope.nonzero()[:, 0].tolist()
        found += [ReluLine(layer, k, float(slope[k]), float(slope[k])) for k in needed]
    return Multipliers(tuple(found))


def ends_by(lines: list[Lines], row: int) -> tuple[NeuronBound, ...]:
    """How the intervals of deeper layers were proved: plain passes on these lines; the first layer needs no proof."""
    ends: list[NeuronBound] = []
    earlier: list[ReluLine] = []
    for layer, line in enumerate(lines):
        if layer > 0:
            by = Multipliers(tuple(earlier))
            for k in range(line.lo.shape[1]):
                ends += [NeuronBound(layer, k, "lower", by), NeuronBound(layer, k, "upper", by)]
        upper, lower = line.upper[row].tolist(), line.lower[row].tolist()
        earlier += [ReluLine(layer, k, a, b) for k, (a, b) in enumerate(zip(upper, lower, strict=True)) if a or b]
    return tuple(ends)


# Concrete points of a cell with large values: vertex jumps along the gradient, category swaps.

JUMPS = 4
"""A piecewise linear function on a box settles on a vertex after a few jumps, or cycles; the best point is kept."""
REPAIRS = 60
"""Projections onto rows; what is still outside then does not count."""
PATIENCE = 10
"""Projections in which a point must come nearer by a tenth."""


@dataclass(frozen=True)
class CellPoints:
    """One point per row of a batch: numerics (n, m) and for each free choice the position of its category (n,)."""

    numeric: Tensor
    hot: tuple[Tensor, ...]

    def where(self, better: Tensor, other: CellPoints) -> CellPoints:
        """These points, replaced by ``other`` where ``better`` (n,) is True."""
        hot = tuple(torch.where(better, new, old) for new, old in zip(other.hot, self.hot, strict=True))
        return CellPoints(torch.where(better[:, None], other.numeric, self.numeric), hot)

    def take(self, index: Tensor) -> CellPoints:
        """Some of the points."""
        return CellPoints(self.numeric[index], tuple(hot[index] for hot in self.hot))


def first_layer(batch: CellBatch, points: CellPoints) -> Tensor:
    """(n, h) the first layer before its ReLU."""
    return _affine(batch.base, batch.weight, batch.groups, points)


def outputs(batch: CellBatch, points: CellPoints) -> Tensor:
    """(n, outputs) a plain forward pass."""
    value = first_layer(batch, points)
    for weight, bias in batch.tail:
        value = torch.relu(value) @ weight.T + bias
    return value


def vertex(batch: CellBatch, slopes: Tensor, groups: tuple[Tensor, ...]) -> CellPoints:
    """The point where a linear function with these slopes (n, m), (n, values)… is largest; rows are not looked at."""
    hot = tuple(
        torch.where(allowed, part, -torch.inf).argmax(-1) for part, allowed in zip(groups, batch.allowed, strict=True)
    )
    return CellPoints(torch.where(slopes > 0, batch.box.upper, batch.box.lower), hot)


def vertex_of(batch: CellBatch, reach: Reach, which: Tensor) -> CellPoints:
    """The vertex that a bound of direction ``which`` (n,) points at."""
    at = torch.arange(len(batch), device=batch.base.device)
    return vertex(batch, reach.coefficient[at, which], tuple(part[at, which] for part in reach.groups))


def gradient(batch: CellBatch, direction: Tensor, points: CellPoints) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Slopes of direction (n, outputs) · network at the points: numerics (n, m), choices (n, values)…"""
    value, masks = first_layer(batch, points), []
    for weight, bias in batch.tail:
        masks.append(value > 0)
        value = torch.relu(value) @ weight.T + bias
    coefficient = direction
    for (weight, _), mask in zip(reversed(batch.tail), reversed(masks), strict=True):
        coefficient = (coefficient @ weight) * mask
    return coefficient @ batch.weight, tuple(coefficient @ weight for weight in batch.groups)


def value_of(batch: CellBatch, direction: Tensor, points: CellPoints) -> Tensor:
    """(n,) direction · network at the points; −inf where a row is violated."""
    value = (direction * outputs(batch, points)).sum(-1)
    if batch.rows is not None:
        value = torch.where(satisfies_rows(batch, points), value, -torch.inf)
    return value


def climb(batch: CellBatch, direction: Tensor, start: CellPoints, jumps: int = JUMPS) -> tuple[CellPoints, Tensor]:
    """The best point (and its value) on a walk from ``start``: jump to the gradient's vertex, or half of the way."""
    best = repair(batch, start)
    value = value_of(batch, direction, best)
    current = best
    for _ in range(jumps):
        slopes, groups = gradient(batch, direction, current)
        corner = repair(batch, vertex(batch, slopes, groups))
        half = repair(batch, CellPoints((current.numeric + corner.numeric) * 0.5, corner.hot))
        reached, halfway = value_of(batch, direction, corner), value_of(batch, direction, half)
        current = corner.where(halfway > reached, half)
        reached = torch.maximum(reached, halfway)
        better = reached > value
        if not bool(better.any()):
            break
        best, value = best.where(better, current), torch.where(better, reached, value)
    return best, value


def assemble(view: CellView, cell: Cell, item: Tensor, points: CellPoints) -> np.ndarray:
    """(n, features) whole individuals from points of a batch; ``item`` says whose cell each belongs to."""
    people = item.cpu().numpy()
    features = len(cell.numeric) + sum(len(choice.columns) for choice in cell.choices)
    full = np.zeros((len(people), features))
    full[:, cell.numeric] = cell.lower[people]
    full[:, view.moving] = points.numeric.cpu().numpy()
    rows = np.arange(len(people))
    hot = {choice: part.cpu().numpy() for choice, part in zip(view.free, points.hot, strict=True)}
    for position, choice in enumerate(cell.choices):
        value = hot[position] if position in hot else choice.allowed[people].argmax(1)
        full[rows, choice.columns[value]] = 1.0
    return full


def satisfies_rows(batch: CellBatch, points: CellPoints) -> Tensor:
    """(n,) whether the linear rows hold, up to rounding: between the two rows of an equation there is no more room."""
    rows = batch.rows
    if rows is None:
        return torch.ones(len(batch), dtype=torch.bool, device=batch.base.device)
    return (_rows_at(rows, points) <= _rounding(batch, rows)).all(-1)


def repair(batch: CellBatch, points: CellPoints) -> CellPoints:
    """Numerics moved into the rows by projections onto the row that is missed most, within the box.

    Every other turn goes a little beyond the row, or a corner would be approached for ever; not every one, or an
    equation (two rows) would never be met.
    """
    rows = batch.rows
    if rows is None or (kept := satisfies_rows(batch, points)).all():
        return points
    wrong = (~kept).nonzero()[:, 0]
    batch, moved = batch.take(wrong), points.take(wrong)
    numeric, rows = moved.numeric, batch.rows or rows
    length = (rows.weight**2).sum(1).sqrt().clamp(min=torch.finfo(rows.weight.dtype).tiny)
    unit, close = rows.weight / length[:, None], _rounding(batch, rows) / length
    level = _rows_at(rows, CellPoints(torch.zeros_like(numeric), moved.hot)) / length - close
    left, before = torch.ones_like(wrong, dtype=torch.bool), torch.full_like(batch.largest, torch.inf)
    for turn in range(REPAIRS):
        over, worst = (level + numeric @ unit.T).max(-1)
        left &= over > 0
        if turn % PATIENCE == 0:  # what comes no nearer never does: these categories leave no point
            left, before = left & (over < 0.9 * before), over
        if not bool(left.any()):
            break
        push = over * (1 + 1e-6) + 1e-12 if turn % 2 else over + close.gather(1, worst[:, None])[:, 0]
        step = torch.where(left, push, 0.0)[:, None] * unit[worst]
        numeric = torch.clamp(numeric - step, batch.box.lower, batch.box.upper)
    whole = points.numeric.clone()
    whole[wrong] = numeric
    return CellPoints(whole, points.hot)


def _rounding(batch: CellBatch, rows: RowBatch) -> Tensor:
    """(n, R) what rounding alone makes of a row that holds with equality; the caller of a proof looks again."""
    return 2.0**-52 * (batch.largest[:, None] * rows.slope + rows.shift)


def _rows_at(rows: RowBatch, points: CellPoints) -> Tensor:
    return _affine(rows.base, rows.weight, rows.groups, points)


def _affine(base: Tensor, weight: Tensor, groups: tuple[Tensor, ...], points: CellPoints) -> Tensor:
    value = base + points.numeric @ weight.T
    for part, hot in zip(groups, points.hot, strict=True):
        value = value + part.T[hot]
    return value


# Bounds of a whole chunk of people at once, on any device torch knows: what a GPU is good at.
#
# One backward pass with plain lines for all people's directions, and for each answer, where points are asked for, one
# walk from the vertex that its largest bound points at. People this leaves open go to the compiled search,
# on the CPU. Bounds are in float64 with their rounding term (:mod:`lcifr.prove.networks.rounding`), which holds for
# sums in any order, fused or not, and so on every device that rounds as IEEE 754 says.

CACHE = 800_000
"""People × directions × hidden neurons bounded at once on a CPU. What is really made is people × directions × moving
columns, several times smaller: some MB, which stay in the cache."""
MEMORY = 400_000_000
"""The same on a GPU, where large batches are what makes it fast: a few GB."""


@torch.no_grad()
def bound_people(question: Question, *, climbing: bool = True) -> Answer:
    """Plain bounds of all directions, and the best point found for each answer: its most promising direction's.

    ``climbing`` : whether to look for points at all.
    """
    layers, best = tensors(question.network, question.resources.device), question.reached()
    upper: FloatArray = np.full(question.directions.shape[:2], -np.inf)
    witness = np.full((*best.shape, question.region.features), np.nan)
    for cell in question.region.cells:
        for who in _pieces(layers, cell, upper.shape[1]):
            here = cell.take(who)
            reach = _bound_piece(question, layers, here, who, upper)
            if climbing:
                _climb_piece(question, reach, here, who, witness, best)
    return Answer.claimed(question, upper, witness)


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


def _bound_piece(question: Question, layers: Layers, cell: Cell, who: NDArray[np.intp], upper: FloatArray) -> _Reached:
    view = view_cell(layers, cell)
    chosen = question.rows[0] if question.alike else question.rows[who]
    directions = torch.as_tensor(chosen, device=view.batch.base.device)
    reach = backward(view.batch, directions, hidden_lines(view.batch))
    found = torch.where(torch.isnan(reach.upper), torch.inf, reach.upper)
    upper[who] = np.maximum(upper[who], found.cpu().numpy())
    return _Reached(view, directions, reach, found)


def _climb_piece(
    question: Question, bounded: _Reached, cell: Cell, who: NDArray[np.intp], witness: FloatArray, best: FloatArray
) -> None:
    batch, directions, upper = bounded.view.batch, bounded.directions, bounded.upper
    device, alike, offset = batch.base.device, directions.dim() == 2, question.offset[who]
    every = torch.arange(len(who), device=device)
    promising = (upper + torch.as_tensor(offset, device=device)).argmax(1)
    together = question.shared is not None
    asked = [promising] if together else [torch.full_like(every, k) for k in range(upper.shape[1])]
    for answer, which in enumerate(asked):
        direction = directions[which] if alike else directions[every, which]
        points, value = climb(batch, direction, vertex_of(batch, bounded.reach, which))
        reached = value.cpu().numpy() + offset[np.arange(len(who)), which.cpu().numpy()]
        better = np.flatnonzero(reached > best[who, answer])
        chosen = torch.as_tensor(better, device=device)
        witness[who[better], answer] = assemble(bounded.view, cell, chosen, points.take(chosen))
        best[who[better], answer] = reached[better]
