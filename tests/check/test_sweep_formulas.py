"""φ turned around, of changed people and of pairs means what φ means, on pairs of a universe of 72 people."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

import pytest

from lcifr.check.phi import Formula, cells_of
from lcifr.check.sweep import PairTable, kept
from lcifr.check.table import AttributeTable, Part, Person, Unknown
from lcifr.phi.pairs import PairSpace
from lcifr.phi.similarity import Similarity
from tests.certification.sweep.tiny import ENCODING, FORMULAS, SCHEMA, everybody
from tests.check.tables import features, inside

TEXTS = (
    *FORMULAS,
    "same(all except sex) and |rank(age by race) - 1| <= 1",
    "same(race) and (age' >= 2*income or sex != sex') and not (income = 1 and income' = 2)",
    'same(race, age) and sex = "male" or same(race) and age\' = age and income within 1',
    "age' <= age and income' = income and race' != \"a\"",
)
TABLE = AttributeTable(json.loads(ENCODING.to_bytes()))


def formula_of(text: str) -> Formula:
    return Formula(json.loads(Similarity(text, SCHEMA, ENCODING).to_bytes())["formula"], TABLE)


def people() -> list[Person]:
    found = everybody()
    return [
        {name: (found.number(name) if name in TABLE.numbers else found.code(name))[row].item() for name in SCHEMA.names}
        for row in range(len(found))
    ]


def some_pairs(count: int, seed: int) -> list[tuple[Person, Person]]:
    rng, known = random.Random(seed), people()
    return [(rng.choice(known), rng.choice(known)) for _ in range(count)]


@pytest.mark.parametrize("text", TEXTS)
def test_the_opposite_is_true_just_where_it_is_false(text: str):
    formula = formula_of(text)
    for x, other in some_pairs(150, 1):
        opposite = formula.narrow(formula.tree, {"self": x, "other": other}, [{}], true=False)
        assert bool(opposite) != formula.holds(x, other)


def point(x: Person) -> Part:
    """A person as a part of everybody."""
    ends = {((name, s),): s * x[name] for name in TABLE.numbers for s in (1, -1)}
    return {**ends, **{name: frozenset({x[name]}) for name in TABLE.allowed}}


@pytest.mark.parametrize("true", [True, False])
@pytest.mark.parametrize("text", [text for text in TEXTS if "rank" not in text])
def test_a_changed_person_is_put_into_it(text: str, true: bool):
    """A strict row, and what two numbers must not be together, narrow nothing: they only let more through."""
    formula = formula_of(text)
    for x, other in some_pairs(150, 2):
        somebody = {name: Unknown(name) for name in SCHEMA.names}
        codes = {name: other[name] for name in TABLE.allowed if other[name] != x[name]}
        moved = {name: Unknown(name, Fraction(other[name] - x[name])) for name in TABLE.numbers}
        changed = {"self": somebody, "other": {**somebody, **codes, **moved}}
        cells = cells_of(formula, changed, point(x), true)
        assert bool(cells) or formula.holds(x, other) != true
        if "2*" not in text:
            assert bool(cells) == (formula.holds(x, other) == true)


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_kept_equal_is_equal_in_every_similar_pair(text: str):
    formula, known = formula_of(text), people()
    equal = [name for name in SCHEMA.names if name in kept(formula.tree)]
    assert equal == [name for name, other in others_of(text).items() if name == other]  # as the engine shares them
    for x in known[::5]:
        for other in known:
            if formula.holds(x, other):
                assert all(x[name] == other[name] for name in equal)


def others_of(text: str) -> dict[str, str]:
    return PairSpace.of(Similarity(text, SCHEMA, ENCODING)).others


def part_around(x: Person, rng: random.Random) -> dict[Any, Any]:
    """A cell of everybody that holds x."""
    found = TABLE.everybody(whole=True)
    for name in TABLE.numbers:
        found[((name, 1),)] = rng.choice([x[name], found[((name, 1),)]])
        found[((name, -1),)] = rng.choice([-x[name], found[((name, -1),)]])
    for name in TABLE.allowed:
        found[name] = rng.choice([frozenset({x[name]}), found[name]])
    return found


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("text", TEXTS)
def test_every_similar_pair_is_in_a_pair_cell_of_its_part(text: str, whole: bool):
    """Also with nothing shared: sharing is a matter of strength, not of truth."""
    formula, others = formula_of(text), others_of(text)
    apart = {name: f"{name}'" for name in SCHEMA.names}
    rng, seen = random.Random(3), 0
    for names in (others, apart):
        space = PairTable(Formula(formula.tree, TABLE, whole), names)
        for x, other in some_pairs(120, 4):
            if formula.holds(x, other):
                row = {**{names[name]: value for name, value in other.items()}, **x}
                point = features(space.table, row)
                assert any(inside(cell, point) for cell in space.cells(part_around(x, rng)))
                seen += 1
    assert seen > 0


def test_a_comparison_without_a_coefficient_keeps_nothing_equal():
    """0·age ≤ 0·age′ and 0·age′ ≤ 0·age are true of everybody."""
    nothing = [0, 1]
    both = ([[nothing, one, "age"], [nothing, two, "age"]] for one, two in (("self", "other"), ("other", "self")))
    assert kept(["all", *(["compare", "<=", nothing, terms] for terms in both)]) == set()
