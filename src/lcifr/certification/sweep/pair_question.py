"""Questions about cells of the universe: whether any similar pair with x in one is decided differently.

A cell is proved where everybody whom its pairs reach is decided alike. Of networks, where that is not so, the two
decisions are one product network, asked in both orders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from lcifr.certification.end_to_end import audit_region
from lcifr.certification.query import OWN_WORD, BoolArray, FloatArray, Query
from lcifr.certification.sweep.additive_models.question import AdditiveQuestion
from lcifr.certification.sweep.boundary import offer_near_boundary
from lcifr.certification.sweep.one_decision import decided_alike, reached_people
from lcifr.certification.sweep.pairs_found import Pairs, offer_pairs, simplified
from lcifr.certification.sweep.result import Standing
from lcifr.certification.sweep.settling import settle
from lcifr.certification.sweep.swept_model import SweptModel
from lcifr.certification.verdicts import Verdict
from lcifr.data import Individuals
from lcifr.models.chain import merge, merging_error
from lcifr.models.network import Network, as_network
from lcifr.models.pairing import crossings, side_by_side
from lcifr.models.rule import Kind
from lcifr.prove import Budget, maximize
from lcifr.regions.region import Region
from lcifr.regions.universe import UniverseCells

ROUND_UP = 1.0 + 1e-9
Attempted = tuple[BoolArray, FloatArray]
"""(cells,) which are proved, and (cells, k, columns of pairs) points at which somebody may be decided differently."""
Attempt = Callable[[Region, UniverseCells, Budget], Attempted]


@dataclass(frozen=True)
class CellAnswers:
    """Parameters
    ----------
    proved : (cells,) no similar pair with x in the cell is decided differently.
    pairs : where a pair is known that is, the pair.
    strict : (cells,) whether what is known covers ties; else it is proved for strict crossings only, or refuted by a
        tie.
    """

    proved: BoolArray
    pairs: Pairs
    strict: BoolArray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "strict", np.ones(len(self.proved), np.bool_))


@dataclass(frozen=True, eq=False)
class PairQuestion:
    """Asks about cells; what does not depend on them is made once."""

    swept: SweptModel

    def ask(self, cells: UniverseCells, budget: Budget, *, thoroughly: bool = True) -> CellAnswers:
        """What is known of each cell after this much work: a few pairs are drawn first, and searched for only then.

        Unless ``thoroughly``, only what is cheap is done: drawing, and the first way to a proof.
        """
        pairs = Pairs.none(cells)
        if self._same_outputs:
            return CellAnswers(np.ones(len(cells), np.bool_), pairs)
        region = self.swept.pairs.region(cells)
        proved = ~region.nonempty
        offer_pairs(self.swept, cells, region, np.flatnonzero(~proved), None, pairs)
        if thoroughly:
            offer_near_boundary(self.swept, cells, region, np.flatnonzero(~proved & ~pairs.found), pairs)
        for attempt in self._attempts if thoroughly else self._attempts[:1]:
            left = np.flatnonzero(~proved & ~pairs.found)
            if len(left):
                proved[left], points = attempt(region.take(left), cells.take(left), budget)
                offer_pairs(self.swept, cells, region, left[~proved[left]], points[~proved[left]], pairs)
        return CellAnswers(proved, simplified(self.swept, pairs))

    @property
    def _attempts(self) -> tuple[Attempt, ...]:
        """Ways to prove a cell, the cheap ones first."""
        swept, scores = self.swept, len(self.swept.scores)  # none where all classes count as one decision
        if swept.additive is not None and scores:
            return (self._add_up,) if scores == 1 else (self._add_up, self._ask_alike)
        if not isinstance(swept.deployment.merged, Network) or not scores:
            return (self._ask_alike,)
        if swept.rule.kind is Kind.NUMBER:
            return (self._ask_network,)
        return (self._ask_alike, self._ask_network)

    @property
    def _same_outputs(self) -> bool:
        """Whether both of every pair have the same outputs and so the same decision, at a tie too.

        Machines may round them differently, and within a rule's band nobody can tell.
        """
        swept = self.swept
        return swept.deployment.is_exact and swept.rule.band == (0.0, 0.0) and swept.ignores_changes

    def ask_individuals(self, people: Individuals, budget: Budget) -> CellAnswers:
        """The same of cells of one individual each: an audit, which knows more than pairs do."""
        ids = tuple(range(len(people)))
        lowered = self.swept.encoder.similarity.region(people)
        library = self.swept.trial(people).library
        options = dict[str, Any](budget=budget, modular=False, arithmetic=self.swept.arithmetic, library=library)
        found = audit_region(self.swept.encoder, self.swept.model, people, lowered, ids, **options)
        refuted = np.asarray(found.verdict == Verdict.COUNTEREXAMPLE)
        answers = CellAnswers(found.verdict == Verdict.CERTIFIED, Pairs(people, found.others, refuted))
        for row in np.flatnonzero(found.verdict == Verdict.UNDECIDED).tolist():
            settled = settle(self.swept, people.take([row]))
            answers.strict[row] = settled.strict and settled.standing is not Standing.CROSSINGS
            answers.proved[row] = settled.standing in (Standing.PROVED, Standing.CROSSINGS)
            if settled.other is not None:
                answers.pairs.put([row], Pairs(people.take([row]), settled.other, np.ones(1, np.bool_)))
        return answers

    # -- one function at a time ----------------------------------------------------------------------------------------

    def _add_up(self, region: Region, cells: UniverseCells, budget: Budget) -> Attempted:
        assert self.swept.additive is not None
        return AdditiveQuestion(self.swept, self.swept.additive).proved(region), _no_points(region)

    def _ask_alike(self, region: Region, cells: UniverseCells, budget: Budget) -> Attempted:
        """Whether everybody whom a cell's pairs reach is decided alike: a network once, where its product is two."""
        reach = reached_people(self.swept.pairs, region, cells, self.swept.encoding)
        return decided_alike(self.swept, reach, cells.middles(), budget), _no_points(region)

    # -- networks: one product, asked in both orders -------------------------------------------------------------------

    @cached_property
    def _copies(self) -> Network:
        space = self.swept.pairs
        width = len(space.encoding.features)
        return side_by_side(as_network(self.swept.deployment.merged), space.own_columns, space.other_columns, width)

    @cached_property
    def _factors(self) -> tuple[Network, ...]:
        if self.swept.rule.kind is Kind.NUMBER:
            return (self._copies,)
        return (self._copies, crossings(self.swept.scores, self._middle))

    @property
    def _middle(self) -> float:
        """Around which a score's sides lie: a lead of one class over another is compared with 0, whatever its band."""
        return self.swept.rule.middle if self.swept.rule.kind is Kind.SIGN else 0.0

    @cached_property
    def product(self) -> Network:
        """Both copies with the crossings of their scores, as one network."""
        return merge(*self._factors)

    def query(self, region: Region, whole: bool) -> Query:
        """What the product must show on a region of pairs: nobody is decided differently, ties included."""
        directions = self._directions(self.product.outputs)
        room = np.abs(self.swept.scores) @ self._room(whole)
        beside = np.einsum("ko,po->pk", np.abs(directions), merging_error(self._factors, region))
        limit = (self._limit - np.repeat(room, 2)[None] - beside) - 1e-12 * np.abs(self._limit)
        return Query(np.broadcast_to(directions, (len(limit), *directions.shape)), limit)

    def _ask_network(self, region: Region, cells: UniverseCells, budget: Budget) -> Attempted:
        query = self.query(region, cells.whole)
        answer = maximize(self.product, query.directions[0], region, target=query.limit, method=OWN_WORD, budget=budget)
        return np.asarray((answer.upper < query.limit).all(1)), answer.witness

    def _directions(self, outputs: int) -> FloatArray:
        """(2 · scores, outputs) both orders of each score."""
        if self.swept.rule.kind is not Kind.NUMBER:
            return np.eye(outputs)
        apart = np.concatenate([self.swept.scores, -self.swept.scores], axis=1)
        return np.stack([apart, -apart], axis=1).reshape(-1, outputs)

    @cached_property
    def _limit(self) -> float:
        """What every direction must stay below, if nothing is rounded."""
        rule = self.swept.rule
        if rule.kind is Kind.NUMBER:
            return rule.known_tolerance
        if rule.kind is Kind.CLASS:
            return 0.0 - rule.band[1]
        return 0.0 - max(rule.middle - rule.band[0], rule.band[1] - rule.middle) * ROUND_UP

    def _room(self, whole: bool) -> FloatArray:
        """(outputs,) how far a machine can be from the merged function, of anybody who can exist, twice for numbers."""
        if whole not in self._rooms:
            everybody = UniverseCells.everybody(self.swept.encoding, whole=whole)
            found = self.swept.deployment.room_over(everybody.region(self.swept.encoding))[0] * ROUND_UP
            self._rooms[whole] = np.asarray(found * (2.0 if self.swept.rule.kind is Kind.NUMBER else 1.0))
        return self._rooms[whole]

    @cached_property
    def _rooms(self) -> dict[bool, FloatArray]:
        return {}


def _no_points(region: Region) -> FloatArray:
    return np.empty((region.people, 0, region.features))
