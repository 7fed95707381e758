"""How many people of a table are similar to whom, against brute force."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lcifr.phi.neighbours import find_neighbours
from tests.phi.example import PEOPLE, similarity


@pytest.mark.parametrize(
    "text",
    [
        "same(categorical except sex) and numeric within 1 sd",
        "age within 3 or same(all)",
        "same(all)",
        "age' > age and same(city)",
    ],
)
def test_neighbours_are_those_of_brute_force(text):
    formula = similarity(text)
    found = find_neighbours(formula, PEOPLE[:90])
    people = PEOPLE[:90].reset_index(drop=True)
    truth = np.array([formula.holds(people.iloc[[i]], people) for i in range(90)])
    np.fill_diagonal(truth, False)
    assert not found.is_sample
    assert found.counts.tolist() == truth.sum(axis=1)[found.asked].tolist()
    assert found.largest == truth.sum(axis=1).max()
    assert found.median == np.median(truth.sum(axis=1))
    assert found.share_isolated == (truth.sum(axis=1) == 0).mean()
    for example in found.similar:
        row, other = example.rows
        assert row is not None
        assert formula.holds(pd.DataFrame([example.x]), pd.DataFrame([example.other])).all()
        assert other is None or truth[row, other]
    for example in found.missed:
        row, other = example.rows
        assert not truth[row, other]
        assert row != other
        assert not formula.holds(pd.DataFrame([example.x]), pd.DataFrame([example.other])).any()


def test_a_sample_is_said_to_be_one():
    seen = []
    found = find_neighbours(similarity("same(city)"), PEOPLE, most=7, progress=lambda *done: seen.append(done))
    assert found.is_sample
    assert len(found.asked) == len(set(found.asked)) == 7
    sizes = PEOPLE.groupby("city").size()
    assert found.counts.tolist() == [sizes[PEOPLE.city[row]] - 1 for row in found.asked]
    assert seen[-1] == (7, 7)


def test_made_up_pairs_where_the_data_has_none():
    found = find_neighbours(similarity("same(all except sex)"), PEOPLE)
    assert found.largest == 0
    assert len(found.similar) == 3
    assert all(example.rows[1] is None and example.differing == ("sex",) for example in found.similar)
