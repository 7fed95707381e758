"""Proofs with real trees, for tests: random splits of every kind, leaves from the duals of a linear program."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lcifr.check.functions import read_network
from lcifr.models.network import Network
from lcifr.prove.oracles.enumerate import ExactCell
from lcifr.prove.oracles.formulation import formulate
from lcifr.prove.oracles.lp import multipliers_from_duals
from lcifr.prove.oracles.solvers import SolverStatus, find_solver
from lcifr.prove.proof import (
    CategorySplit,
    CellProof,
    Entry,
    Leaf,
    Multipliers,
    Node,
    NumericSplit,
    ProvedBound,
    ReluSplit,
    plain_split,
)
from lcifr.regions.region import Cell


@dataclass
class Grower:
    """Grows one tree for one direction on one cell of person 0."""

    network: Network
    direction: np.ndarray
    rng: np.random.Generator
    most: int

    def grow(self, exact: ExactCell, cell: Cell, good_enough: float) -> tuple[list[Node], float]:
        """Nodes in preorder, and the bound that they prove; −inf if there is no point."""
        if exact.empty:
            return [Leaf()], -np.inf
        leaf, bound = self.leaf(exact, cell)
        options = self.options(exact, cell)
        if bound <= good_enough or not options or self.most <= 0:
            return [leaf], bound
        self.most -= 1
        split = options[self.rng.integers(len(options))]
        nodes: list[Node] = [split]
        for side in range(2):
            below, bound_below = self.grow(*self.child(exact, cell, split, side), good_enough)
            nodes += below
            bound = bound_below if side == 0 else max(bound, bound_below)
        return nodes, bound

    def leaf(self, exact: ExactCell, cell: Cell) -> tuple[Leaf, float]:
        """The relaxed linear program here, its duals as multipliers."""
        intervals = [exact.interval(depth) for depth in range(self.network.depth)]
        model = formulate(self.network, cell, 0, intervals, whole=False)
        weights = self.direction @ self.network.layers[-1].weight
        outcome = find_solver().load(model.model).maximize(model.cost(self.network.depth, weights))
        count = 0 if cell.rows is None else len(cell.rows.G)
        if outcome.status is SolverStatus.OPTIMAL and outcome.duals is not None:
            by = multipliers_from_duals(self.network, intervals, count, model, outcome.duals, weights)
            return Leaf(by), exact.bound(self.network.depth, self.direction, by)
        for sign in (1.0, -1.0):
            if outcome.duals is not None:
                ray = sign * outcome.duals
                by = multipliers_from_duals(self.network, intervals, count, model, ray, np.zeros_like(weights))
                if exact.shows_emptiness(by):
                    return Leaf(by, empty=True), -np.inf
        return Leaf(Multipliers()), exact.bound(self.network.depth, self.direction, Multipliers())

    def options(self, exact: ExactCell, cell: Cell) -> list[Node]:
        """Every unstable ReLU, one halving of every choice, the middle of every numeric column."""
        found: list[Node] = []
        for depth in range(self.network.depth):
            found += [ReluSplit(depth, int(j)) for j in np.flatnonzero(exact.interval(depth).unstable)] * 2
        for choice in cell.choices:
            allowed = np.flatnonzero(choice.allowed[0])
            if len(allowed) > 1:
                chosen = choice.columns[allowed[: len(allowed) // 2]]
                found.append(CategorySplit(int(choice.columns[0]), tuple(chosen.tolist())))
        for column, low, high in zip(cell.numeric, cell.lower[0], cell.upper[0], strict=True):
            if low < high:
                found.append(NumericSplit(int(column), float(low + (high - low) * 0.4)))
        return found

    def child(self, exact: ExactCell, cell: Cell, split: Node, side: int) -> tuple[ExactCell, Cell]:
        """One side of a split, for the exact intervals and for the linear program."""
        below = ExactCell.__new__(ExactCell)
        below.problem, below.neurons = exact.problem, ()
        below.part = exact.problem.halves(exact.part, *plain_split(split))[side]
        below.prove(())
        return below, _smaller(cell, split, side)


def _smaller(cell: Cell, split: Node, side: int) -> Cell:
    if isinstance(split, CategorySplit):
        choices = []
        for choice in cell.choices:
            inside = np.isin(choice.columns, split.columns)
            mine = choice.columns[0] == split.column
            choices.append(replace(choice, allowed=choice.allowed & (~mine | (inside if side == 0 else ~inside))))
        return replace(cell, choices=tuple(choices))
    if isinstance(split, NumericSplit):
        at = cell.numeric == split.column
        if side == 0:
            return replace(cell, upper=np.where(at, split.threshold, cell.upper))
        return replace(cell, lower=np.where(at, split.threshold, cell.lower))
    return cell


def grow_proof(
    network: Network, cell: Cell, index: int, direction: np.ndarray, seed: int, good_enough: float, most: int = 60
) -> tuple[CellProof, float]:
    """A proof about one direction on a cell of person 0, and the bound that it proves."""
    exact = ExactCell(read_network(network.rows()), cell, 0)
    nodes, bound = Grower(network, direction, np.random.default_rng(seed), most).grow(exact, cell, good_enough)
    entries = tuple(Entry(output, float(v)) for output, v in enumerate(direction) if v)
    if np.isneginf(bound):
        return CellProof(index, (ProvedBound((), -1.0, tuple(nodes)),)), bound
    return CellProof(index, (ProvedBound(entries, bound, tuple(nodes)),)), bound
