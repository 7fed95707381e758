"""Pairs: every similar pair of the universe lies in the pair region of x's cell, at every boundary too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings

from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
from lcifr.errors import RegionError
from lcifr.phi.core import PairedPeople, SameCategory, kept_equal
from lcifr.phi.formula import Person
from lcifr.phi.pairs import PairSpace
from lcifr.phi.similarity import Similarity
from lcifr.regions.universe import UniverseCells
from tests.phi.worlds import World, laws, worlds

SCHEMA = Schema(
    (
        Numeric("age", lower=18, upper=30, integer=True),
        Numeric("income", lower=0, upper=10),
        Categorical("sex", ("female", "male")),
        Categorical("race", ("a", "b", "c")),
    )
)


def draw_people(count: int, seed: int) -> Individuals:
    rng = np.random.default_rng(seed)
    numbers = np.stack([rng.integers(18, 31, count).astype(float), np.round(rng.uniform(0, 10, count), 1)], axis=1)
    return Individuals(SCHEMA, numbers, np.stack([rng.integers(0, k, count) for k in (2, 3)], 1).astype(np.int32))


def similarity(text: str) -> Similarity:
    return Similarity(text, SCHEMA, Encoding.fit(draw_people(200, 0).to_pandas(), SCHEMA))


def in_region(space: PairSpace, pair: PairedPeople, cells: UniverseCells) -> np.ndarray:
    points = space.encoding.encode(space.join(pair))
    return space.region(cells.take(np.zeros(len(pair), np.intp))).contains(points)


def whole_universe(world: World, *, whole: bool) -> UniverseCells:
    try:
        return UniverseCells.everybody(world.encoding, whole=whole)
    except RegionError:  # a generated schema may leave a number without a range
        assume(False)
        raise


@settings(laws, max_examples=60)
@given(worlds())
def test_every_similar_pair_is_in_the_region(world: World):
    x, other = (Individuals.read(table, world.schema) for table in world.tables)
    cells = whole_universe(world, whole=False)
    pair = PairedPeople(x, other)
    try:
        space = PairSpace.of(world.similarity)
        inside = in_region(space, pair, cells)
    except RegionError as error:
        assume("alternatives" not in str(error) and "half-space" not in str(error))
        raise
    possible = cells.take(np.zeros(len(x), np.intp))
    exist = possible.contains(x) & possible.contains(other)
    assert (inside | ~world.similarity.holds(x, other) | ~exist).all()


FORMULAS = (
    "same(race) and age within 2 and income within 0.3",
    "same(race, sex) and income within 0.3 sd and age' >= age",
    "same(race) and age = age' and (income <= 5 and income' <= 5 or income > 5 and income' > 5 and sex = \"male\")",
    "same(race, age) and sex != sex' and income + age <= income' + age' + 0.1",
)


def at_the_boundaries(x: Individuals, seed: int) -> Individuals:
    """Somebody whose income is 0.3, 0.3 sd or 0.1 away, or at 5, and one float to each side of it."""
    rng = np.random.default_rng(seed)
    sd = similarity(FORMULAS[0]).encoding.sd("income")
    step = rng.choice([0.3, -0.3, 0.3 * sd, -0.3 * sd, 0.1, -0.1, 0.0], len(x))
    income = np.where(rng.random(len(x)) < 0.2, 5.0, x.number("income") + step)
    income = np.where(rng.random(len(x)) < 0.6, np.nextafter(income, rng.choice([-np.inf, np.inf], len(x))), income)
    age = np.clip(x.number("age") + rng.integers(-2, 3, len(x)), 18, 30)
    codes = np.where(rng.random(x.codes.shape) < 0.3, draw_people(len(x), seed).codes, x.codes).astype(np.int32)
    return Individuals(SCHEMA, np.stack([age, np.clip(income, 0, 10)], axis=1), codes)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("text", FORMULAS)
def test_pairs_at_every_boundary_are_in_the_region_of_their_cell(text: str, whole: bool):
    phi, x = similarity(text), draw_people(4000, 1)
    other = at_the_boundaries(x, 2)
    similar = phi.holds(x, other)
    assert 50 < similar.sum() < len(x)
    space, cells = PairSpace.of(phi), UniverseCells.everybody(phi.encoding, whole=whole)
    halves = cells.cut_number(0, 1)
    assert halves is not None
    for part in (cells, halves.take([0]), halves.take([1])):
        here = similar & part.take(np.zeros(len(x), np.intp)).contains(x)
        pair = PairedPeople(x.take(here), other.take(here))
        assert in_region(space, pair, part).all()


def test_what_all_cases_keep_equal_is_there_once():
    kept = {text: kept_equal(similarity(text).core) for text in FORMULAS}
    assert kept[FORMULAS[1]] == {"race", "sex"}
    assert kept[FORMULAS[2]] == {"race", "age"}
    assert kept_equal(similarity("same(race, sex) or same(race, age)").core) == {"race"}
    space = PairSpace.of(similarity(FORMULAS[2]))
    assert space.encoding.schema.names == ("age", "income", "income'", "sex", "sex'", "race")


def test_pairs_are_split_into_the_people_that_were_joined():
    space = PairSpace.of(similarity(FORMULAS[0]))
    x, other = draw_people(50, 3), draw_people(50, 4)
    other = Individuals(SCHEMA, other.numbers, np.column_stack([other.codes[:, 0], x.codes[:, 1]]))
    back = space.split(space.join(PairedPeople(x, other)))
    for one, again in ((x, back.x), (other, back.other)):
        assert np.array_equal(one.numbers, again.numbers)
        assert np.array_equal(one.codes, again.codes)


def test_two_ranks_in_one_comparison_are_refused_with_the_place():
    phi = similarity("same(race, sex, age) and |rank(income' by sex') - rank(income by sex)| < 3")
    assert phi.plans  # of one person's similar people it can be said
    with pytest.raises(RegionError, match=r"half-space(.|\n)*one rank with numbers alone"):
        _ = PairSpace.of(phi).plans


def test_names_that_end_in_primes_stay_apart():
    schema = Schema((*(Numeric("a" + "'" * primes, lower=0, upper=1) for primes in (0, 1, 3)), SCHEMA["sex"]))
    space = PairSpace.of(Similarity("same(sex)", schema, Encoding(schema, np.zeros(3), np.ones(3))))
    assert len(space.encoding.schema.names) == 7
    x, other = (Individuals(schema, np.arange(3.0)[None] / k, np.zeros((1, 1), np.int32)) for k in (2, 3))
    back = space.split(space.join(PairedPeople(x, other)))
    assert np.array_equal(back.x.numbers, x.numbers)
    assert np.array_equal(back.other.numbers, other.numbers)


def test_a_category_of_one_person_compared_with_itself_keeps_nothing_equal():
    for person in Person:
        assert kept_equal(SameCategory((person, "sex"), (person, "sex"), equal=True)) == frozenset()
