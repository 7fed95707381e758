"""A lender's tables, and the model that already decides about their people: what the tests of model audits share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

READ = ("age", "income", "debt", "job", "sex")
"""Columns that the model reads; ``region`` and ``applied_on`` it does not."""
PHI = "same(job, region) and age within 1 and numeric except age within 0.1 sd and free(sex)\n"


def made_up(count: int, seed: int) -> pd.DataFrame:
    """People whose sex matters a little to who repays."""
    draw = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "person": [f"p{seed}-{k}" for k in range(count)],
            "age": draw.integers(18, 75, count),
            "income": draw.lognormal(8, 0.5, count).round(2),
            "debt": draw.gamma(2, 900, count).round(2),
            "job": draw.choice(["clerk", "cook", "pilot"], count),
            "sex": draw.choice(["female", "male"], count),
            "region": draw.choice(["north", "south"], count),
            "applied_on": [f"2026-0{1 + k % 9}-15" for k in range(count)],
        }
    )
    worth = table["income"] / 1000 - table["debt"] / 600 + (table["sex"] == "male") + draw.normal(0, 1, count)
    return table.assign(repaid=np.where(worth > 0.8, "yes", "no"))


def fit(table: pd.DataFrame, **changes: Any) -> Any:
    """An ordinary pipeline on the columns that it reads."""
    inside = ColumnTransformer(
        [("numbers", StandardScaler(), ["age", "income", "debt"]), ("texts", OneHotEncoder(), ["job", "sex"])]
    )
    return make_pipeline(inside, LogisticRegression(max_iter=1000, **changes)).fit(table[list(READ)], table["repaid"])


def write_credit(folder: Path, people: int = 60) -> Any:
    """train.csv, people.csv with two rows in which something is missing, people.phi and model.skops; the model."""
    skops = pytest.importorskip("skops.io")
    train, table = made_up(200, 1), made_up(people, 2)
    model = fit(train)
    train.to_csv(folder / "train.csv", index=False)
    table.loc[3, "income"] = np.nan
    table.loc[7, "job"] = None
    table.to_csv(folder / "people.csv", index=False)
    (folder / "people.phi").write_text(PHI, encoding="utf-8")
    skops.dump(model, folder / "model.skops")
    return model
