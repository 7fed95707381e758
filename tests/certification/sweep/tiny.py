"""Universes so small that all pairs can be tried: the oracle of sweeps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.subject import Subject
from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.function import Function
from lcifr.models.model import Model
from lcifr.models.network import Network
from lcifr.models.rule import Rule
from lcifr.phi.similarity import Similarity
from tests.prove.instances import random_network

SCHEMA = Schema(
    (
        Numeric("age", lower=0, upper=3, integer=True),
        Numeric("income", lower=0, upper=2, integer=True),
        Categorical("sex", ("female", "male")),
        Categorical("race", ("a", "b", "c")),
    )
)
FORMULAS = (
    "same(all except sex)",
    "same(race) and numeric within 1",
    "same(race, income) and age <= age' and sex != sex'",
    "same(race) and income within 1 and (age <= 1 and age' <= 1 or age > 1 and age' > 1 and sex = \"female\")",
    "same(race, sex) and |age' - age| < 2 and income' != income",
)


def everybody() -> Individuals:
    """All 72."""
    rows = np.array(list(product(range(4), range(3), range(2), range(3))))
    return Individuals(SCHEMA, rows[:, :2].astype(np.float64), rows[:, 2:].astype(np.int32))


ENCODING = Encoding.fit(everybody().to_pandas(), SCHEMA)


@dataclass(frozen=True)
class TinyUniverse:
    """A formula, a function of encoded people, and what counts as another decision."""

    text: str
    function: Function
    rule: Rule
    arithmetic: Arithmetic = Arithmetic.EXACT
    encoding: Encoding = ENCODING

    @classmethod
    def with_network(cls, seed: int, outputs: int = 1) -> TinyUniverse:
        rng = np.random.default_rng(seed)
        sizes = [[len(ENCODING.features), outputs], [len(ENCODING.features), 5, outputs]][seed % 2]
        return cls(FORMULAS[seed % 4], random_network(rng, sizes), Rule.of(outputs))

    @classmethod
    def with_ties(cls, seed: int, outputs: int = 1, tolerance: float | None = None) -> TinyUniverse:
        """Small whole weights on numbers as they are: nothing is rounded, and many outputs are equal or 0."""
        rng = np.random.default_rng(seed)
        encoding = Encoding(SCHEMA, np.zeros(2), np.ones(2))
        sizes = [[len(encoding.features), outputs], [len(encoding.features), 3, outputs]][seed % 2]
        layers = [
            (rng.integers(-2, 3, (b, a)).astype(np.float64), rng.integers(-2, 3, b).astype(np.float64))
            for a, b in pairwise(sizes)
        ]
        rule = Rule.of(outputs, tolerance=tolerance)
        return cls(FORMULAS[seed // 2 % len(FORMULAS)], Network.from_arrays(layers), rule, encoding=encoding)

    @property
    def similarity(self) -> Similarity:
        return Similarity(self.text, SCHEMA, self.encoding)

    @property
    def swept(self) -> Subject:
        width = len(self.encoding.features)
        identity = Network.from_arrays([(np.eye(width), np.zeros(width))])
        return Subject(FrozenEncoder(identity, self.similarity), Model(self.function, self.rule), self.arithmetic)

    def violating(self) -> np.ndarray:
        """(72,) who has somebody similar with another decision, by trying everybody."""
        people = everybody()
        values = self.function(self.encoding.encode(people))
        decision = self.rule.decide(values)
        found = np.zeros(len(people), np.bool_)
        for row in range(len(people)):
            alike = self.similarity.holds(people.take(np.full(len(people), row)), people)
            if self.rule.tolerance is not None:
                differ = np.abs(values - values[row]).max(1) > self.rule.tolerance
            else:
                differ = self.rule.group_of[decision] != self.rule.group_of[decision[row]]
            found[row] = (alike & differ).any()
        return found

    def share(self) -> Fraction:
        return Fraction(int(self.violating().sum()), len(everybody()))


def fitted(estimator: Any, seed: int) -> Any:
    """A pipeline of scikit-learn on the raw columns, with labels that depend on the sex a little."""
    table = everybody().to_pandas()
    prepare = make_column_transformer((OneHotEncoder(), ["sex", "race"]), remainder="passthrough")
    y = np.random.default_rng(seed).random(len(table)) + 0.2 * table["age"] + 0.3 * (table["sex"] == "male") > 1.0
    return make_pipeline(prepare, estimator).fit(table, y)
