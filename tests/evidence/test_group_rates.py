"""Decision rates and impact ratios: counted again by hand and by Fairlearn; who is not compared, and why."""

from __future__ import annotations

import csv
import io
from itertools import product

import numpy as np
import pandas as pd
import pytest

from lcifr.evidence import group_rates
from lcifr.evidence.group_rates import find_group_rates


def scene(people: int = 400, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["female", "male", "Unknown"], people, p=[0.5, 0.45, 0.05]),
            "origin": rng.choice(["a", "b", "c"], people, p=[0.6, 0.39, 0.01]),
        }
    )
    return frame, rng.random(people) < np.where(frame["sex"] == "male", 0.6, 0.4)


@pytest.fixture(params=["fairlearn", "own"])
def source(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "fairlearn":
        pytest.importorskip("fairlearn")
    else:
        monkeypatch.setattr(group_rates, "_fairlearn", lambda: None)
    return str(request.param)


def test_every_group_and_intersection_is_counted(source: str) -> None:
    frame, selected = scene()
    found = find_group_rates(frame, selected, ("sex", "origin"), "hired")
    assert ("Fairlearn 0" in found.source) == (source == "fairlearn")
    for row in found.rows:
        mask = np.logical_and.reduce(
            [frame[name] == value for name, value in zip(row.attributes, row.values, strict=True)]
        )
        assert (row.people, row.selected) == (mask.sum(), selected[mask].sum())
        assert row.rate == pytest.approx(row.selected / row.people, abs=1e-15)
    kinds = {row.attributes for row in found.rows}
    assert kinds == {("sex",), ("origin",), ("sex", "origin")}
    for kind in kinds:
        assert sum(row.people for row in found.rows if row.attributes == kind) == len(frame)
    there = set(product(["female", "male", "Unknown"], ["a", "b", "c"])) & set(
        zip(frame["sex"], frame["origin"], strict=True)
    )
    assert {row.values for row in found.rows if len(row.values) == 2} == there


def test_unknown_and_small_groups_are_shown_and_not_compared(source: str) -> None:
    frame, selected = scene()
    found = find_group_rates(frame, selected, ("sex", "origin"), "hired")
    for row in found.rows:
        unknown, small = "Unknown" in row.values, row.people < 0.02 * len(frame)
        assert (row.ratio is None) == (unknown or small)
        assert ("unknown category" in row.note) == unknown
        assert ("under 2 %" in row.note) == (small and not unknown)
    for kind in {row.attributes for row in found.rows}:
        compared = [row for row in found.rows if row.attributes == kind and row.ratio is not None]
        highest = max(row.rate for row in compared)
        assert max(row.ratio for row in compared if row.ratio) == 1.0
        assert all(row.ratio == row.rate / highest for row in compared)


def test_further_values_may_stand_for_an_unknown_category() -> None:
    frame, selected = scene()
    found = find_group_rates(frame, selected, ("origin",), "hired", unknown=("B",))
    assert {row.values[0] for row in found.rows if "unknown" in row.note} == {"b"}


def test_nobody_selected_gives_no_ratio() -> None:
    frame, selected = scene()
    found = find_group_rates(frame, np.zeros_like(selected), ("sex",), "hired")
    assert all(row.ratio is None and row.rate == 0 for row in found.rows)


def test_the_csv_holds_every_row_with_all_digits() -> None:
    frame, selected = scene()
    found = find_group_rates(frame, selected, ("sex", "origin"), "hired")
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [float(row["rate"]) for row in rows] == [row.rate for row in found.rows]
    assert sum(len(table.rows) for table in found.tables()) == len(rows)
