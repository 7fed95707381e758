"""The checker's own reading of φ: the same truth as ``holds``, cells that miss nobody and never exceed the engine's."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.check import Cell
from lcifr.check.cells import derive
from lcifr.check.similar import Formula
from lcifr.check.table import Person, decimal, encode, least, most, read_attributes, read_person
from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
from lcifr.similarity.similarity import Similarity
from tests.similarity.worlds import World, worlds

laws = settings(deadline=None, max_examples=60)


def formula_of(similarity: Similarity) -> Formula:
    """As the checker gets it: through JSON."""
    tree = json.loads(json.dumps(similarity.to_dict()))["formula"]
    return Formula(tree, read_attributes(json.loads(json.dumps(similarity.encoding.to_dict()))))


def person_of(people: Individuals, row: int, formula: Formula) -> Person:
    plain = {"numbers": people.numbers[row].tolist(), "codes": people.codes[row].tolist()}
    return read_person(plain, formula.attributes)


def inside(cell: Cell, point: list[float]) -> bool:
    """Exactly."""
    box = all(low <= point[c] <= high for c, low, high in zip(cell.numeric, cell.lower, cell.upper, strict=True))
    whole = all(
        [c for c in columns if point[c]] in [[c] for c, may in zip(columns, allowed, strict=True) if may]
        for columns, allowed in zip(cell.choices, cell.allowed, strict=True)
    )
    rows = all(
        sum(Fraction(a) * Fraction(v) for a, v in zip(row, point, strict=True)) <= Fraction(limit)
        for row, limit in zip(cell.G, cell.g, strict=True)
    )
    return box and whole and rows


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
        point = encode(person_of(other, row, formula), formula.attributes)
        if truth[row]:
            assert any(inside(cell, point) for cell in cells)
        for cell in cells:
            assert any(contained(cell, region.cells[i], row) for i in range(len(region.cells)))


def contained(cell: Cell, engine: Any, row: int) -> bool:
    """The checker's cell lies in the engine's: box in box, categories in categories, rows no looser."""
    if not engine.present[row] or list(cell.numeric) != engine.numeric.tolist():
        return False
    if not ((engine.lower[row] <= cell.lower).all() and (cell.upper <= engine.upper[row]).all()):
        return False
    pairs = zip(cell.allowed, engine.choices, strict=True)
    if not all((~np.array(mine) | theirs.allowed[row]).all() for mine, theirs in pairs):
        return False
    mine = {tuple(G): g for G, g in zip(cell.G, cell.g, strict=True)}
    theirs = [] if engine.rows is None else zip(engine.rows.G.tolist(), engine.rows.g[row].tolist(), strict=True)
    return all(tuple(G) in mine and mine[tuple(G)] <= g for G, g in theirs)


@laws
@given(worlds(pairs=2, max_leaves=4))
def test_encoding_is_the_engines_to_the_last_bit(world: World) -> None:
    formula = formula_of(world.similarity)
    x = Individuals.read(world.tables[0], world.schema)
    encoding: Encoding = world.encoding
    for row in range(len(x)):
        assert encode(person_of(x, row, formula), formula.attributes) == encoding.encode(x)[row].tolist()


@settings(deadline=None, max_examples=500)
@given(st.fractions(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_ends_are_the_outermost_floats(limit: Fraction, strict: bool, near: float) -> None:
    for edge in (limit, decimal(near)):
        high, low = most(edge, strict), least(edge, strict)
        assert decimal(high) < edge or (decimal(high) == edge and not strict)
        above = float(np.nextafter(high, np.inf))
        assert decimal(above) > edge or (decimal(above) == edge and strict)
        assert decimal(low) > edge or (decimal(low) == edge and not strict)


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
