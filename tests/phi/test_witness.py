"""Points of a region as people: what is confirmed, and what is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given

from lcifr.errors import RegionError
from lcifr.phi import Similarity
from lcifr.phi.core import Compare, leaves, resolve
from lcifr.phi.formula import Person
from lcifr.regions.region import Region
from tests.phi.worlds import World, laws, worlds
from tests.regions.example import ENCODING, PEOPLE, SCHEMA, region


@pytest.mark.parametrize(
    "text",
    [
        "same(categorical except sex) and numeric within 0.3 sd",
        "same(sex) and age within 5 and gpa' < gpa and gpa' > gpa - 0.1 and same(score)",
        "same(categorical) and age' > age and age' <= age + 3 and gpa, score within 0.1",
        "same(sex, score) and age, gpa within 2 and age' + gpa' <= age + gpa",
        "same(categorical) and age within 4 and score within 1 and 10*gpa' = age'",
        "same(all except gpa) and gpa within 0.3",
    ],
)
def test_decoded_points_are_people_and_holds_confirms_them(text):
    similarity = Similarity(text, SCHEMA, ENCODING)
    found = similarity.region(PEOPLE)
    points = found.sample(8, seed=7)
    assert not np.isnan(points).any()
    witnesses = found.decode(points)
    table = witnesses.to_pandas()
    assert witnesses.confirmed.shape == (len(PEOPLE), 8)
    assert witnesses.confirmed.all()
    assert similarity.holds(PEOPLE.loc[np.repeat(PEOPLE.index, 8)], table).all()
    assert table.age.dtype.kind == "i"
    assert set(table.city) <= set("ABCDEFGH")
    assert table.score.between(0, 10).all()


def test_what_cannot_be_a_person_is_not_passed_off_as_one():
    found = region("same(all except age) and age' > age and age' < age + 1")  # no whole number between
    points = found.sample(3)
    assert not found.decode(points).confirmed.any()


def test_a_region_without_a_formula_has_no_units():
    with pytest.raises(RegionError, match="not made from a formula"):
        Region.from_arrays([[0.0]], [[1.0]]).decode([[0.5]])


@laws
@given(worlds(pairs=3, max_leaves=4, ranks=False))
def test_decoded_samples_satisfy_the_formula(world: World):
    region = world.region()
    points = region.sample(3, seed=2)
    assume(not np.isnan(points).any())
    witnesses = region.decode(points)
    repeated = region.origin.people.take(np.repeat(np.arange(region.people), 3))
    again = world.similarity.holds(repeated, witnesses.individuals)
    assert (again == witnesses.confirmed.reshape(-1)).all()
    if _always_reachable(world):
        assert witnesses.confirmed.all()


def _always_reachable(world: World) -> bool:
    """Formulas whose every cell has people inside: real numbers, closed comparisons, no equation between attributes."""
    if any(attribute.integer for attribute in world.schema.numeric):
        return False
    return all(
        not isinstance(leaf, Compare) or (leaf.operator == "<=" and len(leaf.form.part(Person.OTHER).numbers) <= 1)
        for leaf in leaves(resolve(world.formula, world.schema, world.encoding))
    )
