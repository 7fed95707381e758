"""The proved ends of every output around f(x), by the kernel, the engine or any method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from lcifr.models.network import Network
from lcifr.prove.answer import Budget, FloatArray
from lcifr.prove.maximize import maximize
from lcifr.prove.networks import kernel as compiled
from lcifr.prove.networks.batched.engine import BatchQuestion, run
from lcifr.prove.networks.batched.incumbent import Incumbent
from lcifr.prove.networks.cascade import CHUNK
from lcifr.prove.networks.linear_bounds.cell_batch import tensors
from lcifr.regions.region import Region


@dataclass(frozen=True)
class Ends:
    """Upper and lower ends (people, outputs), witness (people, features), nodes (people,), proofs."""

    high: FloatArray
    low: FloatArray
    witness: FloatArray
    nodes: NDArray[np.int64]
    proof: tuple[tuple[object, ...], ...] | None

    def put(self, who: NDArray[np.int64], more: Ends) -> None:
        """What else was found about some of the people: the tighter ends, and the later witness."""
        self.high[who], self.low[who] = np.minimum(self.high[who], more.high), np.maximum(self.low[who], more.low)
        self.witness[who] = more.witness
        self.nodes[who] += more.nodes


@dataclass(frozen=True)
class Wanted:
    """What is asked of everybody."""

    network: Network
    tolerance: float
    method: str
    device: str | None
    budget: Budget
    proof: bool
    deadline: float | None

    def chunk(self, region: Region) -> int:
        """How many people at once, so that memory does not grow with them; other methods see to that themselves."""
        if self.method != "cascade":
            return max(1, region.people)
        width = 4 * self.network.outputs + region.features
        return max(1, (compiled.CHUNK if self.compiled(region) else CHUNK) // width)

    def compiled(self, region: Region) -> bool:
        """Whether the kernel answers."""
        return compiled.covers(self.network, region, self.device, self.proof)


def find_ends(wanted: Wanted, latent: FloatArray, region: Region, target: FloatArray | None) -> Ends:
    """The ends of n people whose outputs are ``latent`` (n, outputs), as tight as ε or its target (n,) needs."""
    if wanted.method != "cascade":
        return _by_method(wanted, latent, region, target)
    return (_by_kernel if wanted.compiled(region) else _by_engine)(wanted, latent, region, target)


def directions(outputs: int) -> FloatArray:
    """(2·outputs, outputs): +e_j and −e_j in turn."""
    signs = np.zeros((2 * outputs, outputs))
    signs[np.arange(0, 2 * outputs, 2), np.arange(outputs)] = 1.0
    signs[np.arange(1, 2 * outputs, 2), np.arange(outputs)] = -1.0
    return signs


def _by_kernel(wanted: Wanted, latent: FloatArray, region: Region, target: FloatArray | None) -> Ends:
    """The same as :func:`_by_engine`, compiled; which is asked about those for whom the kernel has no answer."""
    from lcifr.prove.networks.kernel.call import Request, answer_people

    offset = np.empty((region.people, 2 * wanted.network.outputs))
    offset[:, 0::2], offset[:, 1::2] = -latent, latent
    request = Request(
        wanted.network,
        region,
        directions(wanted.network.outputs),
        offset=offset,
        target=None if target is None else target[:, None],
        best=np.zeros((region.people, 1)),  # reached by x itself, which is always covered
        tolerance=wanted.tolerance,
        budget=wanted.budget,
        together=True,
        branch=True,
        deadline=wanted.deadline,
    )
    found, rest = answer_people(request)
    ends = Ends(found.upper[:, 0::2], -found.upper[:, 1::2], found.witness[:, 0], found.nodes.sum(1), None)
    if len(rest):
        goal = None if target is None else target[rest]
        ends.put(rest, _by_engine(wanted, latent[rest], region.take(rest), goal))
    return ends


def _by_engine(wanted: Wanted, latent: FloatArray, region: Region, target: FloatArray | None) -> Ends:
    """All directions of a person share one answer, so that only those that can still change ε are refined."""
    layers = tensors(wanted.network, wanted.device)
    device = layers[0][0].device
    signs = torch.as_tensor(directions(latent.shape[1]), device=device)
    offset = -torch.as_tensor(latent, device=device) @ signs.T
    answer = torch.arange(region.people, device=device)[:, None].expand(-1, len(signs))
    reached = torch.zeros(region.people, dtype=torch.float64, device=device)  # by x itself, which is always covered
    goal = None if target is None else torch.as_tensor(target, device=device)
    incumbent = Incumbent(reached, goal, wanted.tolerance)
    task = BatchQuestion(
        layers, region, signs, offset, answer, incumbent, wanted.budget, True, wanted.deadline, proof=wanted.proof
    )
    result = run(task)
    proofs = tuple(tuple(tuple(cells) for cells in person) for person in result.proof or ())
    upper = result.upper.cpu().numpy()
    witness, nodes = incumbent.points(region.features), result.nodes.sum(1).cpu().numpy()
    return Ends(upper[:, 0::2], -upper[:, 1::2], witness, nodes, proofs if wanted.proof else None)


def _by_method(wanted: Wanted, latent: FloatArray, region: Region, target: FloatArray | None) -> Ends:
    """Every direction by itself, by any method; the target of ε becomes one of each direction."""
    signs = directions(wanted.network.outputs)
    center = latent @ signs.T
    answer = maximize(
        wanted.network,
        signs,
        region,
        target=None if target is None else center + target[:, None],
        tolerance=wanted.tolerance,
        method=wanted.method,
        device=wanted.device,
        budget=wanted.budget,
        proof=wanted.proof,
    )
    far = (answer.best - center).argmax(1)
    witness = answer.witness[np.arange(region.people), far]
    found = None if answer.proof is None else tuple(tuple(row) for row in answer.proof)
    return Ends(answer.upper[:, 0::2], -answer.upper[:, 1::2], witness, answer.nodes.sum(1), found)
