"""The nodes of branch-and-bound as arrays, what is to be proved, and who hears of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lcifr.prove.networks.linear_bounds.cell_batch import CellBatch
from lcifr.prove.networks.linear_bounds.linear import Lines
from lcifr.prove.networks.linear_bounds.multipliers import Tightened

if TYPE_CHECKING:
    from lcifr.prove.networks.batched.split import Branching


@dataclass(frozen=True)
class Problems:
    """What is to be proved, on one view.

    Parameters
    ----------
    item : (P,) row of the view's batch. direction : (P, outputs). offset : (P,) added to the value.
    answer : (P,) whose answer it can change. bound : (P,) known already. nodes : nodes allowed for each.
    """

    item: Tensor
    direction: Tensor
    offset: Tensor
    answer: Tensor
    bound: Tensor
    nodes: int


@dataclass(frozen=True)
class Nodes:
    """Open nodes: problem (N,), box, allowed categories, the phases of every hidden layer, bound so far, name (N,).

    ``hard`` (N,): waits for its program to be solved. Programs have a high cost per call and a low one per node, so
    they are solved together when nothing cheaper is left to do; by then many no longer matter.
    """

    problem: Tensor
    lower: Tensor
    upper: Tensor
    allowed: tuple[Tensor, ...]
    phases: tuple[Tensor, ...]
    bound: Tensor
    name: Tensor
    hard: Tensor

    def take(self, index: Tensor) -> Nodes:
        """Some of the nodes."""
        return Nodes(
            self.problem[index],
            self.lower[index],
            self.upper[index],
            tuple(part[index] for part in self.allowed),
            tuple(part[index] for part in self.phases),
            self.bound[index],
            self.name[index],
            self.hard[index],
        )

    def __len__(self) -> int:
        return len(self.problem)

    @classmethod
    def roots(cls, problems: Problems, batch: CellBatch) -> Nodes:
        """One node for each problem, on its row of the batch: nothing is decided."""
        widths = [batch.weight.shape[0], *(weight.shape[0] for weight, _ in batch.tail)][: batch.depth]
        name = torch.arange(len(problems.item), device=batch.base.device)
        return cls(
            name,
            batch.lower,
            batch.upper,
            batch.allowed,
            tuple(torch.zeros((len(name), w), dtype=torch.int8, device=batch.base.device) for w in widths),
            problems.bound,
            name,
            torch.zeros_like(name, dtype=torch.bool),
        )

    @staticmethod
    def join(parts: list[Nodes]) -> Nodes:
        """All of them, one after the other."""
        return Nodes(
            torch.cat([p.problem for p in parts]),
            torch.cat([p.lower for p in parts]),
            torch.cat([p.upper for p in parts]),
            tuple(torch.cat(same) for same in zip(*(p.allowed for p in parts), strict=True)),
            tuple(torch.cat(same) for same in zip(*(p.phases for p in parts), strict=True)),
            torch.cat([p.bound for p in parts]),
            torch.cat([p.name for p in parts]),
            torch.cat([p.hard for p in parts]),
        )


@dataclass(frozen=True)
class Grown:
    """upper : (P,) proved, −inf where the cell is empty. nodes : (P,) spent. exhausted : (P,) the budget ended it."""

    upper: Tensor
    nodes: Tensor
    exhausted: Tensor


class Recorder:
    """Hears what happens in the trees; the proof writer is one. This one forgets."""

    def split(
        self, name: int, decision: Branching, row: int, first: int, second: int, by: Tightened, lines: list[Lines]
    ) -> None:
        """Node ``name`` was split into ``first`` and ``second``; its own bound was proved ``by`` this row."""

    def leaf(self, name: int, row: int, bound: float, tightened: Tightened | None, lines: list[Lines]) -> None:
        """Node ``name`` ended with ``bound``, by the lines and multipliers of this row."""

    def void(self, name: int, row: int, rows: Tensor) -> None:
        """Node ``name`` has no points, by the multipliers of this row."""


def take_lines(line: Lines, index: Tensor) -> Lines:
    beta = None if line.beta is None else line.beta[index]
    return Lines(line.lo[index], line.hi[index], line.upper[index], line.lower[index], beta)


def take_tightened(better: Tightened, index: Tensor) -> Tightened:
    reach = better.reach
    return Tightened(
        replace(
            reach,
            upper=reach.upper[index],
            coefficient=reach.coefficient[index],
            groups=tuple(part[index] for part in reach.groups),
        ),
        [take_lines(line, index) for line in better.lines],
        None if better.rows is None else better.rows[index],
        None if better.point is None else better.point.take(index),
        tuple(part[index] for part in better.fraction),
    )
