"""What a sweep's bundle claims of its cells, with the proofs: no pair of the cell is decided differently, or one is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lcifr.certification.bundles.claims import plain_person
from lcifr.certification.bundles.evidence import Evidence, prove
from lcifr.certification.counterexample import Trial
from lcifr.certification.query import outputs_at
from lcifr.certification.sweep.fixed_change import FixedChange, people_of
from lcifr.certification.sweep.one_decision import alike_query, reached_people
from lcifr.certification.sweep.pair_question import PairQuestion
from lcifr.certification.sweep.result import Standing, SweptCell
from lcifr.certification.sweep.swept_model import SweptModel
from lcifr.certification.whole_search import query_end_to_end
from lcifr.data import Individuals
from lcifr.models.network import Network
from lcifr.models.rule import Kind
from lcifr.prove import Budget
from lcifr.regions.universe import UniverseCells
from lcifr.regions.whole_numbers import narrow_to_whole_numbers

Claim = dict[str, Any]
OPEN: Claim = {"standing": "open"}
MOST_CLASSES = 16
"""Of more the checker does not look at all pairs of classes: the network grows with the fourth power of them."""


@dataclass(frozen=True, eq=False)
class CellClaims:
    """Claims about cells, one search for each batch. Whatever the search does not reach is left open."""

    swept: SweptModel
    budget: Budget

    def of(self, standings: Sequence[Standing], cells: Sequence[SweptCell]) -> list[Claim]:
        """Of each cell, by its standing."""
        joined = UniverseCells.joined([one.cell for one in cells])
        claims = [{**OPEN, **self._pair(one)} for one in cells]
        single = joined.is_single()
        proved, violating = (
            np.array([standing is one for standing in standings], np.bool_)
            for one in (Standing.PROVED, Standing.VIOLATING)
        )
        violating &= np.array([one.strict for one in cells], np.bool_)
        for row in np.flatnonzero(violating).tolist():
            claims[row] |= {"standing": "violating"} if single[row] else self._changed(cells[row], claims[row])
        for rows, prove_these in ((proved & ~single, self._proved), (proved & single, self._certified)):
            for row, claim in zip(np.flatnonzero(rows).tolist(), prove_these(joined.take(rows)), strict=True):
                claims[row] |= claim
        return claims

    @property
    def _few_classes(self) -> bool:
        rule = self.swept.rule
        return rule.kind is not Kind.CLASS or rule.outputs <= MOST_CLASSES

    @cached_property
    def _question(self) -> PairQuestion:
        return PairQuestion(self.swept)

    def _proved(self, cells: UniverseCells) -> list[Claim]:
        """That no pair is decided differently: because everybody is decided alike, or by both decisions at once."""
        claims: list[Claim] = [{} for _ in range(len(cells))]
        for attempt in self._attempts:
            left = [row for row, claim in enumerate(claims) if not claim]
            if left:
                for row, claim in zip(left, attempt(cells.take(left)), strict=True):
                    claims[row] = claim
        return claims

    @property
    def _attempts(self) -> tuple[Callable[[UniverseCells], list[Claim]], ...]:
        """One function is cheaper to search and to check than its product, and proves most cells."""
        network = isinstance(self.swept.deployment.merged, Network) and len(self.swept.scores) and self._few_classes
        alike = () if self.swept.rule.kind is Kind.NUMBER else (self._alike,)
        return (*alike, self._both) if network else alike

    def _both(self, cells: UniverseCells) -> list[Claim]:
        """That no pair is decided differently, by both decisions as one network."""
        region = self.swept.pairs.region(cells, as_written=True)
        query = self._question.query(region, cells.whole)
        evidence = prove(self._question.product, query, region, budget=self.budget)
        return [{} if found is None else {"standing": "proved", "proofs": found} for found in shown(evidence)]

    def _alike(self, cells: UniverseCells) -> list[Claim]:
        """That everybody whom the pairs reach is decided as the one in the middle of the cell."""
        swept, people = self.swept, cells.middles()
        pairs = swept.pairs.region(cells, as_written=True)
        reach = reached_people(swept.pairs, pairs, cells, swept.encoding)
        own = outputs_at(swept.deployment, swept.encoding.encode(people))
        evidence = prove(swept.deployment.merged, alike_query(swept, reach, own), reach, budget=self.budget)
        classes = swept.rule.decide(own.values)
        return [
            {} if found is None else {"standing": "proved", "prediction": int(decided), "proofs": found}
            for found, decided in zip(shown(evidence), classes, strict=True)
        ]

    def _certified(self, cells: UniverseCells) -> list[Claim]:
        """Of cells of one individual each: the person's own certificate."""
        if not len(cells):
            return []
        people = cells.middles()
        region = narrow_to_whole_numbers(self.swept.encoder.similarity.region(people), self.swept.encoding)
        trial = Trial(self.swept.encoder, self.swept.model, people, self.swept.arithmetic)
        asked = trial.asked.asked_over(region)
        evidence = prove(trial.asked.merged, query_end_to_end(trial, region), asked, budget=self.budget)
        claims = list[Claim]()
        for row, found in enumerate(shown(evidence)):
            decision = {"verdict": "certified", **self._prediction(people, row), "on": "whole", "proofs": found}
            claim = {"standing": "proved", "x": plain_person(people, row), "decision": decision}
            claims.append({} if found is None else claim)
        return claims

    def _changed(self, one: SweptCell, pair: Claim) -> Claim:
        """That the change from x to x′ makes a violation of everybody in the cell."""
        assert one.pair is not None
        change = FixedChange(one.cell, one.pair)
        proofs = [self._one_decision(one.cell, one.pair.x), self._one_decision(change.moved, one.pair.other)]
        if None in proofs:
            return {}
        shifts = {name: float(by) for name, by in change.shift.items() if by}
        said = {"codes": change.codes, "shifts": shifts, **self._prediction(one.pair.other, 0)}
        return {**pair, "standing": "violating", "change": {**said, "before": proofs[0], "after": proofs[1]}}

    def _one_decision(self, cell: UniverseCells, person: Individuals) -> list[Any] | None:
        """Proofs that everybody in the cell is decided as this person is."""
        region = people_of(self.swept, cell)
        own = outputs_at(self.swept.deployment, self.swept.encoding.encode(person))
        query = alike_query(self.swept, region, own)
        (found,) = shown(prove(self.swept.deployment.merged, query, region, budget=self.budget))
        return found

    def _pair(self, one: SweptCell) -> Claim:
        """A pair of the cell that is decided differently; a tie is nothing that a checker confirms."""
        if one.pair is None or not one.strict:
            return {}
        other = plain_person(one.pair.other, 0)
        decision = {"verdict": "counterexample", **self._prediction(one.pair.x, 0), "other": other}
        return {"x": plain_person(one.pair.x, 0), "decision": decision}

    def _prediction(self, people: Individuals, row: int) -> dict[str, int]:
        if self.swept.rule.kind is Kind.NUMBER:
            return {}
        outputs = outputs_at(self.swept.deployment, self.swept.encoding.encode(people.take([row])))
        return {"prediction": int(self.swept.rule.decide(outputs.values)[0])}


def shown(evidence: Evidence) -> list[list[Any] | None]:
    """The proofs of each cell; None where they stop short of what must be shown."""
    return [found if reached else None for found, reached in zip(evidence.proofs, evidence.reached, strict=True)]
