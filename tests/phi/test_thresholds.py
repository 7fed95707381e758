"""Thresholds and distances outside the range of the data."""

from __future__ import annotations

import pytest

from lcifr.phi.lint import Severity
from tests.phi.example import PEOPLE, find, place


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("same(all except age) and age within 5 and age' >= 17", "note"),
        ("same(all except age) and age within 5 and age' <= 17", "warning"),
        ("same(all except age) and age within 5 and 2*age < 400", "note"),
        ("same(all except age) and age within 5 and age' = 200", "warning"),
        ("same(all except age) and age within 5 and age' != 200", "note"),
        (f"same(all except age) and age within 5 and age' <= {PEOPLE.age.max()}", None),
        (f"same(all except age) and age within 5 and age' >= {PEOPLE.age.min()}", None),
        ("same(all except age) and age within 5 and income' <= 1e7", "note"),
    ],
)
def test_thresholds_outside_the_data(text, severity):
    found = find(text, "threshold-outside-data")
    assert [str(finding.severity) for finding in found] == ([severity] if severity else [])
    for finding in found:
        assert place(text, finding) == text.split(" and ")[-1]


def test_distances_beyond_or_below_what_can_differ():
    (wide,) = find("same(all except age) and age within 70", "distance-beyond-data")
    assert "70 years" in wide.message
    (narrow,) = find("same(all except age) and age within 0.02 sd", "distance-below-one")
    assert narrow.severity is Severity.NOTE
    assert find("same(all except age) and age within 10", "distance-beyond-data") == []
