"""An XGBoost file that does not say which code stands for which category: init proposes a description that is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lcifr.models.description import read_description
from tests.story import lcifr

MODEL = ("--model", "model.json", "--target", "granted")


def write_place(place: Path) -> pd.DataFrame:
    """Categories with other letters than ASCII, which XGBoost cuts off in its file, and numbers that are codes."""
    xgboost = pytest.importorskip("xgboost")
    random = np.random.default_rng(0)
    people = pd.DataFrame(
        {
            "age": random.integers(18, 80, 80),
            "size": random.choice(["groß", "klein", "mittel"], 80),
            "tariff": random.choice([2, 11, 35], 80),
        }
    )
    label = ((people["age"] > 45) ^ (people["size"] == "klein") ^ (people["tariff"] == 2)).astype(int)
    coded = people.astype({"size": "category", "tariff": "category"})
    model = xgboost.XGBClassifier(n_estimators=8, max_depth=3, enable_categorical=True).fit(coded, label)
    model.save_model(place / "model.json")
    people.assign(granted=label).to_csv(place / "people.csv", index=False)
    return people.assign(decided=model.predict(coded))


def test_the_fix_of_an_audit_without_codes_mends_it(tmp_path: Path):
    people = write_place(tmp_path)
    (tmp_path / "same.phi").write_text("same(all)")
    asked = ("audit", "people.csv", *MODEL, "--phi", "same.phi", "--no-baselines", "--out", "audit")
    refused = lcifr(*asked, cwd=tmp_path, expect=2)
    assert "`lcifr init people.csv --model FILE` proposes a description" in refused.err
    said = lcifr("init", "people.csv", *MODEL, cwd=tmp_path)
    assert "which code stands for which category" in said.out
    found = {one.column: [value for value, _ in one.codes] for one in read_description(tmp_path / "model.toml").inputs}
    assert found == {"age": [], "size": ["groß", "klein", "mittel"], "tariff": ["2", "11", "35"]}
    assert dict(read_description(tmp_path / "model.toml").inputs[2].codes) == {"2": 0.0, "11": 1.0, "35": 2.0}
    drafted = (tmp_path / "model.toml").read_text(encoding="utf-8")
    (tmp_path / "model.toml").write_text(drafted.replace("draft = true\n", ""), encoding="utf-8")
    lcifr(*asked, "--schema", "people.toml", cwd=tmp_path)
    audited = pd.read_parquet(tmp_path / "audit" / "audited" / "audit.parquet")
    assert audited["prediction"].astype(int).tolist() == people["decided"].tolist()
