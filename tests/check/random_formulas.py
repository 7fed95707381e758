"""Formulas of the whole language at random, as canonical trees, and their truth as the page says it."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from tests.check.tiny_universes import Person, Universe

PEOPLE = ("self", "other")


def plain(value: Fraction) -> list[int]:
    return [value.numerator, value.denominator]


class Formulas:
    """Draws formulas about a universe; constants are near the numbers that somebody has."""

    def __init__(self, dice: random.Random, universe: Universe) -> None:
        self.dice, self.universe = dice, universe
        self.numbers = [name for name in universe.values if name.startswith("n")]
        self.categories = [name for name in universe.values if name.startswith("c")]

    def draw(self, depth: int = 3) -> list[Any]:
        kind, dice = self.dice.random(), self.dice
        if depth and kind < 0.5:
            parts = [self.draw(depth - 1) for _ in range(dice.choice([0, 1, 2, 2, 3]))]
            return [dice.choice(["all", "any", "any"]), *parts]
        if kind < 0.62:
            return ["same", dice.choice([*self.universe.values])]
        if kind < 0.72 and self.categories:
            name = dice.choice(self.categories)
            return ["category", dice.choice(PEOPLE), name, [code for code in self._codes(name) if dice.random() < 0.6]]
        operator = dice.choice(["<=", "<", "=", "!="])
        constant, terms = self._rank() if kind < 0.78 and self.categories else self._sum()
        return ["compare", operator, plain(constant), terms]

    def _codes(self, name: str) -> range:
        return range(len(self.universe.encoding["schema"]["attributes"][name]["values"]))

    def _rank(self) -> tuple[Fraction, list[Any]]:
        dice, by, name = self.dice, self.dice.choice(self.categories), self.dice.choice(self.numbers)
        codes = dice.sample(self._codes(by), len(self._codes(by)))
        border = dice.randint(0, len(codes))
        held = [part for part in (codes[:border], codes[border:]) if part]
        groups = [[part, [dice.choice(self.universe.values[name]) for _ in range(dice.randint(0, 3))]] for part in held]
        terms: list[Any] = [[plain(Fraction(dice.choice([1, -1, 2]))), dice.choice(PEOPLE), name, by, groups]]
        if dice.random() < 0.3:
            terms.append([[-1, 1], "self", name, by, groups])
        return Fraction(dice.randint(-4, 4)), terms

    def _sum(self) -> tuple[Fraction, list[Any]]:
        dice, name = self.dice, self.dice.choice(self.numbers)
        value = decimal(dice.choice(self.universe.values[name]))
        if dice.random() < 0.4:  # other − self
            c = dice.choice([Fraction(1), Fraction(-1), Fraction(2), Fraction(1, 3)])
            far = dice.choice(
                [Fraction(0), Fraction(1), Fraction(1, 2), decimal(self.universe.values[name][-1]) - value]
            )
            return -abs(c) * far, [[plain(c), "other", name], [plain(-c), "self", name]]
        factors = [Fraction(1), Fraction(-1), Fraction(2), Fraction(0), Fraction(3, 7)]
        terms = [
            [plain(dice.choice(factors)), dice.choice(PEOPLE), dice.choice(self.numbers)]
            for _ in range(dice.choice([1, 1, 2, 3]))
        ]
        return dice.choice([value, -value, value - Fraction(1, 3), Fraction(0), Fraction(1, 2)]), terms


def decimal(value: float) -> Fraction:
    return Fraction(repr(value))


def true_of(node: Any, x: Person, other: Person) -> bool:
    """Whether a node is true of a pair."""
    kind, *inside = node
    people = {"self": x, "other": other}
    if kind in ("all", "any"):
        return {"all": all, "any": any}[kind](true_of(one, x, other) for one in inside)
    if kind == "same":
        return bool(x[inside[0]] == other[inside[0]])
    if kind == "category":
        who, name, codes = inside
        return people[who][name] in codes
    operator, constant, terms = inside
    total = Fraction(*constant) + sum(Fraction(*c) * _term(people[who], *what) for c, who, *what in terms)
    return {"<=": total <= 0, "<": total < 0, "=": total == 0, "!=": total != 0}[operator]


def _term(person: Person, name: str, by: str = "", groups: Any = ()) -> Fraction:
    if not groups:
        return decimal(person[name])
    (values,) = (set(values) for codes, values in groups if person[by] in codes)
    return Fraction(1 + sum(value > person[name] for value in values))
