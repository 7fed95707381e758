"""Branch-and-bound as a method of its own: the cascade without a solver behind it."""

from __future__ import annotations

from typing import final

from lcifr.prove.answer import Claim, Question
from lcifr.prove.method import Method
from lcifr.prove.networks.dispatch import answer_in_chunks


@final
class Branch(Method):
    """Complete for one hidden layer; for deeper networks as far as the budget goes."""

    name = "branch"

    def _maximize(self, question: Question) -> Claim:
        return answer_in_chunks(question)
