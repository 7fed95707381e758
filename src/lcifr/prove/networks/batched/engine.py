"""The steps of the cascade on one chunk of people: bounds, search, branch the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lcifr.prove.networks.batched.forest import Forest
from lcifr.prove.networks.batched.incumbent import Incumbent
from lcifr.prove.networks.batched.nodes import Problems
from lcifr.prove.networks.batched.record import TreeRecorder, ends_by, entries, multipliers
from lcifr.prove.networks.linear_bounds.cell_batch import CellView, Layers, tensors, view_cell
from lcifr.prove.networks.linear_bounds.linear import backward, hidden_lines
from lcifr.prove.networks.linear_bounds.search import climb, repair, value_of, vertex_of
from lcifr.prove.networks.request import Findings, Proofs, Request
from lcifr.prove.proof import CellProof, Leaf, Node, ProvedBound
from lcifr.regions.region import Cell, Region

Trees = dict[tuple[int, int], tuple[Node, ...]]

CACHE = 800_000
"""People × directions × hidden neurons bounded at once on a CPU. What is really made is people × directions × moving
columns, several times smaller: some MB, which stay in the cache."""
MEMORY = 400_000_000
"""The same on a GPU, where large batches are what makes it fast: a few GB."""


@dataclass(frozen=True)
class BatchQuestion:
    """What is asked about one chunk of n people.

    Parameters
    ----------
    directions : (K, outputs) alike for everybody, or (n, K, outputs).
    offset : (n, K) added to the value of a direction before values are compared.
    answer : (n, K) which of the G answers a direction belongs to.
    incumbent : of these G answers.
    nodes : allowed for each direction. branch : whether to go on where bounds and search leave a gap.
    """

    layers: Layers
    region: Region
    directions: Tensor
    offset: Tensor
    answer: Tensor
    incumbent: Incumbent
    nodes: int
    branch: bool
    deadline: float | None
    proof: bool


@dataclass(frozen=True)
class BatchAnswer:
    """upper : (n, K) proved, without the offset. nodes, exhausted, branched : (n, K). proof[person][direction]."""

    upper: Tensor
    nodes: Tensor
    exhausted: Tensor
    branched: Tensor
    proof: Proofs | None


@dataclass(frozen=True)
class BoundedCell:
    """One cell of a chunk: who has it (indices into the chunk), its batch, and the bounds of all directions on it."""

    number: int
    people: Tensor
    cell: Cell
    view: CellView
    upper: Tensor


def answer_people(request: Request) -> Findings:
    """Whatever is asked, of any depth, on any device, with proofs where they are wanted."""
    layers, features = tensors(request.network, request.device), request.region.features
    device = layers[0][0].device
    (people, k), answers = request.offset.shape, request.reached.shape[1]
    target = None if request.target is None else torch.tensor(request.target.reshape(-1), device=device)
    incumbent = Incumbent(torch.tensor(request.reached.reshape(-1), device=device), target, request.tolerance)
    every = torch.arange(people * answers, device=device).reshape(people, answers)
    result = run(
        BatchQuestion(
            layers,
            request.region,
            torch.as_tensor(request.directions, device=device),
            torch.as_tensor(request.offset, device=device),
            every.expand(people, k),
            incumbent,
            request.nodes,
            request.branch,
            request.deadline,
            request.proof,
        )
    )
    witness = incumbent.points(features).reshape(people, answers, features)
    return Findings(
        result.upper.cpu().numpy(),
        result.nodes.cpu().numpy(),
        result.exhausted.cpu().numpy(),
        result.branched.cpu().numpy(),
        witness,
        proofs=result.proof or [],
    )


@torch.no_grad()
def run(task: BatchQuestion) -> BatchAnswer:
    """Bounds for everybody, points where they matter, and branch-and-bound where the two still differ."""
    parts = [part for number, cell in enumerate(task.region.cells) if (part := bound_part(task, number, cell))]
    upper = torch.full_like(task.offset, -torch.inf)
    nodes = torch.zeros_like(task.answer)
    exhausted = torch.zeros_like(task.answer, dtype=torch.bool)
    branched = torch.zeros_like(exhausted)
    people, k = task.offset.shape
    proof: Proofs | None = [[[] for _ in range(k)] for _ in range(people)] if task.proof else None
    for part in parts:
        after = part.upper
        trees: Trees = {}
        if task.branch:
            after, spent, spare, touched = _branch(task, part, trees)
            nodes[part.people] += spent
            exhausted[part.people] |= spare
            branched[part.people] |= touched
        upper[part.people] = torch.maximum(upper[part.people], after)
        if proof is not None:
            _write(task, part, after, trees, proof)
    return BatchAnswer(upper, nodes, exhausted, branched, proof)


def bound_part(task: BatchQuestion, number: int, cell: Cell) -> BoundedCell | None:
    """Plain linear bounds of all directions on one cell, in pieces that fit the cache, and a first search."""
    index = np.flatnonzero(cell.present)
    if len(index) == 0:
        return None
    whole = len(index) == len(cell.present)
    cell = cell if whole else cell.take(index)
    view = view_cell(task.layers, cell)
    device = view.batch.base.device
    people = torch.as_tensor(index, device=device)
    upper = torch.empty((len(index), task.offset.shape[1]), dtype=torch.float64, device=device)
    size = max(1, upper.shape[1] * max(weight.shape[0] for weight, _ in task.layers))
    step = max(16, (CACHE if device.type == "cpu" else MEMORY) // size)
    for start in range(0, len(index), step):
        piece = slice(start, start + step)
        _bound_piece(task, cell, view, people, piece, upper)
    return BoundedCell(number, people, cell, view, upper)


def _bound_piece(task: BatchQuestion, cell: Cell, view: CellView, people: Tensor, piece: slice, upper: Tensor) -> None:
    batch, who = view.batch.take(piece), people[piece]
    directions = task.directions if task.directions.dim() == 2 else task.directions[who]
    reach = backward(batch, directions, hidden_lines(batch))
    upper[piece] = torch.where(torch.isnan(reach.upper), torch.inf, reach.upper)
    promise, which = (upper[piece] + task.offset[who]).max(1)
    answer = task.answer[who, which]
    matters = (promise > task.incumbent.enough(answer)).nonzero()[:, 0]
    if len(matters) == 0:
        return
    points = vertex_of(batch, reach, which).take(matters)
    part = directions[which[matters]] if directions.dim() == 2 else directions[matters, which[matters]]
    item = torch.arange(piece.start, piece.start + len(who), device=who.device)[matters]
    batch, answer = batch.take(matters), answer[matters]
    offset = task.offset[who[matters], which[matters]]
    points = repair(batch, points)
    task.incumbent.offer(answer, value_of(batch, part, points) + offset, view, cell, item, points)
    rest = (~task.incumbent.settled(answer)).nonzero()[:, 0]
    if len(rest):  # a target that the first vertex reaches needs no better point
        points, value = climb(batch.take(rest), part[rest], points.take(rest))
        task.incumbent.offer(answer[rest], value + offset[rest], view, cell, item[rest], points)


def open_problems(task: BatchQuestion, part: BoundedCell, done: Tensor) -> tuple[Tensor, Tensor]:
    """(P,) people of the part and (P,) directions whose bound can still change their answer."""
    every = torch.arange(len(task.incumbent.best), device=part.upper.device)
    limit = torch.where(task.incumbent.settled(every), torch.inf, task.incumbent.enough(every))
    whole = len(part.people) == len(task.offset)
    answer, offset = (task.answer, task.offset) if whole else (task.answer[part.people], task.offset[part.people])
    found = ((part.upper + offset > limit[answer]) & ~done).nonzero()
    return found[:, 0], found[:, 1]


def _branch(task: BatchQuestion, part: BoundedCell, trees: Trees) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Branch-and-bound for the open directions: everybody's most promising one first, then what it leaves open."""
    upper, touched = part.upper.clone(), torch.zeros_like(part.upper, dtype=torch.bool)
    spent, spare = torch.zeros_like(touched, dtype=torch.int64), torch.zeros_like(touched)
    for first in (True, False):
        item, which = open_problems(task, part, touched)
        if first:
            top = (part.upper + task.offset[part.people]).argmax(1)
            shared = (task.answer[part.people, :1] == task.answer[part.people]).all(1)
            keep = (which == top[item]) | ~shared[item]
            item, which = item[keep], which[keep]
        if len(item) == 0:
            continue
        who = part.people[item]
        directions = task.directions[which] if task.directions.dim() == 2 else task.directions[who, which]
        offset, answer = task.offset[who, which], task.answer[who, which]
        problems = Problems(item, directions, offset, answer, upper[item, which], task.nodes)
        recorder = TreeRecorder(part.view, part.cell, problems) if task.proof else None
        grown = Forest(part.view, part.cell, problems, task.incumbent, recorder).grow(task.deadline)
        if recorder is not None:
            better = (grown.upper < upper[item, which]).nonzero()[:, 0].tolist()
            for row in better:
                empty = bool(torch.isneginf(grown.upper[row]))
                trees[int(item[row]), int(which[row])] = recorder.tree(row, empty)
        upper[item, which] = torch.minimum(upper[item, which], grown.upper)
        spent[item, which], spare[item, which], touched[item, which] = grown.nodes, grown.exhausted, True
    return upper, spent, spare, touched


def _write(task: BatchQuestion, part: BoundedCell, upper: Tensor, trees: Trees, proof: Proofs) -> None:
    """One proof for each direction of each person on this cell: its tree, or one leaf on plain lines."""
    directions = task.directions.cpu().numpy()
    for row, person in enumerate(part.people.tolist()):
        lines = hidden_lines(part.view.batch.take(slice(row, row + 1)))
        for k, value in enumerate(upper[row].tolist()):
            direction = directions[k] if directions.ndim == 2 else directions[person, k]
            nodes = trees.get((row, k))
            if nodes is None:
                by = multipliers(part.view, torch.as_tensor(direction, device=upper.device), lines, 0, None)
                nodes = (Leaf(by, ends=ends_by(lines, 0)),)
            empty = value == -math.inf
            claim = ProvedBound((), -1.0, nodes) if empty else ProvedBound(entries(direction), value, nodes)
            proof[person][k].append(CellProof(part.number, (claim,)))
