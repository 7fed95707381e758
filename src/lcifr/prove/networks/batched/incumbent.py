"""The best points found so far, shared by all branches that belong to one answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lcifr.prove.networks.linear_bounds.cell_batch import CellView
from lcifr.prove.networks.linear_bounds.search import CellPoints, assemble
from lcifr.regions.region import Cell


@dataclass
class _Shelf:
    """Best points of one cell for all G answers, in the batch's own coordinates; made whole at the end."""

    view: CellView
    cell: Cell
    item: Tensor
    points: CellPoints


class Incumbent:
    """For each of G answers: the best value, where it is reached, and when a branch no longer matters.

    An answer is one person and direction for ``maximize``, one person for ``radius`` (its directions share the answer).

    Parameters
    ----------
    best : (G,) starting values: −inf, or what is known to be reached anyway.
    target : (G,) or None. tolerance : absolute plus relative.
    """

    def __init__(self, best: Tensor, target: Tensor | None, tolerance: float) -> None:
        self.best, self.target, self.tolerance = best, target, tolerance
        self._shelves: list[_Shelf] = []
        self._shelf = torch.full(best.shape, -1, dtype=torch.int64, device=best.device)

    def enough(self, answer: Tensor) -> Tensor:
        """(n,) a bound at or below this closes a branch of ``answer`` (n,)."""
        best = self.best[answer]
        limit = best + 0.5 * self.tolerance * (1 + best.abs())  # half: rounding of best itself takes the rest
        limit = torch.where(torch.isneginf(best), best, limit)
        if self.target is not None:  # strictly below the target
            target = self.target[answer]
            limit = torch.maximum(limit, torch.nextafter(target, torch.full_like(target, -torch.inf)))
        return limit

    def settled(self, answer: Tensor) -> Tensor:
        """(n,) whether the answer is known to lie above its target, so that no branch of it matters any more."""
        if self.target is None:
            return torch.zeros_like(answer, dtype=torch.bool)
        return self.best[answer] > self.target[answer]

    def offer(
        self, answer: Tensor, value: Tensor, view: CellView, cell: Cell, item: Tensor, points: CellPoints
    ) -> None:
        """Keep the best of the offered values (n,) for each answer, with its point."""
        better = value > self.best[answer]
        index = better.nonzero()[:, 0]
        if len(index) == 0:
            return
        self.best.scatter_reduce_(0, answer[index], value[index], "amax")
        index = index[value[index] >= self.best[answer[index]]]  # several may tie: any of them will do
        answer, points = answer[index], points.take(index)
        number = self._number(view, cell, points)
        shelf = self._shelves[number]
        shelf.item[answer] = item[index]
        shelf.points.numeric[answer] = points.numeric
        for kept, hot in zip(shelf.points.hot, points.hot, strict=True):
            kept[answer] = hot
        self._shelf[answer] = number

    def points(self, features: int) -> np.ndarray:
        """(G, features) the best points as whole individuals, NaN where none was found."""
        full = np.full((len(self.best), features), np.nan)
        for number, shelf in enumerate(self._shelves):
            rows = (self._shelf == number).nonzero()[:, 0]
            full[rows.cpu().numpy()] = assemble(shelf.view, shelf.cell, shelf.item[rows], shelf.points.take(rows))
        return full

    def _number(self, view: CellView, cell: Cell, like: CellPoints) -> int:
        for number, shelf in enumerate(self._shelves):
            if shelf.view is view:
                return number
        count = len(self.best)
        numeric = like.numeric.new_zeros((count, like.numeric.shape[1]))
        hot = tuple(torch.zeros_like(self._shelf) for _ in like.hot)
        self._shelves.append(_Shelf(view, cell, torch.zeros_like(self._shelf), CellPoints(numeric, hot)))
        return len(self._shelves) - 1
