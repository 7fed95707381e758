"""Regions: what is refused, what is closed, clipped and switched, and the geometry of a cell with linear rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lcifr.data import Categorical, Encoding, Numeric, Schema
from lcifr.errors import RegionError
from lcifr.regions.region import Region
from lcifr.similarity import Similarity
from lcifr.similarity.similarity import MAX_CELLS

SCHEMA = Schema(
    (
        Numeric("age", integer=True),
        Categorical("sex", ("female", "male")),
        Numeric("gpa"),
        Numeric("score", lower=0.0, upper=10.0),
        Categorical("city", tuple("ABCDEFGH")),
    )
)
PEOPLE = pd.DataFrame(
    {
        "age": [20, 36, 37, 38, 60],
        "sex": ["female", "male", "female", "male", "female"],
        "gpa": [2.0, 3.1, 3.4, 3.6, 4.0],
        "score": [0.0, 5.0, 9.9, 10.0, 2.5],
        "city": list("ABCDE"),
    }
)
ENCODING = Encoding.fit(PEOPLE, SCHEMA)
J = {name: j for j, name in enumerate(SCHEMA.names_numeric)}


def region(text: str, people: pd.DataFrame = PEOPLE) -> Region:
    return Similarity(text, SCHEMA, ENCODING).region(people)


def ends(cell, name: str) -> list[list[float]]:
    """(people, 2) the raw ends of one attribute."""
    j = J[name]
    both = np.stack([cell.lower[:, j], cell.upper[:, j]], axis=1) * ENCODING.sds[j] + ENCODING.means[j]
    return both.tolist()


# -- refusals ----------------------------------------------------------------------------------------------------------


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


def test_too_many_cells_are_refused_with_their_number_and_the_part():
    pieces = " and ".join(f"(gpa' <= {k} or score' >= {k})" for k in range(1, 10))
    with pytest.raises(RegionError) as caught:
        region(f"same(categorical, age) and gpa, score within 5 and {pieces} and (age' <= 9 or sex' = sex)")
    message = str(caught.value)
    assert f"at most {MAX_CELLS} cells" in message
    assert any(str(MAX_CELLS + extra) in message for extra in range(1, 8 * MAX_CELLS + 2))
    assert "^^^" in message
    assert "line 1, column" in message
    assert "Fix:" in message


def test_as_many_as_are_allowed_are_not_refused():
    values = " or ".join(f"(city' = \"{city}\" and age' <= {k})" for city in "ABCDEFGH" for k in range(32))
    similarity = Similarity(f"same(sex) and numeric within 1 and ({values})", SCHEMA, ENCODING)
    assert len(similarity.plans) <= MAX_CELLS  # those that another contains do not count
    similarity.region(PEOPLE)


def test_a_rank_beside_other_values_is_refused_with_a_way_out():
    with pytest.raises(RegionError, match="half-space") as caught:
        region("same(all except gpa) and rank(gpa' by sex') + gpa' <= 3")
    assert "Fix:" in str(caught.value)


# -- cells -------------------------------------------------------------------------------------------------------------


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


# -- decode ------------------------------------------------------------------------------------------------------------


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


# -- from arrays -------------------------------------------------------------------------------------------------------


def square(rows=None) -> Region:
    """Two people: [0, 1]² and [0, 2]², and one of three categories, the first two allowed to the second person."""
    allowed = np.array([[True, False, False], [True, True, False]])
    lower, upper = np.zeros((2, 5)), np.array([[1.0, 1, 1, 1, 1], [2.0, 2, 1, 1, 1]])
    return Region.from_arrays(lower, upper, choices=[([2, 3, 4], allowed)], rows=rows)


def test_from_arrays_contains():
    found = square(rows=(np.array([[1.0, 1, 0, 0, 0], [0, 0, 0, 2.0, 0]]), np.array([[1.5, 1.0], [3.0, 2.0]])))
    points = np.array(
        [
            [[0.5, 1.0, 1, 0, 0], [1.0, 1.0, 1, 0, 0], [0.5, 0.5, 0, 1, 0], [0.5, 0.5, 0.5, 0.5, 0]],
            [[1.0, 2.0, 0, 1, 0], [2.0, 2.0, 1, 0, 0], [0.0, 0.0, 0, 0, 1], [-0.1, 0.0, 1, 0, 0]],
        ]
    )
    assert found.contains(points).tolist() == [[True, False, False, False], [True, False, False, False]]
    assert found.contains(points, tolerance=0.2)[1, 3]
    assert found.contains(points[:, 0]).tolist() == [True, True]


def test_union_is_either():
    one, two = Region.from_arrays([[0.0]], [[1.0]]), Region.from_arrays([[3.0]], [[4.0]])
    both = Region.union([one, two])
    assert both.contains([[[0.5], [2.0], [3.5]]]).tolist() == [[True, False, True]]
    assert both.project([[2.9]]).tolist() == [[3.0]]
    assert both.project([[1.2]]).tolist() == [[1.0]]
    drawn = both.sample(200, seed=1)[0, :, 0]
    assert ((drawn <= 1) | (drawn >= 3)).all()
    assert (drawn <= 1).any()
    assert (drawn >= 3).any()


def test_an_empty_region_has_no_points():
    found = Region.from_arrays([[0.0, 0.0], [2.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]])
    assert found.nonempty.tolist() == [True, False]
    assert np.isnan(found.sample(2)[1]).all()
    assert np.isnan(found.project(np.zeros((2, 2)))[1]).all()
    assert not found.contains(np.ones((2, 2)))[1]


def test_projection_onto_a_polytope_is_the_nearest_point():
    random = np.random.default_rng(11)
    matrix = np.zeros((4, 5))
    matrix[:, :4] = random.normal(size=(4, 4))
    limits = np.array([[0.5, 0.5, 1, 0, 0]] * 2) @ matrix.T + 0.1  # the middle, first category, is inside
    found = square(rows=(matrix, limits))
    inside = found.sample(100, seed=2)
    assert found.contains(inside, tolerance=1e-9).all()
    for _ in range(10):
        target = random.normal(scale=3, size=(2, 5))
        landed = found.project(target, tolerance=1e-9)
        assert (landed @ matrix.T <= limits + 1e-8).all()
        assert np.allclose(landed[:, 2:].sum(axis=1), 1)
        assert (landed[:, 2:] >= 0).all()
        assert (landed[0, 3:] == 0).all()
        assert ((landed[:, :2] >= 0) & (landed[:, :2] <= [[1], [2]])).all()
        away = np.linalg.norm(landed - target, axis=1)
        others = np.linalg.norm(inside - target[:, None], axis=2).min(axis=1)
        assert (away <= others + 1e-6).all()
    assert np.allclose(found.project(inside[:, 0]), inside[:, 0], atol=1e-7)


def test_wide_rows_and_thin_cells_are_sampled():
    """A cell that random draws hardly ever hit: x₁ = x₂ within a millionth."""
    rows = (np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([[1e-6, 1e-6]]))
    found = Region.from_arrays([[0.0, 0.0]], [[1.0, 1.0]], rows=rows)
    drawn = found.sample(30, seed=0)
    assert found.contains(drawn, tolerance=1e-9).all()
    assert np.ptp(drawn[0, :, 0]) > 0.5


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"lower": [0.0], "upper": [1.0]}, "two axes"),
        ({"lower": [[0.0]], "upper": [[1.0, 2.0]]}, "shape"),
        ({"lower": [[0.0]], "upper": [[np.inf]]}, "not finite"),
        ({"lower": [[np.nan]], "upper": [[1.0]]}, "not finite"),
        ({"lower": [[0.0] * 2], "upper": [[1.0] * 2], "choices": [([0, 1], [[True]])]}, "allowed has shape"),
        ({"lower": [[0.0] * 2], "upper": [[1.0] * 2], "choices": [([0, 2], [[True, True]])]}, "columns between"),
        ({"lower": [[0.0] * 2], "upper": [[1.0] * 2], "choices": [([-1], [[True]])]}, "columns between"),
        ({"lower": [[0.0] * 2], "upper": [[1.0] * 2], "choices": [([0], [[True]]), ([0], [[True]])]}, "two choices"),
        ({"lower": [[0.0] * 2], "upper": [[1.0] * 2], "rows": ([[1.0]], [[1.0]])}, "rows have shapes"),
        ({"lower": [[0.0] * 2], "upper": [[1.0] * 2], "rows": ([[1.0, 1.0]], [[1.0, 2.0]])}, "rows have shapes"),
    ],
)
def test_wrong_shapes_are_refused(arguments, reason):
    with pytest.raises(RegionError, match=reason):
        Region.from_arrays(**arguments)


def test_wrong_points_are_refused():
    found = square()
    for call in (found.contains, found.project):
        for points in (np.zeros((2, 4)), np.zeros((3, 5)), np.zeros(5)):
            with pytest.raises(RegionError, match="points have shape"):
                call(points)
    with pytest.raises(RegionError, match="one point per person"):
        found.project(np.zeros((2, 3, 5)))
    with pytest.raises(RegionError, match="different shapes"):
        Region.union([found, Region.from_arrays([[0.0]], [[1.0]])])
    with pytest.raises(RegionError, match="at least one"):
        Region.union([])


def test_regions_do_not_change_with_the_callers_arrays():
    lower, upper = np.zeros((1, 2)), np.ones((1, 2))
    found = Region.from_arrays(lower, upper)
    upper[:] = -1
    assert found.contains(np.ones((1, 2))).all()


@pytest.mark.parametrize("seed", range(25))
def test_projections_satisfy_the_variational_inequality(seed):
    """p is the nearest point to t exactly if no q of the cell lies beyond p towards t: (q − p)·(t − p) ≤ 0."""
    random = np.random.default_rng(seed)
    numerics, categories, count = int(random.integers(1, 4)), int(random.integers(0, 4)), int(random.integers(1, 5))
    features = numerics + categories
    matrix = random.normal(size=(count, features)) * random.choice([1.0, 1.0, 0.0], size=(count, features))
    if seed % 3 == 0:
        matrix[-1] = -matrix[0]  # an equation, or a slab
    upper = np.concatenate([np.full(numerics, 2.0), np.ones(categories)])[None]
    inner = np.concatenate([random.random(numerics) * 2, np.eye(categories)[0] if categories else []])
    limits = (matrix @ inner + random.choice([0.0, 0.01, 0.5], size=count))[None]
    choices = [(np.arange(numerics, features), np.ones((1, categories), bool))] if categories else []
    found = Region.from_arrays(np.zeros((1, features)), upper, choices, (matrix, limits))
    inside = np.concatenate([found.sample(10, seed=seed)[0], inner[None]])
    target = random.normal(scale=3, size=(1, features))
    landed = found.project(target, tolerance=1e-9)
    assert (landed @ matrix.T <= limits + 1e-8).all()
    assert ((inside - landed) @ (target - landed)[0] <= 1e-6).all()


def test_a_polytope_without_a_point_has_no_projection():
    rows = (np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([[0.5, -0.7]]))  # ≤ 0.5 and ≥ 0.7
    found = Region.from_arrays([[0.0, 0.0]], [[1.0, 1.0]], rows=rows)
    assert np.isnan(found.project([[0.2, 0.2]])).all()
    assert np.isnan(found.sample(2)).all()
    nothing = Region.from_arrays([[0.0]], [[1.0]], rows=([[0.0]], [[1.0]]))  # a row that asks for nothing
    assert nothing.project([[7.0]]).tolist() == [[1.0]]


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
