"""The largest value of a linear output of a function over a region: the methods by name, and the cascade of engines."""

from __future__ import annotations

import importlib
from dataclasses import replace
from functools import cache
from typing import cast, final

import numpy as np
from numpy.typing import ArrayLike

from lcifr.errors import LcifrError, did_you_mean
from lcifr.models.function import Function
from lcifr.models.network import Network
from lcifr.models.trees import Trees
from lcifr.prove.gate import Method, Obstacle, SolverMethod, build_question
from lcifr.prove.networks.engine import answer_in_chunks, people_at_once
from lcifr.prove.oracles.solvers import Capability, find_solver
from lcifr.prove.question import Answer, Budget, Claim, Question
from lcifr.regions.region import Region

# The cascade: bounds for everybody, search and branch-and-bound in chunks of people, a solver for what is left.


@final
class Branch(Method):
    """Complete for one hidden layer and for trees; for deeper networks as far as the budget goes."""

    name = "branch"
    functions = (Network, Trees)

    def accepts(self, question: Question) -> Obstacle | None:
        """As every method; trees know no linear rows about categories."""
        obstacle = super().accepts(question)
        return find_tree_obstacle(question) if obstacle is None and isinstance(question.function, Trees) else obstacle

    def _maximize(self, question: Question) -> Claim:
        return answer_trees(question) if isinstance(question.function, Trees) else answer_in_chunks(question)


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
        from lcifr.prove.oracles.milp import ask_solver, open_directions

        unresolved = open_directions(self.name, question, claim)
        return ask_solver(question, claim, unresolved, self.solver) if unresolved else claim


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
    # numba takes a good part of a second to import
    from lcifr.prove.trees.call import answer_trees as answer

    return answer(question)


# One linear bound for each person and direction, its multipliers optimised; no branching.


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


# The one question, the largest value of a linear output of a function over a region, and the methods there are.


def maximize(
    network: Function,
    directions: ArrayLike,
    region: Region,
    *,
    target: ArrayLike | None = None,
    tolerance: float = 1e-6,
    method: str = "cascade",
    solver: str | None = None,
    device: str | None = None,
    budget: Budget | int | None = None,
    proof: bool = False,
) -> Answer:
    """The largest value of direction · network(x′) over every person's region, from above and from below.

    Parameters
    ----------
    network : a :class:`lcifr.Network`, or a sum of trees (:class:`lcifr.models.trees.Trees`).
    directions : (k, outputs), alike for everybody, or (people, k, outputs).
    target : stop as soon as the answer is known to lie strictly on one side of it; broadcast to (people, k).
    tolerance : absolute plus relative: done when upper − best ≤ tolerance · (1 + |best|).
    method : ``"cascade"``, or one of its parts: ``"bounds"``, ``"branch"``, ``"milp"``, ``"lp"``, ``"interval"``,
        ``"enumerate"``. A method that cannot answer the question says what stands in the way.
    solver : who is asked by ``"milp"``, ``"lp"`` and the last step of ``"cascade"``: ``"highs"``, which is built in and
        taken where none is named, or ``"gurobi"``, with the extra of that name and a licence.
    device : where bounds are computed, as torch names it; None is the CPU.
    budget : nodes for each person and direction, or a :class:`Budget`.
    proof : whether every upper bound is to carry its proof.

    Returns
    -------
    Answer
        Arrays over people and directions.

    Raises
    ------
    Interrupted
        Ctrl-C ended the search: ``known`` is the answer as far as it has come, proved bounds and best points.
    """
    question = build_question(
        network, directions, region, target=target, tolerance=tolerance, budget=budget, device=device, proof=proof
    )
    return find_method(method, solver).maximize(question)


METHODS = {
    "cascade": "maximize.Cascade",
    "branch": "maximize.Branch",
    "bounds": "maximize.Bounds",
    "enumerate": "oracles.enumerate.Enumerate",
    "interval": "oracles.interval.IntervalArithmetic",
    "lp": "oracles.lp.Lp",
    "milp": "oracles.milp.Milp",
}
"""Every method's class, by its place in ``lcifr.prove``; imported when it is first asked."""


def find_method(name: str, solver: str | None = None) -> Method:
    """The method called ``name``.

    Parameters
    ----------
    solver : for a method that asks one: which, by its name; it must be installed.
    """
    if name in METHODS:
        kind = _kind_of(name)
        return kind() if solver is None else _with_solver(kind, solver)
    known = sorted(METHODS)
    raise LcifrError(
        f'there is no method "{name}".{did_you_mean(name, known)}', fix="one of " + ", ".join(f'"{n}"' for n in known)
    )


@cache
def _kind_of(name: str) -> type[Method]:
    file, _, kind = METHODS[name].rpartition(".")
    return cast(type[Method], getattr(importlib.import_module(f"lcifr.prove.{file}"), kind))


def _with_solver(kind: type[Method], solver: str) -> Method:
    if not issubclass(kind, SolverMethod):
        raise LcifrError(
            f'method "{kind.name}" asks no solver, and solver="{solver}" was given',
            fix='leave solver out, or use method="milp"',
        )
    chosen = find_solver(solver)
    chosen.version()  # says how to install it where it is missing
    return kind(chosen)


def engine_answers(method: str) -> str:
    """What a method of :func:`lcifr.maximize` gets wrong; empty where nothing is."""
    # relu(a − b) − relu(a + b) on [−1, 1]²: at most 2 (a = 1, b = −1), at least −2 (a = b = 1).
    hidden = (np.array([[1.0, -1.0], [1.0, 1.0]]), np.zeros(2))
    network = Network.from_arrays([hidden, (np.array([[1.0, -1.0]]), np.zeros(1))])
    region = Region.from_arrays(-np.ones((1, 2)), np.ones((1, 2)))
    answer = maximize(network, [[1.0], [-1.0]], region, method=method)
    for upper, best in zip(answer.upper[0], answer.best[0], strict=True):
        if not (2.0 <= upper <= 2.0 + 1e-5 and best <= 2.0 + 1e-9):
            return f"says at most {upper:g} and reaches {best:g}; the maximum is 2"
    return ""
