"""The paper's way to radii and verdicts, for comparison only: mixed-integer programs, person by person."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.errors import UntrustedResultError
from lcifr.models.network import Network
from lcifr.prove.oracles.milp import CellProgram, intervals_of
from lcifr.prove.oracles.solvers import Limits, SolverStatus, find_solver
from lcifr.prove.question import FloatArray
from lcifr.regions.region import Region


@dataclass(frozen=True)
class PaperRadius:
    """(people,) each: the radius around f(x), the seconds spent inside the solver, and whether all was solved."""

    radius: FloatArray
    seconds: FloatArray
    solved: NDArray[np.bool_]


def paper_radius(
    network: Network,
    x: ArrayLike,
    region: Region,
    *,
    solver: str = "highs",
    programs: ArrayLike | None = None,
    limit: float | None = None,
) -> PaperRadius:
    """max over outputs j of max |f_j(x′) − f_j(x)| over the region, by the solver's dual bounds, with tight big-M.

    Parameters
    ----------
    x : (people, features)
    programs : (people, k) which of the 2·outputs programs (+e_j first, then −e_j) to solve, if not all.
    limit : seconds after which a program is given up, which then counts as not solved.

    Raises
    ------
    UntrustedResultError
        A program was not solved to optimality, and not because of the limit.
    """
    chosen = find_solver(solver)
    z = network(np.asarray(x, dtype=np.float64))
    radius, seconds, solved = np.zeros(region.people), np.zeros(region.people), np.ones(region.people, dtype=np.bool_)
    signs = np.concatenate([np.eye(network.outputs), -np.eye(network.outputs)])
    every = np.broadcast_to(np.arange(len(signs)), (region.people, len(signs)))
    wanted = every if programs is None else np.asarray(programs, dtype=np.int64)
    for cell in region.cells:
        known = intervals_of(network, cell)
        for person in np.flatnonzero(cell.present):
            program = CellProgram(network, cell, int(person), known, chosen, Limits(seconds=limit))
            for direction in signs[wanted[person]]:
                offset, outcome = program.maximize(direction)
                seconds[person] += outcome.seconds
                if limit is not None and outcome.status is SolverStatus.LIMIT:
                    solved[person] = False
                elif outcome.status is not SolverStatus.OPTIMAL:
                    raise UntrustedResultError(f"person {person}: {solver} answered {outcome.status.value}")
                radius[person] = max(radius[person], outcome.bound + offset - direction @ z[person])
    return PaperRadius(radius, seconds, solved)


@dataclass(frozen=True)
class PaperVerdict:
    """(people,) each: whether everybody gets one decision, CPU seconds inside the solver, and whether it finished."""

    certified: NDArray[np.bool_]
    seconds: FloatArray
    solved: NDArray[np.bool_]


def paper_verdicts(network: Network, x: ArrayLike, region: Region, *, limit: float = 60.0) -> PaperVerdict:
    """One program for each person and cell: how far the one output of the network goes towards the other sign."""
    points = np.asarray(x, dtype=np.float64)
    certified, seconds, solved = (
        np.ones(region.people, np.bool_),
        np.zeros(region.people),
        np.ones(region.people, bool),
    )
    away = np.where(network(points) > 0, -1.0, 1.0)
    for cell in region.cells:
        known = intervals_of(network, cell)
        for person in np.flatnonzero(cell.present):
            program = CellProgram(network, cell, int(person), known, find_solver(), Limits(seconds=limit))
            start = time.process_time()
            offset, outcome = program.maximize(away[person])
            seconds[person] += time.process_time() - start
            solved[person] &= outcome.status is SolverStatus.OPTIMAL
            certified[person] &= outcome.bound + offset < 0
    return PaperVerdict(certified, seconds, solved)
