"""Tables of people with every kind of column, and people beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from lcifr.data import Encoding, Individuals, Schema
from lcifr.models.source import TableModel

CITIES = ("Aachen", "Bonn", "Celle", "Dresden", "Emden")


def people(count: int = 300, seed: int = 0) -> pd.DataFrame:
    """Whole numbers, reals, float32, booleans, texts with rare values, and integer codes."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": random.integers(18, 80, count),
            "income": random.gamma(2.0, 20.0, count),
            "score": random.normal(size=count).astype(np.float32),
            "city": random.choice(CITIES, count, p=[0.4, 0.3, 0.2, 0.08, 0.02]),
            "member": random.random(count) < 0.5,
            "code": random.integers(0, 4, count),
        }
    )
    table.loc[: len(CITIES) - 1, "city"] = CITIES
    return table


def labels(table: pd.DataFrame, classes: int = 2) -> np.ndarray:
    random = np.random.default_rng(1)
    worth = table["age"] / 40 + table["income"] / 40 + table["member"] + (table["city"] == "Bonn")
    ranks = (worth + random.normal(size=len(table))).rank(pct=True).to_numpy()
    return np.minimum((ranks * classes).astype(int), classes - 1)


def schema_of(table: pd.DataFrame) -> Schema:
    return Schema.infer(table, categorical=["code"])


def encoding_of(table: pd.DataFrame) -> Encoding:
    return Encoding.fit(table, schema_of(table))


def generated(read: TableModel, count: int = 400) -> Individuals:
    """People nobody has seen: any categories that the model takes, numbers within and beyond the training range."""
    random = np.random.default_rng(2)
    encoding = read.encoding
    means, sds = encoding.means, encoding.sds
    numbers = means + sds * random.normal(scale=2.0, size=(count, len(means)))
    whole = [attribute.integer for attribute in encoding.schema.numeric]
    numbers[:, whole] = np.rint(numbers[:, whole])
    for j, program in enumerate(encoding.programs):  # and beside every place where a clip begins
        for end in program.unclipped:
            if np.isfinite(end) and not whole[j]:
                for row in random.integers(0, count, 6):
                    near = [end, np.nextafter(end, -np.inf), np.nextafter(end, np.inf)]
                    numbers[row, j] = near[row % 3]
    codes = np.zeros((count, len(encoding.schema.categorical)), np.int32)
    for j, attribute in enumerate(encoding.schema.categorical):
        codes[:, j] = random.choice(np.flatnonzero(~encoding.is_outside(attribute.name)), count)
    return Individuals(encoding.schema, numbers, codes)


def dense(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)


def assert_same_decisions(read: TableModel, group: Individuals) -> None:
    """Ours and the library's, wherever rounding cannot decide; and that is nearly everywhere."""
    points = read.inputs(read.encoding.encode(group))
    values, room = read.model.function(points), 4 * read.model.function.error(points)
    found = read.library_decides(group)
    if values.shape[1] == 1:
        lower, upper = read.model.rule.band
        sure = ((values < lower - room) | (values > upper + room))[:, 0]
    else:
        ordered = np.sort(values, axis=1)
        sure = ordered[:, -1] - ordered[:, -2] > 2 * room.max(1)
    assert sure.mean() > 0.9
    assert np.array_equal(read.decide(group)[sure], found[sure])
