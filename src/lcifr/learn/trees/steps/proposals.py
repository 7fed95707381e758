"""Proposals of steps: the best one of every attribute and pair, found in threads."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from lcifr.learn.trees.robust_loss import RobustLoss
from lcifr.learn.trees.steps.term_search import AttributeSearch, Derivatives, PairSearch
from lcifr.regions.region import FloatArray


@dataclass(frozen=True)
class BoostingStep:
    """Add to one output's shape function of a term, which is an attribute or a pair.

    Parameters
    ----------
    term : its number. addition : (bins,) what is added. gain : by how much the mean loss should fall.
    """

    term: int
    output: int
    addition: FloatArray
    gain: float


class StepProposer:
    """The best step of each attribute and pair for the loss of some people, by its second-order model.

    Attributes
    ----------
    searches : by the number of the term; trees have none, once they are grown.
    """

    def __init__(self, loss: RobustLoss, pool: ThreadPoolExecutor) -> None:
        self.loss, self.pool = loss, pool
        self.searches: dict[int, AttributeSearch | PairSearch] = {}

    def propose(self, values: Sequence[FloatArray], output: int, by: Derivatives) -> list[BoostingStep]:
        """The steps that promise something, best first.

        Parameters
        ----------
        values : of each term, (bins, outputs).
        """
        matrix = self.loss.directions.matrix

        def best(term: int) -> BoostingStep | None:
            found = self.searches[term].search(np.ascontiguousarray(values[term] @ matrix.T), by)
            if found is None:
                return None
            return BoostingStep(term, output, found.addition, found.gain / self.loss.size)

        found = [step for step in self.pool.map(best, self.searches) if step is not None]
        return sorted(found, key=lambda step: (-step.gain, step.term))
