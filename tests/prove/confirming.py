"""Every claim of an answer's proofs that the exact checker does not confirm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcifr.check.exact import Rejected
from lcifr.check.functions import Network as IntegerNetwork
from lcifr.check.functions import read_network
from lcifr.check.proof import Bounds, Problem, examine, follows
from lcifr.models.network import Network
from lcifr.prove.oracles.enumerate import plain_cell
from lcifr.prove.proof import CellProof, to_plain
from lcifr.prove.question import Answer, FloatArray, Proofs
from lcifr.prove.radius import Radius, signed_outputs
from lcifr.regions.region import Region


@dataclass(frozen=True)
class Refusal:
    """A claim that the exact checker did not confirm."""

    person: int
    direction: int
    cell: int
    reason: str


def refusals(network: Network, directions: FloatArray, region: Region, answer: Answer) -> list[Refusal]:
    """Everything in the answer's proofs that the exact checker does not confirm; empty if all of it is proved.

    Parameters
    ----------
    directions : (people, k, outputs)
    answer : with ``proof[person][direction]`` a sequence of :class:`CellProof`, one for each cell that the person has,
        or None where nothing is proved. The proofs of several directions may be one object with several claims.
    """
    return _refused(network, directions, region, answer.upper, answer.proof or ())


def refusals_of_radius(network: Network, region: Region, found: Radius) -> list[Refusal]:
    """The same of a radius: both sides of its box, output by output."""
    signs = signed_outputs(network.outputs)
    upper = np.empty((len(found.radius), len(signs)))
    upper[:, 0::2], upper[:, 1::2] = found.upper, -found.lower
    return _refused(network, np.broadcast_to(signs, (len(upper), *signs.shape)), region, upper, found.proof or ())


def _refused(
    network: Network, directions: FloatArray, region: Region, bounds: FloatArray, everything: Proofs
) -> list[Refusal]:
    layers = read_network(network.rows())
    found = []
    for person, proofs in enumerate(everything):
        examined: dict[int, Bounds | str] = {}
        for direction, cells in enumerate(proofs):
            wanted = tuple((j, float(value)) for j, value in enumerate(directions[person, direction]) if value)
            by_cell = {proof.cell: proof for proof in cells or ()}
            present = [index for index, cell in enumerate(region.cells) if cells is not None and cell.present[person]]
            for index in present:
                shown: Bounds | str = "there is no proof about this cell"
                if index in by_cell:
                    proof = by_cell[index]
                    if id(proof) not in examined:
                        examined[id(proof)] = _examine(layers, region, person, proof)
                    shown = examined[id(proof)]
                upper = float(bounds[person, direction])
                if isinstance(shown, str):
                    found.append(Refusal(person, direction, index, shown))
                elif not follows(shown, wanted, upper):
                    reason = f"{shown.get(wanted, 'nothing')} is shown, not {upper}"
                    found.append(Refusal(person, direction, index, reason))
    return found


def _examine(layers: IntegerNetwork, region: Region, person: int, proof: CellProof) -> Bounds | str:
    found: Bounds = {}
    try:
        cell = plain_cell(region.cells[proof.cell], person)
        wholes = {
            one.attribute: (one.column, lambda k, one=one: float(one.encode(np.array([k]))[0])) for one in region.whole
        }
        problem = Problem(layers, cell._replace(wholes=wholes))
        for tree in to_plain(proof):
            found |= examine(problem, tree)
    except Rejected as rejected:
        return str(rejected)
    return found
