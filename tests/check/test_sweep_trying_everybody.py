"""Claims about cells of random universes: what is confirmed is true of every pair, and the cells are everybody."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lcifr.check.exact import Limit
from lcifr.check.judge import CheckReport
from lcifr.check.phi import Formula
from lcifr.check.sweep import SweepJudge, kept
from tests.check.claimant import IDENTITY, Claimant
from tests.check.exhaustive_proofs import directions_of, pair_directions_of
from tests.check.random_formulas import true_of
from tests.check.tiny_universes import Person
from tests.effort import sampled

Cell = list[Person]
PROVED, CROSSINGS, VIOLATING = "proved", "strict crossings only", "violating"


class SweepClaimant(Claimant):
    """Somebody who divides a universe at random, and claims things about the cells."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        alike, names = kept(self.formula), [*self.universe.values]
        self.others = {name: name if name in alike and self.dice.random() < 0.9 else f"{name}'" for name in names}
        sweep = {"universe": "whole" if self.whole else "reals", "arithmetic": "exact", "shares": {}}
        function, rule = self.decider.function, self.decider.rule
        formula = Formula(self.formula, self.table)
        self.sweeper = SweepJudge(formula, IDENTITY, function, rule, {**sweep, "others": self.others})

    def cells(self, cell: Cell, depth: int) -> list[Any]:
        """Cuts and cells in preorder."""
        for _ in range(4 * bool(depth)):
            name = self.dice.choice([*self.universe.values])
            border, halves = self.halves(cell, name)
            if all(halves) and cell not in halves:
                return [(name, border), *self.cells(halves[0], depth - 1), *self.cells(halves[1], depth - 1)]
        return [cell]

    def halves(self, cell: Cell, name: str) -> tuple[Any, list[Cell]]:
        """A border, and who is on either side."""
        if name in self.table.codes:
            codes = [code for code in self.table.codes[name] if self.dice.random() < 0.5]
            return codes, [[one for one in cell if (one[name] in codes) == inside] for inside in (True, False)]
        border, apart = self.dice.choice(self.universe.values[name]), self.whole and self.universe.is_whole(name)
        above = [one for one in cell if one[name] > border or (one[name] == border and not apart)]
        return border, [[one for one in cell if one[name] <= border], above]

    def claim(self, cell: Cell) -> dict[str, Any]:
        """A standing of the cell, and something that could show it."""
        kind, everything = self.dice.randrange(6), directions_of(self.decider)
        if kind < 2:
            proofs = [self.writer.proof(self.sweeper.space.table, pair_directions_of(self.decider), self.others)]
            return {"standing": [PROVED, CROSSINGS][kind], "proofs": proofs}
        x = self.dice.choice(cell)
        own, proof = self.prediction(x), self.writer.proof(self.table, everything)
        if kind == 2:
            return {"standing": PROVED, "prediction": own, "proofs": [proof]}
        other = self.partner(x)
        decision: dict[str, Any] = {"verdict": "certified", "prediction": own, "on": "whole", "proofs": [proof]}
        if kind > 3:
            decision = {"verdict": "counterexample", "prediction": own, "other": self.universe.plain(other)}
        said = {"x": self.universe.plain(x), "decision": decision, "standing": VIOLATING if kind > 3 else PROVED}
        if kind == 5:
            after = self.writer.proof(self.table, everything)
            said["change"] = {
                "codes": {name: other[name] for name in self.table.codes if other[name] != x[name]},
                "shifts": {name: other[name] - x[name] for name in self.table.numbers if other[name] != x[name]},
                "prediction": self.prediction(other),
                "before": [proof],
                "after": [after],
            }
        return said

    def partner(self, x: Person) -> Person:
        """Somebody, mostly similar and decided otherwise."""
        similar = [other for other in self.people if true_of(self.formula, x, other)]
        if self.decider.groups:
            own = self.decider.may(self.decider.at(self.table, x))
            similar += 9 * [one for one in similar if not own & self.decider.may(self.decider.at(self.table, one))]
        return self.dice.choice([*similar, *self.people[:1]])

    def is_true_of(self, cell: Cell, standing: str) -> bool:
        """By trying all pairs."""
        for x in cell:
            similar = [other for other in self.people if true_of(self.formula, x, other)]
            crossing = [self._crosses(x, other) for other in similar]
            worst = max((*crossing, -1))
            if (standing == PROVED and worst >= 0) or (standing == CROSSINGS and worst > 0):
                return False
            if standing == VIOLATING and worst < 1:
                return False
        return True

    def _crosses(self, x: Person, other: Person) -> int:
        """1 if two people are surely decided differently, 0 if they may be, −1 if not."""
        one, two = (self.decider.at(self.table, person) for person in (x, other))
        if self.decider.rule["kind"] == "within":
            far = self.decider.apart(one, two) - Fraction(self.decider.rule["tolerance"])
            return (far > 0) - (far < 0)
        first, second = self.decider.may(one), self.decider.may(two)
        return -1 if first == second and len(first) == 1 else 0 if first & second else 1


def standings_of(seed: int) -> list[tuple[str, bool, bool]]:
    """Of the claims about all cells of a sweep the standing, whether it is confirmed, and whether it is true."""
    one, report, found, cuts = SweepClaimant(seed), CheckReport(), [], list[Any]()
    for number, node in enumerate(one.cells(one.people, one.dice.choice([1, 3, 9]))):
        if isinstance(node, tuple):
            cuts.append(node)
            continue
        line = json.loads(json.dumps({"id": number, "cuts": cuts, **one.claim(node)}))
        try:
            one.sweeper.judge(line, report)
        except Limit:
            return found
        found.append((line["standing"], str(number) not in report.rejected, one.is_true_of(node, line["standing"])))
        cuts = []
    one.sweeper.finish(report)
    assert sum(map(Fraction, report.shares.values())) == 1
    return found


@sampled(400)
@given(st.integers(0, 2**32))
def test_what_is_confirmed_of_cells_is_true(seed: int) -> None:
    assert all(true or not confirmed for _, confirmed, true in standings_of(seed))


def test_right_claims_are_confirmed_and_wrong_ones_are_made() -> None:
    """So the property above could fail."""
    found = Counter(claim for seed in range(120) for claim in standings_of(seed))
    assert min(found[standing, True, True] for standing in (PROVED, CROSSINGS)) > 20
    assert min(found[standing, False, False] for standing in (PROVED, VIOLATING)) > 20
    assert found[VIOLATING, True, True] > 0
    assert found[CROSSINGS, False, False] > 0
