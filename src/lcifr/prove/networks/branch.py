"""Branch-and-bound as a method of its own: the cascade without a solver behind it."""

from __future__ import annotations

from typing import final

from lcifr.models.network import Network
from lcifr.models.trees.trees import Trees
from lcifr.prove.answer import Claim, Question
from lcifr.prove.method import Method, Obstacle
from lcifr.prove.networks.dispatch import answer_in_chunks
from lcifr.prove.trees import answer_trees, find_tree_obstacle


@final
class Branch(Method):
    """Complete for one hidden layer and for trees; for deeper networks as far as the budget goes."""

    name = "branch"
    functions = (Network, Trees)

    def accepts(self, question: Question) -> Obstacle | None:
        """As every method; trees know no linear rows about categories."""
        return super().accepts(question) or find_tree_obstacle(question)

    def _maximize(self, question: Question) -> Claim:
        return answer_trees(question) if isinstance(question.function, Trees) else answer_in_chunks(question)
