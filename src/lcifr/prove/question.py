"""Questions (directions over regions) and answers (proved upper bounds, best values found, witnesses)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lcifr.models.network import Network, as_network
from lcifr.prove.proof import CellProof
from lcifr.regions.region import Region

if TYPE_CHECKING:
    from lcifr.models.function import Function


# What a proof engine answers: proved upper bounds, best values found, witnesses; and what one is asked.

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
CodeArray = NDArray[np.int8]
Proofs = Sequence[Sequence[Any]]
"""``proofs[person][direction]``: a proof of ``upper`` (see docs/design/proofs.md), or None."""


class Status(IntEnum):
    """What is known about one person and direction; stored as int8."""

    EXACT = 0
    """The proved bound and the best value found agree within the tolerance."""
    TARGET_REACHED = 1
    """The answer is known to lie on one side of the target (see which with ``upper`` and ``best``)."""
    EMPTY = 2
    """The region is empty: nothing can be reached."""
    BOUNDED = 3
    """There is a proved bound; this method does not close the gap."""
    BUDGET = 4
    """As BOUNDED, because the budget was spent."""
    FAILED = 5
    """The backend proved nothing: ``upper`` is infinite."""

    @property
    def word(self) -> str:
        """The status as text, for reports: ``exact``, ``target_reached``, …"""
        return self.name.lower()


@dataclass(frozen=True)
class Budget:
    """How much work is allowed. Nodes do not depend on the machine's load; seconds do, and are off by default."""

    nodes: int = 20_000
    """Nodes of branch-and-bound (or of a MILP) for each person and direction."""
    seconds: float | None = None
    """Wall-clock for the whole call, checked between batches."""

    def deadline(self) -> float | None:
        """When a call that starts now has to end, by ``time.monotonic``; None where no seconds are given."""
        return None if self.seconds is None else time.monotonic() + self.seconds


@dataclass(frozen=True)
class SharedAnswer:
    """All directions of a person belong to one answer: the largest of direction · network(x′) + offset.

    Only directions that can still change that one answer are refined.

    Parameters
    ----------
    offset : (people, k). reached : (people,) what is reached anyway.
    """

    offset: FloatArray
    reached: FloatArray

    def largest_bound(self, upper: FloatArray) -> FloatArray:
        """(people, 1) a bound of the answer, from upper bounds (people, k) of the directions."""
        largest = (upper + self.offset).max(1, keepdims=True)
        return np.asarray(np.where(np.isneginf(largest), largest, np.nextafter(largest, np.inf)))

    def largest_value(self, values: FloatArray) -> FloatArray:
        """(people, 1) what the answer surely reaches, from lower bounds (people, k) of the values at one point."""
        value = np.nextafter((values + self.offset).max(1, keepdims=True), -np.inf)
        return np.asarray(np.maximum(value, self.reached[:, None]))


@dataclass(frozen=True)
class Question:
    """One call, validated.

    Parameters
    ----------
    directions : (people, k, outputs) float64.
    target : (people, answers) float64, or None.
    deadline : by ``time.monotonic``, or None.
    shared : where all directions of a person share one answer; None where each has its own.
    """

    function: Function
    directions: FloatArray
    region: Region
    target: FloatArray | None
    tolerance: float
    budget: Budget
    device: str | None
    proof: bool
    deadline: float | None = None
    shared: SharedAnswer | None = None

    @property
    def answers(self) -> int:
        """Answers for each person: one for each direction, or one for all of them."""
        return self.directions.shape[1] if self.shared is None else 1

    def take(self, people: slice | IntArray) -> Question:
        """The same about some of the people."""
        shared = self.shared
        return replace(
            self,
            directions=self.directions[people],
            region=self.region.take(people),
            target=None if self.target is None else self.target[people],
            shared=None if shared is None else SharedAnswer(shared.offset[people], shared.reached[people]),
        )

    @property
    def network(self) -> Network:
        """The function, for methods that answer about networks only."""
        return as_network(self.function)


@dataclass(frozen=True)
class Claim:
    """What a backend says, before anybody believes it.

    Parameters
    ----------
    upper : (people, k) its upper bound, in the units of the direction; −inf only where it proved the region empty.
    proved : (people, k) True only where ``upper`` is backed by an optimal (or dual) status. Where it is False,
        ``upper`` is not looked at: a time limit, an error or "infeasible" without a certificate is never a bound.
    witness : (people, answers, features) the best point found, NaN where none.
    exhausted : (people, k) True where the budget ended the work.
    nodes : (people, k) int64.
    method : (people, k) int8, index into ``methods``: who proved ``upper``.
    methods : names.
    proof : proofs, or None.
    interrupted : whether Ctrl-C ended the work.
    """

    upper: FloatArray
    proved: NDArray[np.bool_]
    witness: FloatArray
    exhausted: NDArray[np.bool_]
    nodes: IntArray
    method: CodeArray
    methods: tuple[str, ...]
    proof: Proofs | None = None
    interrupted: bool = False


@dataclass(frozen=True)
class Answer:
    """The largest value of each direction over each person's region, from both sides.

    Where all directions share one answer, ``best``, ``witness`` and ``status`` have one column, and ``best`` includes
    the offset.

    Parameters
    ----------
    upper : (people, k) proved: no point of the region exceeds it, in exact arithmetic. −inf for an empty region.
    best : (people, k) reached: the value at ``witness``, rounded down by its error bound. −inf where none was found.
    witness : (people, k, features) a point of the region, NaN where none was found.
    status : (people, k) int8, see :class:`Status`.
    method : (people, k) int8, index into ``methods``: who proved ``upper``.
    methods : the names.
    nodes : (people, k) int64, branch-and-bound nodes spent.
    proof : ``proof[person][direction]``, or None where no proofs were asked for.
    """

    upper: FloatArray
    best: FloatArray
    witness: FloatArray
    status: CodeArray
    method: CodeArray
    methods: tuple[str, ...]
    nodes: IntArray
    proof: Proofs | None = None

    @property
    def words(self) -> NDArray[np.str_]:
        """(people, k) the status as text."""
        return np.array([status.word for status in Status])[self.status]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a search.

    Parameters
    ----------
    known : what is known so far, as if the budget had been spent: an :class:`Answer`, or a ``Radius``.
    """

    def __init__(self, known: Any) -> None:
        super().__init__("the search was interrupted; `known` is what it has proved and found so far")
        self.known = known


def within(upper: FloatArray, best: FloatArray, tolerance: float) -> NDArray[np.bool_]:
    """Whether upper and best agree: upper − best ≤ tolerance·(1 + |best|), absolute plus relative.

    Where nothing was found (best is −inf), a finite bound agrees with nothing.
    """
    with np.errstate(invalid="ignore"):
        return np.asarray((upper - best <= tolerance * (1.0 + np.abs(best))) & np.isfinite(best))


# What the engines are asked about a chunk of people, and what they find.

DOUBT = 1e-9
"""Of a value: how far it has to be beyond a target before nobody looks further."""
ProofLists = list[Sequence[list[CellProof]]]
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
    proofs: ProofLists = field(default_factory=list)
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
