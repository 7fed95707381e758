"""The largest value of a linear output of a function over a region: the methods by name, and the cascade of engines."""

from __future__ import annotations

import importlib
from abc import ABC
from dataclasses import replace
from functools import cache
from typing import cast, final

import numpy as np
from numpy.typing import ArrayLike

from lcifr.errors import LcifrError, did_you_mean
from lcifr.models.function import Function
from lcifr.models.network import Network
from lcifr.prove.gate import ask, build_question
from lcifr.prove.oracles.solvers import Capability, SolverEngine, find_solver
from lcifr.prove.proof import interval_leaves
from lcifr.prove.question import HAVE_ENGINES, Answer, Engine, Obstacle, Question, Resources, Status, engine_of
from lcifr.regions.region import Region

# Methods that leave the work to the engine which the function names.


class OwnEngine(Engine, ABC):
    """A method that asks the engine of the function."""

    def accepts(self, question: Question) -> Obstacle | None:
        """As every engine, and as the function's own; functions without one are refused."""
        if not question.function.engine:
            found = type(question.function).__name__
            return Obstacle(f"nothing is proved about functions of the kind {found}", HAVE_ENGINES)
        return super().accepts(question) or engine_of(question.function).accepts(question)


@final
class Branch(OwnEngine):
    """Complete for one hidden layer and for trees; for deeper networks as far as the budget goes."""

    name = "branch"

    def answer(self, question: Question) -> Answer:
        return engine_of(question.function).answer(question)


@final
class Bounds(OwnEngine):
    """One bound for each person and direction; of networks by plain lines first, optimised where they leave a gap."""

    name = "bounds"

    def answer(self, question: Question) -> Answer:
        return engine_of(question.function).quick(question)


@final
class Cascade(OwnEngine, SolverEngine):
    """Never refines what cannot change the answer; a solver is asked about what branch-and-bound leaves open.

    It is never asked about an answer that directions share: a radius does not name the engine that proved it, so it
    cannot rest on a solver.
    """

    name = "cascade"
    needs = frozenset({Capability.WHOLE_NUMBERS})

    def shares(self, question: Question) -> bool:
        return engine_of(question.function).shares(question)

    def at_once(self, question: Question, *, together: bool) -> int:
        return engine_of(question.function).at_once(question, together=together)

    def answer(self, question: Question) -> Answer:
        engine = engine_of(question.function)
        claim = engine.answer(question)
        if question.shared is not None or not engine.has_programs or not (claim.status == Status.BUDGET).any():
            return claim
        from lcifr.prove.oracles.milp import ask_solver, open_directions

        unresolved = open_directions(self.name, question, claim)
        return ask_solver(question, claim, unresolved, self.solver) if unresolved else claim


@final
class IntervalArithmetic(Engine):
    """Layer by layer, each neuron by itself: the loosest sound bound, and the yardstick of the others."""

    name = "interval"
    functions = Network

    def answer(self, question: Question) -> Answer:
        from lcifr.prove.networks.linear_bounds import interval_bounds  # it needs torch

        upper = interval_bounds(question)
        blank = engine_of(question.function).answer(replace(question, branch=False))  # for its witnesses
        proof = interval_leaves(question.directions, question.region, upper) if question.proof else None
        return replace(blank, upper=upper, methods=(self.name,), proof=proof)


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
    budget: Resources | int | None = None,
    proof: bool = False,
) -> Answer:
    """The largest value of direction · network(x′) over every person's region, from above and from below.

    Parameters
    ----------
    network : a :class:`lcifr.Network`, or a sum of trees (:class:`lcifr.models.trees.Trees`).
    directions : (k, outputs), alike for all people, or (people, k, outputs).
    target : stop as soon as the answer is known to lie strictly on one side of it; broadcast to (people, k).
    tolerance : absolute plus relative: done when upper − best ≤ tolerance · (1 + |best|).
    method : ``"cascade"``, or one of its parts: ``"bounds"``, ``"branch"``, ``"milp"``, ``"lp"``, ``"interval"``,
        ``"enumerate"``. A method that cannot answer the question says what stands in the way.
    solver : who is asked by ``"milp"``, ``"lp"`` and the last step of ``"cascade"``: ``"highs"``, which is built in and
        taken where none is named, or ``"gurobi"``, with the extra of that name and a licence.
    device : where bounds are computed, as torch names it; None is the CPU.
    budget : nodes for each person and direction, or :class:`lcifr.prove.Resources`.
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
    resources = Resources.of(budget, device)
    question = build_question(
        network, directions, region, target=target, tolerance=tolerance, resources=resources, proof=proof
    )
    return ask(find_method(method, solver), question)


METHODS = {
    "cascade": "maximize.Cascade",
    "branch": "maximize.Branch",
    "bounds": "maximize.Bounds",
    "enumerate": "oracles.enumerate.Enumerate",
    "interval": "maximize.IntervalArithmetic",
    "lp": "oracles.lp.Lp",
    "milp": "oracles.milp.Milp",
}
"""Every method's class, by its place in ``lcifr.prove``; imported when it is first asked."""


def find_method(name: str, solver: str | None = None) -> Engine:
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
def _kind_of(name: str) -> type[Engine]:
    file, _, kind = METHODS[name].rpartition(".")
    return cast(type[Engine], getattr(importlib.import_module(f"lcifr.prove.{file}"), kind))


def _with_solver(kind: type[Engine], solver: str) -> Engine:
    if not issubclass(kind, SolverEngine):
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
