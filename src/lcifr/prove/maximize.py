"""The one question, the largest value of a linear output of a function over a region, and the methods there are."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from typing import TypeGuard

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
    network : a :class:`lcifr.Network`, or a sum of trees (:class:`lcifr.models.trees.trees.Trees`).
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


ROOMS = ("lcifr.prove.networks", "lcifr.prove.oracles")
"""Where methods live: one file each, named like the method."""


def find_method(name: str, solver: str | None = None) -> Method:
    """The method called ``name``: the one in the file ``<name>.py`` of a room of methods.

    Parameters
    ----------
    solver : for a method that asks one: which, by its name; it must be installed.
    """
    kind = _kind_of(name)
    if kind is not None:
        return kind() if solver is None else _with_solver(kind, solver)
    known = sorted(method_names())
    raise LcifrError(
        f'there is no method "{name}".{did_you_mean(name, known)}', fix="one of " + ", ".join(f'"{n}"' for n in known)
    )


def method_names() -> Iterator[str]:
    """The names of all methods, found by looking at the files of their rooms."""
    for name in _modules():
        if _kind_of(name) is not None:
            yield name


@cache
def _kind_of(name: str) -> type[Method] | None:
    """The method in the file of this name; None where there is no such file, or no method in it."""
    if name not in _modules():
        return None
    kinds = vars(importlib.import_module(_modules()[name])).values()
    return next((kind for kind in kinds if _is_method(kind) and kind.name == name), None)


def _with_solver(kind: type[Method], solver: str) -> Method:
    if not issubclass(kind, SolverMethod):
        raise LcifrError(
            f'method "{kind.name}" asks no solver, and solver="{solver}" was given',
            fix='leave solver out, or use method="milp"',
        )
    chosen = find_solver(solver)
    chosen.version()  # says how to install it where it is missing
    return kind(chosen)


@cache
def _modules() -> dict[str, str]:
    """Where each file of the rooms of methods can be imported from, by its name."""
    found: dict[str, str] = {}
    for room in ROOMS:
        package = importlib.import_module(room)
        found |= {module.name: f"{room}.{module.name}" for module in pkgutil.iter_modules(package.__path__)}
    return found


def _is_method(kind: object) -> TypeGuard[type[Method]]:
    return isinstance(kind, type) and issubclass(kind, Method) and kind not in (Method, SolverMethod)
