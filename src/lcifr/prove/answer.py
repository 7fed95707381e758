"""What a proof engine answers: proved upper bounds, best values found, witnesses; and what one is asked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lcifr.models.network import Network, as_network

if TYPE_CHECKING:
    from lcifr.models.function import Function
    from lcifr.regions.region import Region

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
