"""Regions from plain arrays: shapes, unions, empty regions."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.errors import RegionError
from lcifr.regions.region import Region
from tests.regions.example import square


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
