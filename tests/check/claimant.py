"""Claims about the people of a tiny universe, right or wrong; and the truth about them, by trying everybody."""

from __future__ import annotations

import json
import random
from typing import Any

from lcifr.check.judge import Judge
from lcifr.check.phi import Formula
from tests.check.exhaustive_proofs import ProofWriter, directions_of
from tests.check.random_formulas import Formulas, true_of
from tests.check.tiny_universes import Decider, Person, Universe

IDENTITY: dict[str, Any] = {"kind": "network", "factors": []}


class Claimant:
    """Somebody who claims things about the people of a universe, right or wrong."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.universe = Universe.draw(self.dice)
        self.table, self.people = self.universe.table, self.universe.everybody
        self.formula = Formulas(self.dice, self.universe).draw()
        self.decider = Decider.draw(self.dice, self.table, self.universe)
        self.whole = self.dice.random() < 0.7
        trees = isinstance(self.decider.function, dict)
        self.writer = ProofWriter(self.dice, self.universe, self.whole, trees)
        self.judge = Judge(Formula(self.formula, self.table), IDENTITY, self.decider.function, self.decider.rule)

    def prediction(self, person: Person) -> int | None:
        """Mostly how they are decided."""
        if self.decider.rule["kind"] == "within":
            return None
        group = self.dice.choice([*self.decider.may(self.decider.at(self.table, person))])
        return self.dice.choice(self.decider.groups[group] if self.dice.random() < 0.9 else [0, 1])

    def line(self, x: Person) -> dict[str, Any]:
        universe = "whole" if self.whole else "reals"
        claim = {"prediction": self.prediction(x), "universe": universe, "arithmetic": "exact"}
        if self.dice.random() < 0.6:
            proofs = [self.writer.proof(self.table, directions_of(self.decider))]
            claim |= {"verdict": "certified", "on": "whole", "proofs": proofs}
        else:
            similar = [other for other in self.people if true_of(self.formula, x, other)]
            other = self.dice.choice([*similar, *self.people[:1]])
            claim |= {"verdict": "counterexample", "other": self.universe.plain(other)}
        return json.loads(json.dumps({"id": 1, "x": self.universe.plain(x), "decision": claim}))

    def person(self, found: Any) -> Person:
        return next(one for one in self.people if self.universe.plain(one) == found)

    def is_true(self, x: Person, decision: dict[str, Any]) -> bool:
        """By trying everybody."""
        decider, own = self.decider, self.decider.at(self.table, x)
        if decision["verdict"] == "counterexample":
            other = self.person(decision["other"])
            there = decider.at(self.table, other)
            if decider.rule["kind"] == "within":
                far = decider.apart(own, there) > decider.rule["tolerance"]
                return far and true_of(self.formula, x, other)
            group = decider.group_of(decision["prediction"])
            return decider.may(own) == {group} and group not in decider.may(there) and true_of(self.formula, x, other)
        every = [decider.at(self.table, other) for other in self.people if true_of(self.formula, x, other)]
        if decider.rule["kind"] == "within":
            return all(decider.apart(own, there) < decider.rule["tolerance"] for there in every)
        return all(decider.may(there) == {decider.group_of(decision["prediction"])} for there in (own, *every))
