"""What is the exact answer? Split trees written down as proofs while they grow, for the exact checker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lcifr.bounds.linear import Lines
from lcifr.bounds.multipliers import Tightened
from lcifr.bounds.scene import Stage
from lcifr.prove.nodes import Problems, Recorder
from lcifr.prove.proof import (
    Bounds,
    CategorySplit,
    Entry,
    Leaf,
    Multipliers,
    NeuronBound,
    Node,
    NumericSplit,
    ReluSplit,
    Term,
)
from lcifr.prove.split import CHOICE, NUMERIC, RELU, Decision


@dataclass(frozen=True)
class _Fork:
    node: Node
    first: int
    second: int
    by: Multipliers
    bounds: Bounds | None


class TreeRecorder(Recorder):
    """Remembers every split and leaf of one forest; ``tree`` gives the proof of one problem."""

    def __init__(self, stage: Stage, problems: Problems) -> None:
        self.stage, self.problems = stage, problems
        self.problem = {index: index for index in range(len(problems.item))}
        self.forks: dict[int, _Fork] = {}
        self.leaves: dict[int, Leaf] = {}

    def split(
        self, name: int, decision: Decision, row: int, first: int, second: int, by: Tightened, lines: list[Lines]
    ) -> None:
        problem = self.problem[name]
        self.problem[first] = self.problem[second] = problem
        kind, place = int(decision.kind[row]), int(decision.place[row])
        node: Node
        if kind == RELU:
            node = ReluSplit(int(decision.layer[row]), place)
        elif kind == CHOICE:
            values = tuple(decision.chosen[place][row].nonzero()[:, 0].tolist())
            node = CategorySplit(self.stage.free[place], values)
        else:
            assert kind == NUMERIC
            node = NumericSplit(int(self.stage.moving[place]), float(decision.threshold[row]))
        direction = self.problems.direction[problem]
        self.forks[name] = _Fork(
            node, first, second, multipliers(self.stage, direction, by.lines, row, by.rows), shared(lines, row)
        )

    def leaf(self, name: int, row: int, bound: float, tightened: Tightened | None, lines: list[Lines]) -> None:
        direction = self.problems.direction[self.problem[name]]
        used = lines if tightened is None else tightened.lines
        by = multipliers(self.stage, direction, used, row, None if tightened is None else tightened.rows)
        self.leaves[name] = Leaf(by, bounds=shared(lines, row))

    def void(self, name: int, row: int, rows: Tensor) -> None:
        weights = rows[row].reshape(-1)
        by = Multipliers(rows=tuple(Entry(r, float(weights[r])) for r in weights.nonzero()[:, 0].tolist()))
        self.leaves[name] = Leaf(by, empty=True)

    def tree(self, root: int, empty: bool) -> tuple[Node, ...]:
        """The nodes in preorder. A branch that ended without work of its own ends with what its parent proved."""
        result: list[Node] = []
        todo: list[tuple[int, Multipliers, Bounds | None]] = [(root, Multipliers(), None)]
        while todo:
            name, by, bounds = todo.pop()
            fork = self.forks.get(name)
            if fork is not None:
                result.append(fork.node)
                todo.append((fork.second, fork.by, fork.bounds))
                todo.append((fork.first, fork.by, fork.bounds))
                continue
            leaf = self.leaves.get(name, Leaf(by, bounds=bounds))
            result.append(Leaf(leaf.by, empty or leaf.empty, leaf.bounds))
        return tuple(result)


def multipliers(stage: Stage, direction: Tensor, lines: list[Lines], row: int, rows: Tensor | None) -> Multipliers:
    """The slopes, β and λ of one backward pass, sparse: only unstable neurons with a coefficient have a line.

    So has a neuron that was decided to be on: where its exact interval is 0 alone, it is just as well off, and the
    checker has to be told which of the two the multipliers were made for.
    """
    coefficient = direction
    slopes: list[Term] = []
    beta: list[Term] = []
    for layer in reversed(range(len(lines))):
        line = lines[layer]
        value = coefficient @ stage.scene.tail[layer][0]
        upper, lower = line.upper[row].reshape(-1), line.lower[row].reshape(-1)
        slope = torch.where(value > 0, upper, lower)
        needed = value != 0
        if layer == 0 or layer < len(lines) - 1:  # the last layer says all: then few of its ends have to be proved
            needed &= (line.lo[row] <= 0) & (line.hi[row] >= 0)
        slopes += [Term(layer, k, float(slope[k])) for k in needed.nonzero()[:, 0].tolist()]
        coefficient = value * slope
        if line.beta is not None:
            extra = line.beta[row].reshape(-1)
            beta += [Term(layer, k, float(extra[k])) for k in extra.nonzero()[:, 0].tolist()]
            coefficient = coefficient + extra
    entries: tuple[Entry, ...] = ()
    if rows is not None:
        weights = rows[row].reshape(-1)
        entries = tuple(Entry(r, float(weights[r])) for r in weights.nonzero()[:, 0].tolist())
    return Multipliers(tuple(slopes), tuple(beta), entries)


def shared(lines: list[Lines], row: int) -> Bounds | None:
    """How the intervals of deeper layers were proved: plain passes on shared lines; the first layer needs no proof."""
    if len(lines) < 2:
        return None
    upper: list[Term] = []
    lower: list[Term] = []
    neurons: list[NeuronBound] = []
    decided: list[Term] = []  # to be on, see `multipliers`
    for layer, line in enumerate(lines):
        if layer > 0:
            by = Multipliers(tuple(decided))
            for k in range(line.lo.shape[1]):
                neurons += [NeuronBound(layer, k, "lower", by), NeuronBound(layer, k, "upper", by)]
        on = ((line.lo[row] == 0) & (line.hi[row] >= 0)).nonzero()[:, 0].tolist()
        decided += [Term(layer, k, float(line.upper[row, k])) for k in on]
        for k in ((line.lo[row] < 0) & (line.hi[row] > 0)).nonzero()[:, 0].tolist():
            upper.append(Term(layer, k, float(line.upper[row, k])))
            lower.append(Term(layer, k, float(line.lower[row, k])))
    return Bounds(tuple(upper), tuple(lower), tuple(neurons))


def entries(direction: np.ndarray) -> tuple[Entry, ...]:
    """A direction as the proof format writes it."""
    return tuple(Entry(int(j), float(direction[j])) for j in np.flatnonzero(direction))
