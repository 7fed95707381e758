"""A small invented population, for tests of learning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcifr.data import Categorical, Numeric, Schema

SCHEMA = Schema(
    (
        Numeric("age", unit="years"),
        Numeric("income"),
        Categorical("sex", ("female", "male")),
        Categorical("job", ("clerk", "cook", "nurse")),
    )
)
FORMULA = "same(categorical except sex) and numeric within 0.3 sd"


def population(people: int, *, seed: int = 0, kind: str = "binary") -> tuple[pd.DataFrame, NDArray[Any]]:
    """People whose label depends on everything, the protected attribute included; some noise."""
    draw = np.random.default_rng(seed)
    age, income = draw.normal(45, 12, people), draw.normal(0, 1, people)
    sex, job = draw.integers(0, 2, people), draw.integers(0, 3, people)
    X = pd.DataFrame(
        {
            "age": age,
            "income": income,
            "sex": np.array(["female", "male"])[sex],
            "job": np.array(["clerk", "cook", "nurse"])[job],
        }
    )
    drive = (age - 45) / 12 + income + 0.8 * sex - 0.5 * job + 0.3 * draw.normal(size=people)
    if kind == "number":
        return X, 1000.0 * drive
    if kind == "classes":
        return X, np.array(["low", "middle", "high"], dtype=object)[np.digitize(drive, [-0.7, 0.7])]
    return X, (drive > 0).astype(int)


def latent(people: int, *, kind: str = "binary", seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, labels, radii. The first coordinate tells most; the second is a lure with a large radius behind it."""
    draw = np.random.default_rng(seed)
    z = draw.normal(size=(people, 4))
    drive = 2 * z[:, 0] + z[:, 1] - 0.5 * z[:, 2] + 0.3 * draw.normal(size=people)
    radius = draw.uniform(0.05, 0.4, people)
    if kind == "number":
        return z, 10 * drive + 100, radius
    if kind == "classes":
        return z, np.array(["a", "b", "c"])[np.digitize(drive, [-1, 1])], radius
    return z, (drive > 0).astype(int), radius
