"""What engines are asked (Question), what they claim and the gate confirms (Answer), and what an engine is."""

from __future__ import annotations

import importlib
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError
from lcifr.models.function import Function
from lcifr.models.network import Network, as_network
from lcifr.regions.region import Region

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
CodeArray = NDArray[np.int8]
Proofs = Sequence[Sequence[Any]]
"""``proofs[person][direction]``: a proof of ``upper`` (see docs/design/proofs.md), one for each cell."""


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
class Resources:
    """How much work is allowed, and where. Nodes do not depend on the machine's load; seconds do, and are off by
    default.
    """

    nodes: int = 20_000
    """Nodes of branch-and-bound (or of a MILP) for each person and direction."""
    seconds: float | None = None
    """Wall-clock for the whole call, checked between batches."""
    device: str | None = None
    """Where bounds are computed, as torch names it; None is the CPU."""

    @classmethod
    def of(cls, budget: Resources | int | None, device: str | None = None) -> Resources:
        """From the arguments ``budget`` and ``device`` of public functions."""
        allowed = cls(nodes=budget) if isinstance(budget, int) else budget or cls()
        return allowed if device is None else replace(allowed, device=device)

    @property
    def on_cpu(self) -> bool:
        """Whether bounds are computed on the CPU."""
        return self.device in (None, "cpu")

    def deadline(self) -> float | None:
        """When a call that starts now has to end, by ``time.monotonic``; None where no seconds are given."""
        return None if self.seconds is None else time.monotonic() + self.seconds


Budget = Resources
"""The name in arguments of public functions."""


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


@dataclass(frozen=True, eq=False)
class Question:
    """The largest value of each direction · function(x′) over each person's region; build it with ``build_question``.

    Parameters
    ----------
    directions : (people, k, outputs) float64; where they are alike for everyone, a view of those of the first person.
    target : (people, answers) float64, or None.
    shared : where all directions of a person share one answer; None where each has its own.
    branch : whether to continue if a bound is not enough.
    deadline : by ``time.monotonic``, or None.
    moved : (people, k) how far the values of ``function`` are from those that count, where an engine asks another one
        about a function of its own.
    """

    function: Function
    directions: FloatArray
    region: Region
    target: FloatArray | None = None
    tolerance: float = 1e-6
    resources: Resources = Resources()
    proof: bool = False
    shared: SharedAnswer | None = None
    branch: bool = True
    deadline: float | None = None
    moved: FloatArray | None = None

    @property
    def network(self) -> Network:
        """The function, for engines that answer about networks only."""
        return as_network(self.function)

    @property
    def answers(self) -> int:
        """Answers for each person: one for each direction, or one for all of them."""
        return self.directions.shape[1] if self.shared is None else 1

    @property
    def alike(self) -> bool:
        """Whether everyone is asked about in the same directions."""
        return len(self.directions) == 1 or self.directions.strides[0] == 0

    @cached_property
    def rows(self) -> FloatArray:
        """(people, k, outputs) the directions, or (1, k, outputs) where they are alike.

        Always in this order in memory: kernels would be compiled anew for any other.
        """
        return np.array(self.directions[:1] if self.alike else self.directions, order="C")

    @property
    def offset(self) -> FloatArray:
        """(people, k) added to the value of a direction before values are compared."""
        if self.moved is not None:
            return self.moved
        return np.zeros(self.directions.shape[:2]) if self.shared is None else self.shared.offset

    def reached(self) -> FloatArray:
        """(people, answers) what is reached anyway, or −inf; a new array each time, which may be written into."""
        if self.shared is None:
            return np.full(self.directions.shape[:2], -np.inf)
        return np.array(self.shared.reached[:, None])

    def take(self, people: slice | IntArray) -> Question:
        """The same about some of the people."""
        region, shared = self.region.take(people), self.shared
        rows = self.directions
        return replace(
            self,
            directions=np.broadcast_to(rows[:1], (region.people, *rows.shape[1:])) if self.alike else rows[people],
            region=region,
            target=None if self.target is None else self.target[people],
            shared=None if shared is None else SharedAnswer(shared.offset[people], shared.reached[people]),
            moved=None if self.moved is None else self.moved[people],
        )


@dataclass(frozen=True)
class Answer:
    """The largest value of each direction over each person's region, from both sides.

    Where all directions share one answer, ``best``, ``witness`` and ``status`` have one column, and ``best`` includes
    the offset. What an engine returns is never believed: the gate confirms witnesses, computes ``best`` and
    ``status`` itself, and takes over from ``status`` only where nothing was proved (FAILED) or the budget was spent.

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
    interrupted : whether Ctrl-C ended the work.
    """

    upper: FloatArray
    best: FloatArray
    witness: FloatArray
    status: CodeArray
    method: CodeArray
    methods: tuple[str, ...]
    nodes: IntArray
    proof: Proofs | None = None
    interrupted: bool = False

    @classmethod
    def claimed(
        cls,
        question: Question,
        upper: FloatArray,
        witness: FloatArray | None = None,
        *,
        exhausted: NDArray[np.bool_] | None = None,
        failed: NDArray[np.bool_] | None = None,
        nodes: IntArray | None = None,
        method: NDArray[Any] | None = None,
        methods: tuple[str, ...] = ("bounds", "branch"),
        proof: Proofs | None = None,
        interrupted: bool = False,
    ) -> Answer:
        """What an engine claims.

        Parameters
        ----------
        exhausted : (people, k) where the budget ended the work. failed : (people, answers) where nothing was proved.
        """
        shape = (len(upper), question.answers)
        if witness is None:
            witness = np.full((*shape, question.region.features), np.nan)
        status = np.full(shape, Status.BOUNDED, np.int8)
        if exhausted is not None:
            status[exhausted if question.shared is None else exhausted.any(1, keepdims=True)] = Status.BUDGET
        if failed is not None:
            status[failed] = Status.FAILED
        codes = np.zeros(upper.shape, np.int8) if method is None else method.astype(np.int8)
        spent = np.zeros(upper.shape, np.int64) if nodes is None else nodes
        best = np.full(shape, -np.inf)
        return cls(upper, best, witness, status, codes, methods, spent, proof if question.proof else None, interrupted)

    @property
    def words(self) -> NDArray[np.str_]:
        """(people, k) the status as text."""
        return np.array([status.word for status in Status])[self.status]

    def replaced(self, people: slice | IntArray, part: Answer) -> Answer:
        """The answer with what another one of the same methods says about some of the people; its proofs stay."""
        changed: dict[str, Any] = {n: value.copy() for n, value in vars(self).items() if isinstance(value, np.ndarray)}
        for name, value in changed.items():
            value[people] = getattr(part, name)
        return replace(self, **changed)


Result = TypeVar("Result", bound=Any)


def joined(parts: Sequence[Result]) -> Result:
    """One result about everyone from results about some of the people, in their order."""
    if len(parts) == 1:
        return parts[0]
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name, value in vars(parts[0]).items()
        if isinstance(value, np.ndarray)
    }
    proof = None if parts[0].proof is None else [one for part in parts for one in part.proof]
    return replace(parts[-1], **arrays, proof=proof)


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


# Engines: each answers about one kind of function, or is an oracle that answers about networks in its own way.


@dataclass(frozen=True)
class Obstacle:
    """Why an engine cannot answer a question: what stands in the way, and what to do."""

    reason: str
    fix: str


@dataclass(frozen=True)
class ProvedBox:
    """z (people, width), the proved box around it, and (people,) whether the radius is known to be tight."""

    latent: FloatArray
    lower: FloatArray
    upper: FloatArray
    exact: NDArray[np.bool_]


class Engine(ABC):
    """One way to answer questions. Only ``gate.ask`` calls it, and believes nothing that it returns unchecked."""

    name: ClassVar[str] = ""
    """By which ``maximize`` finds it; empty for the engine of a kind of functions."""
    functions: ClassVar[type[Any]] = Function
    """The kind of functions that it can answer about."""
    writes_proofs: ClassVar[bool] = True
    """Whether ``proof=True`` gives a proof of every bound."""
    any_device: ClassVar[bool] = True
    """Whether it computes where the resources say, or on the CPU only."""
    has_programs: ClassVar[bool] = False
    """Whether a solver can be asked about what it leaves open."""

    def accepts(self, question: Question) -> Obstacle | None:
        """None for a question that this engine can answer; otherwise what stands in the way."""
        if not isinstance(question.function, self.functions):
            found, known = type(question.function).__name__, self.functions.__name__
            return Obstacle(f"the function is of the kind {found}", f"it answers about {known}")
        if question.proof and not self.writes_proofs:
            return Obstacle("it writes no proofs", 'leave proof=True out, or use method="branch"')
        return None

    @abstractmethod
    def answer(self, question: Question) -> Answer:
        """The engine's own work, which is to be checked."""

    def quick(self, question: Question) -> Answer:
        """One bound for each direction, without branching where the engine has such bounds."""
        return self.answer(question)

    def shares(self, question: Question) -> bool:
        """Whether the engine itself refines only what can change an answer that directions share."""
        return False

    def at_once(self, question: Question, *, together: bool) -> int:
        """How many people to ask about in one call, so that memory does not grow with them.

        Parameters
        ----------
        together : whether all directions of a person are going to share one answer.
        """
        return max(1, question.region.people)

    def box(self, function: Function, x: FloatArray, region: Region) -> ProvedBox | None:
        """Where everyone similar to x lands, in closed form; None where a search has to find it."""
        return None


HAVE_ENGINES = "ask about a Network, or Trees"


def engine_of(function: Function) -> Engine:
    """The engine that this kind of functions names."""
    if not function.engine:
        raise NetworkError(f"nothing is proved about functions of the kind {type(function).__name__}", fix=HAVE_ENGINES)
    module, _, name = function.engine.partition(":")
    return cast(Engine, getattr(importlib.import_module(module), name)())


# What engines ask themselves about what they have found so far.

DOUBT = 1e-9
"""How far a value has to be beyond a target before the search stops, relative to the value."""


def still_open(question: Question, found: Answer) -> IntArray:
    """People (indices) for whom a smaller bound or a better point could change an answer."""
    best = np.maximum(question.reached(), values_at(question, found.witness))
    bound, size = found.upper + question.offset, np.where(np.isneginf(best), 0.0, 1.0 + np.abs(best))
    limit, settled = best + 0.5 * question.tolerance * size, np.zeros(best.shape, np.bool_)
    if question.target is not None:
        limit = np.maximum(limit, np.nextafter(question.target, -np.inf))
        settled = best - DOUBT * size > question.target
    return np.flatnonzero(((bound > limit) & ~settled).any(1))


def values_at(question: Question, points: FloatArray) -> FloatArray:
    """(people, answers) the value of each answer at its point (people, answers, features); −inf if it has no point."""
    there = ~np.isnan(points[:, :, 0])
    if not there.any():
        return np.full(there.shape, -np.inf)
    outputs = question.function(np.where(there[..., None], points, 0.0))
    rows = np.broadcast_to(question.rows, question.directions.shape)
    values = np.einsum("nao,nko->nak", outputs, rows) + question.offset[:, None, :]
    each = np.diagonal(values, axis1=1, axis2=2) if question.shared is None else values.max(2)
    return np.where(there, each, -np.inf)
