"""Law School reads the complete Stata file where a user has it, and says when it has only a part."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lcifr.data import Individuals
from lcifr.datasets import load


def applications(people=60):
    random = np.random.default_rng(0)
    race = np.array(["White", "Black", "Hispanic", "Asian", ""])[np.arange(people) % 5]
    return pd.DataFrame(
        {
            "lsat": random.integers(140, 180, people).astype("float32"),
            "gpa": (random.integers(200, 400, people) / 100).astype("float32"),
            "race": race,
            "resident": (np.arange(people) % 2).astype("float32"),
            "college": np.array(["Hawaii", "Utopia"])[np.arange(people) // 2 % 2],
            "year": np.array(["2005", "200x"])[np.arange(people) // 3 % 2],
            "gender": (np.arange(people) // 7 % 2).astype("float32"),
            "admit": (np.arange(people) // 4 % 2).astype("float32"),
            "asian": (race == "Asian").astype("int8"),
            "enroll": np.full(people, np.nan, "float32"),
        }
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "law_school").mkdir()
    return tmp_path


def everybody(data):
    splits = (data.train, data.validation, data.test)
    return pd.concat([split.X for split in splits]).sort_index(), pd.concat([split.y for split in splits]).sort_index()


def test_the_stata_file_is_read_whole(folder):
    raw = applications()
    raw.loc[0, "gpa"] = np.nan
    raw.to_stata(folder / "law_school" / "lawschs1_1.dta", write_index=False)
    data = load("law_school", folder=folder)
    X, y = everybody(data)
    kept = [row for row in range(60) if row % 5 < 3 and row != 0]  # no Asian, no blank race, no missing gpa
    assert list(X.index) == kept
    assert data.partial is None
    assert data.schema["college"].values == ("Hawaii", "Utopia")
    assert set(X["gender"]) == {"0", "1"}
    assert (y == raw["admit"][kept]).all()
    assert (100 * X["gpa"] == (100 * X["gpa"]).round()).mean() > 0.8  # 3.71, not 3.7100000381
    assert all(value == round(value, 2) for value in X["gpa"])
    Individuals.read(X, data.schema)


def test_the_complete_file_goes_before_the_partial_one(folder):
    applications().to_stata(folder / "law_school" / "lawschs1_1.dta", write_index=False)
    (folder / "law_school" / "law_school_first65535.csv").write_text("not even a table")
    assert load("law_school", folder=folder).partial is None


def test_the_partial_file_is_the_same_data_in_other_letters(folder):
    raw = applications()
    raw["race"] = raw["race"].replace("", " ")  # as the partial file writes a blank
    names = {"lsat": "LSAT", "gpa": "GPA", "race": "Race", "year": "Year", "gender": "Gender", "asian": "Asian"}
    raw.rename(columns=names).to_csv(
        folder / "law_school" / "law_school_first65535.csv", index=False, encoding="utf-8-sig"
    )
    part = load("law_school", folder=folder, verify=False)
    assert part.partial is not None
    raw.to_stata(folder / "law_school" / "lawschs1_1.dta", write_index=False)
    complete = load("law_school", folder=folder)
    pd.testing.assert_frame_equal(everybody(part)[0], everybody(complete)[0])
