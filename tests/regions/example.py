"""A small table of people, and regions of formulas over it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lcifr.data import Categorical, Encoding, Numeric, Schema
from lcifr.phi import Similarity
from lcifr.regions.region import Region

SCHEMA = Schema(
    (
        Numeric("age", integer=True),
        Categorical("sex", ("female", "male")),
        Numeric("gpa"),
        Numeric("score", lower=0.0, upper=10.0),
        Categorical("city", tuple("ABCDEFGH")),
    )
)
PEOPLE = pd.DataFrame(
    {
        "age": [20, 36, 37, 38, 60],
        "sex": ["female", "male", "female", "male", "female"],
        "gpa": [2.0, 3.1, 3.4, 3.6, 4.0],
        "score": [0.0, 5.0, 9.9, 10.0, 2.5],
        "city": list("ABCDE"),
    }
)
ENCODING = Encoding.fit(PEOPLE, SCHEMA)


def region(text: str, people: pd.DataFrame = PEOPLE) -> Region:
    return Similarity(text, SCHEMA, ENCODING).region(people)


def square(rows=None) -> Region:
    """Two people: [0, 1]² and [0, 2]², and one of three categories, the first two allowed to the second person."""
    allowed = np.array([[True, False, False], [True, True, False]])
    lower, upper = np.zeros((2, 5)), np.array([[1.0, 1, 1, 1, 1], [2.0, 2, 1, 1, 1]])
    return Region.from_arrays(lower, upper, choices=[([2, 3, 4], allowed)], rows=rows)
