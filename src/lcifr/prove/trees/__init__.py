"""The engine of sums of trees: one search with splits of the cells, and boxes in closed form."""

from __future__ import annotations

from typing import cast, final

import numpy as np

from lcifr.models.function import Function
from lcifr.models.trees import Trees, box_around, is_exact_over
from lcifr.prove.question import Answer, Engine, FloatArray, Obstacle, ProvedBox, Question
from lcifr.regions.region import Region


@final
class TreeEngine(Engine):
    """Complete, as far as the budget goes; linear rows may be about numbers only."""

    functions = Trees

    def accepts(self, question: Question) -> Obstacle | None:
        for cell in question.region.cells:
            if cell.rows is not None and np.delete(cell.rows.G, cell.numeric, axis=1).any():
                return Obstacle("a linear row is about a category", "write the condition as a choice of values")
        return super().accepts(question)

    def answer(self, question: Question) -> Answer:
        from lcifr.prove.trees.call import answer_trees  # numba takes a good part of a second to import

        return answer_trees(question)

    def box(self, function: Function, x: FloatArray, region: Region) -> ProvedBox:
        trees = cast(Trees, function)
        box = box_around(trees, x, region)
        return ProvedBox(trees(x), box.lower, box.upper, is_exact_over(trees, region))
