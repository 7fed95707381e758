"""The checker's own reading of φ: the same truth as ``holds``, cells that miss nobody and never exceed the engine's."""

from __future__ import annotations

import contextlib
import json
import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lcifr.check.exact import Rejected, decimal, most, reading
from lcifr.check.functions import RationalCell
from lcifr.check.phi import Formula, derive
from lcifr.check.table import AttributeTable, Person
from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
from lcifr.phi.similarity import Similarity
from tests.check.tables import features, inside, program, sides, standardised
from tests.phi.worlds import World, worlds

laws = settings(deadline=None, max_examples=60)


def formula_of(similarity: Similarity) -> Formula:
    """As the checker gets it: through JSON."""
    tree = json.loads(json.dumps(similarity.to_dict()))["formula"]
    return Formula(tree, AttributeTable(json.loads(json.dumps(similarity.encoding.to_dict()))))


def person_of(people: Individuals, row: int, formula: Formula) -> Person:
    plain = {"numbers": people.numbers[row].tolist(), "codes": people.codes[row].tolist()}
    return formula.table.person(plain)


@laws
@given(worlds(max_leaves=6))
def test_truth_is_the_same(world: World) -> None:
    similarity = world.similarity
    formula = formula_of(similarity)
    x, other = (Individuals.read(table, world.schema) for table in world.tables)
    found = [formula.holds(person_of(x, row, formula), person_of(other, row, formula)) for row in range(len(x))]
    assert found == similarity.holds(x, other).tolist()


@laws
@given(worlds(max_leaves=5))
def test_everybody_similar_is_in_a_cell_and_every_cell_is_in_the_engines_region(world: World) -> None:
    region, similarity = world.region(), world.similarity
    formula = formula_of(similarity)
    x, other = (Individuals.read(table, world.schema) for table in world.tables)
    truth = similarity.holds(x, other)
    for row in range(len(x)):
        cells = derive(formula, person_of(x, row, formula))
        point = features(formula.table, person_of(other, row, formula))
        if truth[row]:
            assert any(inside(cell, point) for cell in cells)
        for cell in cells:
            assert any(contained(cell, region.cells[i], row) for i in range(len(region.cells)))


def contained(cell: RationalCell, engine: Any, row: int) -> bool:
    """The checker's cell lies in the engine's: box in box, categories in categories, rows no looser."""
    box = sides(cell, "numeric")
    if not engine.present[row] or [column for column, _ in box] != engine.numeric.tolist():
        return False
    lower, upper = ([corners[at][1] for _, corners in box] for at in (0, 1))
    if not ((engine.lower[row] <= lower).all() and (upper <= engine.upper[row]).all()):
        return False
    pairs = zip(sides(cell, "choice"), engine.choices, strict=True)
    if not all({c for c, _ in corners} <= set(their.columns[their.allowed[row]]) for (_, corners), their in pairs):
        return False
    mine = {tuple(G): -minus for *G, minus in cell.rows}
    theirs = [] if engine.rows is None else zip(engine.rows.G.tolist(), engine.rows.g[row].tolist(), strict=True)
    return all(tuple(G) in mine and mine[tuple(G)] <= g for G, g in theirs)


@laws
@given(worlds(pairs=2, max_leaves=4))
def test_encoding_is_the_engines_to_the_last_bit(world: World) -> None:
    formula = formula_of(world.similarity)
    x = Individuals.read(world.tables[0], world.schema)
    encoding: Encoding = world.encoding
    for row in range(len(x)):
        assert features(formula.table, person_of(x, row, formula)) == encoding.encode(x)[row].tolist()


@settings(deadline=None, max_examples=500)
@given(st.fractions(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_ends_are_the_outermost_floats(limit: Fraction, strict: bool, near: float) -> None:
    for edge in (limit, decimal(near)):
        high, low = most(edge, strict, False), -most(-edge, strict, False)
        assert decimal(high) < edge or (decimal(high) == edge and not strict)
        above = float(np.nextafter(high, np.inf))
        assert decimal(above) > edge or (decimal(above) == edge and strict)
        assert decimal(low) > edge or (decimal(low) == edge and not strict)


def one_number(sd: float = 1.0, **about: Any) -> AttributeTable:
    return standardised({"a": {"kind": "numeric", **about}}, a=(0.0, sd))


@pytest.mark.parametrize("sd", [0.0, -0.0])
def test_a_scale_of_0_is_none(sd: float) -> None:
    with pytest.raises(Rejected), reading("the table"):
        one_number(sd)


def test_a_scale_that_turns_numbers_around_turns_their_ends_around() -> None:
    """Else the lower end of every cell would be above the upper one, so that nobody were similar."""
    (cell,) = derive(Formula(["all"], one_number(-2.0, lower=1.0, upper=3.0)), {"a": 2.0})
    assert cell.groups["numeric", 0] == [(0, -1.5), (0, -0.5)]


@pytest.mark.parametrize(("value", "exists"), [(1.0, False), (1.5, True), (3.0, True), (math.nextafter(3.0, 4), False)])
def test_nobody_is_out_of_the_declared_range(value: float, exists: bool) -> None:
    """Such a one is no counterexample."""
    with contextlib.nullcontext() if exists else pytest.raises(Rejected, match="nobody's"):
        one_number(lower=1.5, upper=3).person({"numbers": [value], "codes": []})


class Tie:
    """Somebody who ties with a row over several numbers, each as large or small as floats are, and a box around."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        spans = [(-1074, -1060), (-1074, -1000), (-60, 60), (-4, 4), (50, 80), (-1074, 1000)]
        of_values, of_means, of_sds = (self.dice.choice(spans) for _ in range(3))
        self.person = {f"a{k}": self.float(of_values) for k in range(self.dice.randint(2, 4))}
        self.known: dict[str, Any] = {"schema": {"attributes": {}}, "programs": {}, "outside": []}
        for name, value in self.person.items():
            ends = sorted((value, self.dice.choice([value, math.nextafter(value, 0.0), value / 2])))
            self.known["schema"]["attributes"][name] = {"kind": "numeric", "lower": ends[0], "upper": ends[1]}
            mean = self.dice.choice([0.0, value, -value, self.float(of_means)])
            self.known["programs"][name] = program(mean, abs(self.float(of_sds)))

    def float(self, span: tuple[int, int]) -> float:
        digits = self.dice.choice([1.0, 2 - 2**-52, self.dice.uniform(1, 2)])
        return self.dice.choice([-1, 1]) * math.ldexp(digits, self.dice.randint(*span))

    def tree(self) -> Any:
        """Σ a·x′ ≤ Σ a·x, exactly."""
        thirds = [Fraction(sign, 3) for sign in (-1, 1)]
        made = [Fraction(1), *thirds, Fraction(self.float((-9, 9))), Fraction(self.float((-1074, -1060))) / 3]
        factors = {name: self.dice.choice(made) for name in self.person}
        constant = -sum(a * decimal(self.person[name]) for name, a in factors.items())
        terms = [[list(a.as_integer_ratio()), "other", name] for name, a in factors.items()]
        return ["compare", "<=", list(Fraction(constant).as_integer_ratio()), terms]


@settings(deadline=None, max_examples=1000)
@given(st.integers(0, 2**48))
@example(104)  # the end of a row, rounded down, leaves the person out
def test_whoever_ties_with_a_row_is_in_it_after_all_rounding(seed: int) -> None:
    """At the bottom of the floats, with means that cancel, coefficients that are no floats, or below them."""
    tie = Tie(seed)
    with contextlib.suppress(Rejected), reading("the tree"):  # something may be beyond all floats
        table = AttributeTable(tie.known)
        (cell,) = derive(Formula(tie.tree(), table), tie.person)
        assert inside(cell, features(table, tie.person))


def test_two_categories_of_the_other_are_split_as_the_engine_splits_them() -> None:
    """A cell of the checker that lies in no single cell of the engine would have no proof."""
    schema = Schema((Categorical("sex", ("A", "B")), Categorical("state", ("A", "B", "C")), Numeric("age")))
    people = pd.DataFrame({"sex": ["A", "B"], "state": ["C", "A"], "age": [30.0, 40.0]})
    encoding = Encoding.fit(people, schema)
    for text in ("sex' != state'", "sex' = state'", "state' != sex'", "sex' != state", "state' != sex and sex' = sex"):
        similarity = Similarity(f"{text} and age within 1 and 2 * age' + 1 != age", schema, encoding)
        region = similarity.region(people)
        x, formula = Individuals.read(people, schema), formula_of(similarity)
        for row in range(len(x)):
            cells = derive(formula, person_of(x, row, formula))
            assert all(any(contained(cell, engine, row) for engine in region.cells) for cell in cells)
            assert bool(cells) == bool(region.nonempty[row])


def test_a_range_of_whole_numbers_ends_at_whole_numbers() -> None:
    """A schema may say 0.5 to 3.5; whoever can exist is between 1 and 3, and that is what the engine proves."""
    schema = Schema((Numeric("dependants", lower=0.5, upper=3.5, integer=True), Numeric("age", lower=0.5, upper=3.5)))
    encoding = Encoding.fit(pd.DataFrame({"dependants": [1, 3, 2], "age": [1.0, 2.0, 3.0]}), schema)
    formula = formula_of(Similarity("age within 9 sd", schema, encoding))
    (cell,) = derive(formula, formula.table.person({"numbers": [2.0, 2.0], "codes": []}))
    ends = formula.table.numbers.values()
    expected = [[about.encode(end) for end in pair] for about, pair in zip(ends, ((1, 3), (0.5, 3.5)), strict=True)]
    assert [[value for _, value in corners] for _, corners in sides(cell, "numeric")] == expected
