"""One linear bound for each person and direction, its multipliers optimised; no branching."""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np

from lcifr.prove.answer import Budget, Claim, Question
from lcifr.prove.method import Method
from lcifr.prove.networks.cascade import answer_in_chunks


@final
class Bounds(Method):
    """Plain lines first, optimised multipliers where they leave a gap, intersected with intervals."""

    name = "bounds"

    def _maximize(self, question: Question) -> Claim:
        from lcifr.prove.oracles.interval import interval_bounds, interval_proofs  # they need torch

        one = replace(question, budget=Budget(nodes=1, seconds=question.budget.seconds))
        claim = answer_in_chunks(one)
        wide = interval_bounds(question)
        proof = claim.proof
        if proof is not None:
            plain = interval_proofs(question, wide)
            proof = [
                [b if wide[i, k] < claim.upper[i, k] else a for k, (a, b) in enumerate(zip(mine, theirs, strict=True))]
                for i, (mine, theirs) in enumerate(zip(proof, plain, strict=True))
            ]
        return replace(
            claim,
            upper=np.minimum(claim.upper, wide),
            exhausted=np.zeros_like(claim.exhausted),
            methods=(self.name, self.name),
            proof=proof,
        )
