"""People with whole numbers, few enough to look at all of them."""

from __future__ import annotations

from itertools import product

import pandas as pd

from lcifr.data import Categorical, Encoding, Numeric, Schema

SCHEMA = Schema((Numeric("a", integer=True), Numeric("b", integer=True), Categorical("c", ("u", "v"))))


FRAME = pd.DataFrame({"a": [0, 3, 7, 9, -4, 2], "b": [10, 11, 9, 30, 12, 25], "c": ["u", "v", "u", "v", "u", "v"]})


ENCODING = Encoding.fit(FRAME, SCHEMA)


def everybody(row: pd.Series, reach: int) -> pd.DataFrame:
    """All whole people around one."""
    steps = range(-reach, reach + 1)
    found = [(row["a"] + i, row["b"] + j, c) for i, j, c in product(steps, steps, ("u", "v"))]
    return pd.DataFrame(found, columns=["a", "b", "c"])
