"""Proofs about sums of trees: one compiled search a person (docs/design/trees.md, *Search*).

numba is imported with the first question, not before: that takes a good part of a second.
"""

from __future__ import annotations

import numpy as np

from lcifr.models.trees import Trees
from lcifr.prove.answer import Claim, Question
from lcifr.prove.method import Obstacle


def find_tree_obstacle(question: Question) -> Obstacle | None:
    """What the search over trees cannot answer; None for networks, and for what it can."""
    if not isinstance(question.function, Trees):
        return None
    if question.shared is not None:
        return Obstacle("directions of trees share no answer", 'use method="branch"')
    for cell in question.region.cells:
        if cell.rows is not None and np.delete(cell.rows.G, cell.numeric, axis=1).any():
            return Obstacle("a linear row is about a category", "write the condition as a choice of values")
    return None


def answer_trees(question: Question) -> Claim:
    """What is found about each person and direction of a question about trees."""
    from lcifr.prove.trees.call import answer_trees as answer

    return answer(question)
