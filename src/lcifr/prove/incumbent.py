"""What is the exact answer? The best points found so far, shared by all branches that belong to one answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lcifr.bounds.scene import Stage
from lcifr.bounds.search import Points
from lcifr.similarity.region import Cell


@dataclass
class Incumbent:
    """For each of G answers: the best value, where it is reached, and when a branch no longer matters.

    An answer is one person and direction for ``maximize``, one person for ``radius`` (its directions share the answer).

    Parameters
    ----------
    best : (G,) −inf where nothing was found. points : (G, features), NaN likewise.
    target : (G,) or None. tolerance : absolute plus relative.
    """

    best: Tensor
    points: np.ndarray
    target: Tensor | None
    tolerance: float

    @classmethod
    def empty(
        cls, answers: int, features: int, target: Tensor | None, tolerance: float, device: str | None
    ) -> Incumbent:
        """Nothing found yet."""
        best = torch.full((answers,), -torch.inf, dtype=torch.float64, device=device)
        return cls(best, np.full((answers, features), np.nan), target, tolerance)

    def enough(self, answer: Tensor) -> Tensor:
        """(n,) a bound at or below this closes a branch of ``answer`` (n,)."""
        best = self.best[answer]
        limit = best + 0.5 * self.tolerance * (1 + best.abs())  # half: rounding of best itself takes the rest
        limit = torch.where(torch.isneginf(best), best, limit)
        if self.target is not None:  # strictly below the target
            below = torch.nextafter(self.target, torch.full_like(self.target, -torch.inf))
            limit = torch.maximum(limit, below[answer])
        return limit

    def settled(self, answer: Tensor) -> Tensor:
        """(n,) whether the answer is known to lie above its target, so that no branch of it matters any more."""
        if self.target is None:
            return torch.zeros_like(answer, dtype=torch.bool)
        return self.best[answer] > self.target[answer]

    def offer(self, answer: Tensor, value: Tensor, stage: Stage, cell: Cell, item: Tensor, points: Points) -> None:
        """Keep the best of the offered values (n,) for each answer, with its point."""
        better = value > self.best[answer]
        if not bool(better.any()):
            return
        index = better.nonzero()[:, 0]
        index = index[value[index].argsort()]  # ascending: the last write for an answer is its best
        answer, value = answer[index], value[index]
        chosen = assemble(stage, cell, item[index], points.take(index))
        self.best.scatter_reduce_(0, answer, value, "amax")
        keep = (value >= self.best[answer]).cpu().numpy()
        self.points[answer.cpu().numpy()[keep]] = chosen[keep]


def assemble(stage: Stage, cell: Cell, item: Tensor, points: Points) -> np.ndarray:
    """(n, features) whole individuals from points of a scene; ``item`` says whose cell each belongs to."""
    people = item.cpu().numpy()
    features = len(cell.numeric) + sum(len(choice.columns) for choice in cell.choices)
    full = np.zeros((len(people), features))
    full[:, cell.numeric] = cell.lower[people]
    full[:, stage.moving] = points.numeric.cpu().numpy()
    rows = np.arange(len(people))
    hot = {choice: part.cpu().numpy() for choice, part in zip(stage.free, points.hot, strict=True)}
    for position, choice in enumerate(cell.choices):
        value = hot[position] if position in hot else choice.allowed[people].argmax(1)
        full[rows, choice.columns[value]] = 1.0
    return full
