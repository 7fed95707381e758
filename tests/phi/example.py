"""A small population with a proxy in it, and findings about formulas over it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lcifr.data import Categorical, Encoding, Numeric, Schema
from lcifr.phi import Similarity
from lcifr.phi.lint import Finding, lint

RANDOM = np.random.default_rng(5)
N = 400
SCHEMA = Schema(
    (
        Numeric("age", unit="years", integer=True),
        Numeric("income"),
        Numeric("score", lower=0.0, upper=100.0),
        Categorical("sex", ("female", "male")),
        Categorical("role", ("wife", "husband", "none")),
        Categorical("city", ("A", "B", "C")),
    )
)
SEX = RANDOM.integers(0, 2, N)
PEOPLE = pd.DataFrame(
    {
        "age": RANDOM.integers(18, 80, N),
        "income": np.round(RANDOM.normal(30_000, 8_000, N), 2),
        "score": np.round(RANDOM.uniform(0, 100, N), 1),
        "sex": np.array(["female", "male"])[SEX],
        "role": np.where(RANDOM.random(N) < 0.5, "none", np.array(["wife", "husband"])[SEX]),
        "city": np.array(["A", "B", "C"])[RANDOM.integers(0, 3, N)],
    }
)
ENCODING = Encoding.fit(PEOPLE, SCHEMA)


def similarity(text: str) -> Similarity:
    return Similarity(text, SCHEMA, ENCODING)


def find(text: str, code: str) -> list[Finding]:
    return [finding for finding in lint(similarity(text)) if finding.code == code]


def place(text: str, finding: Finding) -> str:
    assert finding.span is not None
    return text[finding.span.start : finding.span.end]
