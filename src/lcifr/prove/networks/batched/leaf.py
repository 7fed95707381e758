"""Multipliers of a stalled leaf: the duals of its linear program, asked of a solver.

Once nearly all phases of a node are decided, the network is nearly linear on it, and mostly the cuts of splits and rows
stand between its bound and the exact one. Gradients find their multipliers slowly, a solver at once; and with them the
point where rows cut the cell, which jumps between vertices do not find. It is not believed: what its multipliers prove
is computed by ``linear.backward``, and what its point reaches by a forward pass, like everywhere.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from lcifr.models.network import LARGEST, Network
from lcifr.prove.networks.linear_bounds.cell_batch import CellBatch
from lcifr.prove.networks.linear_bounds.linear import Lines, backward, settle
from lcifr.prove.networks.linear_bounds.multipliers import Tightened
from lcifr.prove.networks.linear_bounds.search import CellPoints, repair
from lcifr.prove.proof import Multipliers
from lcifr.regions.region import Cell, Choice, LinearRows

LAST = 3
"""Undecided neurons at most: with more of them, splitting is cheaper than a solver."""


def with_duals(
    batch: CellBatch, direction: Tensor, lines: list[Lines], better: Tightened, bound: Tensor, enough: Tensor
) -> tuple[Tightened, Tensor]:
    """Better multipliers, points and bounds (n,) where few phases are undecided and the bound is above ``enough``."""
    undecided = sum(((line.lo < 0) & (line.hi > 0)).sum(1) for line in lines)
    stalled = ((bound > enough) & torch.isfinite(bound) & (undecided <= LAST)).nonzero()[:, 0]
    if batch.depth < 2 or len(stalled) == 0:  # the programs of one hidden layer are solved already
        return better, bound
    beta = [line.beta.clone() for line in better.lines if line.beta is not None]  # gradients leave some on all layers
    lower = [line.lower.clone() for line in better.lines]
    rows = None if better.rows is None else better.rows.clone()
    points = better.point or CellPoints(batch.center, tuple(part.to(torch.int8).argmax(1) for part in batch.allowed))
    numeric, hot = points.numeric.clone(), tuple(part.clone() for part in points.hot)
    for row in stalled.tolist():
        found = leaf_program(batch, row, direction[row], lines)
        if found is None:
            continue
        by, x = found
        numeric[row] = torch.as_tensor(x[: numeric.shape[1]], device=numeric.device)
        start = numeric.shape[1]
        for part, allowed in zip(hot, batch.allowed, strict=True):
            share = torch.as_tensor(x[start : start + allowed.shape[1]], device=numeric.device)
            part[row] = torch.where(allowed[row], share, -torch.inf).argmax()
            start += allowed.shape[1]
        for part in (*beta, *lower):
            part[row] = 0.0
        for line in by.lines:
            beta[line.layer][row, 0, line.neuron] = line.beta
            lower[line.layer][row, 0, line.neuron] = line.below
        if rows is not None:
            rows[row] = 0.0
            for entry in by.rows:
                rows[row, 0, entry.place] = entry.value
    new = [
        replace(line, lower=settle(line.lo[:, None], line.hi[:, None], slope), beta=part)
        for line, slope, part in zip(better.lines, lower, beta, strict=True)
    ]
    reach = backward(batch, direction[:, None, :], new, rows=rows)
    tighter = reach.upper[:, 0] < bound
    wide = tighter[:, None, None]
    kept = [
        replace(
            a,
            lower=torch.where(wide, a.lower, b.lower),
            beta=a.beta if a.beta is None or b.beta is None else torch.where(wide, a.beta, b.beta),
        )
        for a, b in zip(new, better.lines, strict=True)
    ]
    if rows is not None and better.rows is not None:
        rows = torch.where(wide, rows, better.rows)
    numeric = torch.minimum(torch.maximum(numeric, batch.lower), batch.upper)
    point = repair(batch, CellPoints(numeric, hot))
    return replace(better, lines=kept, rows=rows, point=point), torch.where(tighter, reach.upper[:, 0], bound)


def leaf_program(
    batch: CellBatch, row: int, direction: Tensor, lines: list[Lines]
) -> tuple[Multipliers, np.ndarray] | None:
    """The multipliers and the point (columns,) that a solver proposes for one row; None where it has no optimum."""
    from lcifr.prove.oracles.formulation import LayerInterval, formulate
    from lcifr.prove.oracles.lp import LARGEST_DUAL, multipliers_from_duals
    from lcifr.prove.oracles.solvers import Limits, SolverStatus, find_solver

    weights = [torch.cat([batch.weight, *batch.groups], 1), *(weight for weight, _ in batch.tail)]
    biases = [batch.base[row], *(bias for _, bias in batch.tail)]
    pairs = [(w.cpu().numpy(), b.cpu().numpy()) for w, b in zip(weights, biases, strict=True)]
    if pairs[0][0].shape[1] == 0 or not all((np.abs(part) <= LARGEST).all() for pair in pairs for part in pair):
        return None
    network, cell = Network.from_arrays(pairs), _cell(batch, row)
    intervals = [LayerInterval(line.lo[row].cpu().numpy(), line.hi[row].cpu().numpy()) for line in lines]
    model = formulate(network, cell, 0, intervals, whole=False)
    value = (direction @ batch.tail[-1][0]).cpu().numpy()
    outcome = find_solver().load(model.model, Limits()).maximize(model.cost(network.depth, value))
    if (
        outcome.status is not SolverStatus.OPTIMAL
        or outcome.duals is None
        or not (np.abs(outcome.duals) < LARGEST_DUAL).all()
    ):
        return None
    count = 0 if cell.rows is None else len(cell.rows.G)
    by = multipliers_from_duals(network, intervals, count, model, outcome.duals, value)
    return None if outcome.point is None else (by, outcome.point[: network.inputs])


def _cell(batch: CellBatch, row: int) -> Cell:
    """One row of the batch as a cell whose features are the columns that move."""

    def array(part: Tensor) -> np.ndarray:
        return part.cpu().numpy()

    start, choices = batch.weight.shape[1], []
    for allowed in batch.allowed:
        columns = np.arange(start, start + allowed.shape[1])
        choices.append(Choice(columns, array(allowed[row])[None]))
        start += allowed.shape[1]
    rows = None
    if batch.rows is not None:
        matrix = torch.cat([batch.rows.weight, *batch.rows.groups], 1)
        rows = LinearRows(array(matrix), -array(batch.rows.base[row])[None])
    numeric = np.arange(batch.weight.shape[1])
    box = array(batch.lower[row])[None], array(batch.upper[row])[None]
    return Cell(numeric, *box, tuple(choices), rows, np.ones(1, np.bool_))
