"""The methods there are, found by looking at the files of their rooms."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from typing import TypeGuard

from lcifr.errors import LcifrError, did_you_mean
from lcifr.prove.method import Method, SolverMethod
from lcifr.prove.oracles.solvers import find_solver

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
