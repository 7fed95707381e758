"""Regions over the encodings of other libraries: programs of any kind, categories outside, whole numbers, rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.data import Categorical, Encoding, Feature, Individuals, Numeric, Schema
from lcifr.data.program import Operation, Program, ProgramStep, StepFormat
from lcifr.errors import TableError
from lcifr.phi import Similarity
from lcifr.regions.whole_numbers import narrow_to_whole_numbers
from tests.data.programs import beside, programs
from tests.phi.worlds import World, laws, worlds

SCHEMA = Schema(
    (Numeric("age", integer=True), Numeric("income"), Categorical("job", ("clerk", "cook", "pilot"))),
)
PEOPLE = pd.DataFrame({"age": [30, 41, 52], "income": [1.5, 2.25, 9.0], "job": ["clerk", "cook", "cook"]})
OWN = Encoding.fit(PEOPLE, SCHEMA)
PAIRS = st.tuples(programs(), programs())
quick = settings(deadline=None, max_examples=50)


def encoded_by(pair: tuple[Program, Program]) -> Encoding:
    return replace(OWN, programs=pair)


def everybody_near(person: int, values: np.ndarray, column: str) -> Individuals:
    """The person with other values in one column."""
    table = PEOPLE.iloc[[person] * len(values)].reset_index(drop=True).astype({"age": float})
    table[column] = values
    reals = Schema((Numeric("age"), *SCHEMA.attributes[1:]))
    read = Individuals.read(table, reals)
    return Individuals(SCHEMA, read.numbers, read.codes)


@laws
@given(worlds(foreign=True))
def test_everybody_similar_is_in_the_region_and_in_that_of_whole_numbers(world: World):
    x, other = world.tables
    similar, points = world.similarity.holds(x, other), world.encoding.encode(other)
    region = world.region()
    for one in (region, narrow_to_whole_numbers(region, world.encoding)):
        assert (one.contains(points) | ~similar).all()


@laws
@given(worlds(foreign=True))
def test_a_confirmed_witness_is_similar_and_encodes_into_the_region(world: World):
    region = world.region()
    points = region.sample(3)
    rows = np.flatnonzero(region.nonempty & ~np.isnan(points).any(axis=(1, 2)))
    x = Individuals.read(world.tables[0], world.schema).take(rows)
    found = region.take(rows).decode(points[rows])
    others, confirmed = found.individuals, found.confirmed
    similar = world.similarity.holds(x.take(np.repeat(np.arange(len(rows)), 3)), others) if len(rows) else confirmed
    assert (confirmed.reshape(-1) <= similar.reshape(-1)).all()
    inside = region.take(rows).contains(world.encoding.encode(others).reshape(len(rows), 3, -1)) if len(rows) else True
    assert (inside | ~confirmed).all()


@quick
@given(PAIRS)
def test_ends_are_exact_one_float_beside_every_boundary(pair: tuple[Program, Program]):
    """income' within 0.5: the cell ends where the outermost admitted floats are encoded, within a few floats."""
    encoding = encoded_by(pair)
    similar = Similarity("same(age) and same(job) and income within 0.5", SCHEMA, encoding)
    region = similar.region(PEOPLE)
    for person, own in enumerate(PEOPLE["income"]):
        values = beside(np.array([own - 0.5, own, own + 0.5]))
        others = everybody_near(person, values, "income")
        x = Individuals.read(PEOPLE.iloc[[person]], SCHEMA)
        holds = similar.holds(x, others)
        inside = region.take([person]).contains(encoding.encode(others)[None])[0]
        assert inside[holds].all()
        assert 0 < holds.sum() < len(holds)
        cell = region.cells[0].take([person])
        column = list(cell.numeric).index(encoding.columns("income").start)
        far = encoding.programs[1](np.array([own - 0.5 - 1e-9, own + 0.5 + 1e-9]))
        assert far.min() <= cell.lower[0, column] <= cell.upper[0, column] <= far.max()


@quick
@given(PAIRS)
def test_rows_over_two_numbers_hold_everybody_they_admit(pair: tuple[Program, Program]):
    encoding = encoded_by(pair)
    text = "same(job) and age within 5 and income within 3 and age' + 2*income' <= age + 2*income"
    similar = Similarity(text, SCHEMA, encoding)
    generator = np.random.default_rng(0)
    for person, (age, income) in enumerate(zip(PEOPLE["age"], PEOPLE["income"], strict=True)):
        ages = age + generator.integers(-5, 6, 40).astype(float)
        tie = (age + 2 * income - ages) / 2  # on the row, and one float beside
        values = np.concatenate([tie, np.nextafter(tie, -np.inf), np.nextafter(tie, np.inf)])
        others = everybody_near(person, values, "income")
        others.numbers[:, 0] = np.tile(ages, 3)
        x = Individuals.read(PEOPLE.iloc[[person]], SCHEMA)
        holds = similar.holds(x, others)
        inside = similar.region(PEOPLE.iloc[[person]]).contains(encoding.encode(others)[None])[0]
        assert holds.any()
        assert inside[holds].all()


@quick
@given(PAIRS, st.floats(20, 60), st.integers(1, 9))
def test_whole_numbers_lose_nobody_and_keep_no_fraction(pair: tuple[Program, Program], low: float, width: int):
    schema = Schema((replace(SCHEMA["age"], lower=low, upper=low + width + 0.7), *SCHEMA.attributes[1:]))
    encoding = replace(encoded_by(pair), schema=schema)
    people = PEOPLE.assign(age=int(np.ceil(low)))
    region = Similarity("same(job) and same(income)", schema, encoding).region(people, whole_numbers=True)
    ages = np.arange(np.ceil(low), np.floor(low + width + 0.7) + 1)
    image = encoding.programs[0](ages)
    column = list(region.cells[0].numeric).index(encoding.columns("age").start)
    ends = region.cells[0].lower[0, column], region.cells[0].upper[0, column]
    assert ends[0] <= image.min() <= image.max() <= ends[1]
    # A cast may not tell an end from the whole number beside it.
    assert set(ends) <= set(encoding.programs[0](np.arange(ages[0] - 1, ages[-1] + 2)))


def test_falling_programs_turn_intervals_around():
    turn = Program((ProgramStep(Operation.MULTIPLY, StepFormat.FLOAT64, (-2.0,)),))
    encoding = encoded_by((turn, turn))
    cell = Similarity("same(job) and same(income) and age within 5", SCHEMA, encoding).region(PEOPLE).cells[0]
    column = list(cell.numeric).index(encoding.columns("age").start)
    assert cell.lower[0, column] == pytest.approx(-70.0)
    assert cell.upper[0, column] == pytest.approx(-50.0)
    back = encoding.decode(encoding.encode(PEOPLE))
    assert np.array_equal(back.numbers[:, 0], PEOPLE["age"])


def test_categories_outside_are_in_no_region_and_nobody_has_them():
    encoding = replace(OWN, outside=frozenset({Feature("job", "pilot")}))
    region = Similarity("same(all except job)", SCHEMA, encoding).region(PEOPLE)
    (choice,) = region.cells[0].choices
    assert choice.allowed.tolist() == [[True, True, False]] * 3
    assert not (region.sample(50)[:, :, encoding.columns("job").stop - 1] == 1).any()
    only = Similarity('same(numeric) and job\' = "pilot"', SCHEMA, encoding).region(PEOPLE)
    assert not only.nonempty.any()
    with pytest.raises(TableError, match='raises an error at the category "pilot"'):
        encoding.encode(PEOPLE.assign(job="pilot"))


def test_numbers_that_overflow_are_refused_by_name():
    narrow = Program((ProgramStep(Operation.CAST, StepFormat.FLOAT32),))
    encoding = encoded_by((Program(), narrow))
    with pytest.raises(TableError, match=r'column "income", row 1: 1e\+39 overflows: cast in float32'):
        encoding.encode(PEOPLE.assign(income=[1.0, 1e39, 2.0]))
