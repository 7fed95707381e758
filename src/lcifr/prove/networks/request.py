"""What the engines are asked about a chunk of people, and what they find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lcifr.models.network import Network
from lcifr.prove.answer import FloatArray, IntArray
from lcifr.prove.proof import CellProof
from lcifr.regions.region import Region

DOUBT = 1e-9
"""Of a value: how far it has to be beyond a target before nobody looks further."""
Proofs = list[Sequence[list[CellProof]]]
"""``proofs[person][direction]``: one for each cell."""


@dataclass(frozen=True, eq=False)
class Request:
    """A question about n people.

    Parameters
    ----------
    directions : (K, outputs) alike for everybody, or (n, K, outputs).
    offset : (n, K) added to the value of a direction before values are compared.
    target : (n, answers) or None. reached : (n, answers) what is reached anyway, or −inf.
    together : whether all directions share one answer. branch : whether to go on where a bound is not enough.
    nodes : allowed for each person and direction. deadline : by ``time.monotonic``, or None.
    """

    network: Network
    region: Region
    directions: FloatArray
    offset: FloatArray
    target: FloatArray | None
    reached: FloatArray
    tolerance: float
    nodes: int
    together: bool
    branch: bool
    deadline: float | None
    device: str | None
    proof: bool

    @property
    def answers(self) -> int:
        """How many answers everybody gets: one for all directions together, or one for each."""
        return int(self.reached.shape[1])

    def take(self, who: IntArray) -> Request:
        """The same about some of the people."""
        return replace(
            self,
            region=self.region.take(who),
            directions=self.directions if self.directions.ndim == 2 else self.directions[who],
            offset=self.offset[who],
            target=None if self.target is None else self.target[who],
            reached=self.reached[who],
        )


@dataclass(frozen=True, eq=False)
class Findings:
    """What was found about n people.

    Parameters
    ----------
    upper : (n, K) proved, without the offset. nodes, exhausted, branched : (n, K).
    witness : (n, answers, features), NaN where nothing better than what is reached anyway was found.
    proofs : where they were asked for. unanswered : people (indices) for whom another engine has to look again.
    interrupted : whether Ctrl-C ended the search.
    """

    upper: FloatArray
    nodes: IntArray
    exhausted: NDArray[np.bool_]
    branched: NDArray[np.bool_]
    witness: FloatArray
    proofs: Proofs = field(default_factory=list)
    unanswered: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    interrupted: bool = False

    @classmethod
    def blank(cls, shape: tuple[int, ...], answers: int, features: int) -> Findings:
        """Nothing, of (people, directions): every bound is that of an empty region."""
        return cls(
            upper=np.full(shape, -np.inf),
            nodes=np.zeros(shape, np.int64),
            exhausted=np.zeros(shape, np.bool_),
            branched=np.zeros(shape, np.bool_),
            witness=np.full((shape[0], answers, features), np.nan),
        )

    def put(self, who: slice | IntArray, found: Findings) -> None:
        """Copy what was found about some of the people to their places."""
        self.upper[who], self.witness[who], self.nodes[who] = found.upper, found.witness, found.nodes
        self.exhausted[who], self.branched[who] = found.exhausted, found.branched


def still_open(request: Request, found: Findings) -> IntArray:
    """People (indices) for whom a smaller bound or a better point could change an answer."""
    best = np.maximum(request.reached, values_at(request, found.witness))
    bound, size = found.upper + request.offset, np.where(np.isneginf(best), 0.0, 1.0 + np.abs(best))
    limit, settled = best + 0.5 * request.tolerance * size, np.zeros(best.shape, np.bool_)
    if request.target is not None:
        limit = np.maximum(limit, np.nextafter(request.target, -np.inf))
        settled = best - DOUBT * size > request.target
    return np.flatnonzero(((bound > limit) & ~settled).any(1))


def values_at(request: Request, points: FloatArray) -> FloatArray:
    """(n, answers) the value of each answer at its point (n, answers, features), −inf where there is none."""
    there = ~np.isnan(points[:, :, 0])
    if not there.any():
        return np.full(there.shape, -np.inf)
    outputs = request.network(np.where(there[..., None], points, 0.0))
    rows = request.directions if request.directions.ndim == 3 else request.directions[None]
    values = np.einsum("nao,nko->nak", outputs, np.broadcast_to(rows, (len(points), *rows.shape[1:])))
    values = values + request.offset[:, None, :]
    each = values.max(2) if request.together else np.diagonal(values, axis1=1, axis2=2)
    return np.where(there, each, -np.inf)
