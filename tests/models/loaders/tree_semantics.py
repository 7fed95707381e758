"""People at every threshold of a model's trees, one float to both sides; both words about them compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from lcifr.data import Encoding, Individuals, Schema
from lcifr.models.loading import read_table_model
from lcifr.models.rule import Kind
from lcifr.models.source import TableModel
from lcifr.models.trees import NUMBER, DeployedTrees, Trees

TOWNS = ("Bern", "Lyon", "Oslo", "Rome")
NUMERIC, CATEGORIES = ["age", "income", "score"], ["town", "sex"]


def table(seed: int = 0, count: int = 400, classes: int = 2) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers of several kinds, two categories, and labels that depend on all of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, count),
            "income": np.round(rng.lognormal(3, 1, count), 2),
            "score": rng.normal(size=count),
            "town": rng.choice(TOWNS, count),
            "sex": rng.choice(["f", "m"], count),
        }
    )
    value = frame.score + 0.03 * frame.age - 0.02 * frame.income + (frame.town == "Oslo") - 0.5 * (frame.sex == "f")
    cuts = np.quantile(value + 0.3 * rng.normal(size=count), np.linspace(0, 1, classes + 1)[1:-1])
    return frame, np.searchsorted(cuts, value)


def before(ordinal: bool = False) -> ColumnTransformer:
    """Scaled numbers, and categories as vectors or codes."""
    encoder = OrdinalEncoder() if ordinal else OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return ColumnTransformer([("numbers", StandardScaler(), NUMERIC), ("texts", encoder, CATEGORIES)])


def read(model: Any, frame: pd.DataFrame) -> TableModel:
    """The model as it is read for these columns."""
    schema = Schema.infer(frame)
    return read_table_model(model, frame, Encoding.fit(frame, schema))


def people_at_thresholds(found: TableModel, frame: pd.DataFrame, seed: int = 0) -> Individuals:
    """Somebody of the table at each threshold of each number, and at the floats beside it, in float64 and float32."""
    people = Individuals.read(frame, found.encoding.schema)
    trees, rng = found.model.function, np.random.default_rng(seed)
    assert isinstance(trees, Trees)
    numbers, codes = [people.numbers], [people.codes]
    for j, column in enumerate(found.encoding.numeric_columns):
        used = np.unique(trees.nodes.threshold[(trees.nodes.kind == NUMBER) & (trees.nodes.column == column)])
        program = found.encoding.programs[j]
        for threshold in used:
            raw = threshold * program.factor + program.origin
            near = [raw]
            for towards in (-np.inf, np.inf):
                one, narrow = raw, np.float32(raw)
                for _ in range(3):
                    one, narrow = np.nextafter(one, towards), np.nextafter(narrow, np.float32(towards))
                    near += [one, float(narrow)]
            near.append(float(np.float32(raw)))
            who = rng.integers(len(people), size=len(near))
            moved = people.numbers[who].copy()
            moved[:, j] = near
            numbers.append(moved)
            codes.append(people.codes[who])
    return Individuals(people.schema, np.concatenate(numbers), np.concatenate(codes))


def as_frame(people: Individuals, like: pd.DataFrame) -> pd.DataFrame:
    """People as the library takes them; numbers as float64, so that none is rounded on the way."""
    columns = {}
    for name in like.columns:
        if name in people.schema.names_numeric:
            kind = np.float32 if like[name].dtype == np.float32 else np.float64
            columns[name] = pd.Series(people.number(name).astype(kind))
        else:
            values = np.array(people.schema[name].values, dtype=object)[people.code(name)]
            columns[name] = pd.Series(values == "true" if like[name].dtype == np.bool_ else values).astype(
                like[name].dtype
            )
    return pd.DataFrame(columns)


def check_semantics(model: Any, frame: pd.DataFrame, outputs: Any = None) -> int:
    """Outputs within the proved rounding, and no decision that differs where the model's own is strict.

    ``outputs`` : frame -> (people, outputs) as the library computes them; None for those that the model knows of, if
    any. Returns how many people were compared.
    """
    found = read(model, frame)
    people = people_at_thresholds(found, frame)
    own = as_frame(people, frame)
    trees = found.model.function
    assert isinstance(trees, Trees)
    points = found.encoding.encode(people)
    values = trees(points)
    room = DeployedTrees(trees, trees.native).error_at(points) + trees.error(points)
    if outputs is None and found.predict_with_outputs is not None:
        given = found.predict_with_outputs(own).outputs
    else:
        given = None if outputs is None else outputs(own)
    if given is not None:
        said = np.reshape(given, values.shape)
        slack = 8 * 2.0**-24 * (1 + np.abs(trees.base)) if found.runtime.startswith("xgboost") else 0.0
        assert (np.abs(values - said) <= room + slack).all()
    library = found.predict(own)
    if found.model.rule.kind is Kind.NUMBER:
        return len(people)
    decided = found.model.decide(values)
    rule = found.model.rule
    if rule.kind is Kind.SIGN:
        strict = (values[:, 0] < rule.band[0] - room[:, 0]) | (values[:, 0] > rule.band[1] + room[:, 0])
    else:
        top = np.sort(values, axis=1)
        strict = top[:, -1] - top[:, -2] > rule.band[1] + 2 * room.max(1)
    assert strict.mean() > 0.8
    assert (decided[strict] == library[strict]).all()
    return len(people)
