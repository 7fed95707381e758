"""What a similar person may have: nobody similar is outside of what is shown, and what is shown is reached."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.certification.profiles import surroundings
from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
from lcifr.phi import Similarity
from tests.certification import scenes


@pytest.mark.parametrize("formula", scenes.FORMULAS)
def test_nobody_similar_is_outside_of_what_is_shown(formula):
    similarity = scenes.similarity(formula)
    people = Individuals.read(scenes.people(12, 7), scenes.SCHEMA)
    shown = surroundings(similarity, people)
    region = similarity.region(people)
    some = np.flatnonzero(region.nonempty)
    if not len(some):
        assert all(not one.may for one in shown)
        return
    drawn = region.take(some).decode(region.take(some).sample(25))
    confirmed = drawn.confirmed.reshape(-1)
    assert confirmed.any()
    own, others = people.to_pandas(), drawn.individuals.to_pandas()
    for place in np.flatnonzero(confirmed):
        row = some[place // 25]
        for attribute in scenes.SCHEMA:
            value, free = others[attribute.name][place], shown[row].may.get(attribute.name)
            if free is None:
                assert value == own[attribute.name][row]
            elif isinstance(attribute, Categorical):
                assert value in free.values
            else:
                assert any(low - 1e-6 <= value <= high + 1e-6 for low, high in free.intervals)


def test_ranges_are_in_the_tables_own_units_and_whole_where_people_are():
    schema = Schema((Numeric("age", integer=True), Numeric("pay"), Categorical("sex", ("f", "m"))))
    people = {"age": [30, 40, 50], "pay": [10.5, 20.0, 35.25], "sex": ["f", "m", "f"]}
    import pandas as pd

    table = pd.DataFrame(people)
    similarity = Similarity("age within 2.5 and pay within 1", schema, Encoding.fit(table, schema))
    first = surroundings(similarity, Individuals.read(table, schema))[0]
    assert first.may["age"].intervals == ((28.0, 32.0),)
    assert first.may["pay"].intervals == ((9.5, 11.5),)
    assert first.may["sex"].values == ("f", "m")
    assert not first.linked


def test_alternatives_are_joined_and_said_to_be_linked():
    similarity = scenes.similarity(scenes.FORMULAS[2])
    people = Individuals.read(scenes.people(30, 3).assign(age=60), scenes.SCHEMA)
    one = surroundings(similarity, people)[0]
    assert one.may["age"].intervals == ((40.0, 40.0), (60.0, 65.0))
    assert one.linked


def test_where_nothing_may_differ_the_page_says_the_same_and_not_that_it_is_unknown():
    from lcifr.certification.audit import audit
    from lcifr.certification.population import state
    from lcifr.report import build, render

    scene = scenes.scene(3, "same(all)", count=5, depth=0)
    found = audit(scene.encoder, scene.model, scene.people, modular=False)
    text = render(build(found, state(found, held_out=True), encoder=scene.encoder), "md")
    assert "| the same |" in text
    assert "lacks the data to evaluate φ" not in text
    unknown = render(build(found, state(found, held_out=True)), "md")
    assert "lacks the data to evaluate φ" in unknown
