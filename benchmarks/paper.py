"""The paper's way to a radius, for comparison only: two mixed-integer programs per output and person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.errors import UntrustedResultError
from lcifr.models.network import Network
from lcifr.prove.answer import FloatArray
from lcifr.prove.oracles.milp import CellProgram, intervals_of
from lcifr.prove.oracles.solvers import Limits, SolverStatus, find_solver
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
