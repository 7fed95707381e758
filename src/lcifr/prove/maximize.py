"""The one question, the largest value of a linear output of a function over a region, and the methods there are."""

from __future__ import annotations

import importlib
from functools import cache
from typing import cast

from numpy.typing import ArrayLike

from lcifr.errors import LcifrError, did_you_mean
from lcifr.models.function import Function
from lcifr.prove.answer import Answer, Budget
from lcifr.prove.method import Method, SolverMethod, build_question
from lcifr.prove.oracles.solvers import find_solver
from lcifr.regions.region import Region


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
    "cascade": "networks.cascade.Cascade",
    "branch": "networks.cascade.Branch",
    "bounds": "networks.bounds.Bounds",
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
