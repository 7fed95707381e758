"""The cascade: bounds for everybody, search, branch-and-bound, a solver for what is left."""

from __future__ import annotations

from typing import final

from lcifr.models.network import Network
from lcifr.models.trees.trees import Trees
from lcifr.prove.answer import Claim, Question
from lcifr.prove.method import Obstacle, SolverMethod
from lcifr.prove.networks.branch import answer_in_chunks, people_at_once
from lcifr.prove.networks.solver_fallback import ask_solver, open_directions
from lcifr.prove.oracles.solvers import Capability
from lcifr.prove.trees import answer_trees, find_tree_obstacle


@final
class Cascade(SolverMethod):
    """Never refines what cannot change the answer; the solver is asked about what branch-and-bound leaves open.

    It is never asked about an answer that directions share: a radius does not say by whom it was proved, so it cannot
    rest on a solver.
    """

    name = "cascade"
    functions = (Network, Trees)
    shares = True
    needs = frozenset({Capability.WHOLE_NUMBERS})

    def accepts(self, question: Question) -> Obstacle | None:
        """As every method; trees know no linear rows about categories, and no answers that directions share."""
        obstacle = super().accepts(question)
        return find_tree_obstacle(question) if obstacle is None and isinstance(question.function, Trees) else obstacle

    def at_once(self, question: Question, *, together: bool) -> int:
        return people_at_once(question, together)

    def _maximize(self, question: Question) -> Claim:
        if isinstance(question.function, Trees):
            return answer_trees(question)
        claim = answer_in_chunks(question)
        if question.shared is not None or not claim.exhausted.any():
            return claim
        unresolved = open_directions(self.name, question, claim)
        return ask_solver(question, claim, unresolved, self.solver) if unresolved else claim
