"""Split trees written down as proofs while they grow, for the exact checker."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from lcifr.prove.networks.batched.nodes import Problems, Recorder
from lcifr.prove.networks.batched.split import CHOICE, NUMERIC, RELU, Branching
from lcifr.prove.networks.linear_bounds.cell_batch import CellView
from lcifr.prove.networks.linear_bounds.linear import Lines
from lcifr.prove.networks.linear_bounds.multipliers import Tightened
from lcifr.prove.proof import (
    CategorySplit,
    Entry,
    Leaf,
    Multipliers,
    NeuronBound,
    Node,
    NumericSplit,
    ReluLine,
    ReluSplit,
)
from lcifr.regions.region import Cell


@dataclass(frozen=True)
class _Fork:
    node: Node
    first: int
    second: int
    leaf: Leaf


class TreeRecorder(Recorder):
    """Remembers every split and leaf of one forest; ``tree`` gives the proof of one problem."""

    def __init__(self, view: CellView, cell: Cell, problems: Problems) -> None:
        self.view, self.cell, self.problems = view, cell, problems
        self.problem = {index: index for index in range(len(problems.item))}
        self.forks: dict[int, _Fork] = {}
        self.leaves: dict[int, Leaf] = {}

    def split(
        self, name: int, decision: Branching, row: int, first: int, second: int, by: Tightened, lines: list[Lines]
    ) -> None:
        problem = self.problem[name]
        self.problem[first] = self.problem[second] = problem
        kind, place = int(decision.kind[row]), int(decision.place[row])
        node: Node
        if kind == RELU:
            node = ReluSplit(int(decision.layer[row]), place)
        elif kind == CHOICE:
            columns = self.cell.choices[self.view.free[place]].columns
            chosen = columns[decision.chosen[place][row].cpu().numpy()]
            node = CategorySplit(int(columns[0]), tuple(chosen.tolist()))
        else:
            assert kind == NUMERIC
            node = NumericSplit(int(self.view.moving[place]), float(decision.threshold[row]))
        direction = self.problems.direction[problem]
        proved = multipliers(self.view, direction, by.lines, row, by.rows)
        self.forks[name] = _Fork(node, first, second, Leaf(proved, ends=ends_by(lines, row)))

    def leaf(self, name: int, row: int, bound: float, tightened: Tightened | None, lines: list[Lines]) -> None:
        direction = self.problems.direction[self.problem[name]]
        used = lines if tightened is None else tightened.lines
        by = multipliers(self.view, direction, used, row, None if tightened is None else tightened.rows)
        self.leaves[name] = Leaf(by, ends=ends_by(lines, row))

    def void(self, name: int, row: int, rows: Tensor) -> None:
        self.leaves[name] = Leaf(Multipliers(rows=entries(rows[row].reshape(-1).cpu().numpy())), empty=True)

    def tree(self, root: int, empty: bool) -> tuple[Node, ...]:
        """The nodes in preorder. A branch that ended without work of its own ends with what its parent proved."""
        result: list[Node] = []
        todo = [(root, Leaf())]
        while todo:
            name, leaf = todo.pop()
            fork = self.forks.get(name)
            if fork is not None:
                result.append(fork.node)
                todo += [(fork.second, fork.leaf), (fork.first, fork.leaf)]
                continue
            leaf = self.leaves.get(name, leaf)
            result.append(replace(leaf, empty=empty or leaf.empty))
        return tuple(result)


def multipliers(view: CellView, direction: Tensor, lines: list[Lines], row: int, rows: Tensor | None) -> Multipliers:
    """The lines and λ of one backward pass, sparse: only neurons whose coefficient does not become 0 have a line."""
    coefficient = direction
    found: list[ReluLine] = []
    for layer in reversed(range(len(lines))):
        line = lines[layer]
        value = coefficient @ view.batch.tail[layer][0]
        upper, lower = line.upper[row].reshape(-1), line.lower[row].reshape(-1)
        slope = torch.where(value > 0, upper, lower)
        slope = torch.where(value != 0, slope, 0.0)
        beta = torch.zeros_like(slope) if line.beta is None else line.beta[row].reshape(-1)
        coefficient = value * slope + beta
        needed = ((slope != 0) | (beta != 0)).nonzero()[:, 0].tolist()
        found += [ReluLine(layer, k, float(slope[k]), float(slope[k]), float(beta[k])) for k in needed]
    return Multipliers(tuple(found), () if rows is None else entries(rows[row].reshape(-1).cpu().numpy()))


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


def entries(values: np.ndarray) -> tuple[Entry, ...]:
    """A direction, or the multipliers of rows, as the proof format writes them: what is not 0."""
    return tuple(Entry(int(j), float(values[j])) for j in np.flatnonzero(values))
