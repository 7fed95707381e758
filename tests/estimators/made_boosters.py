"""Boosters of a few rounds, and a table whose label depends on two attributes together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from lcifr import FairBooster, FairBoosterRegressor
from lcifr.estimators.boosters import BaseBooster
from tests.learn.populations import FORMULA, SCHEMA, population

QUICK: dict[str, Any] = {"schema": SCHEMA, "rounds": 40, "learning_rate": 0.3, "min_people": 3}


def booster(kind: str = "binary", **options: Any) -> BaseBooster:
    made = FairBoosterRegressor if kind == "number" else FairBooster
    return made(options.pop("formula", FORMULA), **{**QUICK, **options})


def crossed(people: int, kind: str = "binary") -> tuple[pd.DataFrame, np.ndarray]:
    """People whose label depends on two attributes together."""
    X, y = population(people, kind=kind)
    both = (X["age"] > 45) ^ (X["income"] > 0)
    if kind == "number":
        return X, y + 3000 * both
    return X, np.where(both, y, np.unique(y)[0])
