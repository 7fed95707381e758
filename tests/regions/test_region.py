"""Regions of formulas: what is unbounded, closed, clipped and switched."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.errors import RegionError
from lcifr.phi import Similarity
from tests.regions.example import ENCODING, PEOPLE, SCHEMA, region

J = {name: j for j, name in enumerate(SCHEMA.names_numeric)}


def ends(cell, name: str) -> list[list[float]]:
    """(people, 2) the raw ends of one attribute."""
    j = J[name]
    both = np.stack([cell.lower[:, j], cell.upper[:, j]], axis=1) * ENCODING.sds[j] + ENCODING.means[j]
    return both.tolist()


@pytest.mark.parametrize(
    ("text", "name", "side"),
    [
        ("same(all except age)", "age", "lower"),
        ("same(all except age) and age' >= 18", "age", "upper"),
        ("same(all except gpa, age) and age within 2 and gpa' <= 4", "gpa", "lower"),
        ("same(all except age, gpa) and age' + gpa' <= 9 and age' >= 0", "age", "upper"),
    ],
)
def test_an_unbounded_attribute_is_an_error_with_both_ways_out(text, name, side):
    with pytest.raises(RegionError, match=f'"{name}".* without an? {side} bound') as caught:
        region(text)
    assert f"`{name} within …`" in str(caught.value)
    assert "declare its range in the schema" in str(caught.value)


def test_it_says_for_whom_the_attribute_is_unbounded():
    with pytest.raises(RegionError, match="for 2 people \\(the first is row 3\\)"):
        region("same(all except age) and (age <= 37 implies age within 1)")


def test_a_declared_range_or_a_row_bounds_it():
    assert region("same(all except score)").nonempty.all()
    cell = region("same(all except age, gpa) and gpa' + age' <= 9 and age' >= 0 and gpa' - age' >= -7").cells[0]
    assert np.isfinite(cell.lower).all()
    assert np.isfinite(cell.upper).all()


def test_strict_inequalities_are_closed():
    text = "same(all except gpa) and gpa' < gpa + 0.5 and gpa' > gpa - 0.25"
    (cell,) = region(text).cells
    for (lower, upper), gpa in zip(ends(cell, "gpa"), PEOPLE.gpa, strict=True):
        assert lower == pytest.approx(gpa - 0.25, abs=1e-12)
        assert upper == pytest.approx(gpa + 0.5, abs=1e-12)
    edge = PEOPLE.assign(gpa=PEOPLE.gpa + 0.5)
    assert not Similarity(text, SCHEMA, ENCODING).holds(PEOPLE, edge).any()
    assert region(text).contains(ENCODING.encode(edge)).all()


def test_conditions_on_the_person_alone_switch_cells():
    found = region("same(all except gpa) and (age <= 37 and gpa within 0.1 or age > 37 and gpa within 1)")
    assert len(found.cells) == 2
    present = np.stack([cell.present for cell in found.cells])
    assert (present.sum(axis=0) == 1).all()
    young = next(cell for cell in found.cells if cell.present[0])
    assert young.present.tolist() == (PEOPLE.age <= 37).tolist()
    assert found.nonempty.all()
    assert not region("same(all except gpa) and gpa within 1 and age > 37").nonempty[:3].any()


def test_ranges_clip():
    (cell,) = region("same(all except score) and score within 3").cells
    expected = [[max(0.0, score - 3), min(10.0, score + 3)] for score in PEOPLE.score]
    assert np.allclose(ends(cell, "score"), expected, atol=1e-9)
    assert (
        cell.lower[0, J["score"]] == ENCODING.scale(np.zeros((1, 3)))[0, J["score"]]
    )  # the end itself, not a hair less


def test_impossible_cells_disappear():
    assert region("same(all) and (gpa' < 1 and gpa' > 2 or gpa' = gpa)").cells[0].present.all()
    assert len(region("same(all) and (gpa' < 1 and gpa' > 2 or gpa' = gpa)").cells) == 1
    assert region("same(all) and gpa' < 1 and gpa' > 2").cells == ()
    assert region('same(all) and city\' = "H"').cells == ()  # nobody here lives in H
    assert region("same(all except gpa) and gpa' >= gpa + 1 and gpa' < gpa + 1").cells == ()
    found = region("same(all except score) and score' >= score + 1")  # beyond the declared range for some
    assert found.nonempty.tolist() == (PEOPLE.score + 1 <= 10).tolist()
    assert not region("same(all except age, gpa) and age, gpa within 1 and age' + gpa' >= 200").nonempty.any()


def test_the_region_of_one_person_does_not_depend_on_the_others():
    text = "same(sex) and numeric within 0.3 sd and (age <= 37 implies age' + gpa' <= age + gpa + 1)"
    everybody = region(text)
    for person in range(len(PEOPLE)):
        alone = region(text, PEOPLE.iloc[[person]])
        cells = [cell.take([person]) for cell in everybody.cells if cell.present[person]]
        for one, two in zip(alone.cells, cells, strict=True):
            assert (one.lower == two.lower).all()
            assert (one.upper == two.upper).all()
            assert one.rows is None or (one.rows.g == two.rows.g).all()


def test_take_follows_the_people():
    text = "same(sex) and numeric within 1"
    order = np.array([4, 0, 2])
    points = ENCODING.encode(PEOPLE)
    taken = region(text).take(order)
    assert taken.contains(points[order]).all()
    assert (taken.cells[0].lower == region(text, PEOPLE.iloc[order]).cells[0].lower).all()
    assert region(text).take(PEOPLE.age > 37).people == 2
    assert region(text).take(slice(2)).decode(points[:2]).confirmed.all()


@pytest.mark.parametrize("sign", ["<=", "<", "="])
def test_a_distance_that_adds_up_attributes_bounds_each_of_them(sign):
    text = f"same(categorical, score) and 0.1*|age' - age| + |gpa' - gpa| {sign} 1"
    similarity = Similarity(text, SCHEMA, ENCODING)
    cells = similarity.region(PEOPLE).cells
    for cell in cells:
        assert (np.abs(np.array(ends(cell, "age")).mean(axis=1) - PEOPLE.age) <= 10 + 1e-9).all()
        assert (np.ptp(np.array(ends(cell, "gpa")), axis=1) <= 2 + 1e-9).all()
    other = PEOPLE.assign(age=PEOPLE.age + 4, gpa=np.round(PEOPLE.gpa - 0.6, 1))
    assert similarity.holds(PEOPLE, other).tolist() == [sign != "<"] * 5
    assert similarity.region(PEOPLE).contains(ENCODING.encode(other)).all()
