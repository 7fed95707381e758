"""One person's neighbours against φ's own truth."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.data import Individuals
from lcifr.phi.neighbours import LISTED, neighbours_of
from tests.phi.example import PEOPLE, SCHEMA, similarity

FORMULAS = (
    "same(city) and age within 10 and income within 1 sd and score within 40",
    "same(city, role) and (age within 5 or score within 5) and income within 1 sd",
    "age within 2 and income within 100",
    "age within 0",
)


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("row", [0, 17, 399])
def test_those_for_whom_the_formula_holds_and_those_who_just_miss(text, row):
    formula, people = similarity(text), Individuals.read(PEOPLE, SCHEMA)
    found = neighbours_of(formula, people, row)
    holds = formula.holds(people.take([row]), people)
    holds[row] = False
    assert (found.count, found.compared) == (holds.sum(), len(people) - 1)
    assert len(found.similar) == min(LISTED, holds.sum())
    assert all(holds[one.rows[1]] for one in found.similar)
    assert len(found.missed) == LISTED
    for miss in found.missed:
        assert not holds[miss.example.rows[1]]
        assert miss.example.rows[1] != row
        assert miss.failing is not None
        assert text[miss.failing.start : miss.failing.end] in text


def test_the_nearest_miss_fails_in_as_few_parts_as_anybody():
    text = "same(city) and same(sex) and age within 3"
    formula, people = similarity(text), Individuals.read(PEOPLE, SCHEMA)
    found = neighbours_of(formula, people, 5)
    person = people.take([5])
    parts = [similarity(part).holds(person, people) for part in text.split(" and ")]
    failing = np.sum([~part for part in parts], axis=0)
    fewest = failing[failing > 0].min()
    assert {int(failing[one.example.rows[1]]) for one in found.missed} == {int(fewest)}


def test_where_everybody_is_similar_nobody_misses():
    found = neighbours_of(similarity("age within 1000"), Individuals.read(PEOPLE, SCHEMA), 0)
    assert found.missed == ()
    assert found.count == found.compared
