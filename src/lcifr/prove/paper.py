"""The paper's way to a radius, for comparison only: two mixed-integer programs per output and person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lcifr.errors import UntrustedResultError
from lcifr.network import Network
from lcifr.prove.answer import FloatArray
from lcifr.prove.milp import Program, intervals_of
from lcifr.prove.solvers import Limits, Word, find_solver
from lcifr.similarity.region import Region


@dataclass(frozen=True)
class PaperRadius:
    """(people,) each: the radius around f(x), and the seconds spent inside the solver."""

    radius: FloatArray
    seconds: FloatArray


def paper_radius(network: Network, x: ArrayLike, region: Region, *, solver: str = "highs") -> PaperRadius:
    """max over outputs j of max |f_j(x′) − f_j(x)| over the region, by the solver's dual bounds, with tight big-M.

    Parameters
    ----------
    x : (people, features)

    Raises
    ------
    UntrustedResultError
        A program was not solved to optimality.
    """
    chosen = find_solver(solver)
    z = network(np.asarray(x, dtype=np.float64))
    radius, seconds = np.zeros(region.people), np.zeros(region.people)
    directions = np.concatenate([np.eye(network.outputs), -np.eye(network.outputs)])
    for cell in region.cells:
        known = intervals_of(network, cell)
        for person in np.flatnonzero(cell.present):
            program = Program(network, cell, int(person), known, chosen, Limits())
            for direction in directions:
                offset, outcome = program.maximize(direction)
                if outcome.word is not Word.OPTIMAL:
                    raise UntrustedResultError(f"person {person}: {solver} answered {outcome.word.value}")
                radius[person] = max(radius[person], outcome.bound + offset - direction @ z[person])
                seconds[person] += outcome.seconds
    return PaperRadius(radius, seconds)
