"""Trees behind an encoder in a universe so small that everybody in it can be asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier

from lcifr.certification.handover import FrozenEncoder
from lcifr.data import Categorical, Encoding, Numeric, Schema
from lcifr.phi.similarity import Similarity
from tests.prove.instances import random_network

SCHEMA = Schema(
    (
        Numeric("age", integer=True, lower=0, upper=9),
        Numeric("debts", integer=True, lower=0, upper=5),
        Categorical("sex", ("f", "m")),
        Categorical("job", ("a", "b", "c")),
    )
)
EVERYBODY = pd.DataFrame(
    [*product(range(10), range(6), ("f", "m"), ("a", "b", "c"))], columns=["age", "debts", "sex", "job"]
)
PHI = "same(job) and age within 1 and debts within 1"
LEARNERS: dict[str, Any] = {
    "classes": lambda: GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=0),
    "three classes": lambda: RandomForestClassifier(5, max_depth=3, random_state=0),
    "numbers": lambda: GradientBoostingRegressor(n_estimators=5, max_depth=2, random_state=0),
}


@dataclass(frozen=True)
class TinyWorld:
    """An encoder, a model of a library on its z, some people, and what is decided about everybody."""

    encoder: FrozenEncoder
    model: Any
    people: pd.DataFrame

    def decide(self, people: pd.DataFrame) -> np.ndarray:
        """By a plain forward pass and the library's own predict."""
        return np.asarray(self.model.predict(self.encoder.transform(people)))

    def similar(self, row: int) -> pd.DataFrame:
        """Everybody who is similar to a person, them included."""
        one = self.people.iloc[row]
        near = (EVERYBODY.age - one.age).abs().le(1) & (EVERYBODY.debts - one.debts).abs().le(1)
        return EVERYBODY[near & (EVERYBODY.job == one.job)]


@cache
def tiny_world(kind: str, seed: int, people: int = 16) -> TinyWorld:
    rng = np.random.default_rng(seed)
    encoder = FrozenEncoder(random_network(rng, [7, 4, 2]), Similarity(PHI, SCHEMA, Encoding.fit(EVERYBODY, SCHEMA)))
    z = encoder.transform(EVERYBODY)
    score = z @ rng.normal(size=2) + 0.3 * np.sin(3 * z[:, 0])
    y: np.ndarray = score if kind == "numbers" else np.digitize(score, np.quantile(score, [0.4, 0.7]))
    if kind == "classes":
        y = np.minimum(y, 1)
    chosen = EVERYBODY.sample(people, random_state=seed).reset_index(drop=True)
    return TinyWorld(encoder, LEARNERS[kind]().fit(z, y), chosen)
