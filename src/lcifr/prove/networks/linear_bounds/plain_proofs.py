"""Proofs of plain bounds, as the exact checker reads them: one leaf with the lines of a backward pass."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lcifr.prove.answer import FloatArray
from lcifr.prove.networks.linear_bounds.cell_batch import CellView, tensors, view_cell
from lcifr.prove.networks.linear_bounds.linear import Lines, hidden_lines
from lcifr.prove.networks.request import Proofs, Request
from lcifr.prove.proof import CellProof, Entry, Leaf, Multipliers, NeuronBound, ProvedBound, ReluLine


@torch.no_grad()
def plain_proofs(request: Request, upper: FloatArray) -> Proofs:
    """For each person and direction the proofs, cell by cell, of what `bound_people` found."""
    layers, (people, k) = tensors(request.network), upper.shape
    rows = np.broadcast_to(request.directions, (people, k, request.network.outputs))
    proofs: list[list[list[CellProof]]] = [[[] for _ in range(k)] for _ in range(people)]
    for number, cell in enumerate(request.region.cells):
        index = np.flatnonzero(cell.present)
        if len(index) == 0:
            continue
        view = view_cell(layers, cell.take(index))
        lines = hidden_lines(view.batch)
        for row, person in enumerate(index):
            ends = ends_by(lines, row)
            for direction, bound in enumerate(upper[person].tolist()):
                leaf = Leaf(multipliers(view, torch.tensor(rows[person, direction]), lines, row), ends=ends)
                claim = ProvedBound(entries(rows[person, direction]), bound, (leaf,))
                proofs[person][direction].append(CellProof(number, (claim,)))
    return list(proofs)


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


def entries(values: FloatArray) -> tuple[Entry, ...]:
    """A direction as the proof format writes it: what is not 0."""
    return tuple(Entry(int(j), float(values[j])) for j in np.flatnonzero(values))
